"""Statements on views, triggers and sequences, and the upkeep of tables: from SQL text to what it says.

Accounts, routines, events, tablespaces and the like change no row that the log shows: a scenario gives what the server
logs of them (``logged:``).
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from forge.sql.ast.statements import (
    Account,
    CreateTrigger,
    DropObjects,
    RowEvent,
    SequenceStatement,
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


class Head(Struct, frozen=True):
    """The words before the object of a statement."""

    verb: str
    start: int
    replaces: bool = False
    temporary: bool = False
    algorithm: str = "UNDEFINED"
    definer: Account | None = None
    security: str = "DEFINER"


def read_head(cursor: Cursor, head: Head) -> Head:
    """The head with everything up to the object."""
    while True:
        if cursor.accept("OR", "REPLACE"):
            head = replace(head, replaces=True)
        elif cursor.accept("TEMPORARY"):
            head = replace(head, temporary=True)
        elif cursor.token.is_word("ALGORITHM") and cursor.following().is_mark("="):
            cursor.accept("ALGORITHM")
            cursor.accept_mark("=")
            head = replace(head, algorithm=cursor.advance().text.upper())
        elif cursor.accept("DEFINER"):
            head = replace(head, definer=_definer(cursor))
        elif cursor.accept("SQL", "SECURITY"):
            head = replace(head, security=cursor.advance().text.upper())
        elif head.verb != "ALTER" or not cursor.accept_any("ONLINE", "IGNORE"):
            return head


def unmade(statement: str, offset: int) -> SqlUnsupported:
    """The refusal of a statement that is given as the server logs it."""
    return SqlUnsupported(
        f"{statement} is not supported in `ddl:`; declare what the server logs with `logged:`", offset
    )


def _definer(cursor: Cursor) -> Account | None:
    """``= user@host``; None for CURRENT_USER."""
    cursor.expect_mark("=")
    if cursor.accept("CURRENT_USER"):
        if cursor.accept_mark("("):
            cursor.expect_mark(")")
        return None
    user = cursor.advance().text
    # A user without a host is at '%'.
    return user, cursor.advance().text.lower() if cursor.accept_mark("@") else "%"


def view(cursor: Cursor, head: Head) -> ViewStatement | DropObjects:
    """CREATE, ALTER and DROP VIEW."""
    if head.verb == "DROP":
        return _dropped(cursor, "view")
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
    algorithm = "UNDEFINED" if head.algorithm == "MERGE" and not is_mergeable(body) else head.algorithm
    verb: Literal["create", "alter"] = "alter" if head.verb == "ALTER" else "create"
    columns_named = tuple(columns)
    return ViewStatement(verb, name, columns_named, body, algorithm, head.definer, head.security, exists, head.replaces)


def trigger(cursor: Cursor, head: Head) -> CreateTrigger | DropObjects:
    """CREATE and DROP TRIGGER."""
    if head.verb == "DROP":
        return _dropped(cursor, "trigger")
    start = cursor.previous_start
    if head.replaces or head.verb == "ALTER":
        raise SqlUnsupported(f"{'OR REPLACE' if head.replaces else 'ALTER'} of a trigger is not supported", start)
    exists = cursor.accept("IF", "NOT", "EXISTS")
    name = table_ref(cursor)
    timing: Literal["before", "after"] = "before" if cursor.expect_any("BEFORE", "AFTER") == "BEFORE" else "after"
    event = _EVENTS[cursor.expect_any(*_EVENTS)]
    cursor.expect("ON")
    table = table_ref(cursor)
    cursor.expect("FOR", "EACH", "ROW")
    if cursor.accept_any("FOLLOWS", "PRECEDES"):
        table_ref(cursor)
    body, text = cursor.rest(), cursor.sql[start:].rstrip()
    return CreateTrigger(name, timing, event, table, body, text, start, head.definer, exists)


def sequence(cursor: Cursor, head: Head) -> SequenceStatement | DropObjects:
    """CREATE, ALTER and DROP SEQUENCE of MariaDB; its options leave no trace but the text."""
    if head.verb == "DROP":
        return _dropped(cursor, "sequence")
    exists = cursor.accept("IF", "NOT", "EXISTS") or cursor.accept("IF", "EXISTS")
    name = table_ref(cursor)
    cursor.rest()
    return SequenceStatement("create" if head.verb == "CREATE" else "alter", name, exists, head.replaces)


def _dropped(cursor: Cursor, kind: Literal["view", "trigger", "sequence"]) -> DropObjects:
    exists = cursor.accept("IF", "EXISTS")
    names = table_refs(cursor)
    cursor.accept_any("RESTRICT", "CASCADE")
    return DropObjects(kind, tuple(names), exists)


def upkeep(cursor: Cursor, head: Head) -> Upkeep:
    """ANALYZE, OPTIMIZE, REPAIR and CHECK TABLE."""
    verb, start = head.verb, head.start
    local = cursor.accept_any("NO_WRITE_TO_BINLOG", "LOCAL") is not None
    of_view = verb in ("REPAIR", "CHECK") and cursor.accept("VIEW")
    if not of_view:
        cursor.expect_any("TABLE", "TABLES")
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
    return Upkeep(tables, start, remakes=verb == "OPTIMIZE", local=local)


def flush(cursor: Cursor, head: Head) -> Upkeep:
    """FLUSH of what is not a binary log; what holds locks is not logged."""
    start = head.start
    local = cursor.accept_any("NO_WRITE_TO_BINLOG", "LOCAL") is not None
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
        reads_time |= cursor.token.is_word("PRIVILEGES")
        if cursor.following().is_word("LOGS") and cursor.accept_any(*_FLUSHED_LOGS):
            cursor.expect("LOGS")
        elif not (cursor.accept("QUERY", "CACHE") or cursor.accept("GLOBAL", "STATUS") or cursor.accept_any(*_FLUSHED)):
            problem = f"FLUSH {first.text.upper()} is not supported; `flush:` is for logs"
            raise SqlUnsupported(problem, first.start)
        if not cursor.accept_mark(","):
            return Upkeep(offset=start, local=local, zone=reads_time, flushes=True)
