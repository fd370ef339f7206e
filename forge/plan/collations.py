"""The collations of a session: what ``names`` and the like mean on a server line."""

from __future__ import annotations

from collections.abc import Iterator

from forge.charsets import Collation, collation, default_collation
from forge.errors import ScenarioError
from forge.plan.session import Session
from forge.servers import ServerLine

#: Character sets that no client can send (is_supported_parser_charset in sql/sql_class.h).
_UNSENT = frozenset(("ucs2", "utf16", "utf16le", "utf32"))
#: Character sets in which a client sends all texts of a scenario.
_WHOLE = frozenset(("utf8mb4",))


def connection_charset(session: Session, line: ServerLine) -> tuple[int, int, int]:
    """The status variable: ids of the client's character set, the connection's and the server's collation.

    Raises ScenarioError for a collation that the line does not have, or a character set that no client can send.
    """
    client, connection, server = line.query.client_charset
    named = names_collation(session, line)
    if named is not None:
        client = connection = named.id
    if session.collation_connection is not None:
        connection = collation(session.collation_connection, line.name).id
    if session.collation_server is not None:
        server = collation(session.collation_server, line.name).id
    return client, connection, server


def names_collation(session: Session, line: ServerLine) -> Collation | None:
    """The collation that SET NAMES gives the connection; None without it.  Raises ScenarioError for an unknown one."""
    if session.names is None:
        return None
    known = collation(session.names, line.name) if "_" in session.names else default_collation(session.names, line.name)
    if known.charset == "utf8mb4" and "_" not in session.names and session.default_collation_for_utf8mb4 is not None:
        known = collation(session.default_collation_for_utf8mb4, line.name)
    if known.charset in _UNSENT:
        raise ScenarioError(f"no client can send texts in {known.charset} (error 1231)", expected="names: utf8mb4")
    return known


def new_collation(session: Session, line: ServerLine) -> int:
    """The collation of a new database that names none."""
    if session.collation_server is None:
        return line.ddl.default_collation
    return collation(session.collation_server, line.name).id


def sends_all(session: Session, line: ServerLine) -> bool:
    """Whether the client sends texts as UTF-8, so that all of them mean what they say."""
    named = names_collation(session, line)
    return named is None or named.charset in _WHOLE


def wrong_collations(session: Session, line: ServerLine) -> Iterator[tuple[str, ScenarioError]]:
    """Each setting that names a collation which the line does not have."""
    for name in ("names", "collation_connection", "collation_server", "collation_database"):
        value = getattr(session, name)
        try:
            if name == "names":
                names_collation(session, line)
            elif value is not None:
                collation(value, line.name)
        except ScenarioError as error:
            yield name, error
