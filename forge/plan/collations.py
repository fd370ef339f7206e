"""The collations of a session: what ``names`` and the like mean on a server line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forge.charsets import Collation, charset, collation, default_collation
from forge.errors import ScenarioError, UnsupportedError
from forge.events.plain import to_text
from forge.plan.session import Session
from forge.servers import ServerLine

#: Character sets that no client can send (is_supported_parser_charset in sql/sql_class.h).
_UNSENT = frozenset(("ucs2", "utf16", "utf16le", "utf32"))
#: Character sets in which texts are bytes of UTF-8.
_WHOLE = frozenset(("utf8mb4", "utf8mb3"))
#: Character sets that have all characters.
_WIDE = frozenset(("utf8mb4", "utf16", "utf16le", "utf32"))
#: A literal such as _latin1'...' or N'...'.
_OWN_CHARSET = re.compile(r"\b(_\w+|N)\s*['\"]", re.IGNORECASE)


#: Settings that name a character set, and stand for its default collation.
_CHARSETS = ("character_set_client", "character_set_results", "character_set_connection", "character_set_server")


def connection_charset(session: Session, line: ServerLine) -> tuple[int, int, int]:
    """The status variable: ids of the client's character set, the connection's and the server's collation.

    Raises ScenarioError for a collation that the line does not have, or a character set that no client can send.
    """
    client, connection, server = line.query.client_charset
    named = names_collation(session, line)
    if named is not None:
        client = connection = named.id
    if session.character_set_client is not None:
        client = _sent(default_collation(session.character_set_client, line.name)).id
    if session.collation_connection is not None:
        connection = collation(session.collation_connection, line.name).id
    elif session.character_set_connection is not None:
        connection = default_collation(session.character_set_connection, line.name).id
    return client, connection, new_collation(session, line) if names_server(session) else server


def names_server(session: Session) -> bool:
    """Whether a setting says the collation of new databases."""
    return session.collation_server is not None or session.character_set_server is not None


def _sent(known: Collation) -> Collation:
    """Raises ScenarioError for a character set that no client can send."""
    if known.charset in _UNSENT:
        raise ScenarioError(f"no client can send texts in {known.charset} (error 1231)", expected="names: utf8mb4")
    return known


def names_collation(session: Session, line: ServerLine) -> Collation | None:
    """The collation that SET NAMES gives the connection; None without it.  Raises ScenarioError for an unknown one."""
    if session.names is None:
        return None
    known = collation(session.names, line.name) if "_" in session.names else default_collation(session.names, line.name)
    if known.charset == "utf8mb4" and "_" not in session.names and session.default_collation_for_utf8mb4 is not None:
        known = collation(session.default_collation_for_utf8mb4, line.name)
    return _sent(known)


def new_collation(session: Session, line: ServerLine) -> int:
    """The collation of a new database that names none."""
    if session.collation_server is not None:
        return collation(session.collation_server, line.name).id
    if session.character_set_server is not None:
        return default_collation(session.character_set_server, line.name).id
    return line.ddl.default_collation


def sends_all(session: Session, line: ServerLine) -> bool:
    """Whether the client sends texts as this package writes them."""
    numbers = connection_charset(session, line)[:2]
    return numbers == line.query.client_charset[:2] or collation(numbers[0], line.name).charset == "utf8mb4"


def client_text(text: str, session: Session, line: ServerLine) -> str:
    """A text as the client sends it: its bytes in the client's character set, in the form of texts of the format.

    Raises ScenarioError for a character that this set, or that of the connection, does not have, and UnsupportedError
    for a literal that names a character set of its own.
    """
    if text.isascii() or sends_all(session, line):
        return text
    client, of_connection, _ = (collation(number, line.name).charset for number in connection_charset(session, line))
    if client not in _WHOLE and _OWN_CHARSET.search(text):
        raise UnsupportedError(f"literals with a character set of their own in texts of a client in {client}")
    if of_connection not in _WIDE:
        charset(of_connection).encode(text)
    return to_text(charset(client).encode(text))


def wrong_collations(session: Session, line: ServerLine) -> Iterator[tuple[str, ScenarioError]]:
    """Each setting that names a collation which the line does not have."""
    for name in ("names", "collation_connection", "collation_server", "collation_database", *_CHARSETS):
        value = getattr(session, name)
        try:
            if name == "names":
                names_collation(session, line)
            elif name in _CHARSETS and value is not None:
                known = default_collation(value, line.name)
                _sent(known) if name == "character_set_client" else None
            elif value is not None:
                collation(value, line.name)
        except ScenarioError as error:
            yield name, error
