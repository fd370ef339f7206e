"""Data definition statements: from SQL text to what it says."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Literal

from forge.errors import nearest
from forge.servers.facts.grammar import Grammar
from forge.sql.ast.alter_actions import Action, AddKey, Conditional, DropKey
from forge.sql.ast.definitions import CharsetClause, KeyDraft
from forge.sql.ast.objects import ObjectDdl
from forge.sql.ast.statements import (
    AlterTable,
    CreateTable,
    DatabaseStatement,
    DropTables,
    RenameTables,
    TableDdl,
    TruncateTable,
)
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError, SqlUnsupported
from forge.sql.lexer import scan
from forge.sql.parse.alter import alter_table, locking
from forge.sql.parse.columns import accept_option, charset_clause, option_value
from forge.sql.parse.names import table_ref, table_refs
from forge.sql.parse.objects import object_statement, unmade, upkeep
from forge.sql.parse.sequences import sequence_statement
from forge.sql.parse.tables import SPECIAL_KEYS, create_table, key_body

#: Statements that servers log and this version does not make: they are rewritten, or need objects it does not track.
_OTHER_OBJECTS = (
    "EVENT", "FUNCTION", "LOGFILE", "LIBRARY", "MATERIALIZED", "PROCEDURE", "RESOURCE", "ROLE", "SERVER",
    "TABLESPACE", "TRIGGER", "UNDO", "USER", "VIEW", "DEFINER", "OR", "AGGREGATE", "INSTANCE", "SQL",
    "JSON", "EXTERNAL", "ALGORITHM",
)  # fmt: skip
_DML = ("INSERT", "UPDATE", "DELETE", "REPLACE", "SELECT", "LOAD", "WITH", "VALUES")
_VERBS = (
    "CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE", "ANALYZE", "OPTIMIZE", "REPAIR", "FLUSH", "CHECK", "CHECKSUM",
)  # fmt: skip
_OBJECTS = ("TABLE", "INDEX", "DATABASE", "SCHEMA", "UNIQUE", "FULLTEXT", "SPATIAL")
#: Characters of a statement that is remembered.
_KEPT_SIZE = 16384
#: What a data definition statement says.
Ddl = TableDdl | ObjectDdl
_DatabaseKind = Literal["create_database", "alter_database", "drop_database"]


def parse_ddl(sql: str, grammar: Grammar | None = None) -> Ddl:
    """What one data definition statement says, in the grammar of MySQL or MariaDB.

    Raises SqlError (a place in the text, what was expected, the nearest word) for text that no server accepts, and
    SqlUnsupported naming the statement for those that this version does not make.
    """
    return _kept(sql, grammar) if len(sql) <= _KEPT_SIZE else _parsed(sql, grammar)


@lru_cache(maxsize=64)
def _kept(sql: str, grammar: Grammar | None) -> Ddl:
    """Remembered: a statement is read more than once, and the cases of a matrix have the same ones."""
    return _parsed(sql, grammar)


def _parsed(sql: str, grammar: Grammar | None) -> Ddl:
    cursor = Cursor(sql, grammar)
    start = cursor.token
    if start.is_word(*_DML):
        raise SqlError(f"{start.text.upper()} is not a data definition", 0, expected="insert:, update: or delete:")
    verb = cursor.accept_any(*_VERBS)
    if verb is None:
        if start.is_word("GRANT", "REVOKE", "SET"):
            raise unmade(start.text.upper(), start.start)
        if start.kind == "word" and nearest(start.text.upper(), _VERBS) is None:
            raise SqlUnsupported(f"{start.text.upper()} is not supported; {', '.join(_VERBS)} are", start.start)
        cursor.wrong("a data definition statement", _VERBS)
    statement = _after_verb(cursor, verb, start.start)
    if not cursor.at_end():
        cursor.wrong("the end of the statement")
    return statement


def parse_create_table(sql: str, grammar: Grammar | None = None) -> CreateTable:
    """A CREATE TABLE statement.  Raises SqlError if it is another."""
    statement = parse_ddl(sql, grammar)
    if not isinstance(statement, CreateTable):
        raise SqlError("this is not a table", 0, expected="CREATE TABLE")
    return statement


def _after_verb(cursor: Cursor, verb: str, start: int) -> Ddl:
    if verb in ("ANALYZE", "OPTIMIZE", "REPAIR", "FLUSH", "CHECK", "CHECKSUM"):
        return upkeep(cursor, verb, start)
    if verb == "TRUNCATE":
        cursor.accept("TABLE")
        truncated = TruncateTable(table_ref(cursor))
        cursor.accept_wait()
        return truncated
    if verb == "RENAME":
        return _rename(cursor)
    if verb == "ALTER":
        while cursor.grammar.alters_online and cursor.accept_any("ONLINE", "IGNORE"):
            pass
    replaces = verb == "CREATE" and _replaces(cursor)
    first = cursor.token
    sequence = sequence_statement(cursor, verb, replaces=replaces)
    if sequence is not None:
        return sequence
    on_object = None if replaces else object_statement(cursor, verb)
    if on_object is not None:
        return on_object
    temporary = verb in ("CREATE", "DROP") and cursor.accept("TEMPORARY")
    if cursor.accept("TABLE") or (verb == "DROP" and cursor.accept("TABLES")):
        if verb == "ALTER":
            return alter_table(cursor)
        if verb == "DROP":
            return _drop_tables(cursor, temporary=temporary)
        return replace(create_table(cursor), temporary=temporary, replaces=replaces)
    if temporary:
        cursor.wrong("TABLE", ("TABLE",))
    if cursor.accept_any("DATABASE", "SCHEMA"):
        return replace(_database(cursor, verb), replaces=replaces)
    if verb == "CREATE" and first.is_word("UNIQUE", *SPECIAL_KEYS, "INDEX"):
        return replace(_create_index(cursor), replaces=replaces)
    if verb == "DROP" and cursor.accept("INDEX"):
        return _drop_index(cursor)
    if first.is_word(*_OTHER_OBJECTS):
        raise unmade(f"{verb} {first.text.upper()}", first.start)
    return cursor.wrong("TABLE, DATABASE or INDEX", _OBJECTS)


def _replaces(cursor: Cursor) -> bool:
    """OR REPLACE of MariaDB's tables, databases and indexes; the words are taken."""
    comes = (
        cursor.grammar.or_replace
        and cursor.takes("OR", "REPLACE")
        and cursor.following(2).is_word(*_OBJECTS, "SEQUENCE")
    )
    return comes and cursor.accept("OR", "REPLACE")


def _rename(cursor: Cursor) -> RenameTables:
    if cursor.token.is_word("USER"):
        raise unmade("RENAME USER", cursor.token.start)
    if not cursor.accept_any("TABLE", "TABLES"):
        cursor.wrong("TABLE", ("TABLE",))
    if_exists = cursor.accept_if_exists()
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


def _database(cursor: Cursor, verb: str) -> DatabaseStatement:
    kinds: dict[str, _DatabaseKind] = {
        "CREATE": "create_database",
        "ALTER": "alter_database",
        "DROP": "drop_database",
    }
    exists = False
    if verb == "CREATE":
        exists = cursor.accept("IF", "NOT", "EXISTS")
    elif verb == "DROP":
        exists = cursor.accept("IF", "EXISTS")
    offset = cursor.token.start
    name = None
    if verb != "ALTER" or not (cursor.at_end() or cursor.token.is_word(*_DATABASE_OPTIONS)):
        name = cursor.name("database")
    charset = CharsetClause(offset=offset)
    encryption = False
    while verb != "DROP" and not cursor.at_end():
        encryption |= cursor.token.is_word("ENCRYPTION") or cursor.following().is_word("ENCRYPTION")
        charset = _database_option(cursor, charset)
    return DatabaseStatement(kinds[verb], name, offset, charset, exists, encryption=encryption)


_DATABASE_OPTIONS = ("DEFAULT", "CHARACTER", "CHARSET", "COLLATE", "ENCRYPTION", "READ", "COMMENT")


def _database_option(cursor: Cursor, clause: CharsetClause) -> CharsetClause:
    offset = cursor.token.start
    cursor.accept("DEFAULT")
    if cursor.accept("READ", "ONLY"):
        if option_value(cursor).upper() == "1":
            raise SqlUnsupported("READ ONLY databases are not supported yet", offset)
        return clause
    if option := accept_option(cursor, "ENCRYPTION", "COMMENT"):
        if option == ("ENCRYPTION", "Y"):
            raise SqlUnsupported("encrypted databases are not supported", offset)
        return clause
    return charset_clause(cursor, clause) or cursor.wrong("an option of the database", _DATABASE_OPTIONS)


def _create_index(cursor: Cursor) -> AlterTable:
    offset = cursor.token.start
    word = cursor.accept_any("UNIQUE", *SPECIAL_KEYS)
    cursor.expect("INDEX")
    missing = cursor.accept_if_not_exists()
    name = cursor.name("key")
    if cursor.accept_any("USING", "TYPE"):
        cursor.advance()
    cursor.expect("ON")
    table = table_ref(cursor)
    kind: Literal["unique", "index"] = "unique" if word == "UNIQUE" else "index"
    key = key_body(cursor, KeyDraft(kind, name, (), offset, SPECIAL_KEYS.get(word or "", "")))
    cursor.accept_wait()
    added: Action = Conditional(AddKey(key), exists=False) if missing else AddKey(key)
    return AlterTable(table, (added,), "create_index", locking(cursor))


def _drop_index(cursor: Cursor) -> AlterTable:
    exists = cursor.accept_if_exists()
    offset = cursor.token.start
    name = cursor.name("key")
    cursor.expect("ON")
    table = table_ref(cursor)
    # DROP INDEX `PRIMARY` drops the primary key.
    dropped: Action = DropKey(None if name.upper() == "PRIMARY" else name, offset)
    dropped = Conditional(dropped, exists=True) if exists else dropped
    cursor.accept_wait()
    # MariaDB takes ALGORITHM and LOCK behind CREATE INDEX only (recorded).
    return AlterTable(table, (dropped,), "drop_index", locking(cursor) if cursor.grammar.locks_drop_index else "")
