"""Which features (forge/servers/features.toml) the words of a statement ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from forge.servers import ServerLine
from forge.servers.features import features
from forge.sql.errors import SqlError
from forge.sql.lexer import Token, scan
from forge.sql.outline import outline

#: The first words of definitions, and of statements that change rows.
_DEFINITIONS = ("CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE")
_CHANGES = ("INSERT", "REPLACE", "UPDATE", "DELETE", "WITH", "SET")


def require_statement(line: ServerLine, text: str) -> None:
    """Raises ScenarioError for a statement with words that the line does not parse."""
    line.require_parsed(features_of_statement(text))


def features_of_statement(text: str) -> Iterator[str]:
    """The names of the features; none if the text is no SQL."""
    return iter(_features_of(outline(text)))


@lru_cache(maxsize=256)
def _features_of(text: str) -> tuple[str, ...]:
    return tuple(_found_features(text))


def _found_features(text: str) -> Iterator[str]:
    try:
        tokens = list(scan(text))
    except SqlError:
        return
    first = next((token for token in tokens if token.kind != "comment"), None)
    if first is None or not first.is_word(*_DEFINITIONS, *_CHANGES):
        return
    words = _words(text, tokens)
    for name, pattern in _patterns(definitions=first.is_word(*_DEFINITIONS)).items():
        if pattern.search(words):
            yield name


def _words(text: str, tokens: list[Token]) -> str:
    """The text in lower case with one space between words, ``x`` for text and names in quotes, without comments."""
    pieces: list[str] = []
    end = 0
    for token in tokens:
        if token.kind in ("comment", "string", "name"):
            pieces += [text[end : token.start], " " if token.kind == "comment" else "x"]
            end = token.end
    return " ".join("".join([*pieces, text[end:]]).lower().split())


@cache
def _patterns(*, definitions: bool) -> dict[str, re.Pattern[str]]:
    patterns = (
        (name, feature.query or (feature.statement if definitions else None)) for name, feature in features().items()
    )
    return {name: re.compile(pattern) for name, pattern in patterns if pattern is not None}
