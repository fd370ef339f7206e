"""Which cases of a corpus a kit has."""

from __future__ import annotations

from collections.abc import Sequence

from forge.corpus.manifest import Entry
from forge.errors import ScenarioError, nearest

#: Cases of the profile ``smoke`` at most.
SMOKE_LIMIT = 300
#: Cases of more bytes are in ``smoke`` only if nothing else has what they have.
_SMALL = 1 << 16

PROFILES: dict[str, str] = {
    "smoke": f"at most {SMOKE_LIMIT} cases, which together have every feature",
    "full": "all cases",
}


def chosen_entries(entries: Sequence[Entry], profile: str) -> list[Entry]:
    """The cases of a profile: ``smoke``, ``full``, a server line (``mysql-9.7``), or a tag (``event:XID``).

    Raises ScenarioError for a word that is none of these.
    """
    usable = [entry for entry in entries if entry.files and entry.against is None]
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
            expected="smoke, full, a server line of the corpus, or a tag of its cases",
            suggestion=nearest(profile, words),
        )
    return [entry for entry in usable if entry.server == profile or profile in entry.tags]


def _smoke(entries: Sequence[Entry]) -> list[Entry]:
    """Few small cases that together have every tag, and every phase and server line.

    The case that adds most is taken, again and again; of those that add as much, the smallest.
    """
    covers = {entry.case: _covered(entry) for entry in entries}
    missing = set().union(*covers.values()) if covers else set()
    left = sorted(entries, key=lambda entry: (entry.size, entry.case))
    taken: list[Entry] = []
    while missing and left and len(taken) < SMOKE_LIMIT:
        best = max(left, key=lambda entry: _worth(entry, len(covers[entry.case] & missing)))
        taken.append(best)
        missing -= covers[best.case]
        left = [entry for entry in left if covers[entry.case] & missing]
    return sorted(taken, key=lambda entry: entry.case)


def _worth(entry: Entry, added: int) -> tuple[float, int]:
    return (added if entry.size <= _SMALL else added / 16, -entry.size)


def _covered(entry: Entry) -> set[str]:
    """What a case shows: its tags, each on each family of servers by itself; its server line and its verdict."""
    family = entry.server.partition("-")[0]
    of_family = {f"{family} {tag}" for tag in entry.tags}
    return {*of_family, f"server {entry.server}", f"{entry.verdict} {entry.phase}"}
