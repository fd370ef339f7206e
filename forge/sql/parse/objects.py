"""Statements on views, triggers, routines, events, accounts, and upkeep: from SQL text to what it says."""

from __future__ import annotations

import re

from forge.engine.ddl.objects import Definer, ObjectKind, ObjectStatement, Piece
from forge.sql.ast.definitions import TableRef
from forge.sql.parse.accounts import create_user, named_accounts, user
from forge.sql.parse.foreign_keys import table_ref
from forge.sql.tokens import Cursor, SqlUnsupported

#: Statements whose bodies may hold semicolons.
WITH_BODY = re.compile(r"\s*(CREATE|ALTER)\b[^;]*?\b(TRIGGER|PROCEDURE|FUNCTION|EVENT)\b", re.IGNORECASE | re.DOTALL)
_SQL_DATA = ("NO SQL", "READS SQL DATA", "MODIFIES SQL DATA")
_INTEGERS = {"INTEGER": "int", "INT": "int", "BIGINT": "bigint", "SMALLINT": "smallint", "TINYINT": "tinyint",
             "MEDIUMINT": "mediumint"}  # fmt: skip
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
    kind: ObjectKind
    if cursor.accept("VIEW"):
        return _view(cursor, verb, algorithm or "UNDEFINED", definer, security or "DEFINER", replaces=replaces)
    if cursor.accept("USER"):
        return create_user(cursor, verb, start)
    if verb == "CREATE" and cursor.accept("ROLE"):
        return named_accounts(cursor, "create", start)
    for kind in ("trigger", "event", "procedure", "function"):
        if cursor.accept(kind.upper()):
            if replaces:
                raise SqlUnsupported(f"OR REPLACE of a {kind} is not supported yet", word.start)
            return _with_body(cursor, kind, verb, word.start, definer)
    if replaces or definer is not None or security is not None:
        raise SqlUnsupported(f"{verb} {word.text.upper()} is not supported yet", word.start)
    return None


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
    return Definer(user(cursor))


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


def _with_body(cursor: Cursor, kind: ObjectKind, verb: str, start: int, definer: Definer | None) -> ObjectStatement:
    if verb == "ALTER":
        return _alter(cursor, kind, start, definer)
    exists = cursor.accept("IF", "NOT", "EXISTS")
    name = table_ref(cursor)
    common = {"offset": start, "exists": exists, "invoker": definer is None or definer.account is None}
    head: tuple[Piece, ...] = ("CREATE DEFINER=", definer or Definer())
    if kind in ("procedure", "function"):
        return ObjectStatement(
            kind,
            "create",
            (name,),
            (*head, *_routine(cursor, kind, name, exists=exists)),
            **common,  # type: ignore[arg-type]
        )
    # The text goes on as it was sent.
    pieces = (*head, f" {cursor.sql[start:].rstrip()}")
    if kind == "event":
        cursor.rest()
        return ObjectStatement(kind, "create", (name,), pieces, zone=True, **common)  # type: ignore[arg-type]
    cursor.accept_any("BEFORE", "AFTER")
    cursor.accept_any("INSERT", "UPDATE", "DELETE")
    cursor.expect("ON")
    table = table_ref(cursor)
    cursor.rest()
    return ObjectStatement(kind, "create", (name,), pieces, table=table, **common)  # type: ignore[arg-type]


def _alter(cursor: Cursor, kind: ObjectKind, start: int, definer: Definer | None) -> ObjectStatement:
    if kind == "trigger" or (definer is not None and kind != "event"):
        raise SqlUnsupported(f"this ALTER {kind.upper()} is not supported yet", start)
    name = table_ref(cursor)
    text = cursor.rest()
    # Keywords stand outside of quotes, comments, and what comes behind DO.
    plain = re.sub(r"'(?:[^'\\]|\\.|'')*'|/\*.*?\*/|\bDO\b.*", " ", text, flags=re.IGNORECASE | re.DOTALL)
    zone = kind == "event" and re.search(r"\bSCHEDULE\b", plain, re.IGNORECASE) is not None
    renamed = re.search(r"\bRENAME\s+TO\s+(.*)", plain, re.IGNORECASE | re.DOTALL) if kind == "event" else None
    new = table_ref(Cursor(renamed[1])) if renamed is not None else None
    return ObjectStatement(kind, "alter", (name,), offset=start, invoker=kind == "event", zone=zone, renamed=new)


def _routine(cursor: Cursor, kind: ObjectKind, name: TableRef, *, exists: bool) -> tuple[Piece, ...]:
    """What the server writes of a routine: its characteristics in an order of their own, then the body as sent."""
    opening = cursor.token.start
    closing = cursor.balanced_end()
    parameters = cursor.sql[opening:closing]
    returns = f" RETURNS {_returned_type(cursor)}" if kind == "function" else ""
    data, deterministic, security, comment = "", False, "", None
    while True:
        if cursor.accept("CONTAINS", "SQL"):
            data = ""
        elif any(cursor.accept(*(found := words).split()) for words in _SQL_DATA):
            data = found
        elif cursor.accept("NOT", "DETERMINISTIC"):
            deterministic = False
        elif cursor.accept("DETERMINISTIC"):
            deterministic = True
        elif cursor.accept("LANGUAGE", "SQL"):
            pass
        elif cursor.accept("SQL", "SECURITY"):
            security = cursor.advance().text.upper()
        elif cursor.accept("COMMENT"):
            at = cursor.token
            cursor.string("the comment")
            comment = cursor.sql[at.start : at.end]
        else:
            break
    lines = [data, "DETERMINISTIC" if deterministic else "", "SQL SECURITY INVOKER" if security == "INVOKER" else ""]
    lines.append(f"COMMENT {comment}" if comment not in (None, "''") else "")
    written = "".join(f"    {line}\n" for line in lines if line)
    condition = " IF NOT EXISTS" if exists else ""
    return (f" {kind.upper()}{condition} ", name, f"{parameters}{returns}\n{written}{cursor.rest()}")


def _returned_type(cursor: Cursor) -> str:
    """A type as the server writes it; only those whose form is known."""
    cursor.expect("RETURNS")
    token = cursor.advance()
    word = token.text.upper()
    size = ""
    if cursor.token.is_mark("("):
        start = cursor.token.start
        size = re.sub(r"\s", "", cursor.sql[start : cursor.balanced_end()])
    if word in _INTEGERS and not size:
        return _INTEGERS[word] + (" unsigned" if cursor.accept("UNSIGNED") else "")
    if word in ("DECIMAL", "DATETIME", "TIMESTAMP", "TIME", "DATE", "YEAR", "DOUBLE", "FLOAT", "JSON") and (
        word != "DECIMAL" or "," in size
    ):
        return word.lower() + size
    if word in ("VARCHAR", "CHAR", "TEXT", "LONGTEXT"):
        charset = "utf8mb4"
        if cursor.accept("CHARSET") or cursor.accept("CHARACTER", "SET"):
            charset = cursor.advance().text.lower()
        if charset != "binary" and not cursor.token.is_word("COLLATE") and (size or word not in ("VARCHAR", "CHAR")):
            return f"{word.lower()}{size} CHARSET {charset}"
    raise SqlUnsupported(f"RETURNS {word} is not supported yet", token.start)


def _drop(cursor: Cursor, start: int) -> ObjectStatement | None:
    kind: ObjectKind
    for kind in ("view", "trigger", "procedure", "function", "event"):
        if cursor.accept(kind.upper()):
            exists = cursor.accept("IF", "EXISTS")
            names = [table_ref(cursor)]
            while kind == "view" and cursor.accept_mark(","):
                names.append(table_ref(cursor))
            cursor.accept_any("RESTRICT", "CASCADE")
            return ObjectStatement(kind, "drop", tuple(names), offset=start, exists=exists)
    if cursor.accept_any("USER", "ROLE"):
        return named_accounts(cursor, "drop", start)
    return None


def upkeep(cursor: Cursor, verb: str, start: int) -> ObjectStatement:
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
        return ObjectStatement("upkeep", "other", tuple(tables), offset=start, local=True)
    while verb == "REPAIR" and cursor.accept_any("QUICK", "EXTENDED", "USE_FRM"):
        pass
    if verb == "ANALYZE" and cursor.family == "mysql" and cursor.token.is_word("UPDATE", "DROP"):
        cursor.rest()
    if not cursor.at("end"):
        raise SqlUnsupported(f"{verb} TABLE ... {cursor.token.text.upper()} is not supported", cursor.token.start)
    return ObjectStatement(
        "upkeep",
        "other",
        tuple(tables),
        offset=start,
        remakes=verb == "OPTIMIZE",
        repairs=verb == "REPAIR",
        local=local,
    )


def _flush(cursor: Cursor, start: int, *, local: bool) -> ObjectStatement:
    """FLUSH of what is not a binary log; what holds locks is not logged."""
    what = cursor.token
    if word := cursor.accept_any("TABLES", "TABLE"):
        names = []
        while not cursor.at("end") and not cursor.token.is_word("WITH", "FOR"):
            names.append(table_ref(cursor))
            cursor.accept_mark(",")
        if not cursor.at("end"):
            raise SqlUnsupported(f"FLUSH {word} ... {cursor.token.text.upper()} is not supported", cursor.token.start)
        return ObjectStatement("upkeep", "other", tuple(names), offset=start, local=local)
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
    return ObjectStatement("upkeep", "other", offset=start, zone=zone, local=local)
