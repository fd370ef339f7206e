"""Partial JSON updates in the listing (PARTIAL_UPDATE_ROWS).

A cell whose partial bit is set is ``{diffs: [[REPLACE, $.a, '1'], [INSERT, '$.b[0]', '"x"'], [REMOVE, $.c]]}``:
operation, path, and the new value as JSON text (``{hex: ...}``: the binary document).  The value options and the
partial bits of a row follow from its cells; where they are others, they stand beside ``before`` and ``after``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from forge.binlog.listing.text import is_safe
from forge.errors import ForgeError, ScenarioError
from forge.events.row_image import PARTIAL_JSON, Image
from forge.values.base import Column
from forge.values.json.diff import Diff, Operation, build_diffs, parse_diffs
from forge.values.wire_types import WireType

#: A cell as its column's codec shows and reads it: (column, bytes) -> shown, (column, shown) -> bytes.
Show = Callable[[Column, bytes], Any]
Read = Callable[[Column, Any], bytes | None]


def diffs_to_plain(column: Column, cell: bytes, show: Show) -> dict[str, Any]:
    """``{diffs: [...]}``, or ``{hex: ...}`` for bytes that no diffs give."""
    try:
        diffs = parse_diffs(cell[4:])
        shown = [_diff_to_plain(column, diff, show) for diff in diffs]
        if _sized(build_diffs(diffs)) == cell and all(is_safe(diff.path) for diff in diffs):
            return {"diffs": shown}
    except ForgeError:
        pass
    return {"hex": cell.hex()}


def diffs_from_plain(column: Column, shown: Any, read: Read) -> bytes:
    """The inverse of :func:`diffs_to_plain`, of the list.  Raises ScenarioError."""
    if not isinstance(shown, list):
        raise ScenarioError(f"diffs is {shown!r}", expected="a list of [operation, path, value]")
    return _sized(build_diffs(_diff_from_plain(column, diff, read) for diff in shown))


def _sized(data: bytes) -> bytes:
    return len(data).to_bytes(4, "little") + data


def _diff_to_plain(column: Column, diff: Diff, show: Show) -> list[Any]:
    value = [] if diff.value is None else [show(column, _sized(diff.value))]
    return [diff.operation.name, diff.path, *value]


def _diff_from_plain(column: Column, shown: Any, read: Read) -> Diff:
    names = [operation.name for operation in Operation]
    if (
        not isinstance(shown, list)
        or not 2 <= len(shown) <= 3
        or shown[0] not in names
        or not isinstance(shown[1], str)
    ):
        raise ScenarioError(f"a diff is {shown!r}", expected=f"[{' | '.join(names)}, path, value]")
    value = None
    if len(shown) == 3:
        cell = read(column, shown[2])
        value = None if cell is None else cell[4:]
    return Diff(Operation[shown[0]], shown[1], value)


def options_to_fields(image: Image, columns: Sequence[Column], cells: Mapping[int, Any]) -> dict[str, Any]:
    """The value options and partial bits of an after image, where its cells, as shown, do not tell them."""
    if image.value_options is None:
        return {}
    if (image.value_options, image.partial_bits) == _derived(columns, cells):
        return {}
    return {"value_options": image.value_options, "partial_bits": image.partial_bits.hex()}


def options_from_fields(
    row: Mapping[str, Any], columns: Sequence[Column], cells: Mapping[int, Any]
) -> tuple[int, bytes]:
    """Value options and partial bits of a row's after image.  Raises ScenarioError."""
    options, bits = _derived(columns, cells)
    options = row.get("value_options", options)
    if isinstance(options, bool) or not isinstance(options, int) or not 0 <= options <= 255:
        raise ScenarioError(f"value_options is {options!r}", expected="0 to 255")
    if "partial_bits" in row:
        try:
            bits = bytes.fromhex(row["partial_bits"])
        except (ValueError, TypeError):
            raise ScenarioError(f"partial_bits is {row['partial_bits']!r}", expected="hexadecimal digits") from None
    return options, bits


def _derived(columns: Sequence[Column], cells: Mapping[int, Any]) -> tuple[int, bytes]:
    """The options and bits of a row in which some of the cells are diffs."""
    json_columns = [index for index, column in enumerate(columns) if column.type_code == WireType.JSON]
    bits = sum(1 << place for place, index in enumerate(json_columns) if is_diffs(cells.get(index)))
    return (PARTIAL_JSON, bits.to_bytes((len(json_columns) + 7) // 8, "little")) if bits else (0, b"")


def is_diffs(shown: Any) -> bool:
    return isinstance(shown, dict) and set(shown) == {"diffs"}
