"""Rows in the listing: ``{column: value}`` a row, or ``{before: ..., after: ...}`` for updates.

Columns go by their names if the table map has them (``@1``, ``@2`` ... otherwise).  A cell is NULL, a value that the
column type's codec turns into the very bytes of the file, or ``{hex: ...}`` with the cell's bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from forge.binlog.listing.partial import (
    diffs_from_plain,
    diffs_to_plain,
    is_diffs,
    options_from_fields,
    options_to_fields,
)
from forge.binlog.listing.text import is_safe
from forge.errors import ForgeError, ScenarioError, nearest
from forge.events.layout import Body
from forge.events.mariadb_compressed import COMPRESSED_ROWS, compress_block
from forge.events.plain import flag_names
from forge.events.row_image import (
    ChangedRow,
    Image,
    bitmap_of,
    build_rows,
    full_padding,
    images_of,
    parse_rows,
    partial_columns,
    present_columns,
)
from forge.events.rows import ROW_FLAGS, PartialUpdateRows, RowsBody, UpdateRows, UpdateRowsV1
from forge.values.base import Column
from forge.values.registry import codec_for

Fields = dict[str, Any]
DERIVED_FIELDS = ("width", "present", "present_after")


def rows_to_fields(body: RowsBody, columns: Sequence[Column]) -> Fields:
    """The fields of a row event whose rows could be split.  Raises ForgeError if they could not."""
    rows = parse_rows(body, columns)
    keys = column_keys(columns)
    usual = bitmap_of(range(len(columns)), len(columns), padding=True)
    fields: Fields = {"table_id": body.table_id}
    if body.row_flags:
        fields["row_flags"] = flag_names(body.row_flags, ROW_FLAGS)
    if getattr(body, "extra", b""):
        fields["extra"] = body.extra.hex()  # type: ignore[union-attr]
    for name in ("present", "present_after"):
        bitmap = getattr(body, name, usual)
        if bitmap != usual:
            fields[name] = bitmap.hex()
    paddings = {image.padding for row in rows for image in (row.before, row.after) if image is not None}
    if paddings - {0}:
        fields["null_padding"] = "ones"
    before, after = (None if bitmap is None else present_columns(bitmap, len(columns)) for bitmap in images_of(body))
    fields["rows"] = [_row_to_fields(row, before, after, columns, keys) for row in rows]
    return fields


def _row_to_fields(
    row: ChangedRow,
    before: Sequence[int] | None,
    after: Sequence[int] | None,
    columns: Sequence[Column],
    keys: Sequence[str],
) -> Fields:
    shown: Fields = {}
    pinned: Fields = {}
    for word, image, present in (("before", row.before, before), ("after", row.after, after)):
        if image is not None and present is not None:
            partial = partial_columns(image, columns)
            cells = {
                index: diffs_to_plain(columns[index], cell, cell_to_plain)
                if index in partial and cell is not None
                else cell_to_plain(columns[index], cell)
                for index, cell in zip(present, image.cells, strict=True)
            }
            pinned |= options_to_fields(image, columns, cells)
            shown[word] = {keys[index]: cell for index, cell in cells.items()}
    return shown | pinned if len(shown) == 2 else next(iter(shown.values()))


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


def rows_from_fields(kind: type[Body], fields: Fields, columns: Sequence[Column] | None) -> Fields:
    """Fields with ``rows`` as bytes again.  Raises ScenarioError for cells that do not fit their columns."""
    if columns is None:
        raise ScenarioError(f"no TABLE_MAP before this event maps table_id {fields.get('table_id')}")
    width = len(columns)
    usual = bitmap_of(range(width), width, padding=True)
    update = issubclass(kind, (UpdateRows, UpdateRowsV1))
    padded = fields.pop("null_padding", "zeros") == "ones"
    fields.setdefault("width", width)
    bitmaps = [_bitmap(fields, name, usual) for name in (("present", "present_after") if update else ("present",))]
    places = {key: index for index, key in enumerate(column_keys(columns))}
    rows = []
    for row in fields["rows"]:
        images = [row.get("before"), row.get("after")] if update and isinstance(row, dict) else [row]
        built = [
            _image_from_fields(image, present_columns(bitmap, width), columns, places, padded)
            for image, bitmap in zip(images, bitmaps, strict=True)
        ]
        if issubclass(kind, PartialUpdateRows):
            shown = {places[key]: cell for key, cell in row["after"].items()}
            options, bits = options_from_fields(row, columns, shown)
            built[1] = replace(built[1], value_options=options, partial_bits=bits)
        rows.append(ChangedRow(*built) if update else ChangedRow(None, built[0]))
    data = build_rows(rows)
    return fields | {"rows": (compress_block(data) if issubclass(kind, COMPRESSED_ROWS) else data).hex()}


def _bitmap(fields: Fields, name: str, usual: bytes) -> bytes:
    fields.setdefault(name, usual.hex())
    try:
        bitmap = bytes.fromhex(fields[name])
    except (ValueError, TypeError):
        raise ScenarioError(f"{name} is {fields[name]!r}", expected="hexadecimal digits") from None
    if len(bitmap) != len(usual):
        raise ScenarioError(f"{name} has {len(bitmap)} bytes", expected=f"{len(usual)}")
    return bitmap


def _image_from_fields(
    image: Any, present: Sequence[int], columns: Sequence[Column], places: dict[str, int], padded: bool
) -> Image:
    if not isinstance(image, dict):
        raise ScenarioError(f"a row is {image!r}", expected="a mapping of columns to values")
    cells_by_column: dict[int, Any] = {}
    for key, value in image.items():
        if key not in places:
            raise ScenarioError(f"unknown column {key!r}", suggestion=nearest(str(key), places))
        cells_by_column[places[key]] = value
    if set(cells_by_column) != set(present):
        missing = sorted(set(present) - set(cells_by_column)) or sorted(set(cells_by_column) - set(present))
        raise ScenarioError(
            f"the row does not match the bitmap of present columns at column {missing[0] + 1}",
            expected="every present column once, and no other",
        )
    cells = tuple(_cell_from_plain(columns[index], cells_by_column[index]) for index in present)
    return Image(cells, full_padding(len(present)) if padded else 0)


def _cell_from_plain(column: Column, value: Any) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, dict) and set(value) == {"hex"}:
        try:
            return bytes.fromhex(value["hex"])
        except (ValueError, TypeError):
            raise ScenarioError(f"{value['hex']!r} is not hexadecimal") from None
    if is_diffs(value):
        return diffs_from_plain(column, value["diffs"], _cell_from_plain)
    codec = codec_for(column)
    return codec.encode(column, codec.accept(column, value))


def column_keys(columns: Sequence[Column]) -> list[str]:
    """The columns' names; ``@n`` for all if the table map does not name each of them once."""
    names = [column.name for column in columns]
    usable = all(name is not None and is_safe(name) for name in names) and len(set(names)) == len(names)
    return [str(name) for name in names] if usable else [f"@{index + 1}" for index in range(len(columns))]
