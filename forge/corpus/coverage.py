"""Which features have cases on which server lines, and which rules of the worklogs have none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from forge.corpus.manifest import Entry
from forge.corpus.vocabulary import Vocabulary, vocabulary
from forge.render.aligned import aligned
from forge.servers import server_names

RECORDED_TAG = "recorded"
_NOT_THERE = "n/a"


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A feature on a server line: how many cases have it, and how many of those a real server has written."""

    cases: int = 0
    recorded: int = 0
    #: Whether servers of the line have the feature at all.
    exists: bool = True

    @property
    def state(self) -> Literal["cases", "none", "n/a"]:
        """A feature that the line lacks may have cases all the same: bytes that no server of it writes."""
        return "cases" if self.cases else "none" if self.exists else "n/a"

    def __str__(self) -> str:
        if not self.cases:
            return "" if self.exists else _NOT_THERE
        return f"{self.cases}*{self.recorded}" if self.recorded else str(self.cases)


class Coverage:
    """Counts over the cases that have bytes."""

    def __init__(self, entries: Iterable[Entry], words: Vocabulary | None = None) -> None:
        self.words = words or vocabulary()
        self.servers: tuple[str, ...] = tuple(sorted(server_names(), key=_age))
        #: Those that text tables have: the lines with cases.
        self.tested: tuple[str, ...] = ()
        self._cases: Counter[tuple[str, str]] = Counter()
        self._recorded: Counter[tuple[str, str]] = Counter()
        self._first: dict[str, str] = {}
        for entry in entries:
            if entry.files:
                self._count(entry)
        with_cases = {server for _, server in self._cases}
        self.tested = tuple(server for server in self.servers if server in with_cases)

    def _count(self, entry: Entry) -> None:
        for tag in entry.tags:
            self._cases[tag, entry.server] += 1
            self._recorded[tag, entry.server] += RECORDED_TAG in entry.tags
            self._first.setdefault(tag, entry.case)

    def cell(self, tag: str, server: str) -> Cell:
        exists = ":" not in tag or tag in self.words.thresholds or self.words.has(tag, server)
        key = (tag, server)
        return Cell(cases=self._cases[key], recorded=self._recorded[key], exists=exists)

    def row(self, tag: str) -> list[Cell]:
        return [self.cell(tag, server) for server in self.servers]

    def example(self, tag: str) -> str | None:
        """The first case that has the tag."""
        return self._first.get(tag)

    @property
    def rules_without_cases(self) -> list[str]:
        return [rule for rule in self.words.rules if rule not in self._first]


def _age(server: str) -> tuple[bool, tuple[int, ...]]:
    family, version, *_ = server.split("-")
    return family != "mysql", tuple(int(part) for part in version.split("."))


def coverage_lines(coverage: Coverage) -> Iterator[str]:
    """Text tables, one a group of features; then thresholds and rules."""
    yield "cases by feature and server line; *n: n of them recorded on a real server; n/a: the line lacks the feature;"
    yield "blank: no case"
    for name, group in coverage.words.features.items():
        yield from _group(coverage, group.title, {word: f"{name}:{word}" for word in group.words})
    yield from _group(coverage, "Thresholds", {tag.partition(":")[2]: tag for tag in coverage.words.thresholds})
    yield from _group(coverage, "Rules of the worklogs", {rule: rule for rule in coverage.words.rules})
    cells = [coverage.cell(tag, server) for tag in _features(coverage) for server in coverage.tested]
    states = Counter(cell.state for cell in cells)
    yield ""
    yield f"{states['cases']} of {states['cases'] + states['none']} cells have cases, {states['none']} have none"
    missing = coverage.rules_without_cases
    yield f"rules without a case: {', '.join(missing) or 'none'}"


def _features(coverage: Coverage) -> list[str]:
    return [f"{name}:{word}" for name, group in coverage.words.features.items() for word in group.words]


def _group(coverage: Coverage, title: str, tags: dict[str, str]) -> Iterator[str]:
    yield ""
    rows = [[word, *(str(coverage.cell(tag, server)) for server in coverage.tested)] for word, tag in tags.items()]
    yield from aligned([[title, *coverage.tested], *rows], numbers_from=1)


def coverage_object(coverage: Coverage) -> dict[str, Any]:
    """The same as a JSON-able object."""

    def rows(tags: Iterable[str]) -> dict[str, Any]:
        return {
            tag: {
                server: {"cases": cell.cases, "recorded": cell.recorded, "state": cell.state}
                for server, cell in zip(coverage.servers, coverage.row(tag), strict=True)
            }
            for tag in tags
        }

    words = coverage.words
    return {
        "servers": list(coverage.servers),
        "features": rows(_features(coverage)),
        "thresholds": rows(words.thresholds),
        "rules": {
            rule: {"means": words.rules[rule].means, "example": coverage.example(rule), "servers": servers}
            for rule, servers in rows(words.rules).items()
        },
        "rules_without_cases": coverage.rules_without_cases,
    }
