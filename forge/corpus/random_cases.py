"""Cases that are drawn: the case of a seed and a number is the same for ever, whoever draws it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from forge.corpus.build import Slice
from forge.corpus.cases import Case
from forge.corpus.judge import Judge, Judgement
from forge.errors import ForgeError
from forge.testing.draws.scenarios import scenario_of
from forge.testing.draws.source import RandomSource

#: Cases of a slice.
SLICE = 256
#: Scenarios that are drawn for one case, until a server takes one.
ATTEMPTS = 40
#: A case that no attempt made.
_REFUSED = ("invalid", "unsupported")


@dataclass(frozen=True, slots=True)
class RandomCases:
    """The cases from number ``first`` to before ``end``, which are drawn where they are judged."""

    seed: int
    first: int
    end: int

    def judgements(self, judge: Judge, refused: Counter[str]) -> Iterator[Judgement]:
        """Raises ForgeError if nothing that is drawn for a case is a scenario."""
        missing = list(range(self.first, self.end))
        done: dict[int, Judgement] = {}
        for attempt in range(ATTEMPTS):
            cases = [random_case(self.seed, number, attempt) for number in missing]
            for number, judgement in zip(missing, judge(cases), strict=True):
                if judgement.status in _REFUSED:
                    refused[kind_of_refusal(judgement.error or "")] += 1
                else:
                    done[number] = judgement
            missing = [number for number in missing if number not in done]
            if not missing:
                break
        else:
            raise ForgeError(f"nothing that is drawn for {_id(self.seed, missing[0])} is a scenario")
        yield from (done[number] for number in sorted(done))


def random_slices(seed: int, count: int) -> list[Slice]:
    """So many cases, in slices."""
    return [RandomCases(seed, first, min(first + SLICE, count)) for first in range(0, count, SLICE)]


def random_case(seed: int, number: int, attempt: int = 0) -> Case:
    """The case of that number; ``attempt`` counts the scenarios before it that were refused."""
    name = _id(seed, number)
    scenario = scenario_of(RandomSource(f"{seed}/{number}/{attempt}"), name)
    return Case(name, f"random/{seed}", "", scenario.server, tags=("random",), scenario=scenario)


def _id(seed: int, number: int) -> str:
    return f"random/{seed}/{number:08d}"


def kind_of_refusal(error: str) -> str:
    """Why a scenario is refused, without its names and values."""
    if " already has a row " in error:
        return "two rows have one key"
    text = re.sub(r"'[^']*'|`[^`]*`|\"[^\"]*\"", "...", error.partition("; expected")[0].rpartition(": ")[2])
    return re.sub(r"\d+", "#", text)[:80]
