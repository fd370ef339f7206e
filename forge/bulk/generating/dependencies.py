"""Which earlier transaction of a file each one depends on: as forge.compile.groups.dependency has it, many at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from forge.bulk.generating.cell_sources import ReferenceSource, Source, drawn_numbers
from forge.bulk.generating.lives import Lives, Numbers, Rows
from forge.plan.keys import key_of_rows
from forge.plan.tables import Key, Table
from forge.scenario.counter_hash import key_of

Entries = npt.NDArray[np.uint64]

#: Instead of an entry: the key has a NULL in it.
_NO_ENTRY: Final = np.uint64(0)


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
    return drawn_numbers(np.uint64(key_of(table, key)), rows) | np.uint64(1)


class DependencyClock:
    """The dependencies of one file's transactions.  ``limit``: entries that are remembered; None for commit order."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        # Recorded: the second transaction of a file depends on the first, whatever they write.
        self._start = 1
        #: The last transaction that wrote each entry.
        self._written: dict[int, int] = {}

    def restart(self, number: int) -> None:
        """Transaction ``number`` excludes all others: a definition."""
        self._written.clear()
        self._start = number

    def next(
        self, first: int, cuts: Numbers, entries: Entries, alone: npt.NDArray[np.bool_], missing: npt.NDArray[np.bool_]
    ) -> Numbers:
        """last_committed of transactions, the first of which is number ``first`` of its file.

        ``cuts[i]`` to ``cuts[i + 1]`` are the entries of transaction ``i``; ``missing``: it has rows without a key.
        """
        if self.limit is None:
            return np.arange(first - 1, first - 1 + len(alone))
        values, written, out = entries.tolist(), self._written, []
        flags = zip(alone.tolist(), missing.tolist(), strict=True)
        for number, ((begin, end), (by_itself, keyless)) in enumerate(
            zip(pairwise(cuts.tolist()), flags, strict=True), first
        ):
            own = [entry for entry in values[begin:end] if entry]
            last, parent, known = number - 1, self._start, len(written)
            # More than the server gathers: it is as a definition.
            by_itself = by_itself or len(own) > self.limit
            for entry in () if by_itself else own:
                before = written.get(entry, 0)
                if before != number:
                    parent = max(parent, before)
                    written[entry] = number
            if by_itself or known + len(own) > self.limit or not (own or keyless):
                self.restart(number)
            out.append(last if by_itself or keyless or not own else min(parent, last))
        return np.array(out, np.int64)
