"""One cell of a row in the listing: NULL, a value that gives the cell's very bytes, or ``{hex: ...}`` with them.

A partial update of a JSON document (PARTIAL_UPDATE_ROWS) is
``{diffs: [[REPLACE, $.a, '1'], [INSERT, '$.b[0]', '"x"'], [REMOVE, $.c]]}``: operation, path, and the new value as JSON
text (``{hex: ...}``: the binary document).  The value options and the partial bits of a row follow from its cells;
where they are others, they stand beside ``before`` and ``after``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forge.binlog.listing.text import is_safe
from forge.errors import ForgeError, ScenarioError
from forge.events.row_image import PARTIAL_JSON, Image
from forge.values.base import Column
from forge.values.json.diff import Diff, Operation, build_diffs, parse_diffs
from forge.values.registry import codec_for
from forge.values.wire_types import WireType


def cell_to_plain(column: Column, cell: bytes | None) -> Any:
    """NULL, a value whose bytes are the cell's, or ``{hex: ...}``."""
    if cell is None:
        return None
    codec = codec_for(column)
    try:
        value = codec.decode(column, cell)
        candidates = [value] if isinstance(value, int) else [codec.text(column, value)]
        for candidate in candidates:
            if isinstance(candidate, str) and not is_safe(candidate):
                continue
            if candidate is not None and codec.encode(column, codec.accept(column, candidate)) == cell:
                return candidate
    except (ForgeError, ValueError, OverflowError):
        pass
    return {"hex": cell.hex()}


def cell_from_plain(column: Column, value: Any) -> bytes | None:
    """The inverse of :func:`cell_to_plain`.  Raises ScenarioError for what the column cannot hold."""
    if value is None:
        return None
    if isinstance(value, dict) and set(value) == {"hex"}:
        try:
            return bytes.fromhex(value["hex"])
        except (ValueError, TypeError):
            raise ScenarioError(f"{value['hex']!r} is not hexadecimal") from None
    if _is_diffs(value):
        return _diffs_from_plain(column, value["diffs"])
    codec = codec_for(column)
    return codec.encode(column, codec.accept(column, value))


def column_keys(columns: Sequence[Column]) -> list[str]:
    """The columns' names; ``@n`` for all if the table map does not name each of them once."""
    names = [column.name for column in columns]
    usable = all(name is not None and is_safe(name) for name in names) and len(set(names)) == len(names)
    return [str(name) for name in names] if usable else [f"@{index + 1}" for index in range(len(columns))]


def diffs_to_plain(column: Column, cell: bytes) -> dict[str, Any]:
    """``{diffs: [...]}``, or ``{hex: ...}`` for bytes that no diffs give."""
    try:
        diffs = parse_diffs(cell[4:])
        shown = [_diff_to_plain(column, diff) for diff in diffs]
        if _sized(build_diffs(diffs)) == cell and all(is_safe(diff.path) for diff in diffs):
            return {"diffs": shown}
    except ForgeError:
        pass
    return {"hex": cell.hex()}


def _diffs_from_plain(column: Column, shown: Any) -> bytes:
    """The inverse of :func:`diffs_to_plain`, of the list.  Raises ScenarioError."""
    if not isinstance(shown, list):
        raise ScenarioError(f"diffs is {shown!r}", expected="a list of [operation, path, value]")
    return _sized(build_diffs(_diff_from_plain(column, diff) for diff in shown))


def _sized(data: bytes) -> bytes:
    return len(data).to_bytes(4, "little") + data


def _diff_to_plain(column: Column, diff: Diff) -> list[Any]:
    value = [] if diff.value is None else [cell_to_plain(column, _sized(diff.value))]
    return [diff.operation.name, diff.path, *value]


def _diff_from_plain(column: Column, shown: Any) -> Diff:
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
        cell = cell_from_plain(column, shown[2])
        value = None if cell is None else cell[4:]
    return Diff(Operation[shown[0]], shown[1], value)


def options_to_fields(image: Image, columns: Sequence[Column], cells: Mapping[int, Any]) -> dict[str, Any]:
    """The value options and partial bits of an after image, where its cells, as shown, do not tell them."""
    if image.value_options is None:
        return {}
    if (image.value_options, image.partial_bits) == _derived(columns, cells):
        return {}
    return {"value_options": image.value_options, "partial_bits": image.partial_bits.hex()}


def options_from_fields(row: Mapping[str, Any], columns: Sequence[Column], cells: Mapping[int, Any]) -> bytes:
    """Value options and partial bits of a row's after image, as they stand before it.  Raises ScenarioError."""
    options, bits = _derived(columns, cells)
    options = row.get("value_options", options)
    if isinstance(options, bool) or not isinstance(options, int) or not 0 <= options <= 255:
        raise ScenarioError(f"value_options is {options!r}", expected="0 to 255")
    if "partial_bits" in row:
        try:
            bits = bytes.fromhex(row["partial_bits"])
        except (ValueError, TypeError):
            raise ScenarioError(f"partial_bits is {row['partial_bits']!r}", expected="hexadecimal digits") from None
    return bytes([options]) + bits


def _derived(columns: Sequence[Column], cells: Mapping[int, Any]) -> tuple[int, bytes]:
    """The options and bits of a row in which some of the cells are diffs."""
    json_columns = [index for index, column in enumerate(columns) if column.type_code == WireType.JSON]
    bits = sum(1 << place for place, index in enumerate(json_columns) if _is_diffs(cells.get(index)))
    return (PARTIAL_JSON, bits.to_bytes((len(json_columns) + 7) // 8, "little")) if bits else (0, b"")


def _is_diffs(shown: Any) -> bool:
    return isinstance(shown, dict) and set(shown) == {"diffs"}
