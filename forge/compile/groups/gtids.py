"""GTIDs of a session's groups: given by hand, or the next ones by themselves."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from forge.errors import ScenarioError
from forge.events.previous_gtids import GtidSource, gtid_set_text

#: (domain, server, number).
ListedGtid = tuple[int, int, int]


class MysqlGtids(Struct):
    """(uuid, tag, number) of each group so far; ``before`` were executed before the session."""

    before: tuple[GtidSource, ...] = ()
    groups: list[tuple[str, str, int]] = field(default_factory=list)
    #: By (uuid, tag): from which number on the next one is looked for (Gtid_state::get_automatic_gno).
    _next: dict[tuple[str, str], int] = field(default_factory=dict)
    _executed: set[tuple[str, str, int]] = field(default_factory=set)

    def given(self, uuid: str, tag: str, number: int) -> tuple[str, str, int]:
        """A group has this one.  Raises ScenarioError if another had it: the server would pass over the group."""
        gtid = (uuid, tag, number)
        if gtid in self._executed or self._was_before(uuid, tag, number):
            text = gtid_set_text(((uuid, tag, ((number, number),)),))
            raise ScenarioError(f"the GTID {text} was executed before, so the server passes over the transaction")
        return self._enter(gtid)

    def automatic(self, uuid: str, tag: str) -> tuple[str, str, int]:
        """A group has the lowest number that is free behind the last one that was given so."""
        number = self._next.get((uuid, tag), 1)
        while (uuid, tag, number) in self._executed or self._was_before(uuid, tag, number):
            number += 1
        self._next[uuid, tag] = number + 1
        return self._enter((uuid, tag, number))

    def start_at(self, uuid: str, tag: str, number: int) -> None:
        """The first number that is given by itself."""
        self._next[uuid, tag] = number

    def executed(self, groups: int) -> tuple[bool, tuple[GtidSource, ...]]:
        """The set after so many groups, and whether it has tags."""
        numbers: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for uuid, tag, intervals in self.before:
            numbers.setdefault((uuid, tag), []).extend(intervals)
        for uuid, tag, number in self.groups[:groups]:
            numbers.setdefault((uuid, tag), []).append((number, number))
        sources = tuple((uuid, tag, _joined(found)) for (uuid, tag), found in sorted(numbers.items()))
        return any(tag for _, tag, _ in sources), sources

    def _enter(self, gtid: tuple[str, str, int]) -> tuple[str, str, int]:
        self._executed.add(gtid)
        self.groups.append(gtid)
        return gtid

    def _was_before(self, uuid: str, tag: str, number: int) -> bool:
        return any(
            (uuid, tag) == source[:2] and any(first <= number <= last for first, last in source[2])
            for source in self.before
        )


def _joined(intervals: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Intervals in order, those that meet as one."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(intervals):
        if joined and first == joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return tuple(joined)


class MariadbGtids(Struct):
    """(domain, server, number) of each group so far.  A domain counts for itself (rpl_binlog_state)."""

    groups: list[ListedGtid] = field(default_factory=list)
    _last: dict[int, int] = field(default_factory=dict)
    #: By (domain, server): the last numbers that sources of a replica gave.
    _sent: dict[tuple[int, int], int] = field(default_factory=dict)

    def given(self, domain: int, server: int, number: int) -> ListedGtid:
        """A group has this one."""
        self._last[domain] = max(number, self._last.get(domain, 0))
        self.groups.append((domain, server, number))
        return self.groups[-1]

    def automatic(self, domain: int, server: int) -> ListedGtid:
        """A group has the number after the largest of its domain."""
        return self.given(domain, server, self._last.get(domain, 0) + 1)

    def sent(self, domain: int, source: int) -> ListedGtid:
        """A group of a source, which knows of its own alone."""
        self._sent[domain, source] = self._sent.get((domain, source), 0) + 1
        return self.given(domain, source, self._sent[domain, source])

    def start_at(self, domain: int, number: int) -> None:
        """The first number of a domain that is given by itself."""
        self._last[domain] = number - 1

    def listed(self, groups: int) -> tuple[ListedGtid, ...]:
        """GTID_LIST after so many groups: the last GTID of each server in each domain, the domain's newest at the end.

        Servers keep the others in the order of a hash table, which the facts of a file tell.
        """
        last: dict[tuple[int, int], ListedGtid] = {}
        for gtid in self.groups[:groups]:
            last.pop(gtid[:2], None)
            last[gtid[:2]] = gtid
        return tuple(sorted(last.values(), key=lambda gtid: gtid[0]))
