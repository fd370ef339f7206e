"""Which logs a mutant is tried with, in which order, and what became of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.power.logs import Log, hash_of
from tests.power.mutants import Mutant
from tests.power.outcomes import Outcomes, short
from tests.power.subjects import Subject
from tests.power.tracing import At, Living, Place, Reached
from tests.power.trials import tried

#: Of the logs that run what few logs run of a mutant's function, the smallest come early; so do those that told other
#: mutants of the function.
_RARE, _KNOWN = 4, 20
#: Outcomes are written after so many mutants.
_WRITTEN = 20


class Tries:
    """Tries the mutants of one subject.  ``most`` logs for each (0: all that run its statement); what ``outcomes``
    knows is not tried again."""

    def __init__(
        self,
        subject: Subject,
        logs: Sequence[Log],
        reached: Reached,
        right: Sequence[bytes],
        *,
        favoured: Container[str],
        most: int,
        outcomes: Outcomes,
    ) -> None:
        self.subject, self.logs, self.reached, self.right = subject, logs, reached, right
        self.favoured, self.most = favoured, most
        self.names = [short(hash_of(log.data)) for log in logs]
        self.numbers = {name: number for number, name in enumerate(self.names)}
        order = sorted(range(len(logs)), key=lambda one: (logs[one].name not in favoured, len(logs[one].data)))
        self.rank = {number: place for place, number in enumerate(order)}
        self.outcomes = outcomes
        self.living = Living(subject)

    def outcomes_of(
        self, mutants: Sequence[Mutant], statements: dict[Place, list[At]], jobs: int
    ) -> Iterator[tuple[Mutant, int | None]]:
        """The number of the log that tells each mutant; -1 if none does, None if it cannot be made."""
        groups: dict[Place, list[Mutant]] = defaultdict(list)
        for mutant in mutants:
            groups[mutant.function].append(mutant)
        with ThreadPoolExecutor(jobs) as pool:
            done = 0
            for some in pool.map(lambda of: list(self._of_function(of, statements)), groups.values()):
                if done // _WRITTEN != (done := done + len(some)) // _WRITTEN:
                    self.outcomes.write()
                yield from some
        self.outcomes.write()

    def _of_function(
        self, mutants: Sequence[Mutant], statements: dict[Place, list[At]]
    ) -> Iterator[tuple[Mutant, int | None]]:
        """One mutant of a function after the other: what told one often tells the next."""
        tellers = Counter[int]()
        for mutant in mutants:
            outcome = self._of(mutant, statements[mutant.function], tellers)
            if outcome is not None and outcome >= 0:
                tellers[outcome] += 1
            yield mutant, outcome

    def told_by(self, mutant: Mutant) -> int | None:
        """The number of the log that is known to tell a mutant, if it is one of these logs."""
        return self.numbers.get(self.outcomes.told_by(mutant) or "")

    def _of(self, mutant: Mutant, beside: Sequence[At], tellers: Counter[int]) -> int | None:
        if self.outcomes.is_not_made(mutant):
            return None
        known = self.told_by(mutant)
        if known is not None:
            return known
        before = self.outcomes.tried(mutant)
        trial = [one for one in self._trial(mutant, beside, tellers) if self.names[one] not in before]
        teller = self.numbers.get(self.outcomes.told_before(mutant) or "")
        if teller is not None:
            trial = list(dict.fromkeys([teller, *trial]))
        outcome = tried(self.subject, self.living, mutant, self.logs, trial, self.right) if trial else -1
        if outcome is None:
            self.outcomes.add_not_made(mutant)
        else:
            self.outcomes.add(mutant, self.names[outcome] if outcome >= 0 else None, (self.names[one] for one in trial))
        return outcome

    def _trial(self, mutant: Mutant, beside: Sequence[At], tellers: Counter[int]) -> list[int]:
        """The logs for a mutant: first those that are likely to tell it, of them those of the cases favoured."""
        numbers = sorted(self.reached.logs.get(mutant.at, ()), key=self.rank.__getitem__)
        among = set(numbers)
        known = [number for number, _ in tellers.most_common(_KNOWN) if number in among]
        # Those that also run what few logs run of the function: the other side of a condition is there.
        others = sorted((self.reached.logs.get(at, ()) for at in beside), key=len)
        rare = [one for some in others for one in sorted(among.intersection(some), key=self.rank.__getitem__)[:_RARE]]
        first = sorted(dict.fromkeys([*known, *rare]), key=lambda one: self.logs[one].name not in self.favoured)
        if not self.most or len(numbers) <= self.most:
            return list(dict.fromkeys([*first, *numbers]))
        small = numbers[: self.most // 3]
        # The rest from everywhere: neighbours are cases of one scenario.
        spread = sorted(among)[:: max(1, 3 * len(numbers) // self.most)]
        return list(dict.fromkeys([*first, *small, *spread]))[: self.most]
