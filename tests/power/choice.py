"""The cases that add something: they reach what none before them reaches, or tell a mutant that none before tells.

``corpora/kit/power.tsv`` lists them in their order; the kit's index and the profile ``smoke`` go by it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from forge.conform.kit.power import HEADER, Adding
from forge.conform.kit.profiles import covering_entries
from forge.conform.kit.tsv import tsv_text
from forge.corpus.manifest import Entry
from tests.power.logs import Log
from tests.power.measure import Measured
from tests.power.tracing import Reached


def adding(
    entries: Sequence[Entry], logs: Sequence[Log], reached: Iterable[Reached], featured: Sequence[Entry]
) -> dict[str, int]:
    """Cases that together reach all that any reaches, by name: those ``featured``, then the one that adds most, again
    and again; with the number of statements and branches that each adds."""
    places: dict[str, set[int]] = defaultdict(set)
    number = 0
    for one in reached:
        for numbers in (*one.logs.values(), *one.passed.values()):
            number += 1
            names = {logs[at].name for at in numbers}
            # What a featured case reaches is added by the first of them.
            first = next((entry.case for entry in featured if entry.case in names), None)
            for name in names if first is None else (first,):
                places[name].add(number)
    found = {entry.case: len(places[entry.case]) for entry in featured}
    left = [entry for entry in entries if entry.case not in found and places[entry.case]]
    missing = set().union(*(places[entry.case] for entry in left))
    for entry in covering_entries(left, lambda entry: {str(place) for place in places[entry.case]}, len(left)):
        found[entry.case] = len(places[entry.case] & missing)
        missing -= places[entry.case]
    return found


def listed(
    entries: Sequence[Entry], logs: Sequence[Log], chosen: Mapping[str, int], measures: Iterable[Measured]
) -> str:
    """The list as its file has it: the cases chosen for what they reach, then those that told further mutants."""
    mutants = Counter(logs[number].name for found in measures for number in found.told.values())
    kept = {entry.case for entry in entries}
    more = sorted(
        (name for name in mutants if name not in chosen and name in kept), key=lambda name: (-mutants[name], name)
    )
    rows = [Adding(case=name, places=chosen.get(name, 0), mutants=mutants[name]) for name in (*chosen, *more)]
    return tsv_text(HEADER, ((row.case, row.places, row.mutants) for row in rows if row.places or row.mutants))
