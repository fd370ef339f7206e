"""Which cases an expression over their tags chooses: ``mysql-8.0 & rows & !JSON``.

``&``, ``|``, ``!`` and parentheses, in the usual order; words are all that stands between them::

    type:JSON     a tag           JSON        a feature of any group, whatever its case
    mysql-8.0     a server line   mariadb     a family of servers
    reject        a verdict       smoke       what a kit marks as such
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from forge.corpus.vocabulary import vocabulary
from forge.errors import ScenarioError, nearest
from forge.servers import server_names

#: Whether a case, by its words, is chosen.
Chosen = Callable[[Set[str]], bool]
_TOKEN = re.compile(r"[&|!()]|[^&|!()]+")


class Tagged(Protocol):
    """A case, of a corpus or of a kit."""

    @property
    def server(self) -> str: ...
    @property
    def verdict(self) -> str: ...
    @property
    def tags(self) -> Sequence[str]: ...


Case = TypeVar("Case", bound=Tagged)


def selected(cases: Sequence[Case], expression: str) -> list[Case]:
    """The cases that an expression chooses.

    Raises ScenarioError for one that is wrong, for a word that no case and no list of tags has, and if it chooses none.
    """
    words = [words_of(case) for case in cases]
    parser = _Parser(expression, _known(words))
    chosen = parser.parsed()
    found = [case for case, own in zip(cases, words, strict=True) if chosen(own)]
    if not found:
        raise ScenarioError(f"no case of {len(cases)} is {expression!r}", expected="an expression that some case meets")
    return found


def words_of(case: Tagged) -> set[str]:
    """The words that are true of a case, in small letters."""
    verdict = case.verdict.lower()
    words = {case.server, case.server.partition("-")[0], verdict, f"verdict:{verdict}"}
    if getattr(case, "smoke", False):
        words.add("smoke")
    for tag in case.tags:
        words |= {tag.lower(), _word(tag)}
    return words


def _word(tag: str) -> str:
    """What stands behind the group of a tag."""
    return tag.partition(":")[2].strip().lower() or tag.lower()


def _known(words: Iterable[Set[str]]) -> set[str]:
    """All words that may be written: those of the cases, of the vocabulary, and of server lines."""
    tags = vocabulary().all
    fixed = {"smoke", "accept", "reject", "may", "mysql", "mariadb", *server_names()}
    return fixed.union(*words, (tag.lower() for tag in tags), map(_word, tags))


@dataclass(slots=True)
class _Parser:
    """``any := all ('|' all)*``, ``all := one ('&' one)*``, ``one := '!' one | '(' any ')' | word``."""

    text: str
    known: Set[str]
    at: int = 0
    _tokens: list[str] = field(default_factory=list)

    def parsed(self) -> Chosen:
        self._tokens = [found.strip() for found in _TOKEN.findall(self.text) if found.strip()]
        chosen = self._any()
        if self.at < len(self._tokens):
            raise self._wrong("& or |")
        return chosen

    def _next(self) -> str:
        return self._tokens[self.at] if self.at < len(self._tokens) else ""

    def _any(self) -> Chosen:
        parts = [self._all()]
        while self._next() == "|":
            self.at += 1
            parts.append(self._all())
        return lambda words: any(part(words) for part in parts)

    def _all(self) -> Chosen:
        parts = [self._one()]
        while self._next() == "&":
            self.at += 1
            parts.append(self._one())
        return lambda words: all(part(words) for part in parts)

    def _one(self) -> Chosen:
        token = self._next()
        if token in ("", "&", "|", ")"):
            raise self._wrong("a word")
        self.at += 1
        if token == "!":
            inner = self._one()
            return lambda words: not inner(words)
        if token == "(":
            inner = self._any()
            if self._next() != ")":
                raise self._wrong(")")
            self.at += 1
            return inner
        word = token.lower()
        if word not in self.known:
            raise ScenarioError(
                f"no case has the tag {token!r}",
                expected="a tag, a feature, a server line or a verdict (docs/corpus.md)",
                suggestion=nearest(word, self.known),
            )
        return lambda words: word in words

    def _wrong(self, expected: str) -> ScenarioError:
        place = f"at {self._tokens[self.at]!r}" if self.at < len(self._tokens) else "at its end"
        return ScenarioError(f"the expression {self.text!r} is wrong {place}", expected=expected)
