"""What a decoder did with a case, seen from the verdict of the case: one vocabulary for builds and for testees."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

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


def weightiest(outcomes: Iterable[Outcome]) -> Outcome:
    """The outcome of a case, of those on its files."""
    return min(outcomes, key=_WEIGHTIEST.index)
