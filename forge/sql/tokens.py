"""SQL text as words, names, literals and punctuation, each with its place.

sqlglot's MySQL tokenizer finds them.  Its parser is not used for definitions: it refuses POINT, SRID, CHAR BYTE,
NATIONAL CHAR and FLOAT UNSIGNED, reads INT8 as TINYINT and LONG as BIGINT, and forgets where a word stood.  Only
expressions go through it (``forge.sql.expressions``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal, NoReturn

from forge.errors import ScenarioError, UnsupportedError, nearest
from forge.servers.features import Family
from forge.sql.reserved import RESERVED

Kind = Literal["word", "name", "string", "number", "hex", "bit", "mark", "end"]

#: Digits of the longest number that is read; servers hold 65.
_LONGEST_NUMBER = 500
_WORD = re.compile(r"[\w$\x80-\U0010ffff]+")
_ESCAPE = re.compile(r"\\(.)|(['\"])\2", re.DOTALL)
_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": r"\%", "_": r"\_"}


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of SQL: ``text`` is a word as written, a name or string without quotes, digits, or a mark.

    ``start`` and ``end`` are its place in the statement, quotes included.
    """

    kind: Kind
    text: str
    start: int
    end: int

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.text.upper() in words

    def is_mark(self, mark: str) -> bool:
        return self.kind == "mark" and self.text == mark

    def shown(self) -> str:
        return "end of the statement" if self.kind == "end" else repr(self.text)


class SqlError(ScenarioError):
    """Something wrong at a place of a statement: ``offset`` counts characters of its text."""

    def __init__(
        self, problem: str, offset: int, *, expected: str | None = None, suggestion: str | None = None
    ) -> None:
        super().__init__(problem, expected=expected, suggestion=suggestion)
        self.offset = offset


class SqlUnsupported(SqlError, UnsupportedError):
    """Something that servers know and this version does not, at a place of a statement."""


@contextmanager
def at_offset(offset: int) -> Iterator[None]:
    """Errors of the block, which do not know where in the statement they belong, get this place."""
    try:
        yield
    except SqlError:
        raise
    except ScenarioError as error:
        kind = SqlUnsupported if isinstance(error, UnsupportedError) else SqlError
        raise kind(error.problem, offset, expected=error.expected, suggestion=error.suggestion) from None


def tokenize(sql: str, *, with_body: bool = False) -> list[Token]:
    """The pieces of one statement, closed by one of kind "end"; a body may hold semicolons.  Raises SqlError."""
    from sqlglot.dialects.mysql import MySQL
    from sqlglot.errors import TokenError

    try:
        # A statement that begins with RENAME would be one token: sqlglot leaves it to its parser.
        found = MySQL().tokenize("(" + sql)[1:]
    except TokenError:
        raise SqlError("a quote or comment is not closed", len(sql)) from None
    tokens: list[Token] = []
    for piece in found:
        if any(comment.startswith("!") for comment in piece.comments or ()):
            raise SqlUnsupported("version comments (/*! ... */) are not supported", piece.start - 1)
        tokens += _pieces(piece.token_type.name, sql, piece.start - 1, piece.end)
    while tokens and tokens[-1].is_mark(";"):
        tokens.pop()
    for token in tokens:
        if token.is_mark(";") and not with_body:
            raise SqlError("a second statement begins here", token.end, expected="one statement")
    end = tokens[-1].end if tokens else 0
    tokens.append(Token("end", "", end, end))
    return tokens


def _pieces(kind: str, sql: str, start: int, end: int) -> list[Token]:
    """The tokens of one of sqlglot's, which takes PRIMARY KEY, for one, together."""
    raw = sql[start:end]
    match kind:
        case "STRING" | "NATIONAL_STRING":
            body = raw[raw.index(raw[-1]) + 1 : -1]
            return [Token("string", _ESCAPE.sub(_unescape, body), start, end)]
        case "IDENTIFIER":
            return [Token("name", raw[1:-1].replace("``", "`"), start, end)]
        case "NUMBER":
            return [Token("number", raw, start, end)]
        case "HEX_STRING" | "BIT_STRING":
            digits = raw[2:-1] if raw.endswith("'") else raw[2:]
            return [Token("hex" if kind == "HEX_STRING" else "bit", digits, start, end)]
    if _WORD.match(raw):
        return [Token("word", word[0], start + word.start(), start + word.end()) for word in _WORD.finditer(raw)]
    return [Token("mark", raw, start, end)]


def _unescape(match: re.Match[str]) -> str:
    if match[2]:
        return match[2]
    return _ESCAPES.get(match[1], match[1])


class Cursor:
    """Reads tokens one after the other."""

    def __init__(self, sql: str, *, with_body: bool = False, family: Family = "mysql") -> None:
        self.sql = sql
        #: Whose grammar it is.
        self.family = family
        self._tokens = tokenize(sql, with_body=with_body)
        self._at = 0

    @property
    def token(self) -> Token:
        """The token that comes next."""
        return self._tokens[self._at]

    def following(self, distance: int = 1) -> Token:
        """The token ``distance`` after the next."""
        return self._tokens[min(self._at + distance, len(self._tokens) - 1)]

    @property
    def previous_end(self) -> int:
        """Where the last token that was taken ends."""
        return self._tokens[self._at - 1].end if self._at else 0

    @property
    def left(self) -> int:
        """How many tokens are left."""
        return len(self._tokens) - self._at

    def advance(self) -> Token:
        """Take the next token."""
        token = self.token
        if token.kind != "end":
            self._at += 1
        return token

    def accept(self, *words: str) -> bool:
        """Take the given words if they come next, in this order."""
        if all(self.following(i).is_word(word) for i, word in enumerate(words)):
            self._at += len(words)
            return True
        return False

    def takes_mariadb(self, *words: str) -> bool:
        """Whether the given words, which are of MariaDB's grammar only, come next."""
        return self.family == "mariadb" and all(self.following(i).is_word(word) for i, word in enumerate(words))

    def accept_mariadb(self, *words: str) -> bool:
        """As :meth:`accept`, of words that are of MariaDB's grammar only."""
        return self.family == "mariadb" and self.accept(*words)

    def accept_wait(self) -> None:
        """MariaDB: how long a statement waits for a table."""
        if self.accept_mariadb("WAIT"):
            self.integer("seconds")
        else:
            self.accept_mariadb("NOWAIT")

    def accept_any(self, *words: str) -> str | None:
        """Take the next word if it is one of these; it is given in upper case."""
        if self.token.is_word(*words):
            return self.advance().text.upper()
        return None

    def accept_mark(self, mark: str) -> bool:
        if self.token.is_mark(mark):
            self._at += 1
            return True
        return False

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.accept(word):
                self.wrong(word, (word,))

    def expect_mark(self, mark: str) -> None:
        if not self.accept_mark(mark):
            self.wrong(repr(mark))

    def name(self, what: str) -> str:
        """A name: in backticks, or a word that is not reserved."""
        token = self.token
        if token.kind == "word":
            if token.text.upper() in RESERVED and not self._at_dot(-1):
                expected = f"`{token.text}` in backticks as the name of a {what}"
                raise SqlError(f"{token.text!r} is a reserved word", token.start, expected=expected)
            if token.text.isdigit():
                self.wrong(f"the name of a {what}")
        elif token.kind != "name":
            self.wrong(f"the name of a {what}")
        if not token.text or token.text.endswith(" ") or len(token.text) > 64:
            raise SqlError(f"{token.text!r} cannot be the name of a {what}", token.start, expected="1 to 64 characters")
        return self.advance().text

    def names(self, what: str) -> list[str]:
        """One name or more, with commas between them."""
        names = [self.name(what)]
        while self.accept_mark(","):
            names.append(self.name(what))
        return names

    def _at_dot(self, distance: int) -> bool:
        return self._at + distance >= 0 and self._tokens[self._at + distance].is_mark(".")

    def at(self, kind: Kind) -> bool:
        """Whether the next token is of that kind."""
        return self.token.kind == kind

    def string(self, what: str) -> str:
        """A string; strings side by side are one, as in C."""
        if not self.at("string"):
            self.wrong(f"{what} in quotes")
        text = self.advance().text
        while self.at("string"):
            text += self.advance().text
        return text

    def integer(self, what: str) -> int:
        token = self.token
        if token.kind != "number" or not token.text.isdigit() or len(token.text) > 20:
            self.wrong(f"{what}, a whole number")
        return int(self.advance().text)

    def number(self) -> int | Decimal:
        """A number with its sign; ``.5`` is two tokens."""
        sign = "-" if self.accept_mark("-") else ""
        if not sign:
            self.accept_mark("+")
        point = "." if self.accept_mark(".") else ""
        token = self.token
        if token.kind != "number" or len(token.text) > _LONGEST_NUMBER:
            self.wrong("a number")
        try:
            number = Decimal(sign + point + token.text)
        except InvalidOperation:
            self.wrong("a number")
        self.advance()
        return int(number) if token.text.isdigit() and not point else number

    def rest(self) -> str:
        """Take everything up to the end; its text as written."""
        start = self.token.start
        self._at = len(self._tokens) - 1
        return self.sql[start:].strip()

    def balanced(self) -> str:
        """Take a parenthesis with everything up to its end; the text inside, as written."""
        start = self.token
        return self.sql[start.end : self.balanced_end() - 1].strip()

    def balanced_end(self) -> int:
        """Take a parenthesis with everything up to its end; the place after it."""
        start = self.token
        self.expect_mark("(")
        depth = 1
        while depth:
            token = self.advance()
            if token.kind == "end":
                raise SqlError("this parenthesis is not closed", start.start)
            depth += token.is_mark("(") - token.is_mark(")")
        return self._tokens[self._at - 1].end

    def wrong(self, expected: str, words: tuple[str, ...] = ()) -> NoReturn:
        """Raise the error for a token that is none of what may come here."""
        token = self.token
        suggestion = nearest(token.text.upper(), words) if token.kind == "word" else None
        if suggestion == token.text.upper():
            suggestion = None
        raise SqlError(f"unexpected {token.shown()}", token.start, expected=expected, suggestion=suggestion)
