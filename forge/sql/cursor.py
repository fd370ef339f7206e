"""A cursor over the tokens of one statement: what every grammar reads with."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import NoReturn

from forge.errors import nearest
from forge.servers.facts.grammar import Grammar
from forge.servers.loading import complete_line
from forge.sql.errors import SqlError
from forge.sql.lexer import NO_MODES, Modes, Token, is_nameable, tokenize
from forge.sql.reserved import RESERVED

#: Digits of the longest number that is read; servers hold 65.
_LONGEST_NUMBER = 500


class Cursor:
    """Reads tokens one after the other."""

    def __init__(
        self, sql: str, grammar: Grammar | None = None, modes: Modes = NO_MODES, *, several: bool = False
    ) -> None:
        self.sql = sql
        self.modes = modes
        #: The words that the server parses; by default MySQL's.
        self.grammar = complete_line("mysql").grammar if grammar is None else grammar
        self._tokens = tokenize(sql, modes, several=several)
        self._index = 0

    @property
    def token(self) -> Token:
        """The token that comes next."""
        return self._tokens[self._index]

    def following(self, distance: int = 1) -> Token:
        """The token ``distance`` after the next."""
        return self._tokens[min(self._index + distance, len(self._tokens) - 1)]

    def before(self, distance: int) -> Token:
        """The token so many before the next."""
        return self._tokens[max(self._index - distance, 0)]

    @property
    def previous_end(self) -> int:
        """Where the last token that was taken ends."""
        return self._tokens[self._index - 1].end if self._index else 0

    @property
    def previous_start(self) -> int:
        """Where the last token that was taken begins."""
        return self._tokens[max(self._index - 1, 0)].start

    @property
    def left(self) -> int:
        """How many tokens are left."""
        return len(self._tokens) - self._index

    def advance(self) -> Token:
        """Take the next token."""
        token = self.token
        if not self.at_end():
            self._index += 1
        return token

    def accept(self, *words: str) -> bool:
        """Take the given words if they come next, in this order."""
        if self.takes(*words):
            self._index += len(words)
            return True
        return False

    def takes(self, *words: str) -> bool:
        """Whether the given words come next, in this order."""
        return all(self.following(i).is_word(word) for i, word in enumerate(words))

    def accept_wait(self) -> None:
        """How long a statement of MariaDB waits for a table."""
        if self.accept("WAIT"):
            self.integer("seconds")
        else:
            self.accept("NOWAIT")

    def accept_any(self, *words: str) -> str | None:
        """Take the next word if it is one of these; it is given in upper case."""
        if self.token.is_word(*words):
            return self.advance().text.upper()
        return None

    def expect_any(self, *words: str) -> str:
        """Take one of these words; it is given in upper case."""
        return self.accept_any(*words) or self.wrong(" or ".join(words), words)

    def accept_mark(self, mark: str) -> bool:
        if self.token.is_mark(mark):
            self._index += 1
            return True
        return False

    def expect(self, *words: str) -> None:
        for word in words:
            if not self.accept(word):
                self.wrong(word, (word,))

    def expect_mark(self, mark: str) -> None:
        if not self.accept_mark(mark):
            self.wrong(repr(mark))

    def name(self, role: str) -> str:
        """A name: in backticks, or a word that is not reserved."""
        token = self.token
        if token.kind == "word":
            if token.text.upper() in RESERVED and not self._follows_dot():
                expected = f"`{token.text}` in backticks as the name of a {role}"
                raise SqlError(f"{token.shown()} is a reserved word", token.start, expected=expected)
            if token.text.isdigit():
                self.wrong(f"the name of a {role}")
        elif token.kind != "name":
            self.wrong(f"the name of a {role}")
        if not token.text or token.text.endswith(" ") or len(token.text) > 64 or not is_nameable(token.text):
            expected = "1 to 64 characters" if is_nameable(token.text) else "1 to 64 characters from U+0001 to U+FFFF"
            raise SqlError(f"{token.shown()} cannot be the name of a {role}", token.start, expected=expected)
        return self.advance().text

    def names(self, role: str) -> list[str]:
        """One name or more, with commas between them."""
        names = [self.name(role)]
        while self.accept_mark(","):
            names.append(self.name(role))
        return names

    def _follows_dot(self) -> bool:
        return self._index > 0 and self._tokens[self._index - 1].is_mark(".")

    def at_end(self) -> bool:
        """Whether every token is taken."""
        return self.token.kind == "end"

    def string(self, role: str) -> str:
        """A string; strings side by side are one, as in C."""
        first = self.token
        if first.kind != "string":
            self.wrong(f"{role} in quotes")
        parts = [self.advance().text]
        while self.token.kind == "string":
            parts.append(self.advance().text)
        return "".join(parts)

    def integer(self, role: str) -> int:
        token = self.token
        if token.kind != "number" or not token.text.isdigit() or len(token.text) > 20:
            self.wrong(f"{role}, a whole number")
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
        self._index = len(self._tokens) - 1
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
        return self._tokens[self._index - 1].end

    def wrong(self, expected: str, words: tuple[str, ...] = ()) -> NoReturn:
        """Raise the error for a token that is none of what may come here."""
        token = self.token
        suggestion = nearest(token.text.upper(), words) if token.kind == "word" else None
        if suggestion == token.text.upper():
            suggestion = None
        raise SqlError(f"unexpected {token.shown()}", token.start, expected=expected, suggestion=suggestion)
