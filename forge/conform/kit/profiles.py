"""Which cases of a corpus a kit has."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence

from forge.conform.kit.power import read_power
from forge.conform.kit.withheld import withheld_cases
from forge.corpus.manifest import Entry
from forge.errors import ScenarioError, nearest

#: Cases of the profile ``smoke`` at most.
SMOKE_LIMIT = 400
#: Cases of more bytes are in ``smoke`` only if nothing else has what they have.
_SMALL = 1 << 16

#: Groups of features that decoders differ in.
_TOLD = frozenset(("event", "type", "record", "verdict"))

PROFILES: dict[str, str] = {
    "smoke": f"at most {SMOKE_LIMIT} cases: every feature, and each type by itself in each range of its values",
    "full": "all cases",
    "sparse": "cases whose files are larger than 4 GiB, most of it zero bytes; they are in no other profile",
}


def chosen_entries(entries: Sequence[Entry], profile: str) -> list[Entry]:
    """The cases of a profile: ``smoke``, ``full``, a server line (``mysql-9.7``), or a tag (``event:XID``).

    Cases that a vendor has to have first are in none (SECURITY.md).  Raises ScenarioError for another word.
    """
    usable = kit_entries(entries)
    if profile == "full":
        return usable
    if profile == "smoke":
        return _smoke(usable)
    servers = {entry.server for entry in usable}
    tags = {tag for entry in usable for tag in entry.tags}
    if profile not in servers and profile not in tags:
        words = [*PROFILES, *servers, *tags]
        raise ScenarioError(
            f"there is no profile {profile!r}",
            expected="smoke, full, sparse, a server line of the corpus, or a tag of its cases",
            suggestion=nearest(profile, words),
        )
    return [entry for entry in usable if entry.server == profile or profile in entry.tags]


def kit_entries(entries: Iterable[Entry]) -> list[Entry]:
    """The cases that a kit may have."""
    withheld = withheld_cases()
    return [entry for entry in entries if entry.files and entry.against is None and entry.case not in withheld]


def featured_entries(entries: Sequence[Entry]) -> list[Entry]:
    """Few small cases that together have every tag, and every phase and server line."""
    return covering_entries(entries, _covered, SMOKE_LIMIT)


def _smoke(entries: Sequence[Entry]) -> list[Entry]:
    """Few small cases that together have every tag, and every phase and server line; then those that their author has
    chosen, each with values of one type in one range, where a fault of a decoder is not hidden by another.

    The room that is left goes to those that reach and tell what they do not in the decoders that are measured, to cases
    that together have every feature with every outcome of each decoder, and to one of each file of scenarios.
    """
    taken = {entry.case: entry for entry in (*featured_entries(entries), *filter(_is_chosen, entries))}
    by_name = {entry.case: entry for entry in entries}
    powerful = [by_name[row.case] for row in read_power() if row.case in by_name and row.case not in taken]
    taken |= {entry.case: entry for entry in powerful[: max(0, SMOKE_LIMIT - len(taken))]}
    for covered in (_told, _file):
        left = [entry for entry in entries if entry.case not in taken]
        more = covering_entries(left, covered, SMOKE_LIMIT - len(taken), list(taken.values()))
        taken |= {entry.case: entry for entry in more}
    return sorted(taken.values(), key=lambda entry: entry.case)


def _is_chosen(entry: Entry) -> bool:
    return "chosen" in entry.tags


def covering_entries(
    entries: Sequence[Entry], covered: Callable[[Entry], set[str]], most: int, taken: Sequence[Entry] = ()
) -> list[Entry]:
    """At most ``most`` cases that cover what those ``taken`` do not.

    The case that adds most is next, again and again; of those that add as much, the smallest.
    """
    covers = [covered(entry) for entry in entries]
    missing = set().union(*covers).difference(*map(covered, taken))
    found: list[Entry] = []
    # What a case adds becomes less and less: one that is still the best once it is counted again is the best of all.
    heap = [(_rank(entry, len(covers[number] & missing)), number) for number, entry in enumerate(entries)]
    heapq.heapify(heap)
    while heap and len(found) < most:
        _, number = heapq.heappop(heap)
        added = len(covers[number] & missing)
        if not added:
            continue
        rank = _rank(entries[number], added)
        if heap and (rank, number) > heap[0]:
            heapq.heappush(heap, (rank, number))
            continue
        found.append(entries[number])
        missing -= covers[number]
    return found


def _rank(entry: Entry, added: int) -> tuple[float, int, str]:
    """Less is better: much that is added, by a small case."""
    return (-added if entry.size <= _SMALL else -added / 16, entry.size, entry.case)


def _covered(entry: Entry) -> set[str]:
    """What a case shows: its tags, each on each family of servers by itself; its server line and its verdict."""
    family = entry.server.partition("-")[0]
    of_family = {f"{family} {tag}" for tag in entry.tags}
    return {*of_family, f"server {entry.server}", f"{entry.verdict} {entry.phase}"}


def _told(entry: Entry) -> set[str]:
    """What a case tells of decoders: each outcome with each feature that it may have to do with."""
    outcomes = {f"{verdict.decoder} {verdict.outcome}" for verdict in entry.verdicts if verdict.outcome != "agree"}
    features = [tag for tag in entry.tags if tag.partition(":")[0] in _TOLD]
    return {f"{outcome} {feature}" for outcome in outcomes for feature in features}


def _file(entry: Entry) -> set[str]:
    return {entry.file}
