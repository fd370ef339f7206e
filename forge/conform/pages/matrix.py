"""Results counted: features and server lines on one side, testees on the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from forge.conform.kit.case_files import KitCase
from forge.conform.kit.registry import safe_word
from forge.conform.pages.results import Result, Run
from forge.corpus.outcomes import OUTCOMES, Outcome, Score, percent_text
from forge.corpus.vocabulary import vocabulary
from forge.errors import Verdict

#: The least share of right cases, in per cent, of each grade of a cell.
_GRADES = (100, 99, 95, 90, 75, 50, 0)


@dataclass(slots=True)
class Count:
    """The cases of a cell by outcome and by verdict; ``failing`` are the ids of those that fail."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    score: Score = field(default_factory=Score)
    failing: list[str] = field(default_factory=list)

    def add(self, case: KitCase, result: Result) -> None:
        """Count a result."""
        self.outcomes[result.outcome] += 1
        self.score.add(case.verdict, result.outcome)
        if result.fails:
            self.failing.append(result.id)

    @property
    def cases(self) -> int:
        return sum(self.outcomes.values())

    @property
    def unsupported(self) -> int:
        return self.outcomes["unsupported"]

    @property
    def by_outcome(self) -> list[tuple[Outcome, int]]:
        return [(outcome, self.outcomes[outcome]) for outcome in OUTCOMES if self.outcomes[outcome]]

    @property
    def told_by(self) -> Verdict:
        """The verdict of the cases that tell most of a reader: those that it has to accept, where there are any."""
        words: tuple[Verdict, ...] = get_args(Verdict)
        return next((verdict for verdict in words if self.score.supported[verdict]), "accept")

    @property
    def share(self) -> str:
        """Of these cases, as far as it says that it supports them, how many are right; 100 % means all."""
        return percent_text(self.score.percent(self.told_by))

    @property
    def words(self) -> str:
        """The shares of all verdicts."""
        shown = [verdict for verdict in get_args(Verdict) if self.score.supported[verdict]]
        return "; ".join(map(self.score.words, shown)) or "not supported"

    @property
    def grade(self) -> str:
        """``share-100`` down to ``share-0`` by the least share that it has; ``none`` if nothing was asked."""
        percent = self.score.percent(self.told_by)
        if percent is None:
            return "none"
        # Whatever fails beside them, it is not all right.
        percent = min(percent, 99.9) if self.failing else percent
        return f"share-{next(least for least in _GRADES if percent >= least)}"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a matrix: what it is, the name of its page, and a cell for each run."""

    title: str
    page: str
    cells: Mapping[str, Count]
    about: str = ""

    @property
    def failing(self) -> int:
        """How many results of its cells fail."""
        return sum(len(cell.failing) for cell in self.cells.values())


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
    lines = [Line(name, f"server-{safe_word(name)}", _cells(runs, of)) for name, of in sorted(by_server.items())]
    return _failing_first(lines)


def _failing_first(lines: Iterable[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: -line.failing)


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
            groups.append(Group(title, _failing_first(lines)))
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
                cells[run.name].add(case, result)
    return cells
