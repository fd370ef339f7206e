"""Data definition statements: from SQL text to what it says."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Literal

from msgspec.structs import replace

from forge.errors import nearest
from forge.servers.facts.grammar import Grammar
from forge.sql.ast.actions import Action, Add, Conditional, Drop, PlainAction
from forge.sql.ast.definitions import CharsetClause, KeyDraft
from forge.sql.ast.statements import (
    AlterTable,
    CreateTable,
    DatabaseStatement,
    Ddl,
    DropTables,
    RenameTables,
    TruncateTable,
)
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError, SqlUnsupported
from forge.sql.lexer import NO_MODES, Modes, scan
from forge.sql.parse.alter import alter_table, locking
from forge.sql.parse.columns import accept_option, charset_clause, option_value
from forge.sql.parse.names import table_ref, table_refs
from forge.sql.parse.objects import Head, flush, read_head, sequence, trigger, unmade, upkeep, view
from forge.sql.parse.tables import SPECIAL_KEYS, create_table, key_body

_OBJECTS = ("TABLE", "INDEX", "DATABASE", "SCHEMA", "UNIQUE", "FULLTEXT", "SPATIAL")
#: Statements that servers log and this version does not make: they are rewritten, or need objects it does not track.
_OTHER_OBJECTS = (
    "EVENT", "FUNCTION", "LOGFILE", "LIBRARY", "MATERIALIZED", "PROCEDURE", "RESOURCE", "ROLE", "SERVER",
    "TABLESPACE", "UNDO", "USER", "AGGREGATE", "INSTANCE", "JSON", "EXTERNAL",
)  # fmt: skip
_DML = ("INSERT", "UPDATE", "DELETE", "REPLACE", "SELECT", "LOAD", "WITH", "VALUES")
#: Characters of a statement that is remembered.
_KEPT_SIZE = 16384


def parse_ddl(sql: str, grammar: Grammar | None = None, modes: Modes = NO_MODES) -> Ddl:
    """What one data definition statement says, in the grammar of MySQL or MariaDB and under the modes of a session.

    Raises SqlError (a place in the text, what was expected, the nearest word) for text that no server accepts, and
    SqlUnsupported naming the statement for those that this version does not make.
    """
    return _kept(sql, grammar, modes) if len(sql) <= _KEPT_SIZE else _parsed(sql, grammar, modes)


@lru_cache(maxsize=64)
def _kept(sql: str, grammar: Grammar | None, modes: Modes) -> Ddl:
    """Remembered: a statement is read more than once, and the cases of a matrix have the same ones."""
    return _parsed(sql, grammar, modes)


def _parsed(sql: str, grammar: Grammar | None, modes: Modes) -> Ddl:
    cursor = Cursor(sql, grammar, modes)
    start = cursor.token
    if start.is_word(*_DML):
        raise SqlError(f"{start.text.upper()} is not a data definition", 0, expected="insert:, update: or delete:")
    verb = cursor.accept_any(*_VERBS)
    if verb is None:
        if start.is_word("GRANT", "REVOKE", "SET"):
            raise unmade(start.text.upper(), start.start)
        if start.kind == "word" and nearest(start.text.upper(), tuple(_VERBS)) is None:
            raise SqlUnsupported(f"{start.text.upper()} is not supported; {', '.join(_VERBS)} are", start.start)
        cursor.wrong("a data definition statement", tuple(_VERBS))
    statement = _VERBS[verb](cursor, Head(verb, start.start))
    if not cursor.at_end():
        cursor.wrong("the end of the statement")
    return statement


def parse_create_table(sql: str, grammar: Grammar | None = None) -> CreateTable:
    """A CREATE TABLE statement.  Raises SqlError if it is another."""
    statement = parse_ddl(sql, grammar)
    if not isinstance(statement, CreateTable):
        raise SqlError("this is not a table", 0, expected="CREATE TABLE")
    return statement


def _definition(cursor: Cursor, head: Head) -> Ddl:
    """What follows CREATE, ALTER and DROP."""
    head = read_head(cursor, head)
    first = cursor.token
    if head.temporary and not first.is_word("TABLE", "TABLES"):
        cursor.wrong("TABLE", ("TABLE",))
    word = cursor.accept_any(*_DEFINITIONS)
    if word is not None:
        return _DEFINITIONS[word](cursor, head)
    if first.is_word(*_OTHER_OBJECTS):
        raise unmade(f"{head.verb} {first.text.upper()}", first.start)
    return cursor.wrong("TABLE, DATABASE or INDEX", _OBJECTS)


def _table(cursor: Cursor, head: Head) -> Ddl:
    if head.verb == "CREATE":
        return replace(create_table(cursor), temporary=head.temporary, replaces=head.replaces)
    return alter_table(cursor) if head.verb == "ALTER" else _drop_tables(cursor, temporary=head.temporary)


def _truncate(cursor: Cursor, head: Head) -> TruncateTable:
    cursor.accept("TABLE")
    truncated = TruncateTable(table_ref(cursor))
    cursor.accept_wait()
    return truncated


def _rename(cursor: Cursor, head: Head) -> RenameTables:
    if cursor.token.is_word("USER"):
        raise unmade("RENAME USER", cursor.token.start)
    cursor.expect_any("TABLE", "TABLES")
    if_exists = cursor.accept("IF", "EXISTS")
    pairs = []
    while True:
        old = table_ref(cursor)
        cursor.accept_wait()
        cursor.expect("TO")
        pairs.append((old, table_ref(cursor)))
        if not cursor.accept_mark(","):
            return RenameTables(tuple(pairs), if_exists)


def _drop_tables(cursor: Cursor, *, temporary: bool) -> DropTables:
    if_exists = cursor.accept("IF", "EXISTS")
    before = next(scan(cursor.sql[cursor.previous_end : cursor.token.start]), None)
    comment = before.text if before is not None and before.text.startswith("/*") and not temporary else ""
    tables = table_refs(cursor)
    cursor.accept_wait()
    cursor.accept_any("RESTRICT", "CASCADE")
    return DropTables(tuple(tables), if_exists, temporary, comment)


def _database(cursor: Cursor, head: Head) -> DatabaseStatement:
    kinds: dict[str, Literal["create_database", "alter_database", "drop_database"]] = {
        "CREATE": "create_database", "ALTER": "alter_database", "DROP": "drop_database",
    }  # fmt: skip
    exists = cursor.accept("IF", "NOT", "EXISTS") or cursor.accept("IF", "EXISTS")
    offset = cursor.token.start
    name = None
    if head.verb != "ALTER" or not (cursor.at_end() or cursor.token.is_word(*_DATABASE_OPTIONS)):
        name = cursor.name("database")
    charset = CharsetClause(offset=offset)
    while not cursor.at_end():
        charset = _database_option(cursor, charset)
    return DatabaseStatement(kinds[head.verb], name, offset, charset, exists, head.replaces)


_DATABASE_OPTIONS = ("DEFAULT", "CHARACTER", "CHARSET", "COLLATE", "ENCRYPTION", "READ", "COMMENT")


def _database_option(cursor: Cursor, clause: CharsetClause) -> CharsetClause:
    offset = cursor.token.start
    cursor.accept("DEFAULT")
    if cursor.accept("READ", "ONLY"):
        if option_value(cursor).upper() == "1":
            raise SqlUnsupported("READ ONLY databases are not supported yet", offset)
        return clause
    if accept_option(cursor, "ENCRYPTION", "COMMENT"):
        return clause
    return charset_clause(cursor, clause) or cursor.wrong("an option of the database", _DATABASE_OPTIONS)


def _index(cursor: Cursor, head: Head, word: str = "INDEX") -> AlterTable:
    """CREATE and DROP INDEX; ``word`` is UNIQUE or another kind."""
    offset = cursor.previous_start
    if word != "INDEX":
        cursor.expect("INDEX")
    condition = cursor.accept("IF", "NOT", "EXISTS") or cursor.accept("IF", "EXISTS")
    place = cursor.token.start
    name = cursor.name("key")
    if cursor.accept_any("USING", "TYPE"):
        cursor.advance()
    cursor.expect("ON")
    table = table_ref(cursor)
    creates = head.verb == "CREATE"
    action: PlainAction = Drop("key", name, place)
    if creates:
        kind: Literal["unique", "index"] = "unique" if word == "UNIQUE" else "index"
        action = Add(key_body(cursor, KeyDraft(kind, name, (), offset, SPECIAL_KEYS.get(word, ""))))
    cursor.accept_wait()
    locking(cursor)
    actions: list[Action] = [Conditional(action, exists=not creates) if condition else action]
    if head.replaces:
        # CREATE OR REPLACE INDEX drops the key of that name first.
        actions.insert(0, Conditional(Drop("key", name, place), exists=True))
    return AlterTable(table, tuple(actions), "create_index" if creates else "drop_index")


_DEFINITIONS: dict[str, Callable[[Cursor, Head], Ddl]] = {
    **dict.fromkeys(("TABLE", "TABLES"), _table),
    **dict.fromkeys(("DATABASE", "SCHEMA"), _database),
    **{word: partial(_index, word=word) for word in ("UNIQUE", *SPECIAL_KEYS)},
    "INDEX": _index,
    "SEQUENCE": sequence,
    "TRIGGER": trigger,
    "VIEW": view,
}
_VERBS: dict[str, Callable[[Cursor, Head], Ddl]] = {
    **dict.fromkeys(("CREATE", "ALTER", "DROP"), _definition),
    "RENAME": _rename,
    "TRUNCATE": _truncate,
    **dict.fromkeys(("ANALYZE", "OPTIMIZE", "REPAIR", "CHECK", "CHECKSUM"), upkeep),
    "FLUSH": flush,
}
