"""Changed rows of a table in bulk as the statements that forge.changed.row_statements writes, by Arrow's functions.

What is not plain is *unsaid*: JSON, GEOMETRY and VECTOR, images that lack columns, tables without a known key, cells
without value.  The reference path says those rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from forge.bulk.lines.cell_texts import Unsaid, cell_texts, is_number, number_array, spans
from forge.bulk.lines.told import Told
from forge.bulk.plan import ColumnPlan, strings_of
from forge.bulk.reading.batches import Batches
from forge.bulk.reading.beside import spread
from forge.bulk.reading.tables import Table
from forge.changed.row_statements import SqlTable
from forge.changed.sql_cells import SqlCells
from forge.events.column_kinds import is_enum, is_set
from forge.values.wire_types import WireType

#: Cells whose texts stand in quotes, and those that are bytes or text.
_MOMENTS: Final = (WireType.DATE, WireType.TIME2, WireType.DATETIME2, WireType.TIMESTAMP2)
_STRINGS: Final = (WireType.VARCHAR, WireType.VAR_STRING, WireType.STRING, WireType.BLOB)
_ODD_TEXT: Final = r"[\x00-\x08\x0b-\x1f\x7f\\]"
#: Bytes of rows that are said at once, so that what is made of them stays in the caches; and rows at least.
_AT_ONCE: Final = 1 << 18
_LEAST_ROWS: Final = 1 << 9
_INSERT, _UPDATE, _DELETE = range(3)


@lru_cache(maxsize=4096)
def _word(text: str) -> pa.Scalar:
    """Of a text that is no scalar pyarrow makes one with the help of pandas, which takes its time and memory."""
    return strings_of([text])[0]


_EMPTY, _QUOTE, _NULL, _ZERO, _EXPONENT = map(_word, ("", "'", "NULL", "0", "e0"))


class StatementBatches(Batches):
    """Statements of one table, which are noted in ``told`` with the events of their rows."""

    def __init__(self, table: Table, file: str, statements: BulkStatements, told: Told) -> None:
        super().__init__(table, "text", (), file)
        self._statements = statements
        self._told = told

    def _batch(self, made: Any, groups: npt.NDArray[np.int64], said: list[npt.NDArray[Any]]) -> pa.RecordBatch:
        counts = self.table.layouts.present_counts[made.different_layouts]
        if not np.isin(counts, (-1, len(self.table.columns))).all():
            raise Unsaid
        batch = super()._batch(made, groups, said)
        codes = self.table.layouts.operations[made.layouts]
        rows = np.repeat(codes, made.per_event)
        events = spread(made.picked, made.counts, made.count)
        at_once = max(_LEAST_ROWS, len(batch) * _AT_ONCE // max(batch.nbytes, 1))
        for first in range(0, len(batch), at_once):
            piece = slice(first, first + at_once)
            self._told.append((self._statements.of(batch.slice(first, at_once), rows[piece]), events[piece]))
        return batch.slice(0, 0)


class BulkStatements:
    """How the rows of one definition of a table are said.  Raises Unsaid for one that is not plain."""

    def __init__(self, table: Table, sql: SqlTable, cells: SqlCells, *, flashback: bool) -> None:
        if sql.row_end is not None or cells.offset:
            raise Unsaid
        self._sql, self._cells, self._flashback = sql, cells, flashback
        self._key = next(iter(sql.keys), ())
        self._literals = [
            None if index in sql.made else self._literal_of(plan) for index, plan in enumerate(table.plans)
        ]
        self._is_bytes = [pa.types.is_binary(plan.arrow_type) for plan in table.plans]

    def of(self, batch: pa.RecordBatch, codes: npt.NDArray[np.int8]) -> pa.Array:
        """The statements of rows; ``codes`` are what was done (forge.bulk.reading.beside)."""
        kinds = np.unique(codes)
        if len(kinds) == 1:
            return self._of_kind(batch, int(kinds[0]))
        order = np.argsort(codes, kind="stable")
        parts = [self._of_kind(batch.take(number_array(np.flatnonzero(codes == kind))), int(kind)) for kind in kinds]
        return pa.concat_arrays(parts).take(number_array(np.argsort(order, kind="stable")))

    def _of_kind(self, batch: pa.RecordBatch, kind: int) -> pa.Array:
        if kind == _UPDATE:
            old, new = ("after", "before") if self._flashback else ("before", "after")
            return self._updates(self._cells_of(batch, old), self._cells_of(batch, new))
        found = self._cells_of(batch, "after" if kind == _INSERT else "before")
        if (kind == _INSERT) != self._flashback:
            return self._inserts(found)
        return _joined([f"DELETE FROM {self._sql.name} WHERE ", *self._where(found), ";\n"])

    def _cells_of(self, batch: pa.RecordBatch, image: str) -> list[pa.Array | None]:
        columns = batch.column(image).flatten()
        return [
            None if literal is None else literal(column)
            for literal, column in zip(self._literals, columns, strict=True)
        ]

    def _inserts(self, cells: Sequence[pa.Array | None]) -> pa.Array:
        there = [index for index, texts in enumerate(cells) if texts is not None]
        names = ""
        if self._sql.names is not None or len(there) < len(cells):
            names = f" ({', '.join(self._name(index) for index in there)})"
        parts: list[Any] = [f"INSERT INTO {self._sql.name}{names} VALUES ("]
        for index in there:
            parts += [cells[index], ", "]
        return _joined([*parts[:-1], ");\n"])

    def _updates(self, old: Sequence[pa.Array | None], new: Sequence[pa.Array | None]) -> pa.Array:
        changed = {i: pc.not_equal(old[i], new[i]) for i in range(len(new)) if new[i] is not None}
        some = np.zeros(len(next(iter(changed.values()))), np.bool_)
        for flags in changed.values():
            some |= flags.to_numpy(zero_copy_only=False)
        if not some.all():
            none = number_array((~some).view(np.int8)).cast(pa.bool_())
            changed = {i: pc.or_(flags, none) for i, flags in changed.items()}
        parts: list[Any] = []
        for index, flags in changed.items():
            name = self._name(index)
            unchanged = _word(f", {name} = {name}") if index in self._sql.clocks else _EMPTY
            if pc.any(flags).as_py():
                said = pc.binary_join_element_wise(_word(f", {name} = "), new[index], _EMPTY)
                parts.append(said if pc.all(flags).as_py() else pc.if_else(flags, said, unchanged))
            elif unchanged is not _EMPTY:
                parts.append(unchanged)
        begun = pc.binary_replace_slice(_joined(parts), 0, 2, f"UPDATE {self._sql.name} SET ")
        return _joined([begun, " WHERE ", *self._where(old), ";\n"])

    def _name(self, index: int) -> str:
        if self._sql.names is None:
            raise Unsaid
        return self._sql.names[index]

    def _where(self, cells: Sequence[pa.Array | None]) -> list[Any]:
        if not self._key or any(self._is_bytes[index] for index in self._key):
            raise Unsaid
        parts: list[Any] = []
        for index in self._key:
            texts = cells[index]
            if texts is None or pc.any(pc.equal(texts, _NULL)).as_py():
                raise Unsaid
            parts += [f"{' AND ' if parts else ''}{self._name(index)} = ", texts]
        return parts

    def _literal_of(self, plan: ColumnPlan) -> Callable[[pa.Array], pa.Array]:
        """The way from the cells of a column to their literals."""
        column, kind = plan.column, plan.arrow_type
        code = column.type_code
        if is_enum(column) and column.members is None and pa.types.is_integer(kind):
            return _numbers_of_members
        if is_enum(column) or is_set(column):
            if column.members is None or any(member.isdigit() or not member for member in column.members):
                raise Unsaid
            return lambda array: self._members(plan, array, is_set=is_set(column))
        if code in (WireType.FLOAT, WireType.DOUBLE):
            return lambda array: _floats(plan, array)
        if is_number(plan) and pa.types.is_integer(kind):
            return lambda array: _filled(array.cast(pa.string()))
        if pa.types.is_decimal(kind):
            return lambda array: _filled(cell_texts(plan, array))
        if code in _MOMENTS:
            return lambda array: _moments(plan, array)
        if code in _STRINGS and pa.types.is_string(kind):
            return self._texts
        if code in _STRINGS and pa.types.is_binary(kind) and column.collation is not None:
            return _bytes
        raise Unsaid

    def _texts(self, array: pa.Array) -> pa.Array:
        """Texts in quotes; those with a backslash or a control character as bytes."""
        data = spans(array)[1]
        inner = pc.replace_substring(array, "'", "''") if (data == ord("'")).any() else array
        quoted = pc.binary_join_element_wise(_QUOTE, inner, _QUOTE, _EMPTY)
        is_odd = (data < ord(" ")) & (data != ord("\t")) & (data != ord("\n")) | (data == ord("\\")) | (data == 0x7F)
        if is_odd.any():
            mask = _known(pc.match_substring_regex(array, _ODD_TEXT))
            odd = array.filter(mask).to_pylist()
            said = [f"_{self._cells.utf8} x'{text.encode().hex()}'" for text in odd]
            quoted = pc.replace_with_mask(quoted, mask, strings_of(said))
        return _filled(quoted)

    def _members(self, plan: ColumnPlan, array: pa.Array, *, is_set: bool) -> pa.Array:
        texts = cell_texts(plan, array)
        empty = _known(pc.equal(texts, _EMPTY))
        if pc.any(empty).as_py():
            if not is_set:
                raise Unsaid
            return pc.if_else(empty, _ZERO, self._texts(texts))
        if pc.any(pc.starts_with(texts, "0x")).as_py():
            raise Unsaid
        return self._texts(texts)


def _filled(texts: pa.Array) -> pa.Array:
    return pc.fill_null(texts, _NULL) if texts.null_count else texts


def _floats(plan: ColumnPlan, array: pa.Array) -> pa.Array:
    texts = cell_texts(plan, array.cast(pa.float64()))
    if pc.any(pc.match_substring_regex(texts, "[Na]")).as_py():
        raise Unsaid
    exact = pc.binary_join_element_wise(texts, _EXPONENT, _EMPTY)
    return _filled(pc.if_else(pc.match_substring(texts, "e"), texts, exact))


def _numbers_of_members(array: pa.Array) -> pa.Array:
    """What an ENUM holds whose members nothing tells.  0, which is none of them, is written under another mode."""
    if pc.any(pc.equal(array, number_array(np.zeros(1, np.int64))[0])).as_py():
        raise Unsaid
    return _filled(array.cast(pa.string()))


def _moments(plan: ColumnPlan, array: pa.Array) -> pa.Array:
    texts = cell_texts(plan, array)
    if pc.any(pc.starts_with(texts, "0x")).as_py():
        raise Unsaid
    return _filled(pc.binary_join_element_wise(_QUOTE, texts, _QUOTE, _EMPTY))


def _bytes(array: pa.Array) -> pa.Array:
    words = ["NULL" if value is None else f"x'{value.hex()}'" if value else "''" for value in array.to_pylist()]
    return strings_of(words)


def _known(flags: pa.BooleanArray) -> pa.BooleanArray:
    """The flags, false for NULL."""
    return pc.and_kleene(flags, flags.is_valid()) if flags.null_count else flags


def _joined(parts: Sequence[Any]) -> pa.Array:
    """Words and arrays of texts behind each other, row by row."""
    return pc.binary_join_element_wise(*(_word(part) if isinstance(part, str) else part for part in parts), _EMPTY)
