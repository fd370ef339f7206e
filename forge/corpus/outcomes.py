"""What a decoder did with a case, seen from the verdict of the case: one vocabulary for builds and for testees."""

from __future__ import annotations

from collections.abc import Iterable
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
