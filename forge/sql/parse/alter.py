"""Grammar of ALTER TABLE."""

from __future__ import annotations

from itertools import takewhile

from forge.sql.ast.alter_actions import (
    Action,
    AddCheck,
    AddColumn,
    AddForeignKey,
    AddKey,
    AlterColumn,
    AlterPartitions,
    AlterTimes,
    ChangeColumn,
    Conditional,
    ConvertCharset,
    DropCheck,
    DropColumn,
    DropForeignKey,
    DropKey,
    EnforceCheck,
    OrderRows,
    RenameColumn,
    RenameKey,
    RenameTo,
    SetOptions,
    SwitchKeys,
)
from forge.sql.ast.definitions import CharsetClause, Place, TableOptions
from forge.sql.ast.statements import AlterTable
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError, SqlUnsupported
from forge.sql.parse.columns import charset_name, check_constraint, collation_name, column_definition, is_named_option
from forge.sql.parse.defaults import set_default
from forge.sql.parse.foreign_keys import foreign_key, is_foreign_key
from forge.sql.parse.names import table_ref
from forge.sql.parse.partitions import alter_partitions
from forge.sql.parse.tables import TABLE_OPTIONS, is_check, is_key, key_definition, period, table_option

_ALGORITHMS: tuple[str, ...] = ("DEFAULT", "INPLACE", "COPY", "INSTANT", "NOCOPY")
_LOCKS: tuple[str, ...] = ("DEFAULT", "NONE", "SHARED", "EXCLUSIVE")
_UNSUPPORTED_ACTIONS = ("DISCARD", "IMPORT")
_ACTIONS = (
    "ADD", "ALTER", "CHANGE", "CONVERT", "DROP", "FORCE", "MODIFY", "RENAME", "ALGORITHM", "LOCK", "ORDER", "ENABLE",
    "DISABLE", *TABLE_OPTIONS,
)  # fmt: skip


def alter_table(cursor: Cursor) -> AlterTable:
    """What follows ALTER TABLE.  Raises SqlError and SqlUnsupported."""
    if_exists = cursor.accept_if_exists()
    table = table_ref(cursor)
    cursor.accept_wait()
    actions: list[Action] = []
    algorithm = ""
    comma = False
    while comma or not cursor.at_end():
        offset = cursor.token.start
        if cursor.token.is_word("ALGORITHM", "LOCK"):
            algorithm = locking(cursor) or algorithm
        elif cursor.grammar.validates and cursor.token.is_word("WITH", "WITHOUT"):
            cursor.advance()
            cursor.expect("VALIDATION")
        else:
            found = alter_action(cursor)
            if isinstance(found[0], AlterPartitions | Conditional):
                _check_partitions(found[0], cursor, offset, behind=bool(actions), comma=comma)
            actions += found
        # Options of the table may stand without a comma.
        comma = cursor.accept_mark(",")
    return AlterTable(table, tuple(actions), algorithm=algorithm, if_exists=if_exists)


def _check_partitions(
    found: AlterPartitions | Conditional, cursor: Cursor, offset: int, *, behind: bool, comma: bool
) -> None:
    """PARTITION BY and REMOVE PARTITIONING may stand ``behind`` other actions, without a comma, and what is done to
    single partitions stands alone (recorded).  Raises SqlError.
    """
    action = found.action if isinstance(found, Conditional) else found
    if not isinstance(action, AlterPartitions):
        return
    if behind and (comma or action.is_of_parts):
        raise SqlError("what is done to partitions stands alone", offset, expected="an ALTER TABLE of its own")
    if not cursor.at_end():
        cursor.wrong("the end of the statement")


def locking(cursor: Cursor) -> str:
    """ALGORITHM and LOCK clauses; the algorithm that is asked for, empty for none."""
    algorithm = ""
    while word := cursor.accept_any("ALGORITHM", "LOCK"):
        cursor.accept_mark("=")
        words = _LOCKS if word == "LOCK" else _ALGORITHMS
        chosen = cursor.accept_any(*words) or cursor.wrong(", ".join(words), words)
        if word == "ALGORITHM" and chosen != "DEFAULT":
            algorithm = chosen.lower()
    return algorithm


def alter_action(cursor: Cursor) -> list[Action]:
    """One action of ALTER TABLE; an ADD of several columns in parentheses is several."""
    offset = cursor.token.start
    if partitions := alter_partitions(cursor):
        return [partitions]
    if times := _times(cursor, offset):
        return [times]
    if cursor.accept("ADD"):
        return _add(cursor)
    if cursor.accept("DROP"):
        return [_drop(cursor, offset)]
    if cursor.accept("MODIFY"):
        cursor.accept("COLUMN")
        exists = cursor.accept_if_exists()
        column = column_definition(cursor)
        return [_conditional(ChangeColumn(column.name, column, _place(cursor), column.offset), exists)]
    if cursor.accept("CHANGE"):
        cursor.accept("COLUMN")
        exists = cursor.accept_if_exists()
        place = cursor.token.start
        old = cursor.name("column")
        return [_conditional(ChangeColumn(old, column_definition(cursor), _place(cursor), place), exists)]
    if cursor.accept("RENAME"):
        return [_rename(cursor)]
    if cursor.accept("ALTER"):
        return _alter(cursor)
    if cursor.accept("CONVERT", "TO"):
        return [_convert(cursor)]
    if cursor.accept("FORCE"):
        return [SetOptions(TableOptions(rebuild=True))]
    if cursor.accept_any("ENABLE", "DISABLE"):
        cursor.expect("KEYS")
        return [SwitchKeys()]
    if cursor.accept("ORDER", "BY"):
        return [_order(cursor, offset)]
    if cursor.token.is_word(*_UNSUPPORTED_ACTIONS):
        word = cursor.token.text.upper()
        raise SqlUnsupported(f"ALTER TABLE ... {word} is not supported yet", offset)
    if not (cursor.token.is_word("CHARACTER", "CHAR", *TABLE_OPTIONS) or is_named_option(cursor)):
        cursor.wrong("an action of ALTER TABLE", _ACTIONS)
    return [SetOptions(table_option(cursor, TableOptions()))]


def _times(cursor: Cursor, offset: int) -> AlterTimes | None:
    """What begins or ends the versions or a period of a table; None if the next action is another."""
    if cursor.accept("ADD", "SYSTEM", "VERSIONING"):
        return AlterTimes(offset, versioned=True)
    if cursor.accept("DROP", "SYSTEM", "VERSIONING"):
        return AlterTimes(offset, versioned=False)
    if cursor.takes("ADD", "PERIOD", "FOR"):
        cursor.advance()
        return AlterTimes(offset, period=period(cursor))
    if cursor.accept("DROP", "PERIOD", "FOR"):
        cursor.accept_if_exists()
        return AlterTimes(offset, dropped=cursor.name("period"))
    return None


def _conditional(action: Action, conditional: bool, *, exists: bool = True) -> Action:
    return Conditional(action, exists) if conditional else action


def _order(cursor: Cursor, offset: int) -> OrderRows:
    names = []
    while True:
        names.append(cursor.name("column"))
        cursor.accept_any("ASC", "DESC")
        if not cursor.token.is_mark(",") or cursor.following().is_word(*_ACTIONS):
            return OrderRows(tuple(names), offset)
        cursor.advance()


def _convert(cursor: Cursor) -> ConvertCharset:
    offset = cursor.token.start
    if not cursor.accept("CHARACTER", "SET") and not cursor.accept("CHARSET"):
        cursor.wrong("CHARACTER SET", ("CHARACTER SET", "CHARSET"))
    cursor.accept_mark("=")
    name = None if cursor.accept("DEFAULT") else charset_name(cursor)
    named = None
    if cursor.accept("COLLATE"):
        cursor.accept_mark("=")
        named = collation_name(cursor)
    if name == "binary" or named == "binary":
        raise SqlUnsupported("CONVERT TO CHARACTER SET binary is not supported yet", offset)
    return ConvertCharset(CharsetClause(name, named, offset=offset))


def _place(cursor: Cursor) -> Place | None:
    offset = cursor.token.start
    if cursor.accept("FIRST"):
        return Place(None, offset)
    if cursor.accept("AFTER"):
        return Place(cursor.name("column"), offset)
    return None


def _add(cursor: Cursor) -> list[Action]:
    if is_check(cursor):
        return [_checked(cursor)]
    if is_foreign_key(cursor):
        return [_foreign(cursor)]
    if is_key(cursor):
        return [_key(cursor)]
    cursor.accept("COLUMN")
    missing = cursor.accept_if_not_exists()
    if not cursor.accept_mark("("):
        column = column_definition(cursor)
        return [_conditional(AddColumn(column, _place(cursor)), missing, exists=False)]
    actions: list[Action] = []
    while True:
        if is_check(cursor):
            actions.append(AddCheck(check_constraint(cursor)))
        elif is_foreign_key(cursor):
            actions.append(AddForeignKey(foreign_key(cursor)))
        elif is_key(cursor):
            actions.append(AddKey(key_definition(cursor)))
        else:
            actions.append(_conditional(AddColumn(column_definition(cursor), None), missing, exists=False))
        if not cursor.accept_mark(","):
            break
    cursor.expect_mark(")")
    return actions


def _checked(cursor: Cursor) -> Action:
    missing = cursor.grammar.conditional_parts and cursor.takes("CONSTRAINT", "IF", "NOT", "EXISTS")
    return _conditional(AddCheck(check_constraint(cursor)), missing, exists=False)


def _foreign(cursor: Cursor) -> Action:
    ahead = [cursor.following(n) for n in range(8)]
    before_columns = takewhile(lambda token: not token.is_mark("("), ahead)
    missing = any(token.is_word("EXISTS") for token in before_columns)
    return _conditional(AddForeignKey(foreign_key(cursor)), missing, exists=False)


def _key(cursor: Cursor) -> Action:
    missing = any(cursor.following(n).is_word("EXISTS") for n in range(2, 5)) and cursor.grammar.conditional_parts
    return _conditional(AddKey(key_definition(cursor)), missing, exists=False)


def _drop(cursor: Cursor, offset: int) -> Action:
    if cursor.accept("PRIMARY", "KEY"):
        return DropKey(None, offset)
    if cursor.accept_any("INDEX", "KEY"):
        exists = cursor.accept_if_exists()
        offset = cursor.token.start
        name = cursor.name("key")
        return _conditional(DropKey(None if name.upper() == "PRIMARY" else name, offset), exists)
    if cursor.accept_any("CHECK", "CONSTRAINT"):
        exists = cursor.accept_if_exists()
        offset = cursor.token.start
        return _conditional(DropCheck(cursor.name("constraint"), offset), exists)
    if cursor.accept("FOREIGN", "KEY"):
        exists = cursor.accept_if_exists()
        offset = cursor.token.start
        return _conditional(DropForeignKey(cursor.name("foreign key"), offset), exists)
    cursor.accept("COLUMN")
    exists = cursor.accept_if_exists()
    offset = cursor.token.start
    dropped = _conditional(DropColumn(cursor.name("column"), offset), exists)
    if cursor.grammar.drops_restrict:
        cursor.accept_any("RESTRICT", "CASCADE")
    return dropped


def _rename(cursor: Cursor) -> Action:
    if cursor.accept("COLUMN"):
        exists = cursor.accept_if_exists()
        offset = cursor.token.start
        old = cursor.name("column")
        cursor.expect("TO")
        return _conditional(RenameColumn(old, cursor.name("column"), offset), exists)
    if cursor.accept_any("INDEX", "KEY"):
        exists = cursor.accept_if_exists()
        offset = cursor.token.start
        old = cursor.name("key")
        cursor.expect("TO")
        return _conditional(RenameKey(old, cursor.name("key"), offset), exists)
    if not cursor.accept_any("TO", "AS"):
        cursor.accept_mark("=")
    return RenameTo(table_ref(cursor))


def _alter(cursor: Cursor) -> list[Action]:
    """ALTER [COLUMN], ALTER INDEX, ALTER CHECK."""
    if cursor.accept("INDEX") or (cursor.grammar.ignored_keys and cursor.accept("KEY")):
        cursor.accept_if_exists()
        cursor.name("key")
        if cursor.grammar.ignored_keys:
            cursor.accept("NOT")
            cursor.expect("IGNORED")
        elif not cursor.accept_any("VISIBLE", "INVISIBLE"):
            cursor.wrong("VISIBLE or INVISIBLE", ("VISIBLE", "INVISIBLE"))
        return [SetOptions(TableOptions())]
    if cursor.grammar.enforces_checks and cursor.accept_any("CHECK", "CONSTRAINT"):
        offset = cursor.token.start
        name = cursor.name("constraint")
        enforced = not cursor.accept("NOT")
        cursor.expect("ENFORCED")
        return [EnforceCheck(name, enforced, offset)]
    cursor.accept("COLUMN")
    exists = cursor.accept_if_exists()
    offset = cursor.token.start
    name = cursor.name("column")
    if cursor.accept("DROP", "DEFAULT"):
        return [_conditional(AlterColumn(name, offset), exists)]
    cursor.expect("SET")
    if cursor.grammar.storage_attributes and (word := cursor.accept_any("VISIBLE", "INVISIBLE")):
        return [AlterColumn(name, offset, visible=word == "VISIBLE")]
    cursor.expect("DEFAULT")
    return [_conditional(AlterColumn(name, offset, default=set_default(cursor)), exists)]
