"""Grammar of CREATE TABLE."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from forge.sql.ast.definitions import ColumnDraft, KeyDraft, PartDraft, PeriodDraft, TableOptions, TablePart
from forge.sql.ast.statements import CreateTable
from forge.sql.cursor import Cursor
from forge.sql.parse.columns import (
    accept_option,
    charset_clause,
    check_constraint,
    column_definition,
    option_value,
)
from forge.sql.parse.names import table_ref
from forge.sql.parse.partition_clauses import partition_clause
from forge.sql.parse.references import foreign_key, is_foreign_key
from forge.sql.parse.select import begins_definition, begins_select, select

_KEY_WORDS = ("PRIMARY", "UNIQUE", "KEY", "INDEX", "FULLTEXT", "SPATIAL", "CONSTRAINT", "FOREIGN", "CHECK")
SPECIAL_KEYS: dict[str, Literal["FULLTEXT", "SPATIAL", "VECTOR"]] = {
    "FULLTEXT": "FULLTEXT", "SPATIAL": "SPATIAL", "VECTOR": "VECTOR",
}  # fmt: skip
#: Table options that leave no trace in a binlog.
_IDLE_OPTIONS = (
    "AUTOEXTEND_SIZE", "AVG_ROW_LENGTH", "CHECKSUM", "COMMENT", "COMPRESSION", "CONNECTION", "DELAY_KEY_WRITE",
    "ENCRYPTED", "ENCRYPTION", "ENCRYPTION_KEY_ID", "ENGINE_ATTRIBUTE", "IETF_QUOTES", "INSERT_METHOD",
    "KEY_BLOCK_SIZE", "MAX_ROWS", "MIN_ROWS", "PACK_KEYS", "PAGE_CHECKSUM", "PAGE_COMPRESSED", "PAGE_COMPRESSION_LEVEL",
    "PASSWORD", "ROW_FORMAT", "SECONDARY_ENGINE", "SECONDARY_ENGINE_ATTRIBUTE", "STATS_AUTO_RECALC", "STATS_PERSISTENT",
    "STATS_SAMPLE_PAGES", "STORAGE", "TABLESPACE", "TRANSACTIONAL", "UNION",
)  # fmt: skip
_IDLE_KEY_OPTIONS = ("KEY_BLOCK_SIZE", "ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE")
TABLE_OPTIONS = (*_IDLE_OPTIONS, "AUTO_INCREMENT", "CHARACTER SET", "CHARSET", "COLLATE", "DEFAULT", "ENGINE")


def create_table(cursor: Cursor) -> CreateTable:
    """What follows CREATE TABLE.  Raises SqlError, SqlUnsupported for most of SELECT."""
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    table = table_ref(cursor)
    if cursor.accept("LIKE"):
        return CreateTable(table, if_not_exists=if_not_exists, like=table_ref(cursor))
    columns: list[ColumnDraft] = []
    parts: list[TablePart] = []
    defined = begins_definition(cursor)
    if defined:
        cursor.expect_mark("(")
    if defined and cursor.accept("LIKE"):
        like = table_ref(cursor)
        cursor.expect_mark(")")
        return CreateTable(table, if_not_exists=if_not_exists, like=like)
    while defined:
        part = table_part(cursor)
        if part is not None:
            parts.append(part)
        else:
            columns.append(column_definition(cursor))
        if not cursor.accept_mark(","):
            break
    if defined and not cursor.accept_mark(")"):
        cursor.wrong("a comma or ')'")
    options = TableOptions()
    partitions = None
    selected = None
    while not cursor.at_end():
        if begins_select(cursor):
            selected = select(cursor)
            break
        if cursor.token.is_word("PARTITION"):
            partitions = partition_clause(cursor)
            break
        options = table_option(cursor, options)
        cursor.accept_mark(",")
    return CreateTable(table, tuple(columns), tuple(parts), options, if_not_exists, partitions, selected)


def table_part(cursor: Cursor) -> TablePart | None:
    """A period, a CHECK, a foreign key or a key; None if a column comes next."""
    if cursor.takes("PERIOD", "FOR") and cursor.following(3).is_mark("("):
        return _period(cursor)
    if _is_check(cursor):
        return check_constraint(cursor)
    if is_foreign_key(cursor):
        return foreign_key(cursor)
    behind = cursor.following()
    is_vector = cursor.token.is_word("VECTOR") and (behind.is_word("KEY", "INDEX") or behind.is_mark("("))
    return _key_definition(cursor) if is_vector or cursor.token.is_word(*_KEY_WORDS) else None


def _period(cursor: Cursor) -> PeriodDraft:
    """``PERIOD FOR name (begin, end)``.  Raises SqlError."""
    offset = cursor.token.start
    cursor.expect("PERIOD", "FOR")
    name = cursor.name("period")
    cursor.expect_mark("(")
    start = cursor.name("column")
    cursor.expect_mark(",")
    end = cursor.name("column")
    cursor.expect_mark(")")
    return PeriodDraft(name, start, end, offset)


def _is_check(cursor: Cursor) -> bool:
    """Whether ``[CONSTRAINT [IF NOT EXISTS] [name]] CHECK`` comes next."""
    if not cursor.token.is_word("CONSTRAINT"):
        return cursor.token.is_word("CHECK")
    ahead = 4 if cursor.takes("CONSTRAINT", "IF", "NOT", "EXISTS") else 1
    return cursor.following(ahead).is_word("CHECK") or cursor.following(ahead + 1).is_word("CHECK")


def _key_definition(cursor: Cursor) -> KeyDraft:
    """A key in a table definition or after ADD.  Raises SqlError."""
    offset = cursor.token.start
    name = None
    if cursor.accept("CONSTRAINT") and not cursor.token.is_word(*_KEY_WORDS):
        name = cursor.name("constraint")
    kind: Literal["primary", "unique", "index"] = "index"
    special: Literal["", "FULLTEXT", "SPATIAL", "VECTOR"] = ""
    if cursor.accept("PRIMARY"):
        cursor.expect("KEY")
        kind = "primary"
    elif cursor.accept("UNIQUE"):
        cursor.accept_any("KEY", "INDEX")
        kind = "unique"
    elif word := cursor.accept_any(*SPECIAL_KEYS):
        special = SPECIAL_KEYS[word]
        cursor.accept_any("KEY", "INDEX")
    elif not cursor.accept_any("KEY", "INDEX"):
        cursor.wrong("PRIMARY KEY, UNIQUE, KEY or INDEX", _KEY_WORDS)
    cursor.accept("IF", "NOT", "EXISTS")
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
        return _ordered(cursor, PartDraft("", None, offset, expression))
    name = cursor.name("column")
    prefix = None
    if cursor.accept("WITHOUT", "OVERLAPS"):
        return PartDraft(name, None, offset, without_overlaps=True)
    if cursor.accept_mark("("):
        prefix = cursor.integer("a prefix length")
        cursor.expect_mark(")")
    return _ordered(cursor, PartDraft(name, prefix, offset))


def _ordered(cursor: Cursor, part: PartDraft) -> PartDraft:
    """The part with ASC or DESC, where one of them comes next."""
    word = cursor.accept_any("ASC", "DESC")
    return replace(part, descending=word == "DESC")


def _key_options(cursor: Cursor, key: KeyDraft) -> KeyDraft:
    while True:
        if not key.special and cursor.accept_any("USING", "TYPE"):
            key = replace(key, using=cursor.expect_any("BTREE", "HASH", "RTREE"))
        elif cursor.accept("WITH", "PARSER"):
            cursor.name("parser")
        elif cursor.accept("COMMENT"):
            key = replace(key, comment=cursor.string("a comment"))
        elif word := cursor.accept_any("VISIBLE", "INVISIBLE", "IGNORED"):
            key = replace(key, visible=word == "VISIBLE")
        elif cursor.accept("NOT", "IGNORED"):
            key = replace(key, visible=True)
        elif not accept_option(cursor, *_IDLE_KEY_OPTIONS):
            return key


def table_option(cursor: Cursor, options: TableOptions) -> TableOptions:
    """One option of a table, taken into ``options``.  Raises SqlError."""
    offset = cursor.token.start
    cursor.accept("DEFAULT")
    if clause := charset_clause(cursor, options.charset):
        return replace(options, charset=clause)
    if cursor.accept("AUTO_INCREMENT"):
        cursor.accept_mark("=")
        return replace(options, auto_increment=cursor.integer("a number"))
    if cursor.accept("ENGINE"):
        cursor.accept_mark("=")
        return replace(options, engine=cursor.advance().text, engine_offset=offset)
    if cursor.accept("WITH", "SYSTEM", "VERSIONING"):
        return replace(options, versioned=True)
    if cursor.accept("START", "TRANSACTION"):
        return options  # What MySQL logs of CREATE TABLE ... SELECT.
    if cursor.accept_any("DATA", "INDEX"):
        cursor.expect("DIRECTORY")
        return replace(options, idle=(*options.idle, ("DIRECTORY", option_value(cursor))))
    idle = accept_option(cursor, *_IDLE_OPTIONS) or cursor.wrong("a table option", TABLE_OPTIONS)
    return replace(options, idle=(*options.idle, idle))
