"""From an Arrow array to the cells of a column: by its plan, or by the reference codec where no kernel can."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from forge.bulk.plan import Bytes, ColumnPlan, Wire, is_text, validity_of
from forge.bulk.registry import column_plan
from forge.bulk.writing.row_images import WireColumn
from forge.errors import ScenarioError
from forge.values.base import Column
from forge.values.registry import codec_for

#: Digits of a fraction that tell how it is rounded to microseconds.
_MOST_DIGITS = 7
_NO_STARTS = np.zeros(0, np.int64)
_NO_LENGTHS = np.zeros(0, np.int32)


class ColumnWriter:
    """Makes the cells of one column."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.name = column.name or "?"
        self.plan: ColumnPlan | None = column_plan(column)
        self._codec = codec_for(column)

    def write(self, array: pa.Array, first_row: int) -> tuple[WireColumn, Sequence[int]]:
        """The cells of the values, and the rows that the reference codec made, of which the first is number 0.

        ``first_row``: the number of the first row in all that is written, for errors.  Raises ScenarioError naming
        column and row for a value that the column cannot hold.
        """
        plan = None if self.plan is None else self.plan.of_type(array.type)
        taken = None if plan is None else in_type(array, plan.arrow_type)
        if plan is None or taken is None:
            return self._by_reference(array, first_row)
        wire = plan.write(taken)
        # A kernel looks at what lies under a NULL too.
        odd = [row for row in wire.odd.tolist() if taken[row].is_valid] if len(wire.odd) else []
        if odd:
            cells = [self._cell(python_value(taken[row]), first_row + row) for row in odd]
            wire = _replaced(wire, plan.wire, odd, cells)
        validity, first_bit = validity_of(taken)
        starts = _NO_STARTS if wire.starts is None else wire.starts
        lengths = _NO_LENGTHS if wire.lengths is None else wire.lengths
        return WireColumn(plan.wire, wire.values, starts, lengths, validity, first_bit), odd

    def _cell(self, value: object, row: int) -> bytes:
        declared = value if self.plan is None else self.plan.declared(value)
        try:
            return self._codec.encode(self.column, self._codec.accept(self.column, declared))
        except ScenarioError as error:
            raise error.about(f"row {row + 1}, column {self.name!r}") from None

    def _by_reference(self, array: pa.Array, first_row: int) -> tuple[WireColumn, Sequence[int]]:
        rows = [row for row, value in enumerate(array) if value.is_valid]
        lengths = np.zeros(len(array), np.int32)
        cells = []
        for row in rows:
            cells.append(self._cell(python_value(array[row]), first_row + row))
            lengths[row] = len(cells[-1])
        starts = np.cumsum(lengths, dtype=np.int64) - lengths
        validity, first_bit = validity_of(array)
        return WireColumn(0, _bytes_of(cells), starts, lengths, validity, first_bit), rows


def python_value(scalar: pa.Scalar) -> object:
    """A value as the codecs take it: text where Arrow's dates and times have more years or digits than Python's."""
    kind = scalar.type
    try:
        if getattr(kind, "unit", None) == "ns":
            scalar = scalar.cast(_OF_MICROSECONDS[kind.id](kind))
        return scalar.as_py()
    except (OverflowError, ValueError):  # ArrowInvalid is a ValueError.
        return _duration_text(scalar) if pa.types.is_duration(kind) else _moment_text(scalar)


_OF_MICROSECONDS: dict[int, Callable[[Any], pa.DataType]] = {
    pa.timestamp("ns").id: lambda kind: pa.timestamp("us", kind.tz),
    pa.duration("ns").id: lambda kind: pa.duration("us"),
    pa.time64("ns").id: lambda kind: pa.time64("us"),
}


def _moment_text(scalar: pa.Scalar) -> str:
    if pa.types.is_timestamp(scalar.type) and scalar.type.tz is not None:
        scalar = scalar.cast(pa.timestamp(scalar.type.unit))
    whole, point, fraction = str(scalar.cast(pa.string()).as_py()).partition(".")
    return whole + point + fraction[:_MOST_DIGITS]


def _duration_text(scalar: pa.Scalar) -> str:
    digits = ("s", "ms", "us", "ns").index(scalar.type.unit) * 3
    seconds, fraction = divmod(abs(scalar.value), 10**digits)
    clock = f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    # The seventh digit rounds as all of them do; MySQL would look at the last one.
    shown = f".{fraction:0{digits}d}"[: 1 + _MOST_DIGITS] if digits else ""
    return f"{'-' if scalar.value < 0 else ''}{clock}{shown}"


def _bytes_of(cells: Iterable[bytes]) -> Bytes:
    return np.frombuffer(b"".join(cells), np.uint8)


def _replaced(wire: Wire, width: int, rows: Sequence[int], cells: Sequence[bytes]) -> Wire:
    """The wire with the cells of these rows in the place of what a kernel made of them."""
    if wire.starts is None or wire.lengths is None:
        values = wire.values.copy()
        for row, cell in zip(rows, cells, strict=True):
            values[row * width : (row + 1) * width] = np.frombuffer(cell, np.uint8)
        return Wire(values)
    contents = [cell[-width:] for cell in cells]  # Without the length, whose size is minus the width.
    starts, lengths = wire.starts.copy(), wire.lengths.copy()
    at = len(wire.values)
    for row, content in zip(rows, contents, strict=True):
        starts[row], lengths[row] = at, len(content)
        at += len(content)
    return Wire(np.concatenate([wire.values, _bytes_of(contents)]), starts, lengths)


def in_type(array: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    """The same values in another type; None where Arrow cannot say whether they stay the same."""
    if array.type == wanted:
        return array
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), wanted)
    if isinstance(array, pa.ExtensionArray):
        return in_type(array.storage, wanted)
    if pa.types.is_dictionary(array.type) and not pa.types.is_dictionary(wanted):
        return in_type(array.dictionary_decode(), wanted)
    try:
        if pa.types.is_dictionary(wanted):
            return _in_dictionary(array, wanted)
        return array.cast(wanted, safe=True) if _keeps_values(array.type, wanted) else None
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _in_dictionary(array: pa.Array, wanted: pa.DictionaryType) -> pa.Array | None:
    if not pa.types.is_dictionary(array.type):
        if not is_text(array.type):
            return None
        array = array.cast(wanted.value_type).dictionary_encode()
    indices = array.indices.cast(wanted.index_type)
    return pa.DictionaryArray.from_arrays(indices, array.dictionary.cast(wanted.value_type))


def _is_binary(kind: pa.DataType) -> bool:
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return any(test(kind) for test in tests)


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _keeps_values(kind: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether a safe cast between the types gives the same values, or is refused."""
    exact = pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind)
    if pa.types.is_integer(wanted):
        return bool(exact or pa.types.is_floating(kind))
    if pa.types.is_floating(wanted):
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
    if pa.types.is_decimal(wanted):
        return bool(pa.types.is_integer(kind) or pa.types.is_decimal(kind))
    if pa.types.is_timestamp(wanted):
        return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))
    if pa.types.is_date(wanted):
        return bool(pa.types.is_date(kind))
    if pa.types.is_duration(wanted):
        return bool(pa.types.is_duration(kind))
    if is_text(wanted):
        return is_text(kind)
    if _is_binary(wanted):
        return _is_binary(kind) or is_text(kind)
    if pa.types.is_struct(wanted):
        return bool(pa.types.is_struct(kind)) and {field.name for field in kind} == {field.name for field in wanted}
    return _is_list(wanted) and _is_list(kind)
