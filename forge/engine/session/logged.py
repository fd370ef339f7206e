"""Statements that a scenario gives as the server logs them: what their entry means, and which may not be given so."""

from __future__ import annotations

from typing import Any

from construct import ConstructError

from forge.engine.requests.logged import Logged
from forge.errors import ScenarioError, nearest
from forge.events.event import EVENT_FLAGS
from forge.events.plain import flag_value, to_text
from forge.events.status_vars import WRITING_ORDER, build_status_variables
from forge.plan.collations import client_text
from forge.plan.session import Session
from forge.plan.transactions import LoggedStatement
from forge.servers import ServerLine
from forge.servers.features import features
from forge.sql.ast.alter_actions import SetOptions
from forge.sql.ast.definitions import TableOptions
from forge.sql.ast.statements import AlterTable
from forge.sql.cursor import Cursor
from forge.sql.parse.statements import parse_ddl

#: First words of statements that change tables or rows, of which the session has to know.
_RUN = ("INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "TRUNCATE", "XA", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT")
_DEFINITIONS = ("CREATE", "ALTER", "DROP", "RENAME")
_DEFINED = ("TABLE", "TABLES", "TEMPORARY", "DATABASE", "SCHEMA", "INDEX", "UNIQUE", "FULLTEXT", "TRIGGER", "SEQUENCE")


def logged_statement(
    declared: Logged, current: str, second: int, settings: Session, line: ServerLine
) -> LoggedStatement:
    """The plan's form of an entry that runs in that second, with these settings.

    Raises ScenarioError for a statement that changes tables or rows, a status variable
    that the line does not have, a value that it cannot hold, and an unknown flag.
    """
    text = _bytes_of(declared.text, "text") or str(declared.text)
    cursor = Cursor(text, line.grammar, several=True)
    changes = cursor.accept_any(*_RUN) or (cursor.accept_any(*_DEFINITIONS) and cursor.token.is_word(*_DEFINED))
    if changes and not _keeps_tables(text, line):
        raise ScenarioError(
            "the statement changes tables or rows, which `logged:` does not follow",
            expected="insert, update, delete, load_data, or ddl, or a transaction in the form that declares this",
        )
    variables = {name: _variable(name, value, line) for name, value in declared.status.items()}
    return LoggedStatement(
        text=_sent(declared.text, "text", settings, line),
        sent=_sent(declared.sent or declared.text, "sent", settings, line),
        current_database=current if declared.database is None else declared.database,
        variables=tuple(variables.items()),
        numbered=declared.numbered,
        flags=flag_value(declared.flags, EVENT_FLAGS),
        time=(second, variables["microseconds"]) if variables.get("microseconds") is not None else None,
    )


def _bytes_of(declared: str | dict[str, str], name: str) -> str | None:
    """A text that is given as ``{hex: ...}``, in the form of texts of the format; None for any other."""
    if isinstance(declared, str):
        return None
    try:
        [(key, digits)] = declared.items()
        data = bytes.fromhex(digits) if key == "hex" else b""
    except ValueError:
        data = b""
    if not data:
        raise ScenarioError(f"{name} is {declared!r}", expected="text, or {hex: ...} with its bytes")
    return to_text(data)


def _sent(declared: str | dict[str, str], name: str, settings: Session, line: ServerLine) -> str:
    """A text as a client of these settings sends it; its bytes as they are."""
    given = _bytes_of(declared, name)
    return client_text(str(declared), settings, line) if given is None else given


def _keeps_tables(text: str, line: ServerLine) -> bool:
    """Whether it is an ALTER TABLE of options that no row shows, such as COMMENT."""
    try:
        parsed = parse_ddl(text, line.grammar)
    except ScenarioError:
        return False
    return isinstance(parsed, AlterTable) and all(
        isinstance(action, SetOptions) and action.options == TableOptions(idle=action.options.idle)
        for action in parsed.actions
    )


def _variable(name: str, declared: Any, line: ServerLine) -> Any:
    """The value of a status variable; None leaves it out."""
    if name not in WRITING_ORDER:
        suggestion = nearest(name, WRITING_ORDER)
        expected = f"one of {', '.join(WRITING_ORDER)}"
        raise ScenarioError(f"{name!r} is not a status variable", expected=expected, suggestion=suggestion)
    if name in features():
        line.require(name)
    value = _frozen(declared)
    if value is None:
        return None
    try:
        build_status_variables(((name, value),))
    except (ConstructError, TypeError, ValueError, ScenarioError):
        raise ScenarioError(
            f"the status variable {name} cannot be {declared!r}", expected="the form that `forge disasm` shows"
        ) from None
    return value


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
