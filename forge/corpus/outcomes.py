"""What a decoder did with a case, seen from the verdict of the case: one vocabulary for builds and for testees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

from forge.errors import Verdict

#: ``rejects``: it stopped with an error, as it has to or may; ``accepts``: it read on where it has to stop.  The others
#: are as in :data:`forge.check.compare.compare.Outcome`.
Outcome = Literal["agree", "rejects", "disagree", "accepts", "refused", "unsupported", "crashed", "timeout", "not_here"]
OUTCOMES: tuple[Outcome, ...] = tuple(outcome for outcome in get_args(Outcome) if outcome != "not_here")
#: The outcomes that a correct decoder has.
RIGHT: frozenset[Outcome] = frozenset(("agree", "rejects"))

#: Of the outcomes on several files the first one here is that on the case: a chain with one broken file is rejected.
_WEIGHTIEST: tuple[Outcome, ...] = (
    "crashed", "timeout", "disagree", "refused", "unsupported", "rejects", "accepts", "agree", "not_here",
)  # fmt: skip


def judged(did: Outcome, verdict: Verdict, *, stopped: bool, marked: bool, passes: bool) -> Outcome:
    """The outcome on a file, given what a correct reader does with the bytes; ``did``: what it is without that.

    A reader that stops where it has to or may, may have shown whatever it likes before; one that reads on where it may
    has to agree as far as a correct reader comes: nothing says what follows.
    ``stopped``: it ended with an error, whatever it showed.  ``marked``: it shows no value for a cell that has none,
    which is as good as an error where the value is wrong.  ``passes``: that it reads on is the first difference.
    """
    if verdict == "accept" or did in ("crashed", "timeout", "not_here"):
        return did
    if stopped:
        return "rejects"
    if verdict == "reject":
        return "rejects" if marked and did == "agree" else "accepts"
    if did in ("refused", "unsupported"):
        return "rejects"
    return "agree" if passes else did


def weightiest(outcomes: Iterable[Outcome]) -> Outcome:
    """The outcome of a case, of those on its files."""
    return min(outcomes, key=_WEIGHTIEST.index)


@dataclass(slots=True)
class Score:
    """How many cases of each verdict were supported, and how many of these came out right.

    The share of the cases that a reader has to accept is what a decoder is told by: to refuse all of them is no merit.
    """

    right: Counter[Verdict] = field(default_factory=Counter)
    supported: Counter[Verdict] = field(default_factory=Counter)
    unsupported: Counter[Verdict] = field(default_factory=Counter)

    def add(self, verdict: Verdict, outcome: Outcome) -> None:
        """Count a case."""
        if outcome == "unsupported":
            self.unsupported[verdict] += 1
            return
        self.supported[verdict] += 1
        self.right[verdict] += outcome in RIGHT

    def percent(self, verdict: Verdict = "accept") -> float | None:
        """The share of the supported cases, cut to a tenth so that 100 means all; None if there is none."""
        supported = self.supported[verdict]
        return 1000 * self.right[verdict] // supported / 10 if supported else None

    def words(self, verdict: Verdict = "accept") -> str:
        """The share in words: ``98.2 % of 5,901 accept cases``."""
        left = f" ({self.unsupported[verdict]:,} not supported)" if self.unsupported[verdict] else ""
        return f"{percent_text(self.percent(verdict))} of {self.supported[verdict]:,} {verdict} cases{left}"


def percent_text(percent: float | None) -> str:
    """A share for people."""
    return "–" if percent is None else f"{percent:.0f} %" if percent in (0, 100) else f"{percent:.1f} %"


def score_of(outcomes: Iterable[tuple[Verdict, Outcome]]) -> Score:
    """The score of some cases, each with its verdict."""
    score = Score()
    for verdict, outcome in outcomes:
        score.add(verdict, outcome)
    return score
