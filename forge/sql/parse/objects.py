"""Statements on views and triggers, and the upkeep of tables: from SQL text to what it says.

Accounts, routines, events, tablespaces and the like change no row that the log shows: a scenario gives what the server
logs of them (``logged:``).
"""

from __future__ import annotations

import re
from typing import Literal

from forge.sql.ast.objects import Definer, ObjectStatement, Upkeep
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlUnsupported
from forge.sql.parse.foreign_keys import table_ref

_FLUSHED = {
    "mysql": ("PRIVILEGES", "STATUS", "USER_RESOURCES", "OPTIMIZER_COSTS"),
    "mariadb": (
        "STATUS", "USER_RESOURCES", "HOSTS", "DES_KEY_FILE", "CLIENT_STATISTICS", "USER_STATISTICS",
        "INDEX_STATISTICS", "TABLE_STATISTICS", "SSL", "USER_VARIABLES",
    ),
}  # fmt: skip
_LOGS = {
    "mysql": ("ENGINE", "SLOW", "GENERAL", "ERROR", "RELAY"),
    "mariadb": ("ENGINE", "SLOW", "GENERAL", "ERROR"),
}


def object_statement(cursor: Cursor, verb: str) -> ObjectStatement | None:
    """What follows CREATE, ALTER or DROP, if it is about such an object; None otherwise."""
    start = cursor.token.start
    if verb == "DROP":
        return _drop(cursor, start)
    replaces = verb == "CREATE" and cursor.accept("OR", "REPLACE")
    algorithm = _value_of(cursor, "ALGORITHM") if _at_object_option(cursor) else None
    definer = _definer(cursor)
    security = None
    if cursor.accept("SQL", "SECURITY"):
        security = cursor.advance().text.upper()
    word = cursor.token
    if cursor.accept("VIEW"):
        return _view(cursor, verb, algorithm or "UNDEFINED", definer, security or "DEFINER", replaces=replaces)
    if cursor.accept("TRIGGER"):
        if replaces or verb == "ALTER":
            raise SqlUnsupported(f"{'OR REPLACE' if replaces else 'ALTER'} of a trigger is not supported", word.start)
        return _trigger(cursor, word.start, definer)
    if replaces or definer is not None or security is not None:
        raise unmade(f"{verb} {word.text.upper()}", word.start)
    return None


def unmade(statement: str, offset: int) -> SqlUnsupported:
    """The refusal of a statement that is given as the server logs it."""
    return SqlUnsupported(f"{statement} is not run here: give what the server logs of it with `logged:`", offset)


def _at_object_option(cursor: Cursor) -> bool:
    return cursor.token.is_word("ALGORITHM") and cursor.following().is_mark("=")


def _value_of(cursor: Cursor, word: str) -> str:
    cursor.expect(word)
    cursor.accept_mark("=")
    return cursor.advance().text.upper()


def _definer(cursor: Cursor) -> Definer | None:
    if not cursor.accept("DEFINER"):
        return None
    cursor.expect_mark("=")
    if cursor.accept("CURRENT_USER"):
        if cursor.accept_mark("("):
            cursor.expect_mark(")")
        return Definer()
    name = cursor.advance().text
    # A user without a host is at '%'.
    host = cursor.advance().text.lower() if cursor.accept_mark("@") else "%"
    return Definer((name, host))


def _view(
    cursor: Cursor, verb: str, algorithm: str, definer: Definer | None, security: str, *, replaces: bool
) -> ObjectStatement:
    exists = cursor.accept("IF", "NOT", "EXISTS")
    name = table_ref(cursor)
    columns: list[str] = []
    if cursor.accept_mark("("):
        columns = cursor.names("column")
        cursor.expect_mark(")")
    cursor.expect("AS")
    # MySQL writes the SELECT from its first word to its last, MariaDB as it stands (recorded).
    start = cursor.token.start if cursor.family == "mysql" else cursor.previous_end
    cursor.rest()
    body = cursor.sql[start : cursor.token.end if cursor.family == "mysql" else None].strip()
    if algorithm == "MERGE" and not re.search(r"\bFROM\b", body, re.IGNORECASE):
        algorithm = "UNDEFINED"
    elif algorithm == "MERGE" and re.search(
        r"\b(GROUP|HAVING|DISTINCT|LIMIT|UNION|COUNT|SUM|MIN|MAX|AVG|OVER|EXCEPT|INTERSECT)\b", body, re.IGNORECASE
    ):
        raise SqlUnsupported("ALGORITHM=MERGE of such a SELECT is not supported yet", name.offset)
    words = "CREATE OR REPLACE" if replaces else verb
    head = f"{words} ALGORITHM={algorithm} DEFINER="
    tail = f" SQL SECURITY {security} VIEW {'IF NOT EXISTS ' if exists else ''}"
    listed = f"({', '.join(f'`{column}`' for column in columns)})" if columns else ""
    return ObjectStatement(
        "view",
        "alter" if verb == "ALTER" else "create",
        (name,),
        (head, definer or Definer(), tail, name, f"{listed} AS {body}"),
        name.offset,
        exists=exists,
        replaces=replaces,
        body=body,
        columns=tuple(columns),
        invoker=verb == "CREATE" and (definer is None or definer.account is None),
    )


def _trigger(cursor: Cursor, start: int, definer: Definer | None) -> ObjectStatement:
    exists = cursor.accept("IF", "NOT", "EXISTS")
    name = table_ref(cursor)
    cursor.accept_any("BEFORE", "AFTER")
    cursor.accept_any("INSERT", "UPDATE", "DELETE")
    cursor.expect("ON")
    table = table_ref(cursor)
    cursor.rest()
    return ObjectStatement(
        "trigger",
        "create",
        (name,),
        # The text goes on as it was sent.
        ("CREATE DEFINER=", definer or Definer(), f" {cursor.sql[start:].rstrip()}"),
        offset=start,
        exists=exists,
        table=table,
        invoker=definer is None or definer.account is None,
    )


def _drop(cursor: Cursor, start: int) -> ObjectStatement | None:
    kind: Literal["view", "trigger"]
    for kind in ("view", "trigger"):
        if cursor.accept(kind.upper()):
            exists = cursor.accept("IF", "EXISTS")
            names = [table_ref(cursor)]
            while kind == "view" and cursor.accept_mark(","):
                names.append(table_ref(cursor))
            cursor.accept_any("RESTRICT", "CASCADE")
            return ObjectStatement(kind, "drop", tuple(names), offset=start, exists=exists)
    return None


def upkeep(cursor: Cursor, verb: str, start: int) -> Upkeep:
    """ANALYZE, OPTIMIZE, REPAIR, CHECK TABLE and FLUSH."""
    local = cursor.accept_any("NO_WRITE_TO_BINLOG", "LOCAL") is not None
    if verb == "FLUSH":
        return _flush(cursor, start, local=local)
    view = verb in ("REPAIR", "CHECK") and cursor.accept_mariadb("VIEW")
    if not view and not cursor.accept_any("TABLE", "TABLES"):
        cursor.wrong("TABLE", ("TABLE",))
    tables = [table_ref(cursor)]
    while cursor.accept_mark(","):
        tables.append(table_ref(cursor))
    if verb in ("CHECK", "CHECKSUM"):
        cursor.rest()
        return Upkeep(tuple(tables), offset=start, local=True)
    while verb == "REPAIR" and cursor.accept_any("QUICK", "EXTENDED", "USE_FRM"):
        pass
    if verb == "ANALYZE" and cursor.family == "mysql" and cursor.token.is_word("UPDATE", "DROP"):
        cursor.rest()
    if not cursor.at_end():
        raise SqlUnsupported(f"{verb} TABLE ... {cursor.token.text.upper()} is not supported", cursor.token.start)
    return Upkeep(
        tuple(tables),
        offset=start,
        remakes=verb == "OPTIMIZE",
        repairs=verb == "REPAIR",
        local=local,
    )


def _flush(cursor: Cursor, start: int, *, local: bool) -> Upkeep:
    """FLUSH of what is not a binary log; what holds locks is not logged."""
    what = cursor.token
    if word := cursor.accept_any("TABLES", "TABLE"):
        names = []
        while not cursor.at_end() and not cursor.token.is_word("WITH", "FOR"):
            names.append(table_ref(cursor))
            cursor.accept_mark(",")
        if not cursor.at_end():
            raise SqlUnsupported(f"FLUSH {word} ... {cursor.token.text.upper()} is not supported", cursor.token.start)
        return Upkeep(tuple(names), offset=start, local=local)
    zone = False
    while True:
        if cursor.following().is_word("LOGS") and cursor.accept_any(*_LOGS[cursor.family]):
            cursor.expect("LOGS")
        elif cursor.accept_mariadb("QUERY", "CACHE") or cursor.accept_mariadb("GLOBAL", "STATUS"):
            pass
        else:
            word = cursor.accept_any(*_FLUSHED[cursor.family])
            if word is None:
                raise SqlUnsupported(f"FLUSH {what.text.upper()} is not supported; `flush:` is for logs", what.start)
            zone |= word == "PRIVILEGES"
        if not cursor.accept_mark(","):
            break
    return Upkeep(offset=start, zone=zone, local=local)
