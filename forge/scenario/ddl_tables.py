"""Grammar of CREATE TABLE and ALTER TABLE."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from forge.scenario.ddl_columns import (
    charset_name,
    check_constraint,
    collation_name,
    column_definition,
    default_clause,
)
from forge.scenario.ddl_foreign_keys import foreign_key, is_foreign_key, table_ref
from forge.scenario.ddl_partitions import alter_partitions, partition_clause
from forge.scenario.ddl_select import begins_definition, begins_select, select
from forge.scenario.engines import engine_named
from forge.scenario.syntax import (
    Action,
    AddCheck,
    AddColumn,
    AddForeignKey,
    AddKey,
    AlterColumn,
    AlterTable,
    ChangeColumn,
    CharsetClause,
    CheckDraft,
    ColumnDraft,
    ConvertCharset,
    CreateLike,
    CreateTable,
    DropCheck,
    DropColumn,
    DropForeignKey,
    DropKey,
    ForeignKeyDraft,
    KeyDraft,
    PartDraft,
    Place,
    RenameColumn,
    RenameKey,
    RenameTo,
    SetOptions,
    TableOptions,
)
from forge.scenario.tokens import Cursor, SqlUnsupported

_KEY_WORDS = ("PRIMARY", "UNIQUE", "KEY", "INDEX", "FULLTEXT", "SPATIAL", "CONSTRAINT", "FOREIGN", "CHECK")
#: Table options that leave no trace in a binlog.
_IDLE_OPTIONS = (
    "AUTOEXTEND_SIZE", "AVG_ROW_LENGTH", "CHECKSUM", "COMMENT", "COMPRESSION", "DELAY_KEY_WRITE", "ENCRYPTION",
    "ENGINE_ATTRIBUTE", "INSERT_METHOD", "KEY_BLOCK_SIZE", "MAX_ROWS", "MIN_ROWS", "PACK_KEYS", "ROW_FORMAT",
    "SECONDARY_ENGINE_ATTRIBUTE", "STATS_AUTO_RECALC", "STATS_PERSISTENT", "STATS_SAMPLE_PAGES", "TABLESPACE",
)  # fmt: skip
_OPTIONS = (*_IDLE_OPTIONS, "AUTO_INCREMENT", "CHARACTER SET", "CHARSET", "COLLATE", "DEFAULT", "ENGINE")
_UNSUPPORTED_ACTIONS = (
    "ORDER", "DISCARD", "IMPORT", "ENABLE", "DISABLE", "PARTITION", "COALESCE", "REORGANIZE", "EXCHANGE",
    "ANALYZE", "REBUILD", "REMOVE", "TRUNCATE", "WITH", "WITHOUT",
)  # fmt: skip
_ACTIONS = ("ADD", "ALTER", "CHANGE", "CONVERT", "DROP", "FORCE", "MODIFY", "RENAME", "ALGORITHM", "LOCK", *_OPTIONS)


def create_table(cursor: Cursor) -> CreateTable | CreateLike:
    """What follows CREATE TABLE.  Raises SqlError, SqlUnsupported for most of SELECT."""
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    table = table_ref(cursor)
    if cursor.accept("LIKE"):
        return CreateLike(table, table_ref(cursor), if_not_exists)
    columns: list[ColumnDraft] = []
    keys: list[KeyDraft] = []
    checks: list[CheckDraft] = []
    foreign_keys: list[ForeignKeyDraft] = []
    defined = begins_definition(cursor)
    if defined:
        cursor.expect_mark("(")
    if defined and cursor.accept("LIKE"):
        like = table_ref(cursor)
        cursor.expect_mark(")")
        return CreateLike(table, like, if_not_exists)
    while defined:
        if _is_check(cursor):
            checks.append(check_constraint(cursor))
        elif is_foreign_key(cursor):
            foreign_keys.append(foreign_key(cursor))
        elif _is_key(cursor):
            keys.append(key_definition(cursor))
        else:
            columns.append(column_definition(cursor))
        if not cursor.accept_mark(","):
            break
    if defined and not cursor.accept_mark(")"):
        cursor.wrong("a comma or ')'")
    options = TableOptions()
    partitions = None
    selected = None
    while not cursor.at("end"):
        if begins_select(cursor):
            selected = select(cursor)
            break
        if cursor.token.is_word("PARTITION"):
            partitions = partition_clause(cursor)
            break
        options = table_option(cursor, options)
        cursor.accept_mark(",")
    return CreateTable(
        table,
        tuple(columns),
        tuple(keys),
        options,
        if_not_exists,
        tuple(checks),
        tuple(foreign_keys),
        partitions,
        selected,
    )


def _is_check(cursor: Cursor) -> bool:
    """CHECK, CONSTRAINT CHECK or CONSTRAINT name CHECK."""
    named = cursor.token.is_word("CONSTRAINT")
    return cursor.token.is_word("CHECK") or (named and any(cursor.following(n).is_word("CHECK") for n in (1, 2)))


def _is_key(cursor: Cursor) -> bool:
    return cursor.token.is_word(*_KEY_WORDS)


def key_definition(cursor: Cursor) -> KeyDraft:
    """A key in a table definition or after ADD.  Raises SqlError."""
    offset = cursor.token.start
    name = None
    if cursor.accept("CONSTRAINT") and not cursor.token.is_word(*_KEY_WORDS):
        name = cursor.name("constraint")
    kind: Literal["primary", "unique", "index"] = "index"
    special: Literal["", "FULLTEXT", "SPATIAL"] = ""
    if cursor.accept("PRIMARY"):
        cursor.expect("KEY")
        kind = "primary"
    elif cursor.accept("UNIQUE"):
        cursor.accept_any("KEY", "INDEX")
        kind = "unique"
    elif cursor.token.is_word("FULLTEXT", "SPATIAL"):
        special = "FULLTEXT" if cursor.advance().is_word("FULLTEXT") else "SPATIAL"
        cursor.accept_any("KEY", "INDEX")
    elif not cursor.accept_any("KEY", "INDEX"):
        cursor.wrong("PRIMARY KEY, UNIQUE, KEY or INDEX", _KEY_WORDS)
    if not cursor.token.is_mark("(") and not cursor.token.is_word("USING", "TYPE"):
        own = cursor.name("key")
        name = None if kind == "primary" else own
    return key_body(cursor, KeyDraft(kind, None if kind == "primary" else name, (), offset, special))


def key_body(cursor: Cursor, key: KeyDraft) -> KeyDraft:
    """The columns and options of a key."""
    key = _key_options(cursor, key)
    cursor.expect_mark("(")
    parts = [_key_part(cursor)]
    while cursor.accept_mark(","):
        parts.append(_key_part(cursor))
    if not cursor.accept_mark(")"):
        cursor.wrong("a comma or ')'")
    return replace(_key_options(cursor, key), parts=tuple(parts))


def _key_part(cursor: Cursor) -> PartDraft:
    offset = cursor.token.start
    if cursor.token.is_mark("("):
        expression = cursor.balanced()
        return PartDraft("", None, offset, expression, cursor.accept_any("ASC", "DESC") == "DESC")
    name = cursor.name("column")
    prefix = None
    if cursor.accept_mark("("):
        prefix = cursor.integer("a prefix length")
        cursor.expect_mark(")")
    return PartDraft(name, prefix, offset, descending=cursor.accept_any("ASC", "DESC") == "DESC")


def _key_options(cursor: Cursor, key: KeyDraft) -> KeyDraft:
    while True:
        if cursor.accept_any("USING", "TYPE"):
            using = cursor.accept_any("BTREE", "HASH", "RTREE")
            if using is None:
                cursor.wrong("BTREE or HASH", ("BTREE", "HASH"))
            key = replace(key, using=using)
        elif cursor.accept("KEY_BLOCK_SIZE"):
            cursor.accept_mark("=")
            cursor.integer("a size")
        elif cursor.accept("WITH", "PARSER"):
            cursor.name("parser")
        elif cursor.accept("COMMENT"):
            key = replace(key, comment=cursor.string("a comment"))
        elif cursor.accept_any("ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE"):
            cursor.accept_mark("=")
            cursor.string("an attribute")
        elif word := cursor.accept_any("VISIBLE", "INVISIBLE"):
            key = replace(key, visible=word == "VISIBLE")
        else:
            return key


def table_option(cursor: Cursor, options: TableOptions) -> TableOptions:
    """One option of a table, taken into ``options``.  Raises SqlError, SqlUnsupported for SELECT."""
    offset = cursor.token.start
    charset = options.charset
    cursor.accept("DEFAULT")
    if cursor.accept("CHARACTER", "SET") or cursor.accept("CHAR", "SET") or cursor.accept("CHARSET"):
        cursor.accept_mark("=")
        return replace(options, charset=replace(charset, charset=charset_name(cursor), offset=offset))
    if cursor.accept("COLLATE"):
        cursor.accept_mark("=")
        return replace(options, charset=replace(charset, collation=collation_name(cursor), offset=offset))
    if cursor.accept("AUTO_INCREMENT"):
        cursor.accept_mark("=")
        return replace(options, auto_increment=cursor.integer("a number"))
    if cursor.accept("ENGINE"):
        cursor.accept_mark("=")
        engine = cursor.advance().text.strip("'\"`")
        return replace(options, engine=engine_named(engine, offset), rebuild=True)
    rebuild = cursor.token.is_word("ROW_FORMAT", "KEY_BLOCK_SIZE")
    name: str | None
    if cursor.accept("DATA") or cursor.accept("INDEX"):
        cursor.expect("DIRECTORY")
        name = "DIRECTORY"
    else:
        name = cursor.accept_any(*_IDLE_OPTIONS)
        if name is None:
            cursor.wrong("a table option", _OPTIONS)
    cursor.accept_mark("=")
    if cursor.at("end"):
        cursor.wrong("the option's value")
    idle = (*options.idle, (name, cursor.advance().text))
    return replace(options, rebuild=options.rebuild or rebuild, idle=idle)


def alter_table(cursor: Cursor) -> AlterTable:
    """What follows ALTER TABLE.  Raises SqlError and SqlUnsupported."""
    table = table_ref(cursor)
    actions: list[Action] = []
    copy = False
    while True:
        if cursor.token.is_word("ALGORITHM", "LOCK"):
            copy |= locking(cursor)
        else:
            actions += alter_action(cursor)
        # Options of the table may stand without a comma.
        if not cursor.accept_mark(",") and cursor.at("end"):
            return AlterTable(table, tuple(actions), copy=copy)


def locking(cursor: Cursor) -> bool:
    """ALGORITHM and LOCK clauses; whether a copy is asked for."""
    copy = False
    while word := cursor.accept_any("ALGORITHM", "LOCK"):
        cursor.accept_mark("=")
        copy |= cursor.advance().is_word("COPY") and word == "ALGORITHM"
    return copy


def alter_action(cursor: Cursor) -> list[Action]:
    """One action of ALTER TABLE; an ADD of several columns in parentheses is several."""
    offset = cursor.token.start
    if partitions := alter_partitions(cursor):
        return [partitions]
    if cursor.accept("ADD"):
        return _add(cursor)
    if cursor.accept("DROP"):
        return [_drop(cursor, offset)]
    if cursor.accept("MODIFY"):
        cursor.accept("COLUMN")
        column = column_definition(cursor)
        return [ChangeColumn(column.name, column, _place(cursor), column.offset)]
    if cursor.accept("CHANGE"):
        cursor.accept("COLUMN")
        place = cursor.token.start
        old = cursor.name("column")
        return [ChangeColumn(old, column_definition(cursor), _place(cursor), place)]
    if cursor.accept("RENAME"):
        return [_rename(cursor)]
    if cursor.accept("ALTER"):
        return _alter(cursor)
    if cursor.accept("CONVERT", "TO"):
        return [_convert(cursor)]
    if cursor.accept("FORCE"):
        return [SetOptions(TableOptions(rebuild=True))]
    if cursor.token.is_word(*_UNSUPPORTED_ACTIONS):
        word = cursor.token.text.upper()
        raise SqlUnsupported(f"ALTER TABLE ... {word} is not supported yet", offset)
    if cursor.at("end") or not cursor.token.is_word("CHARACTER", "CHAR", *_OPTIONS):
        cursor.wrong("an action of ALTER TABLE", _ACTIONS)
    return [SetOptions(table_option(cursor, TableOptions()))]


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
    if _is_check(cursor):
        return [AddCheck(check_constraint(cursor))]
    if is_foreign_key(cursor):
        return [AddForeignKey(foreign_key(cursor))]
    if _is_key(cursor):
        return [AddKey(key_definition(cursor))]
    cursor.accept("COLUMN")
    if not cursor.accept_mark("("):
        column = column_definition(cursor)
        return [AddColumn(column, _place(cursor))]
    actions: list[Action] = []
    while True:
        if _is_check(cursor):
            actions.append(AddCheck(check_constraint(cursor)))
        elif is_foreign_key(cursor):
            actions.append(AddForeignKey(foreign_key(cursor)))
        elif _is_key(cursor):
            actions.append(AddKey(key_definition(cursor)))
        else:
            actions.append(AddColumn(column_definition(cursor), None))
        if not cursor.accept_mark(","):
            break
    cursor.expect_mark(")")
    return actions


def _drop(cursor: Cursor, offset: int) -> Action:
    if cursor.accept("PRIMARY", "KEY"):
        return DropKey(None, offset)
    if cursor.accept_any("INDEX", "KEY"):
        offset = cursor.token.start
        return DropKey(cursor.name("key"), offset)
    if cursor.accept_any("CHECK", "CONSTRAINT"):
        offset = cursor.token.start
        return DropCheck(cursor.name("constraint"), offset)
    if cursor.accept("FOREIGN", "KEY"):
        offset = cursor.token.start
        return DropForeignKey(cursor.name("foreign key"), offset)
    cursor.accept("COLUMN")
    offset = cursor.token.start
    return DropColumn(cursor.name("column"), offset)


def _rename(cursor: Cursor) -> Action:
    if cursor.accept("COLUMN"):
        offset = cursor.token.start
        old = cursor.name("column")
        cursor.expect("TO")
        return RenameColumn(old, cursor.name("column"), offset)
    if cursor.accept_any("INDEX", "KEY"):
        offset = cursor.token.start
        old = cursor.name("key")
        cursor.expect("TO")
        return RenameKey(old, cursor.name("key"), offset)
    cursor.accept_any("TO", "AS")
    return RenameTo(table_ref(cursor))


def _alter(cursor: Cursor) -> list[Action]:
    """ALTER [COLUMN] and ALTER INDEX."""
    if cursor.accept("INDEX"):
        cursor.name("key")
        if not cursor.accept_any("VISIBLE", "INVISIBLE"):
            cursor.wrong("VISIBLE or INVISIBLE", ("VISIBLE", "INVISIBLE"))
        return []
    if cursor.token.is_word("CHECK", "CONSTRAINT"):
        raise SqlUnsupported("CHECK constraints are not supported yet", cursor.token.start)
    cursor.accept("COLUMN")
    offset = cursor.token.start
    name = cursor.name("column")
    if cursor.accept("DROP", "DEFAULT"):
        return [AlterColumn(name, offset)]
    cursor.expect("SET")
    if word := cursor.accept_any("VISIBLE", "INVISIBLE"):
        return [AlterColumn(name, offset, visible=word == "VISIBLE")]
    cursor.expect("DEFAULT")
    return [AlterColumn(name, offset, default=default_clause(cursor))]
