"""Grammar of ALTER TABLE."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from typing import Literal

from forge.sql.ast import actions as act
from forge.sql.ast.actions import Action, Conditional
from forge.sql.ast.definitions import CharsetClause, Place, TableOptions
from forge.sql.ast.statements import AlterTable
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlUnsupported
from forge.sql.parse.columns import charset_clause, column_definition, is_named_option
from forge.sql.parse.defaults import set_default
from forge.sql.parse.names import table_ref
from forge.sql.parse.partition_clauses import alter_partitions
from forge.sql.parse.tables import TABLE_OPTIONS, table_option, table_part

_ALGORITHMS = ("DEFAULT", "INPLACE", "COPY", "INSTANT", "NOCOPY")
_LOCKS = ("DEFAULT", "NONE", "SHARED", "EXCLUSIVE")
_ACTIONS = (
    "ADD", "ALTER", "CHANGE", "CONVERT", "DROP", "FORCE", "MODIFY", "RENAME", "ALGORITHM", "LOCK", "ORDER", "ENABLE",
    "DISABLE", *TABLE_OPTIONS,
)  # fmt: skip
#: What DROP and RENAME name, by the words before it.
_DROPPED: dict[str, Literal["column", "key", "foreign key", "constraint", "period"]] = {
    "INDEX": "key", "KEY": "key", "CHECK": "constraint", "CONSTRAINT": "constraint", "FOREIGN KEY": "foreign key",
    "PERIOD FOR": "period", "COLUMN": "column",
}  # fmt: skip
_RENAMED: dict[str, Literal["column", "key"]] = {"COLUMN": "column", "INDEX": "key", "KEY": "key"}


def alter_table(cursor: Cursor) -> AlterTable:
    """What follows ALTER TABLE.  Raises SqlError and SqlUnsupported."""
    if_exists = cursor.accept("IF", "EXISTS")
    table = table_ref(cursor)
    cursor.accept_wait()
    actions: list[Action] = []
    comma = False
    while comma or not cursor.at_end():
        if cursor.token.is_word("ALGORITHM", "LOCK"):
            locking(cursor)
        elif cursor.accept_any("WITH", "WITHOUT"):
            cursor.expect("VALIDATION")
        else:
            actions += alter_action(cursor)
        # Options of the table may stand without a comma.
        comma = cursor.accept_mark(",")
    return AlterTable(table, tuple(actions), if_exists=if_exists)


def locking(cursor: Cursor) -> None:
    """ALGORITHM and LOCK clauses."""
    while word := cursor.accept_any("ALGORITHM", "LOCK"):
        cursor.accept_mark("=")
        cursor.expect_any(*(_LOCKS if word == "LOCK" else _ALGORITHMS))


def alter_action(cursor: Cursor) -> list[Action]:
    """One action of ALTER TABLE; an ADD of several columns in parentheses is several."""
    offset = cursor.token.start
    if partitions := alter_partitions(cursor):
        return [partitions]
    if word := next((word for word in ("ADD", "DROP") if cursor.accept(word, "SYSTEM", "VERSIONING")), None):
        return [act.SetVersioning(word == "ADD")]
    if cursor.accept("CONVERT", "TO"):
        return [_convert(cursor, offset)]
    if cursor.accept("ORDER", "BY"):
        return [_order(cursor, offset)]
    word = cursor.accept_any(*_VERBS)
    if word is not None:
        return _VERBS[word](cursor, offset)
    if cursor.token.is_word("DISCARD", "IMPORT"):
        raise SqlUnsupported(f"ALTER TABLE ... {cursor.token.text.upper()} is not supported yet", offset)
    if not (cursor.token.is_word("CHARACTER", "CHAR", *TABLE_OPTIONS) or is_named_option(cursor)):
        cursor.wrong("an action of ALTER TABLE", _ACTIONS)
    return [act.SetOptions(table_option(cursor, TableOptions()))]


def _conditional(action: act.PlainAction, conditional: bool, *, exists: bool = True) -> Action:
    return Conditional(action, exists) if conditional else action


def _modify(cursor: Cursor, offset: int) -> list[Action]:
    cursor.accept("COLUMN")
    exists = cursor.accept("IF", "EXISTS")
    column = column_definition(cursor)
    return [_conditional(act.ChangeColumn(column.name, column, _place(cursor), column.offset), exists)]


def _change(cursor: Cursor, offset: int) -> list[Action]:
    cursor.accept("COLUMN")
    exists = cursor.accept("IF", "EXISTS")
    offset = cursor.token.start
    old = cursor.name("column")
    return [_conditional(act.ChangeColumn(old, column_definition(cursor), _place(cursor), offset), exists)]


def _force(cursor: Cursor, offset: int) -> list[Action]:
    return [act.SetOptions(TableOptions())]


def _switch(cursor: Cursor, offset: int) -> list[Action]:
    cursor.expect("KEYS")
    return [act.SwitchKeys()]


def _order(cursor: Cursor, offset: int) -> act.OrderRows:
    names = []
    while True:
        names.append(cursor.name("column"))
        cursor.accept_any("ASC", "DESC")
        if not cursor.token.is_mark(",") or cursor.following().is_word(*_ACTIONS):
            return act.OrderRows(tuple(names), offset)
        cursor.advance()


def _convert(cursor: Cursor, offset: int) -> act.ConvertCharset:
    clause = CharsetClause(offset=offset)
    if not cursor.accept("CHARACTER", "SET", "DEFAULT") and not cursor.accept("CHARSET", "DEFAULT"):
        if not cursor.token.is_word("CHARACTER", "CHAR", "CHARSET"):
            cursor.wrong("CHARACTER SET", ("CHARACTER SET", "CHARSET"))
        clause = charset_clause(cursor, clause) or clause
    clause = charset_clause(cursor, clause) or clause
    if "binary" in (clause.charset, clause.collation):
        raise SqlUnsupported("CONVERT TO CHARACTER SET binary is not supported yet", offset)
    return act.ConvertCharset(clause)


def _place(cursor: Cursor) -> Place | None:
    offset = cursor.token.start
    if cursor.accept("FIRST"):
        return Place(None, offset)
    return Place(cursor.name("column"), offset) if cursor.accept("AFTER") else None


def _add(cursor: Cursor, offset: int) -> list[Action]:
    ahead = takewhile(lambda token: not token.is_mark("("), (cursor.following(n) for n in range(8)))
    missing = any(token.is_word("EXISTS") for token in ahead)
    part = table_part(cursor)
    if part is not None:
        return [_conditional(act.Add(part), missing, exists=False)]
    cursor.accept("COLUMN")
    missing = cursor.accept("IF", "NOT", "EXISTS")
    if not cursor.accept_mark("("):
        column = column_definition(cursor)
        return [_conditional(act.AddColumn(column, _place(cursor)), missing, exists=False)]
    actions: list[Action] = []
    while not actions or cursor.accept_mark(","):
        part = table_part(cursor)
        added = act.AddColumn(column_definition(cursor), None) if part is None else act.Add(part)
        actions.append(_conditional(added, missing and part is None, exists=False))
    cursor.expect_mark(")")
    return actions


def _drop(cursor: Cursor, offset: int) -> list[Action]:
    if cursor.accept("PRIMARY", "KEY"):
        return [act.Drop("key", "PRIMARY", offset)]
    words = next((words for words in _DROPPED if cursor.accept(*words.split())), "COLUMN")
    kind = _DROPPED[words]
    exists = cursor.accept("IF", "EXISTS")
    offset = cursor.token.start
    action = _conditional(act.Drop(kind, cursor.name(kind), offset), exists)
    cursor.accept_any("RESTRICT", "CASCADE")
    return [action]


def _rename(cursor: Cursor, offset: int) -> list[Action]:
    word = cursor.accept_any(*_RENAMED)
    if word is None:
        if not cursor.accept_any("TO", "AS"):
            cursor.accept_mark("=")
        return [act.RenameTo(table_ref(cursor))]
    kind = _RENAMED[word]
    exists = cursor.accept("IF", "EXISTS")
    offset = cursor.token.start
    old = cursor.name(kind)
    cursor.expect("TO")
    return [_conditional(act.Rename(kind, old, cursor.name(kind), offset), exists)]


def _alter(cursor: Cursor, offset: int) -> list[Action]:
    """ALTER [COLUMN], ALTER INDEX, ALTER CHECK."""
    if cursor.accept_any("INDEX", "KEY"):
        cursor.accept("IF", "EXISTS")
        cursor.name("key")
        cursor.accept("NOT")
        cursor.expect_any("VISIBLE", "INVISIBLE", "IGNORED")
        return [act.SetOptions(TableOptions())]
    if cursor.accept_any("CHECK", "CONSTRAINT"):
        offset = cursor.token.start
        name = cursor.name("constraint")
        enforced = not cursor.accept("NOT")
        cursor.expect("ENFORCED")
        return [act.EnforceCheck(name, enforced, offset)]
    cursor.accept("COLUMN")
    exists = cursor.accept("IF", "EXISTS")
    offset = cursor.token.start
    name = cursor.name("column")
    if cursor.accept("DROP", "DEFAULT"):
        return [_conditional(act.AlterColumn(name, offset), exists)]
    cursor.expect("SET")
    if word := cursor.accept_any("VISIBLE", "INVISIBLE"):
        return [act.AlterColumn(name, offset, visible=word == "VISIBLE")]
    cursor.expect("DEFAULT")
    return [_conditional(act.AlterColumn(name, offset, default=set_default(cursor)), exists)]


_VERBS: dict[str, Callable[[Cursor, int], list[Action]]] = {
    "ADD": _add,
    "ALTER": _alter,
    "CHANGE": _change,
    "DISABLE": _switch,
    "DROP": _drop,
    "ENABLE": _switch,
    "FORCE": _force,
    "MODIFY": _modify,
    "RENAME": _rename,
}
