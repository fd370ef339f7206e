"""Rows in the listing: ``{column: value}`` a row, or ``{before: ..., after: ...}`` for updates.

Columns go by their names if the table map has them (``@1``, ``@2`` ... otherwise).  A cell is NULL, a value that the
column type's codec turns into the very bytes of the file, or ``{hex: ...}`` with the cell's bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forge.binlog.listing.cells import (
    cell_to_plain,
    diffs_to_plain,
    options_from_fields,
    options_to_fields,
)
from forge.binlog.listing.tables import ListedTable
from forge.errors import ScenarioError
from forge.events.layout import Body
from forge.events.mariadb_compressed import COMPRESSED_ROWS, compress_block
from forge.events.plain import flag_names
from forge.events.row_image import (
    ChangedRow,
    bitmap_of,
    images_of,
    parse_rows,
    partial_columns,
    present_columns,
)
from forge.events.rows import ROW_FLAGS, PartialUpdateRows, RowsBody, UpdateRows, UpdateRowsV1

Fields = dict[str, Any]


def rows_to_fields(body: RowsBody, table: ListedTable) -> Fields:
    """The fields of a row event whose rows could be split.  Raises ForgeError if they could not."""
    rows = parse_rows(body, table.columns)
    padded = any(image.padding for row in rows for image in (row.before, row.after) if image is not None)
    fields = _fields(body, len(table.columns), padded)
    before, after = (
        None if bitmap is None else present_columns(bitmap, len(table.columns)) for bitmap in images_of(body)
    )
    fields["rows"] = [_row_to_fields(row, before, after, table) for row in rows]
    return fields


def usual_rows_to_fields(body: RowsBody, table: ListedTable) -> Fields:
    """As :func:`rows_to_fields`, quickly; a cell may be made into other bytes.  Raises UnusualError."""
    rows, padded = table.rows(body)
    return _fields(body, len(table.columns), padded) | {"rows": rows}


def _fields(body: RowsBody, width: int, padded: bool) -> Fields:
    usual = bitmap_of(range(width), width, padding=True)
    fields: Fields = {"table_id": body.table_id}
    if body.row_flags:
        fields["row_flags"] = flag_names(body.row_flags, ROW_FLAGS)
    if getattr(body, "extra", b""):
        fields["extra"] = body.extra.hex()  # type: ignore[union-attr]
    for name in ("present", "present_after"):
        bitmap = getattr(body, name, usual)
        if bitmap != usual:
            fields[name] = bitmap.hex()
    if padded:
        fields["null_padding"] = "ones"
    return fields


def _row_to_fields(
    row: ChangedRow,
    before: Sequence[int] | None,
    after: Sequence[int] | None,
    table: ListedTable,
) -> Fields:
    columns, keys = table.columns, table.keys
    shown: Fields = {}
    pinned: Fields = {}
    for word, image, present in (("before", row.before, before), ("after", row.after, after)):
        if image is not None and present is not None:
            partial = partial_columns(image, columns)
            cells = {
                index: diffs_to_plain(columns[index], cell)
                if index in partial and cell is not None
                else cell_to_plain(columns[index], cell)
                for index, cell in zip(present, image.cells, strict=True)
            }
            pinned |= options_to_fields(image, columns, cells)
            shown[word] = {keys[index]: cell for index, cell in cells.items()}
    return shown | pinned if len(shown) == 2 else next(iter(shown.values()))


def rows_from_fields(kind: type[Body], fields: Fields, table: ListedTable | None) -> Fields:
    """Fields with ``rows`` as bytes again.  Raises ScenarioError for cells that do not fit their columns."""
    if table is None:
        raise ScenarioError(f"no TABLE_MAP before this event maps table_id {fields.get('table_id')}")
    width = len(table.columns)
    usual = bitmap_of(range(width), width, padding=True)
    update = issubclass(kind, (UpdateRows, UpdateRowsV1))
    padded = fields.pop("null_padding", "zeros") == "ones"
    fields.setdefault("width", width)
    bitmaps = [_bitmap(fields, name, usual) for name in (("present", "present_after") if update else ("present",))]
    writers = [table.writer(present_columns(bitmap, width), padded) for bitmap in bitmaps]
    built = []
    for row in fields["rows"]:
        images = [row.get("before"), row.get("after")] if update and isinstance(row, dict) else [row]
        if len(images) != len(writers):
            raise ScenarioError(f"a row is {row!r}", expected="{before: ..., after: ...}")
        written = [writer.write(image) for image, writer in zip(images, writers, strict=True)]
        if issubclass(kind, PartialUpdateRows):
            shown = {table.places[key]: cell for key, cell in row["after"].items()}
            written[1] = options_from_fields(row, table.columns, shown) + written[1]
        built += written
    data = b"".join(built)
    return fields | {"rows": compress_block(data) if issubclass(kind, COMPRESSED_ROWS) else data}


def _bitmap(fields: Fields, name: str, usual: bytes) -> bytes:
    fields.setdefault(name, usual.hex())
    try:
        bitmap = bytes.fromhex(fields[name])
    except (ValueError, TypeError):
        raise ScenarioError(f"{name} is {fields[name]!r}", expected="hexadecimal digits") from None
    if len(bitmap) != len(usual):
        raise ScenarioError(f"{name} has {len(bitmap)} bytes", expected=f"{len(usual)}")
    return bitmap
