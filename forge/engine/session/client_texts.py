"""Texts that a session's sql_mode, or its client's character set, gives another meaning than is read here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from forge.errors import UnsupportedError
from forge.plan.collations import client_text, sends_all
from forge.plan.session import Session as Settings
from forge.plan.sql_modes import SqlMode
from forge.plan.statements import RowsStatement
from forge.servers import ServerLine
from forge.sql.errors import SqlUnsupported
from forge.sql.lexer import Token, scan

#: Modes that change what quotes and marks mean.
_TELLING = frozenset(("ANSI_QUOTES", "PIPES_AS_CONCAT", "NO_BACKSLASH_ESCAPES", "EMPTY_STRING_IS_NULL"))
#: Modes that change what words of definitions mean.
_WORDS = {
    # What is written anew of these has double quotes.
    "ANSI_QUOTES": ("SEQUENCE", "VIEW", "TRIGGER", "PROCEDURE", "FUNCTION", "EVENT"),
    "REAL_AS_FLOAT": ("REAL",),
    "INTERPRET_UTF8_AS_UTF8MB4": ("UTF8",),
    "MAXDB": ("TIMESTAMP",),
    "ORACLE": ("DATE", "BLOB", "PROCEDURE", "FUNCTION", "TRIGGER", "PACKAGE"),
}


def check_definition(sql: str, mode: SqlMode) -> None:
    """Raises SqlUnsupported for a data definition with words that a mode gives another meaning."""
    words = {word: name for name, changed in _WORDS.items() if name in mode.names for word in changed}
    for token in scan(sql) if words else ():
        if token.is_word(*words):
            word = token.text.upper()
            raise SqlUnsupported(f"{word} with sql_mode {words[word]} is not supported yet", token.start)


def check_sent(sql: str | Callable[[], str], mode: SqlMode, settings: Settings, line: ServerLine) -> None:
    """Raises SqlUnsupported for a text with quotes or marks that a mode gives another meaning, and ScenarioError for
    characters that the client's character set, or the connection's, does not have.

    The text of generated rows is as long as they are, and made only where it is asked for.
    """
    tells = not mode.names.isdisjoint(_TELLING)
    if not tells and sends_all(settings, line):
        return
    text = sql if isinstance(sql, str) else sql()
    for token, name in _changed(text, mode) if tells else ():
        shown = text[token.start : token.end][:20]
        raise SqlUnsupported(f"{shown} with sql_mode {name} is not supported yet", token.start)
    if not sends_all(settings, line):
        client_text(text, settings, line)


def _changed(sql: str, mode: SqlMode) -> Iterator[tuple[Token, str]]:
    """The pieces that mean something else, each with the mode."""
    for token in scan(sql):
        written = sql[token.start : token.end]
        changes = {
            "ANSI_QUOTES": token.kind == "string" and '"' in (written[:1], written[-1:]),
            "NO_BACKSLASH_ESCAPES": token.kind == "string" and "\\" in written,
            "EMPTY_STRING_IS_NULL": token.kind == "string" and not token.text,
            "PIPES_AS_CONCAT": token.is_mark("||"),
        }
        yield from ((token, name) for name, changed in changes.items() if changed and name in mode.names)


def in_client_charset(statement: RowsStatement, settings: Settings, line: ServerLine) -> RowsStatement:
    """The statement with its text as the client sends it.

    Raises UnsupportedError for what the server makes of texts beyond ASCII: LOAD DATA, and texts of variables.
    """
    if sends_all(settings, line):
        return statement
    text = statement.text
    sent = client_text(text.sql, settings, line)
    if text.load is not None and not f"{text.load.path}{text.sql}".isascii():
        raise UnsupportedError(f"LOAD DATA with names beyond ASCII of a client in {settings.names or 'another set'}")
    return statement if sent == text.sql else replace(statement, text=replace(text, source=sent))
