"""Which row events of a list are wanted, and by which layout their rows are read.

A server repeats itself: the same TABLE_MAP for every statement, the same bytes in front of the rows of every event.
What has been met once is known by its bytes; the kernel returns only for what is new.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from forge.bulk.machine import are_same, kernel, load32, load64, memory, signed
from forge.bulk.plan import Bytes
from forge.bulk.reading.beside import is_one
from forge.bulk.reading.events import GTID, ROWS, TABLE_MAP, EventList
from forge.events.format import HEADER_SIZE

#: Why a survey returned: it is through, or this event has a table map, a table id, a layout that is not known.
THROUGH, NEW_MAP, NO_MAP, NEW_LAYOUT, SHORT = range(5)

_NO = -1
#: Where it is in the header of an event.
_SERVER_ID: Final = 5


class _Arena:
    """Byte strings one behind the other."""

    def __init__(self) -> None:
        self.data = np.zeros(1 << 12, np.uint8)
        self.used = 0
        self.begins = np.zeros(64, np.int64)
        self.sizes = np.zeros(64, np.int64)
        self.count = 0

    def add(self, text: bytes) -> int:
        """The number of the new string."""
        while self.used + len(text) + 8 > len(self.data):
            self.data = np.concatenate((self.data, np.zeros_like(self.data)))
        if self.count == len(self.begins):
            self.begins = np.concatenate((self.begins, np.zeros_like(self.begins)))
            self.sizes = np.concatenate((self.sizes, np.zeros_like(self.sizes)))
        self.data[self.used : self.used + len(text)] = np.frombuffer(text, np.uint8)
        self.begins[self.count], self.sizes[self.count] = self.used, len(text)
        self.used += len(text)
        self.count += 1
        return self.count - 1


def _doubled(values: Any) -> Any:
    """An array with room for as many more."""
    return np.concatenate((values, np.zeros_like(values)))


class Known:
    """The table maps and layouts that were met, as the kernel looks them up.

    A *slot* is a table definition; ids point to slots.  A *layout* is the bytes of a row event of one slot and type
    from behind its flags to its rows.
    """

    def __init__(self) -> None:
        self.maps = _Arena()
        self.headers = _Arena()
        self.wanted = np.zeros(64, np.uint8)
        #: Of each slot: who takes its rows, and a number for the name of its table.
        self.takers, self.names = np.full((2, 64), _NO, np.int64)
        #: The first layout of a slot, and the one after a layout; the layout's number among those of its table.
        self.first = np.full(64, _NO, np.int64)
        self.following = np.full(64, _NO, np.int64)
        self.in_table = np.zeros(64, np.int64)
        self.layout_types = np.zeros(64, np.int64)
        self._set_ids(1 << 8)
        self._ids = 0

    def _set_ids(self, size: int) -> None:
        self.ids = np.full(size, _NO, np.int64)
        self.slots = np.zeros(size, np.int64)

    def add_slot(self, body: bytes, *, wanted: bool, taker: int = _NO, name: int = _NO) -> int:
        """A table definition by the bytes of its TABLE_MAP behind the table id."""
        slot = self.maps.add(body)
        if slot == len(self.wanted):
            self.wanted, self.takers, self.names = map(_doubled, (self.wanted, self.takers, self.names))
            self.first = np.concatenate((self.first, np.full_like(self.first, _NO)))
        self.wanted[slot], self.takers[slot], self.names[slot] = wanted, taker, name
        return slot

    def bind(self, table_id: int, slot: int) -> None:
        """Row events of that id are of that slot from here on."""
        if 2 * (self._ids + 1) > len(self.ids):
            bound = [(int(key), int(self.slots[at])) for at, key in enumerate(self.ids) if key != _NO]
            self._set_ids(2 * len(self.ids))
            for key, value in bound:
                at = self._place(key)
                self.ids[at], self.slots[at] = key, value
        at = self._place(table_id)
        self._ids += self.ids[at] == _NO
        self.ids[at], self.slots[at] = table_id, slot

    def _place(self, table_id: int) -> int:
        return int(_place_of(self.ids, table_id))

    @property
    def arrays(self) -> tuple[Any, ...]:
        """As the kernel takes them."""
        maps, headers = self.maps, self.headers
        return (
            self.ids, self.slots, maps.data, maps.begins, maps.sizes, self.wanted, self.first, self.following,
            self.layout_types, self.in_table, headers.data, headers.begins, headers.sizes,
        )  # fmt: skip

    def slot_of(self, table_id: int) -> int:
        """The slot that the id is bound to; -1 if none."""
        at = self._place(table_id)
        return int(self.slots[at]) if self.ids[at] != _NO else _NO

    def add_layout(self, slot: int, type_code: int, header: bytes, in_table: int) -> None:
        """A layout, which has that number among those of its table."""
        layout = self.headers.add(header)
        if layout == len(self.following):
            arrays = self.following, self.layout_types, self.in_table
            self.following, self.layout_types, self.in_table = map(_doubled, arrays)
        self.layout_types[layout], self.in_table[layout] = type_code, in_table
        self.following[layout] = self.first[slot]
        self.first[slot] = layout


class RowEvents:
    """The wanted row events of a list, as arrays.

    ``events`` are indexes into the list, ``layouts`` numbers among those of the table; the rows of event ``k`` are
    ``buffer[begins[k]:ends[k]]``.  ``groups[k]`` is
    the number of GTID events of the list before it; ``gtid_events`` are the indexes of those.  ``places``, ``numbers``,
    ``times`` and ``servers`` are what the list and the header say of it.
    """

    def __init__(self, capacity: int = EventList.CAPACITY) -> None:
        self.events, self.slots, self.layouts = np.empty((3, capacity), np.int64)
        self.begins, self.ends, self.groups = np.empty((3, capacity), np.int64)
        self.places, self.numbers, self.times = np.empty((3, capacity), np.int64)
        self.servers = np.empty(capacity, np.uint32)
        self.gtid_events = np.empty(capacity, np.int64)
        self._counts = np.zeros(2, np.int64)

    @property
    def count(self) -> int:
        return int(self._counts[0])

    @property
    def gtids(self) -> int:
        return int(self._counts[1])

    def clear(self) -> None:
        self._counts[:] = 0

    def survey(
        self, buffer: Bytes, events: EventList, first: int, classes: Bytes, known: Known, id_size: int
    ) -> tuple[int, int]:
        """Note the row events from ``first`` on: (why it returned, at which event)."""
        out = (
            self.events, self.slots, self.layouts, self.begins, self.ends, self.groups,
            self.places, self.numbers, self.times, self.servers, self.gtid_events,
        )  # fmt: skip
        span = first, events.count
        why, event = _survey(buffer, events.arrays, span, classes, id_size, known.arrays, out, self._counts)
        return why, event

    def runs(self, known: Known) -> list[tuple[int, Any]]:
        """(taker, its row events) in the order of the first events; a table whose columns change has several runs.

        Row events are a slice or an array, as forge.bulk.reading.window.RowIndexes.
        """
        slots = self.slots[: self.count]
        takers = known.takers[slots[:1] if is_one(slots) else slots]
        if is_one(takers):
            return [(int(takers[0]), slice(0, self.count))]
        names = known.names[slots]
        order = np.argsort(names, kind="stable")
        is_next = (np.diff(names[order]) != 0) | (np.diff(takers[order]) != 0)
        runs = np.split(order, np.flatnonzero(is_next) + 1)
        return sorted(((int(takers[run[0]]), run) for run in runs), key=lambda run: int(run[1][0]))


@kernel
def _place_of(ids: Any, table_id: Any) -> Any:
    mask = len(ids) - 1
    at = (table_id * 0x9E3779B1 >> 7) & mask
    while ids[at] != -1 and ids[at] != table_id:
        at = (at + 1) & mask
    return at


@kernel
def _survey(buffer: Any, events: Any, span: Any, classes: Any, id_size: Any, known: Any, out: Any, counts: Any) -> Any:
    begins, sizes, types, tails, places, numbers = events
    ids, slots, map_data, map_begins, map_sizes, wanted = known[:6]
    first, following, layout_types, in_table, header_data, header_begins, header_sizes = known[6:]
    out_events, out_slots, out_layouts, out_begins, out_ends, out_groups = out[:6]
    out_places, out_numbers, out_times, out_servers, gtid_events = out[6:]
    data, maps, headers = memory(buffer), memory(map_data), memory(header_data)
    event, event_count = span
    found, groups = counts[0], counts[1]
    why = THROUGH
    # A table map and its rows have one id, most likely.
    last_id = slot = np.int64(-1)
    while event < event_count:
        kind = classes[types[event]]
        if kind == GTID:
            gtid_events[groups] = event
            groups += 1
        elif kind in (TABLE_MAP, ROWS):
            begin = begins[event]
            at, end = begin + HEADER_SIZE, begin + sizes[event] - tails[event]
            if at + id_size + 2 > end:
                why = SHORT
                break
            if id_size == 6:
                table_id = signed(load64(data, at) & np.uint64(0xFFFFFFFFFFFF))
            else:
                table_id = signed(load32(data, at))
            if table_id != last_id:
                place = _place_of(ids, table_id)
                last_id = table_id
                slot = np.int64(slots[place] if ids[place] != -1 else -1)
            at += id_size
            if kind == TABLE_MAP:
                size = end - at
                is_known = slot >= 0 and map_sizes[slot] == size
                if not is_known or not are_same(maps, map_begins[slot], data, at, size):
                    why = NEW_MAP
                    break
            elif slot < 0:
                why = NO_MAP
                break
            elif wanted[slot]:
                at += 2
                layout = first[slot]
                while layout >= 0 and not (
                    layout_types[layout] == types[event]
                    and at + header_sizes[layout] <= end
                    and are_same(headers, header_begins[layout], data, at, header_sizes[layout])
                ):
                    layout = following[layout]
                if layout < 0:
                    why = NEW_LAYOUT
                    break
                out_events[found], out_slots[found], out_layouts[found] = event, slot, in_table[layout]
                out_begins[found], out_ends[found] = at + header_sizes[layout], end
                out_groups[found] = groups
                out_places[found], out_numbers[found] = places[event], numbers[event]
                out_times[found] = signed(load32(data, begin))
                out_servers[found] = load32(data, begin + _SERVER_ID)
                found += 1
        event += 1
    counts[0], counts[1] = found, groups
    return why, event
