"""Which earlier transaction of a file each one depends on: as forge.compile.groups.dependency has it, many at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from forge.bulk.generating.cells import ReferenceSource, Source, drawn_numbers
from forge.bulk.generating.lives import Lives, Numbers
from forge.bulk.generating.rows import Rows
from forge.bulk.machine import inline, kernel
from forge.plan.keys import key_of_rows
from forge.plan.tables import Key, Table
from forge.scenario.counter_hash import key_of

Entries = npt.NDArray[np.uint64]

#: Instead of an entry: the key has a NULL in it.
_NO_ENTRY: Final = np.uint64(0)
_FEWEST: Final = 1 << 12


class WrittenKeys:
    """The entries that rows of the tables of one epoch have in keys: a hash of the key and the row that it names."""

    def __init__(self, tables: Sequence[Table], sources: Sequence[Sequence[Source]], *, checks: bool) -> None:
        self.tables = tables
        self.sources = sources
        self.checks = checks
        parents = {foreign.parent for table in tables for foreign in table.foreign_keys}
        #: By table: changes of a parent's rows let nothing run beside them; rows without a key depend on all before.
        self.alone = np.array([(table.database, table.name) in parents for table in tables])
        self.keyless = np.array([key_of_rows(table) is None for table in tables])
        self._keys = [[key for key in table.keys if key.kind != "index"] for table in tables]
        self.widths = np.array([
            0 if alone else len(keys) + checks * len(table.foreign_keys)
            for table, keys, alone in zip(tables, self._keys, self.alone, strict=True)
        ])  # fmt: skip

    def entries(self, table: int, lives: Lives, rows: Numbers) -> Entries:
        """A row of entries for each of these rows of a table."""
        out = np.empty((len(rows), int(self.widths[table])), np.uint64)
        if not out.size:
            return out
        definition, some = self.tables[table], Rows(lives, rows)
        for place, key in enumerate(self._keys[table]):
            out[:, place] = _hashed(definition.full_name, key.name, rows)
            for index in _columns(key):
                nulls = self.sources[table][index].draws.null_rows(some)
                if nulls is not None:
                    out[nulls, place] = _NO_ENTRY
        for place, foreign in enumerate(definition.foreign_keys if self.checks else (), len(self._keys[table])):
            source = self.sources[table][foreign.columns[0]]
            parents = source.parents(some) if isinstance(source, ReferenceSource) else np.full(len(rows), -1)
            out[:, place] = _hashed(".".join(foreign.parent), foreign.parent_key, parents)
        return out


def _columns(key: Key) -> list[int]:
    return [part.column for part in key.parts if part.expression is None]


def _hashed(table: str, key: str, rows: Numbers) -> Entries:
    return np.asarray(drawn_numbers(np.uint64(key_of(table, key)), rows)) | np.uint64(1)


class DependencyClock:
    """The dependencies of one file's transactions.  ``limit``: entries that are remembered; None for commit order."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        # Recorded: the second transaction of a file depends on the first, whatever they write.
        self._state = np.array([0, 1, 1], np.int64)  # Entries, the first transaction of the history, its generation.
        self._entries: Entries = np.zeros(_FEWEST, np.uint64)
        self._numbers = np.zeros(_FEWEST, np.int64)
        self._generations = np.zeros(_FEWEST, np.int64)

    def restart(self, number: int) -> None:
        """Transaction ``number`` lets nothing run beside it: a definition."""
        self._state[:] = 0, number, self._state[2] + 1

    def next(
        self, first: int, cuts: Numbers, entries: Entries, alone: npt.NDArray[np.bool_], missing: npt.NDArray[np.bool_]
    ) -> Numbers:
        """last_committed of transactions, the first of which is number ``first`` of its file.

        ``cuts[i]`` to ``cuts[i + 1]`` are the entries of transaction ``i``; ``missing``: it has rows without a key.
        """
        if self.limit is None:
            return np.arange(first - 1, first - 1 + len(alone))
        self._hold(int(self._state[0]) + len(entries))
        out = np.empty(len(alone), np.int64)
        _next(
            self._state,
            self._entries,
            self._numbers,
            self._generations,
            self.limit,
            first,
            cuts,
            entries,
            alone,
            missing,
            out,
        )
        return out

    def _hold(self, entries: int) -> None:
        """Room for so many entries."""
        size = len(self._entries)
        if 2 * entries <= size:
            return
        while size < 4 * entries:
            size *= 2
        old = self._generations == self._state[2]
        known, numbers = self._entries[old], self._numbers[old]
        self._entries, self._numbers = np.zeros(size, np.uint64), np.zeros(size, np.int64)
        self._generations = np.zeros(size, np.int64)
        _put_all(self._entries, self._numbers, self._generations, int(self._state[2]), known, numbers)


@inline
def _place(table: Any, generations: Any, generation: Any, entry: Any) -> Any:
    """Where the entry is, or where it would be put."""
    mask = np.uint64(len(table) - 1)
    place = (entry >> np.uint64(17)) & mask
    while generations[place] == generation and table[place] != entry:
        place = (place + np.uint64(1)) & mask
    return place


@kernel
def _put_all(table: Any, numbers: Any, generations: Any, generation: Any, entries: Any, values: Any) -> None:
    for number in range(len(entries)):
        place = _place(table, generations, generation, entries[number])
        table[place], numbers[place], generations[place] = entries[number], values[number], generation


@kernel
def _next(
    state: Any,
    table: Any,
    numbers: Any,
    generations: Any,
    limit: Any,
    first: Any,
    cuts: Any,
    entries: Any,
    alone: Any,
    missing: Any,
    out: Any,
) -> None:
    size, start, generation = state[0], state[1], state[2]
    for transaction in range(len(out)):
        number = first + transaction
        last, parent = number - 1, start
        count, known = 0, size
        for each in range(cuts[transaction], cuts[transaction + 1]):
            count += 1 if entries[each] != np.uint64(0) else 0
        # More than the server gathers: it is as a definition.
        by_itself = alone[transaction] or count > limit
        if not by_itself:
            for each in range(cuts[transaction], cuts[transaction + 1]):
                entry = entries[each]
                if entry == np.uint64(0):
                    continue
                place = _place(table, generations, generation, entry)
                is_known = generations[place] == generation
                if is_known and numbers[place] == number:
                    continue
                if is_known:
                    parent = max(parent, numbers[place])
                size += 0 if is_known else 1
                table[place], numbers[place], generations[place] = entry, number, generation
        if by_itself or known + count > limit or (count == 0 and not missing[transaction]):
            size, start = 0, number
            generation += 1
        out[transaction] = last if by_itself or missing[transaction] or count == 0 else min(parent, last)
    state[0], state[1], state[2] = size, start, generation
