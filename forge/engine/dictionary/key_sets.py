"""The entries of many rows in a unique key, in little memory."""

from __future__ import annotations

from collections.abc import Iterator

from forge.plan.keys import KeyEntry

#: The entries of many rows in a key; that of a key with one part is its value alone.
KeySet = range | set[object]
#: Ranges longer than this are kept number by number, so that few have to be searched.
_RANGES = 16


class KeySets:
    """What sets of entries that are put together hold."""

    def __init__(self) -> None:
        self._ranges: list[range] = []
        self._others: set[object] = set()

    def shares(self, entries: KeySet) -> bool:
        """Whether one of the entries is here."""
        return share_entries(entries, self._others) or any(share_entries(entries, each) for each in self._ranges)

    def add(self, entries: KeySet) -> None:
        """Put a set to the others, of which it shares none."""
        if isinstance(entries, set):
            self._others |= entries
            return
        if not entries:
            return
        last = self._ranges[-1] if self._ranges else range(0)
        if last and (last[-1] + last.step, last.step) == (entries.start, entries.step):
            self._ranges[-1] = range(last.start, entries.stop, last.step)
        elif len(self._ranges) < _RANGES:
            self._ranges.append(entries)
        else:
            self._others.update(entries)


def share_entries(one: KeySet, other: KeySet) -> bool:
    """Whether two sets have an entry in common."""
    if isinstance(one, set) and isinstance(other, set):
        return not one.isdisjoint(other)
    if isinstance(one, range) and isinstance(other, range) and (not one or not other or _are_apart(one, other)):
        return False
    smaller, larger = sorted((one, other), key=len)
    return any(entry in larger for entry in smaller)


def _are_apart(one: range, other: range) -> bool:
    return max(one[0], one[-1]) < min(other[0], other[-1]) or max(other[0], other[-1]) < min(one[0], one[-1])


def is_taken(entries: KeySet, taken: dict[KeyEntry, int], *, single: bool) -> bool:
    """Whether one of the entries is among those of rows stored one by one; ``single``: the key has one part."""
    if len(taken) < len(entries):
        return any((entry[0] if single else entry) in entries for entry in taken)
    return any(entry in taken for entry in _whole(entries, single))


def _whole(entries: KeySet, single: bool) -> Iterator[KeyEntry]:
    for entry in entries:
        yield (entry,) if single else entry  # type: ignore[misc]
