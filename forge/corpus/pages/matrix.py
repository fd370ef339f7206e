"""Results counted: features and server lines on one side, testees on the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from forge.corpus.kit.case_files import KitCase
from forge.corpus.kit.registry import safe_word
from forge.corpus.outcomes import OUTCOMES, Outcome
from forge.corpus.pages.results import Result, Run
from forge.corpus.vocabulary import vocabulary


@dataclass(slots=True)
class Count:
    """The cases of a cell by outcome; ``failing`` are the ids of those that fail."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    failing: list[str] = field(default_factory=list)

    def add(self, result: Result) -> None:
        """Count a result."""
        self.outcomes[result.outcome] += 1
        if result.fails:
            self.failing.append(result.id)

    @property
    def cases(self) -> int:
        return sum(self.outcomes.values())

    @property
    def right(self) -> int:
        return self.outcomes["agree"] + self.outcomes["rejects"]

    @property
    def unsupported(self) -> int:
        return self.outcomes["unsupported"]

    @property
    def by_outcome(self) -> list[tuple[Outcome, int]]:
        return [(outcome, self.outcomes[outcome]) for outcome in OUTCOMES if self.outcomes[outcome]]

    @property
    def percent(self) -> str:
        """Of the cases that it says it supports, how many are right; rounded down, so that 100 means all."""
        asked = self.cases - self.unsupported
        if not asked:
            return "-"
        tenths = 1000 * self.right // asked
        return "100" if tenths == 1000 else f"{tenths / 10:.1f}"

    @property
    def grade(self) -> str:
        """``all``, ``most`` (nine of ten), ``some``, or ``none`` if nothing was asked."""
        asked = self.cases - self.unsupported
        if not asked:
            return "none"
        if not self.failing:
            return "all"
        return "most" if self.right * 10 >= asked * 9 else "some"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a matrix: what it is, the name of its page, and a cell for each run."""

    title: str
    page: str
    cells: Mapping[str, Count]
    about: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Lines under a heading."""

    title: str
    lines: list[Line]


def whole(runs: Sequence[Run], cases: Sequence[KitCase]) -> dict[str, Count]:
    """All cases, by the name of the run."""
    return _cells(runs, cases)


def servers(runs: Sequence[Run], cases: Sequence[KitCase]) -> list[Line]:
    """A line for each server line."""
    by_server = _grouped(cases, lambda case: [case.server])
    return [Line(name, f"server-{safe_word(name)}", _cells(runs, of)) for name, of in sorted(by_server.items())]


def features(runs: Sequence[Run], cases: Sequence[KitCase]) -> list[Group]:
    """A line for each tag of the cases, in the groups of the vocabulary."""
    by_tag = _grouped(cases, lambda case: case.tags)
    words = vocabulary()
    known = [
        *((group.title, [f"{name}:{word}" for word in group.words]) for name, group in words.features.items()),
        ("thresholds", list(words.thresholds)),
        ("rules of worklogs", list(words.rules)),
        ("topics", list(words.topics)),
    ]
    placed = {tag for _, tags in known for tag in tags}
    known.append(("others", sorted(set(by_tag) - placed)))
    groups: list[Group] = []
    for title, tags in known:
        lines = [Line(tag, feature_page(tag), _cells(runs, by_tag[tag]), _about(tag)) for tag in tags if tag in by_tag]
        if lines:
            groups.append(Group(title, lines))
    return groups


def feature_page(tag: str) -> str:
    """The name of the page of a tag, apart from that of a tag that differs by its capitals alone (UNKNOWN)."""
    capitals = "-in-capitals" if tag != tag.lower() and tag.lower() in vocabulary().all else ""
    return f"feature-{safe_word(tag)}{capitals}"


def _about(tag: str) -> str:
    words = vocabulary()
    if tag in words.rules:
        return words.rules[tag].means
    return words.thresholds.get(tag) or words.topics.get(tag) or ""


def _grouped(cases: Iterable[KitCase], keys: Callable[[KitCase], Iterable[str]]) -> dict[str, list[KitCase]]:
    found: dict[str, list[KitCase]] = {}
    for case in cases:
        for key in keys(case):
            found.setdefault(key, []).append(case)
    return found


def _cells(runs: Sequence[Run], cases: Iterable[KitCase]) -> dict[str, Count]:
    cells = {run.name: Count() for run in runs}
    for case in cases:
        for run in runs:
            result = run.results.get(case.id)
            if result is not None:
                cells[run.name].add(result)
    return cells
