"""Rows of an event whose table is the same on the replica: their cells as they are, without a look at their values.

What most of a log is: complete images, a key that finds each row, no column that is computed or converted.  An event
that is anything else, or has a row that the replica would refuse, goes the way of all (event_work.py).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from forge.events.row_image import row_bytes
from forge.events.rows import PartialUpdateRows, RowsBody
from forge.replay.replica_table import Cells, Undo, UniqueIndex
from forge.replay.row_event import EventForm
from forge.replay.wire_forms import INTEGER_SIZES, group, prefix_size
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.wire_types import WireType

_COUNTED = frozenset((WireType.BLOB, WireType.JSON, WireType.GEOMETRY, WireType.VECTOR))
#: Longer than any cell of a fixed size.
_ZEROS = bytes(128)


class PlainRows:
    """Reads and applies the rows of events of one form."""

    def __init__(self, form: EventForm, columns: Sequence[Column]) -> None:
        self.form, self.table = form, form.table
        self._sizes = [_size(column) for column in columns]
        self._runs = _runs(self._sizes)
        self._null_size = (len(columns) + 7) // 8
        self._no_nulls = bytes(self._null_size)
        self._required = [i for i, column in enumerate(self.table.table.columns) if not column.nullable]
        self._number = self.table.state.auto_increment
        self._columns = columns

    def apply(self, body: RowsBody, undo: Undo | None) -> bool:
        """Apply the rows; False, with nothing done, if one of them is not plain.  Raises FormatError."""
        rows = self._read(row_bytes(body), 2 if self.form.kind == "update" else 1)
        if rows is None:
            return False
        mine: Undo = []
        lone = self.table.lone_index
        if not (self._apply_all(rows, mine) if lone is None else self._apply_by(lone, rows, mine)):
            return self._give_up(mine)
        if self.form.kind == "insert" and self._number is not None:
            self._count(rows, self._number)
        if undo is not None:
            undo += mine
        return True

    def _apply_all(self, rows: Sequence[Cells], mine: Undo) -> bool:
        """Apply the rows; False at one that is not plain."""
        table, index = self.table, None if self.form.lookup is None else self.form.lookup.index
        for place in range(0, len(rows), 2 if self.form.kind == "update" else 1):
            row = rows[place]
            if index is None:
                if table.conflict(row) is not None:
                    return False
                table.insert(row, mine)
                continue
            number = index.numbers.get(index.entry(row))
            if number is None:
                return False
            if self.form.kind == "delete":
                table.remove(number, mine)
            elif table.conflict(rows[place + 1], number) is None:
                table.change(number, rows[place + 1], mine)
            else:
                return False
        return True

    def _apply_by(self, index: UniqueIndex, rows: Sequence[Cells], mine: Undo) -> bool:
        """The same where one key is all that there is to keep."""
        table, numbers, entry_of = self.table, index.numbers, index.entry
        stored, kind = table.rows, self.form.kind
        table.changed = True
        if kind == "insert":
            number = table.inserted
            for row in rows:
                entry = entry_of(row)
                if entry is None or entry in numbers:
                    return False
                numbers[entry], stored[number] = number, row
                table.inserted = number + 1
                mine.append((table, number, None))
                number += 1
            return True
        for place in range(0, len(rows), 2 if kind == "update" else 1):
            entry = entry_of(rows[place])
            found = numbers.get(entry)
            if found is None:
                return False
            if kind == "delete":
                table.remove(found, mine)
                continue
            after = rows[place + 1]
            if entry_of(after) == entry:
                mine.append((table, found, stored[found]))
                stored[found] = after
            elif table.conflict(after, found) is None:
                table.change(found, after, mine)
            else:
                return False
        return True

    def _count(self, rows: Sequence[Cells], column: int) -> None:
        signed = not self._columns[column].unsigned
        most = max(int.from_bytes(row[column] or b"", "little", signed=signed) for row in rows)
        self.table.next_auto_increment = max(self.table.next_auto_increment, most + 1)

    @staticmethod
    def _give_up(mine: Undo) -> bool:
        while mine:
            table, number, before = mine.pop()
            table.restore(number, before)
            table.inserted -= before is None
        return False

    def _read(self, data: bytes, images: int) -> list[Cells] | None:
        """The images, one after the other; None if they are none, or have NULL where the table holds none."""
        rows: list[Cells] = []
        offset, end, null_size, sizes, no_nulls = 0, len(data), self._null_size, self._sizes, self._no_nulls
        runs = self._runs
        while offset < end:
            nulls = data[offset : offset + null_size]
            offset += null_size
            cells: list[bytes | None] = []
            add = cells.append
            if nulls == no_nulls:
                for run, prefix in runs:
                    if offset + run.size >= end + (not prefix):
                        return None
                    cells += run.unpack_from(data, offset)
                    begin = offset = offset + run.size
                    if prefix == 1:
                        offset += 1 + data[offset]
                        add(data[begin:offset])
                    elif prefix:
                        offset += prefix + int.from_bytes(data[offset : offset + prefix], "little")
                        add(data[begin:offset])
            else:
                for index, (fixed, prefix) in enumerate(sizes):
                    if nulls[index >> 3] >> (index & 7) & 1:
                        add(None)
                        continue
                    begin = offset
                    offset += fixed if fixed else prefix + int.from_bytes(data[offset : offset + prefix], "little")
                    add(data[begin:offset])
                if any(cells[index] is None for index in self._required):
                    return None
            rows.append(tuple(cells))
        return rows if rows and offset == end and len(rows) % images == 0 else None


def plain_rows(form: EventForm, columns: Sequence[Column], body: RowsBody, *, checked: bool) -> PlainRows | None:
    """What applies events of a form, if their rows may be plain; ``checked``: something looks at each row's values."""
    table = form.table
    width = len(table.columns)
    everything = tuple(range(width))
    if isinstance(body, PartialUpdateRows) or form.places != everything or table.table.engine != "InnoDB":
        return None
    if any(one is None or one.convert is not None or one.misread for one in form.conversions):
        return None
    images = {"insert": (form.after,), "delete": (form.before,), "update": (form.before, form.after)}[form.kind]
    if any(image != everything for image in images) or checked or table.computed or table.table.partition is not None:
        return None
    if form.lookup is not None and (form.lookup.by != "key" or form.lookup.index is None):
        return None
    if any(not one.is_plain or one.key.hashed or one.key.period is not None for one in table.unique):
        return None
    number = table.state.auto_increment
    if number is not None and columns[number].type_code not in INTEGER_SIZES:
        return None
    if any(one.type_code in (WireType.VARCHAR_COMPRESSED, WireType.BLOB_COMPRESSED) for one in columns):
        return None
    return PlainRows(form, columns)


def _runs(sizes: Sequence[tuple[int, int]]) -> list[tuple[struct.Struct, int]]:
    """Cells of fixed sizes beside each other, with the bytes of the length of the one behind them; 0 if none is."""
    runs: list[tuple[struct.Struct, int]] = []
    fixed: list[int] = []
    for size, prefix in sizes:
        if prefix:
            runs.append((struct.Struct("".join(f"{one}s" for one in fixed)), prefix))
            fixed = []
        else:
            fixed.append(size)
    if fixed:
        runs.append((struct.Struct("".join(f"{one}s" for one in fixed)), 0))
    return runs


def _size(column: Column) -> tuple[int, int]:
    """Bytes of a cell, or (0, bytes of the length in front of it)."""
    if column.type_code in _COUNTED:
        return 0, column.metadata[0]
    if group(column) == "string":
        return 0, prefix_size(column)
    return codec_for(column).width(column, _ZEROS, 0), 0
