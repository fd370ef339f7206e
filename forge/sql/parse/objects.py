"""Statements on views and triggers, and the upkeep of tables: from SQL text to what it says.

Accounts, routines, events, tablespaces and the like change no row that the log shows: a scenario gives what the server
logs of them (``logged:``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from forge.sql.ast.objects import (
    Account,
    CreateTrigger,
    DropObjects,
    RowEvent,
    Upkeep,
    ViewStatement,
)
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlUnsupported
from forge.sql.parse.names import table_ref, table_refs
from forge.sql.views import is_mergeable

_FLUSHED_LOGS = ("ENGINE", "SLOW", "GENERAL", "ERROR", "RELAY")
_FLUSHED = (
    "CLIENT_STATISTICS", "DES_KEY_FILE", "HOSTS", "INDEX_STATISTICS", "OPTIMIZER_COSTS", "PRIVILEGES", "SSL", "STATUS",
    "TABLE_STATISTICS", "USER_RESOURCES", "USER_STATISTICS", "USER_VARIABLES",
)  # fmt: skip
_EVENTS: dict[str, RowEvent] = {"INSERT": "insert", "UPDATE": "update", "DELETE": "delete"}


def object_statement(cursor: Cursor, verb: str) -> ViewStatement | CreateTrigger | DropObjects | None:
    """What follows CREATE, ALTER or DROP, if it is about a view or a trigger; None otherwise."""
    if verb == "DROP":
        return _drop(cursor)
    replaces = verb == "CREATE" and cursor.accept("OR", "REPLACE")
    algorithm = "UNDEFINED"
    if cursor.token.is_word("ALGORITHM") and cursor.following().is_mark("="):
        cursor.accept("ALGORITHM")
        cursor.accept_mark("=")
        algorithm = cursor.advance().text.upper()
    has_definer = cursor.token.is_word("DEFINER")
    definer = _definer(cursor) if has_definer else None
    security = cursor.advance().text.upper() if cursor.accept("SQL", "SECURITY") else None
    word = cursor.token
    if cursor.accept("VIEW"):
        view = _view(cursor, "alter" if verb == "ALTER" else "create", algorithm)
        return replace(view, definer=definer, security=security or "DEFINER", replaces=replaces)
    if cursor.accept("TRIGGER"):
        if replaces or verb == "ALTER":
            raise SqlUnsupported(f"{'OR REPLACE' if replaces else 'ALTER'} of a trigger is not supported", word.start)
        return replace(_trigger(cursor, word.start), definer=definer)
    if replaces or has_definer or security is not None:
        raise unmade(f"{verb} {word.text.upper()}", word.start)
    return None


def unmade(statement: str, offset: int) -> SqlUnsupported:
    """The refusal of a statement that is given as the server logs it."""
    return SqlUnsupported(
        f"{statement} is not supported in `ddl:`; declare what the server logs with `logged:`", offset
    )


def _definer(cursor: Cursor) -> Account | None:
    """``DEFINER = user@host``; None for CURRENT_USER."""
    cursor.expect("DEFINER")
    cursor.expect_mark("=")
    if cursor.accept("CURRENT_USER"):
        if cursor.accept_mark("("):
            cursor.expect_mark(")")
        return None
    user = cursor.advance().text
    # A user without a host is at '%'.
    return user, cursor.advance().text.lower() if cursor.accept_mark("@") else "%"


def _view(cursor: Cursor, verb: Literal["create", "alter"], algorithm: str) -> ViewStatement:
    exists = cursor.accept("IF", "NOT", "EXISTS")
    name = table_ref(cursor)
    columns: list[str] = []
    if cursor.accept_mark("("):
        columns = cursor.names("column")
        cursor.expect_mark(")")
    cursor.expect("AS")
    # MySQL writes the SELECT from its first word to its last, MariaDB as it stands (recorded).
    start = cursor.token.start if cursor.grammar.trims_views else cursor.previous_end
    cursor.rest()
    body = cursor.sql[start : cursor.token.end if cursor.grammar.trims_views else None].strip()
    if algorithm == "MERGE" and not is_mergeable(body):
        algorithm = "UNDEFINED"
    return ViewStatement(verb, name, tuple(columns), body, algorithm, exists=exists)


def _trigger(cursor: Cursor, start: int) -> CreateTrigger:
    exists = cursor.accept("IF", "NOT", "EXISTS")
    name = table_ref(cursor)
    timing: Literal["before", "after"] = "before"
    if not cursor.accept("BEFORE"):
        cursor.expect("AFTER")
        timing = "after"
    event = cursor.accept_any(*_EVENTS) or cursor.wrong("INSERT, UPDATE or DELETE", tuple(_EVENTS))
    cursor.expect("ON")
    table = table_ref(cursor)
    cursor.expect("FOR", "EACH", "ROW")
    if cursor.accept_any("FOLLOWS", "PRECEDES"):
        table_ref(cursor)
    body = cursor.rest()
    return CreateTrigger(name, timing, _EVENTS[event], table, body, cursor.sql[start:].rstrip(), start, exists=exists)


def _drop(cursor: Cursor) -> DropObjects | None:
    kind: Literal["view", "trigger"]
    for kind in ("view", "trigger"):
        if cursor.accept(kind.upper()):
            exists = cursor.accept("IF", "EXISTS")
            names = table_refs(cursor) if kind == "view" else [table_ref(cursor)]
            cursor.accept_any("RESTRICT", "CASCADE")
            return DropObjects(kind, tuple(names), exists)
    return None


def upkeep(cursor: Cursor, verb: str, start: int) -> Upkeep:
    """ANALYZE, OPTIMIZE, REPAIR, CHECK TABLE and FLUSH."""
    local = cursor.accept_any("NO_WRITE_TO_BINLOG", "LOCAL") is not None
    if verb == "FLUSH":
        return _flush(cursor, start, local=local)
    view = verb in ("REPAIR", "CHECK") and cursor.accept("VIEW")
    if not view and not cursor.accept_any("TABLE", "TABLES"):
        cursor.wrong("TABLE", ("TABLE",))
    tables = tuple(table_refs(cursor))
    if verb in ("CHECK", "CHECKSUM"):
        cursor.rest()
        return Upkeep(tables, start, local=True)
    while verb == "REPAIR" and cursor.accept_any("QUICK", "EXTENDED", "USE_FRM"):
        pass
    if verb == "ANALYZE" and cursor.token.is_word("UPDATE", "DROP"):
        cursor.rest()
    if not cursor.at_end():
        raise SqlUnsupported(f"{verb} TABLE ... {cursor.token.text.upper()} is not supported", cursor.token.start)
    return Upkeep(tables, start, remakes=verb == "OPTIMIZE", repairs=verb == "REPAIR", local=local)


def _flush(cursor: Cursor, start: int, *, local: bool) -> Upkeep:
    """FLUSH of what is not a binary log; what holds locks is not logged."""
    first = cursor.token
    if word := cursor.accept_any("TABLES", "TABLE"):
        tables = []
        while not cursor.at_end() and not cursor.token.is_word("WITH", "FOR"):
            tables.append(table_ref(cursor))
            cursor.accept_mark(",")
        if not cursor.at_end():
            raise SqlUnsupported(f"FLUSH {word} ... {cursor.token.text.upper()} is not supported", cursor.token.start)
        return Upkeep(tuple(tables), start, local=local, flushes=True)
    reads_time = False
    while True:
        if cursor.following().is_word("LOGS") and cursor.accept_any(*_FLUSHED_LOGS):
            cursor.expect("LOGS")
        elif not (cursor.accept("QUERY", "CACHE") or cursor.accept("GLOBAL", "STATUS")):
            word = cursor.accept_any(*_FLUSHED)
            if word is None:
                problem = f"FLUSH {first.text.upper()} is not supported; `flush:` is for logs"
                raise SqlUnsupported(problem, first.start)
            reads_time |= word == "PRIVILEGES"
        if not cursor.accept_mark(","):
            return Upkeep(offset=start, local=local, zone=reads_time, flushes=True)
