"""The text of a column type, as CREATE TABLE has it, to a :class:`SqlType`.

Only the type and the attributes that decide its bytes: no NOT NULL, DEFAULT or keys.  Aliases become the type they
stand for, as ``SHOW CREATE TABLE`` prints them (BOOL is TINYINT, SERIAL is BIGINT UNSIGNED, DEC is DECIMAL,
FLOAT(25) is DOUBLE, NCHAR is CHAR CHARACTER SET utf8mb3, LONG VARCHAR is MEDIUMTEXT).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from msgspec.structs import replace

from forge.charsets import collation, default_collation
from forge.errors import ScenarioError, nearest
from forge.values.declaration.column_type import Arguments
from forge.values.declaration.sqltype import SqlType
from forge.values.literals import shortened
from forge.values.registry import column_type, column_types, facts_of

_TOKEN = re.compile(
    r"\s*(?:(?P<word>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>[0-9]+)"
    r"|(?P<string>'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\")|(?P<mark>[(),=]))",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)|''|\"\"", re.DOTALL)
_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}
_MAX_TEXT = 1 << 24
#: Characters of a wrong word that an error shows and compares.
_MAX_SHOWN = 64

#: Words with which a type of CHARACTER SET utf8mb3 begins.
NATIONAL = ("NCHAR", "NVARCHAR", "NATIONAL")
_SIGNS = ("UNSIGNED", "SIGNED", "ZEROFILL")
_CHARSET_WORDS = ("CHARACTER", "CHAR", "CHARSET", "COLLATE", "BINARY", "BYTE", "ASCII", "UNICODE")
_ATTRIBUTES = (*_SIGNS, *_CHARSET_WORDS, "SRID", "COMPRESSED")


@cache
def _phrases() -> dict[str, str]:
    """The name of the type that each phrase declares."""
    aliases = {alias: sql_type.name for sql_type in column_types().values() for alias in sql_type.aliases}
    return {**{name: name for name in column_types()}, **aliases}


@cache
def _longest_phrase() -> int:
    """Words of the longest of them."""
    return max(len(phrase.split()) for phrase in _phrases())


@cache
def continuing_words() -> tuple[str, ...]:
    """Words that go on with a type's name: DOUBLE PRECISION, LONG VARCHAR, NATIONAL CHARACTER VARYING, CHAR BYTE."""
    return tuple(sorted({word for phrase in _phrases() for word in phrase.split()[1:]}))


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str

    @property
    def word(self) -> str:
        """In upper case, "" if it is no word."""
        return self.text.upper() if self.kind == "word" else ""


def parse_type(text: str, *, server: str = "mysql") -> SqlType:
    """The type that ``text`` states, e.g. ``DECIMAL(10,2) UNSIGNED``, ``VARCHAR(60) CHARACTER SET latin1``.

    ``server`` (a family or line, "mariadb-11.8") decides the default collation of a named character set.
    Raises ScenarioError, with the nearest word if one is misspelt.
    """
    return _Parser(text, server).parse()


class _Parser:
    def __init__(self, text: str, server: str) -> None:
        self.text = text
        self.server = server
        self.tokens = list(self._tokens())
        self.position = 0
        self.charset: str | None = None
        self.collation: str | None = None
        self.bin = False

    def parse(self) -> SqlType:
        phrase, name = self._phrase()
        parsed = self._arguments(SqlType(name), phrase)
        if phrase == "SERIAL":
            parsed = replace(parsed, unsigned=True)
        if phrase.split()[0] in NATIONAL:
            self.charset = "utf8mb3"
        while self.position < len(self.tokens):
            parsed = self._attribute(parsed)
        return self._with_collation(parsed)

    def _tokens(self) -> list[_Token]:
        tokens, position, end = [], 0, len(self.text.rstrip())
        if end > _MAX_TEXT:
            raise ScenarioError(f"a column type of {end} characters is too long")
        while position < end:
            match = _TOKEN.match(self.text, position)
            if match is None:
                raise self._error(f"cannot be read from {self.text[position : position + 20].strip()!r} on")
            kind = match.lastgroup or ""
            tokens.append(_Token(kind, match[kind]))
            position = match.end()
        return tokens

    def _phrase(self) -> tuple[str, str]:
        """(the longest phrase that names a type, the type's canonical name)."""
        words: list[str] = []
        for token in self.tokens[: _longest_phrase()]:
            if not token.word:
                break
            words.append(token.word)
        for count in range(len(words), 0, -1):
            phrase = " ".join(words[:count])
            if phrase in _phrases():
                self.position = count
                return phrase, _phrases()[phrase]
        if not words:
            raise self._error("does not start with a type's name", "text such as 'DECIMAL(10,2)'")
        first = words[0][:_MAX_SHOWN]
        raise ScenarioError(f"unknown column type {first!r}", suggestion=nearest(first, _phrases()))

    def _arguments(self, parsed: SqlType, phrase: str) -> SqlType:
        kind = column_type(parsed.name).arguments
        if not self._takes("("):
            return parsed
        arguments = [self._next()]
        while self._takes(","):
            arguments.append(self._next())
        if arguments == [_Token("mark", ")")]:
            raise self._error("has nothing in its parentheses")
        if not self._takes(")"):
            raise self._error("has an unclosed parenthesis")
        if kind == "members":
            if any(token.kind != "string" for token in arguments):
                raise self._error("has members that are not strings", f"{parsed.name}('a','b')")
            return replace(parsed, members=tuple(_unquoted(token.text) for token in arguments))
        if kind == "none" or any(token.kind != "number" for token in arguments):
            raise self._error(f"has arguments that {parsed.name} does not take")
        numbers = [int(token.text) if len(token.text) < 12 else 10**12 for token in arguments]
        if len(numbers) > (2 if kind == "numbers" else 1):
            raise self._error(f"has more arguments than {parsed.name} takes")
        return self._with_numbers(parsed, kind, phrase, numbers)

    def _with_numbers(self, parsed: SqlType, kind: Arguments, phrase: str, numbers: list[int]) -> SqlType:
        if kind == "length":
            return replace(parsed, length=numbers[0])
        if kind == "fsp":
            return replace(parsed, fsp=numbers[0])
        if kind == "display":
            return replace(parsed, length=numbers[0]) if parsed.name == "YEAR" and numbers[0] != 4 else parsed
        if len(numbers) == 2:
            return replace(parsed, precision=numbers[0], scale=numbers[1])
        if parsed.name == "DECIMAL":
            return replace(parsed, precision=numbers[0])
        # FLOAT(p) says how many bits of precision are wanted.
        if phrase != "FLOAT" or numbers[0] > 53:
            expected = "FLOAT(0) to FLOAT(53), or (M,D)" if phrase == "FLOAT" else "(M,D)"
            raise self._error("has a wrong precision", expected)
        return replace(parsed, name="FLOAT" if numbers[0] <= 24 else "DOUBLE")

    def _attribute(self, parsed: SqlType) -> SqlType:
        word, facts = self._next().word, facts_of(parsed)
        if word in _SIGNS:
            self._check(word, parsed, facts.takes_unsigned)
            unsigned = parsed.unsigned or word != "SIGNED"
            return replace(parsed, unsigned=unsigned, zerofill=parsed.zerofill or word == "ZEROFILL")
        if word in _CHARSET_WORDS:
            self._check(word, parsed, facts.has_charset)
            self._charset_attribute(word)
            return parsed
        if word in ("SRID", "REF_SYSTEM_ID"):
            self._check(word, parsed, facts.is_geometry)
            self._takes("=")
            token = self._next()
            if token.kind != "number" or int(token.text) >= 1 << 32:
                raise self._error("has a wrong SRID", "a number such as 4326")
            return replace(parsed, srid=int(token.text))
        if word == "COMPRESSED":
            self._check(word, parsed, facts.takes_compressed)
            return replace(parsed, compressed=True)
        shown = self.tokens[self.position - 1].text[:_MAX_SHOWN]
        suggestion = nearest(word[:_MAX_SHOWN], _ATTRIBUTES)
        raise ScenarioError(f"{shown!r} is not an attribute of a column type", suggestion=suggestion)

    def _charset_attribute(self, word: str) -> None:
        if word in ("CHARACTER", "CHAR") and self._next().word != "SET":
            raise self._error("has CHARACTER without SET")
        if word in ("CHARACTER", "CHAR", "CHARSET"):
            self.charset = self._name()
        elif word == "COLLATE":
            self.collation = self._name()
        elif word == "BINARY":
            self.bin = True
        else:
            self.charset = {"ASCII": "latin1", "UNICODE": "ucs2", "BYTE": "binary"}[word]

    def _with_collation(self, parsed: SqlType) -> SqlType:
        if not facts_of(parsed).has_charset:
            return parsed
        number = None
        if self.charset is not None:
            number = default_collation(self.charset, self.server)
        if self.bin:
            number = collation(f"{number.charset if number else 'utf8mb4'}_bin", self.server)
        if self.collation is not None:
            named = collation(self.collation, self.server)
            if number is not None and named.charset != number.charset:
                raise ScenarioError(f"collation {named.name} is not one of character set {number.charset}")
            number = named
        if number is None:
            return parsed
        binary_name = facts_of(parsed).binary_name
        if number.charset == "binary" and binary_name is not None:
            return replace(parsed, name=binary_name)
        return replace(parsed, collation=number.id)

    def _check(self, word: str, parsed: SqlType, allowed: bool) -> None:
        if not allowed:
            raise ScenarioError(f"{parsed.name} cannot be {word}")

    def _takes(self, mark: str) -> bool:
        if self.position < len(self.tokens) and self.tokens[self.position] == _Token("mark", mark):
            self.position += 1
            return True
        return False

    def _next(self) -> _Token:
        if self.position >= len(self.tokens):
            raise self._error("ends too early")
        self.position += 1
        return self.tokens[self.position - 1]

    def _name(self) -> str:
        self._takes("=")
        token = self._next()
        if token.kind not in ("word", "string"):
            raise self._error(f"has {token.text!r} where a name must be")
        return token.text if token.kind == "word" else _unquoted(token.text)

    def _error(self, problem: str, expected: str | None = None) -> ScenarioError:
        return ScenarioError(f"the column type {shortened(repr(self.text))} {problem}", expected=expected)


def _unquoted(literal: str) -> str:
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]) if match[1] else match[0][0], literal[1:-1])
