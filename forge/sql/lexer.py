"""SQL text as words, names, literals, punctuation and comments, each with its place.

The rules are those of the servers' lexer (sql/sql_lex.cc): double quotes enclose text, or names with ANSI_QUOTES; a
backslash escapes, but not with NO_BACKSLASH_ESCAPES; ``--`` begins a comment only before white space.  Everything that
reads SQL goes through here: a word inside a string, a quoted name or a comment is never taken for SQL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Literal, NamedTuple, cast

from forge.sql.errors import SqlError, SqlUnsupported

Kind = Literal["word", "name", "string", "number", "hex", "bit", "mark", "comment", "end"]

#: Letters, digits, ``_``, ``$`` and everything beyond ASCII: what names without quotes are made of.
_NAME = r"[\w$\x80-\U0010ffff]"
#: The modes of a session's sql_mode that decide where a piece ends and what it is.
Modes = frozenset[str]
NO_MODES: Modes = frozenset()
_FORMS = r"""
    (?P<comment>(?:--(?=[\s\0]|\Z)|\#)[^\n]*|/\*(?:M?!(?:(?!\*/|/\*).|/\*.*?\*/)*|.*?)\*/)
    |[nN]?(?P<string>STRING)
    |(?P<name>QUOTED)
    |(?P<hex>0x[0-9A-Fa-f]+(?!NAME)|[xX]'[0-9A-Fa-f]*')
    |(?P<bit>0b[01]+(?!NAME)|[bB]'[01]*')
    |(?P<number>[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+(?!NAME)|[0-9]+(?!NAME))
    |(?P<word>NAME+)
    |(?P<unclosed>'|"|`|/\*)
    |(?P<mark>:=|@@|->>?|<=>|<=|>=|<>|<<|>>|!=|\|\||&&|[^\s])
"""


@cache
def _token(*, ansi: bool, escapes: bool) -> re.Pattern[str]:
    """The pattern of a piece."""
    text = "Q(?:[^QE]|E.|QQ)*Q".replace("E.|", r"\\.|").replace("E", r"\\") if escapes else "Q(?:[^Q]|QQ)*Q"
    single, double = (text.replace("Q", quote) for quote in "'\"")
    forms = _FORMS.replace("STRING", single if ansi else f"{single}|{double}")
    names = "`(?:[^`]|``)*`" + ('|"(?:[^"]|"")*"' if ansi else "")
    return re.compile(forms.replace("QUOTED", names).replace("NAME", _NAME), re.DOTALL | re.VERBOSE)


_NOT_IN_NAMES = re.compile("[\0\ud800-\udfff\U00010000-\U0010ffff]")
#: An escape, or the string's own quote twice.
_ESCAPE = {quote: re.compile(rf"\\(.)|{quote}({quote})", re.DOTALL) for quote in "'\""}
_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": r"\%", "_": r"\_"}
_NOT_PLAIN = re.compile(r"['\"`#]|--|/\*")
_VERSION = re.compile(r"/\*(M?!)(\d{5,6})?")
#: Characters of a text whose pieces are kept.
_KEPT_SIZE = 4096
#: Statements of these objects hold other statements.
_HOLDERS = ("TRIGGER", "PROCEDURE", "FUNCTION", "EVENT")
#: Characters of a piece that an error message quotes.
_SHOWN = 80


class Token(NamedTuple):
    """One piece of SQL: ``text`` is a word as written, a name or string without quotes, digits, a mark, or a comment.

    ``start`` and ``end`` are its place in the statement, quotes included.
    """

    kind: Kind
    text: str
    start: int
    end: int

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these words (upper case), outside of quotes."""
        return self.kind == "word" and self.text.upper() in words

    def is_mark(self, mark: str) -> bool:
        return self.kind == "mark" and self.text == mark

    @property
    def is_name(self) -> bool:
        """Whether it can name something: in backticks or without."""
        return self.kind in ("word", "name")

    @property
    def version(self) -> tuple[str, str | None] | None:
        """Of a version comment: its mark, ``!`` or ``M!``, and the version; None of other tokens."""
        match = _VERSION.match(self.text) if self.kind == "comment" else None
        return None if match is None else (match[1], match[2])

    def shown(self) -> str:
        """The piece for an error message; of a long one its beginning."""
        if self.kind == "end":
            return "end of the statement"
        return shown(self.text)


def shown(text: str) -> str:
    """A text for an error message; of a long one its beginning."""
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}… ({len(text)} characters)"


def is_nameable(name: str) -> bool:
    """Whether a name has only characters that names on servers have: no U+0000, and none beyond U+FFFF.

    MariaDB refuses others; MySQL puts ``?`` in their place, so that two names may be one (9.7, 10.11, 11.8).
    """
    return _NOT_IN_NAMES.search(name) is None


def is_plain(sql: str) -> bool:
    """Whether a text has no quotes and no comments, so that all of it is read as it stands."""
    return _NOT_PLAIN.search(sql) is None


def scan(sql: str, modes: Modes = NO_MODES) -> Iterator[Token]:
    """All pieces of a text, comments included.  Raises SqlError for a quote or comment that is not closed.

    Remembered: a statement is read for its comments, its features and its meaning in turn.
    """
    try:
        pieces = _kept_pieces(sql, modes) if len(sql) <= _KEPT_SIZE else ()
    except SqlError:
        pieces = ()
    yield from pieces or _pieces(sql, modes)


@lru_cache(maxsize=8)
def _kept_pieces(sql: str, modes: Modes) -> tuple[Token, ...]:
    return tuple(_pieces(sql, modes))


def _pieces(sql: str, modes: Modes) -> Iterator[Token]:
    escapes = "NO_BACKSLASH_ESCAPES" not in modes
    for match in _token(ansi="ANSI_QUOTES" in modes, escapes=escapes).finditer(sql):
        text, start, end = match[0], match.start(), match.end()
        match match.lastgroup:
            case "string":
                written = match["string"]
                quote, inner = written[0], written[1:-1]
                unquoted = _ESCAPE[quote].sub(_unescape, inner) if escapes else inner.replace(quote * 2, quote)
                yield Token("string", unquoted, start, end)
            case "name":
                yield Token("name", text[1:-1].replace(text[0] * 2, text[0]), start, end)
            case "hex" | "bit" as kind:
                yield Token("hex" if kind == "hex" else "bit", text[2:].rstrip("'"), start, end)
            case "number" | "word" | "comment" | "mark" as kind:
                yield Token(cast(Kind, kind), text, start, end)
            case _:
                raise SqlError("a quote or comment is not closed", len(sql))


def place_of(sql: str, offset: int) -> tuple[int, int]:
    """The line and the column of a place, both from 1."""
    return sql.count("\n", 0, offset) + 1, offset - sql.rfind("\n", 0, offset)


def tokenize(sql: str, modes: Modes = NO_MODES, *, several: bool = False) -> list[Token]:
    """The pieces of one statement without its comments, closed by one of kind "end".

    ``several``: the text may be more than one statement.

    Raises SqlError for a second statement, unless the first is of an object that holds statements, and
    SqlUnsupported for version comments, which have to be read before.
    """
    tokens: list[Token] = []
    for token in scan(sql, modes):
        if token.kind != "comment":
            tokens.append(token)
        elif token.text.startswith("/*!"):
            raise SqlUnsupported("version comments (/*! ... */) are not supported", token.start)
    while tokens and tokens[-1].is_mark(";"):
        tokens.pop()
    second = next((index for index, token in enumerate(tokens) if token.is_mark(";")), None)
    if second is not None and not several and not _holds_statements(tokens[:second]):
        raise SqlError("a second statement begins here", tokens[second].end, expected="one statement")
    end = tokens[-1].end if tokens else 0
    tokens.append(Token("end", "", end, end))
    return tokens


def without_comments(sql: str) -> str:
    """The text with a space in the place of each comment."""
    if is_plain(sql):
        return sql
    pieces: list[str] = []
    end = 0
    for token in scan(sql):
        if token.kind == "comment":
            pieces += [sql[end : token.start], " "]
            end = token.end
    return "".join(pieces) + sql[end:]


def _holds_statements(head: list[Token]) -> bool:
    """Whether a text that begins so may have semicolons inside."""
    return bool(head) and head[0].is_word("CREATE", "ALTER") and any(token.is_word(*_HOLDERS) for token in head)


def _unescape(match: re.Match[str]) -> str:
    return match[2] or _ESCAPES.get(match[1], match[1])
