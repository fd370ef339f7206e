"""Fields of bodies that are lists in themselves, and the rows of row events: labels for each item."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from forge.decode.labels.layouts import Apart
from forge.decode.labels.runs import Labels, shown
from forge.errors import ForgeError, FormatError
from forge.events.columns import bare_columns
from forge.events.extra_row_info import chunks
from forge.events.gtid_tagged import FIELDS
from forge.events.registry import event_name
from forge.events.row_image import Image, images_of, iterate_rows, partial_columns, present_columns
from forge.events.rows import RowsBody
from forge.events.serialization import take_uvarint
from forge.events.table_map import TableMap
from forge.events.taking import LayoutError
from forge.values.base import Column, Piece
from forge.values.json.diff import build_diffs, parse_diffs
from forge.values.registry import codec_for
from forge.values.wire_types import WireType


def _post_header_lengths(labels: Labels, end: int, fields: Any) -> None:
    for number in range(1, end - labels.at + 1):
        labels.put(
            labels.at + 1, f"post_header_lengths.{event_name(number)}", labels.data[labels.at],
            f"bytes behind the header of events of type {number}",
        )  # fmt: skip


def _types(labels: Labels, end: int, fields: Any) -> None:
    for number in range(1, end - labels.at + 1):
        code = labels.data[labels.at]
        word: int | str = code
        with suppress(ValueError):
            word = WireType(code).name
        labels.put(labels.at + 1, f"types.column {number}", word, "type of the column")


def _metadata(labels: Labels, end: int, fields: Any) -> None:
    data = labels.data[labels.at : end]
    columns = _columns(fields.types, data)
    for number, column in enumerate(columns, start=1):
        try:
            name = codec_for(column).type_name(column)
        except (ForgeError, LookupError, ValueError):
            name = None
        labels.put(labels.at + len(column.metadata), f"metadata.column {number}", name, "metadata of the type")
    labels.put(end, "metadata", rule="bytes that no type takes")


def _columns(types: bytes, metadata: bytes) -> Sequence[Column]:
    body = TableMap(
        table_id=0, database="", table="", types=types, metadata=metadata, nullable=bytes((len(types) + 7) // 8)
    )
    try:
        return bare_columns(body)
    except ForgeError:
        return ()


def _columns_set(name: str) -> Apart:
    def apart(labels: Labels, end: int, fields: Any) -> None:
        bitmap = labels.data[labels.at : end]
        width = len(fields.types) if name == "nullable" else fields.width
        numbers = ", ".join(str(index + 1) for index in present_columns(bitmap, width))
        labels.put(end, name, f"columns {numbers}" if numbers else "no column", "a bit a column, lowest first")

    return apart


def _extra(labels: Labels, end: int, fields: Any) -> None:
    labels.put(labels.at + 2, "extra.length", end - labels.at, "u16, little-endian; counts itself")
    start = labels.at
    for place, words in chunks(labels.data[start:end]):
        labels.put(start + place, "extra", labels.data[labels.at : start + place], words)


def _tagged_message(labels: Labels, end: int, fields: Any) -> None:
    with suppress(LayoutError):
        for name in ("format_version", "size", "last_non_ignorable"):
            number, at = take_uvarint(labels.data, labels.at)
            labels.put(at, name, number, "integer of variable length")
        while labels.at < end:
            number, at = take_uvarint(labels.data, labels.at)
            if number >= len(FIELDS):
                break
            name, _, take = FIELDS[number]
            labels.put(at, f"{name}.number", number, "number of the field, integer of variable length")
            value, at = take(labels.data, at)
            labels.put(at, name, value, "integers of variable length, one a byte" if name == "uuid" else "")
    labels.put(end, "unread")


#: Fields that are taken apart, by their names, which mean the same in every body.
APART: dict[str, Apart] = {
    "post_header_lengths": _post_header_lengths,
    "types": _types,
    "metadata": _metadata,
    "nullable": _columns_set("nullable"),
    "present": _columns_set("present"),
    "present_after": _columns_set("present_after"),
    "extra": _extra,
    "message": _tagged_message,
}


def label_block(labels: Labels, name: str) -> None:
    """A block that MariaDB compressed, to the end of the region."""
    if labels.at < len(labels.data):
        width = labels.data[labels.at] & 7
        labels.put(labels.at + 1, f"{name}.algorithm", labels.data[labels.at], "0x80, algorithm, bytes of the length")
        size = int.from_bytes(labels.data[labels.at : labels.at + width], "big")
        labels.put(labels.at + width, f"{name}.length", size, "unpacked length, big-endian")
        labels.rest(name, None, "zlib stream")


#: As APART, for QUERY_COMPRESSED.
COMPRESSED_TEXT: dict[str, Apart] = {"block": lambda labels, end, fields: label_block(labels, "query")}


#: What cells of a column mean, by the column's index and their bytes; how many of how many bytes are kept.
_KnownPieces = dict[tuple[int, bytes], Sequence[Piece]]
_SHORT, _MOST_KNOWN = 8, 1 << 10


def label_rows(labels: Labels, body: RowsBody, columns: Sequence[Column]) -> FormatError | None:
    """Label the rows, which are all that is left of the region; what is wrong with them, if they end early.

    ``body`` has them as bytes, even where the event has them compressed.
    """
    before, after = images_of(body)
    bitmaps = {"before": before, "after": after}
    problem: FormatError | None = None
    known: _KnownPieces = {}
    try:
        for number, row in enumerate(iterate_rows(body, columns), start=1):
            if labels.is_full:
                return None
            for name, image in (("before", row.before), ("after", row.after)):
                bitmap = bitmaps[name]
                if image is not None and bitmap is not None:
                    present = present_columns(bitmap, len(columns))
                    _label_image(labels, f"row {number}.{name}", image, present, columns, known)
    except FormatError as error:
        problem = error
    except ForgeError as error:
        labels.rest("rows", rule=str(error))
    if problem is not None:
        labels.rest("raw", rule=problem.rule)
    labels.rest("rows")
    return problem


def _label_image(
    labels: Labels, name: str, image: Image, present: Sequence[int], columns: Sequence[Column], known: _KnownPieces
) -> None:
    if image.value_options is not None:
        labels.put(labels.at + 1, f"{name}.value_options", image.value_options, "1: some JSON cells may be diffs")
        labels.put(
            labels.at + len(image.partial_bits), f"{name}.partial_bits", image.partial_bits,
            "a bit a JSON column: the cell is a list of diffs",
        )  # fmt: skip
    nulls = [str(index + 1) for index, cell in zip(present, image.cells, strict=True) if cell is None]
    labels.put(
        labels.at + (len(present) + 7) // 8, f"{name}.null_bitmap",
        f"NULL in columns {', '.join(nulls)}" if nulls else "no NULL", "a bit a present column, lowest first",
    )  # fmt: skip
    diffs = partial_columns(image, columns)
    for index, cell in zip(present, image.cells, strict=True):
        if cell is not None:
            column = columns[index]
            field = f"{name}.column {index + 1}" + ("" if column.name is None else f" {shown(column.name)}")
            # Members stand with the table map, and may be very many.
            rule = codec_for(column).type_name(column if column.members is None else replace(column, members=None))
            # A member may be long: what a short cell means is told once.
            pieces = None if index in diffs else known.get((index, cell))
            if pieces is None:
                pieces = _diff_pieces(cell) if index in diffs else _cell_pieces(column, cell)
                if len(cell) <= _SHORT and len(known) < _MOST_KNOWN and index not in diffs:
                    known[index, cell] = pieces
            labels.put_pieces(labels.at + len(cell), field, pieces, rule)


def _cell_pieces(column: Column, cell: bytes) -> Sequence[Piece]:
    try:
        return codec_for(column).explain(column, cell)
    except (ForgeError, ValueError, LookupError, OverflowError) as error:
        return [Piece(0, cell, f"no value of the type: {error}")]


def _diff_pieces(cell: bytes) -> Sequence[Piece]:
    """A list of diffs behind its length."""
    pieces = [Piece(0, cell[:4], f"length {len(cell) - 4}")]
    try:
        offset = 4
        for diff in parse_diffs(cell[4:]):
            data = build_diffs([diff])
            pieces.append(Piece(offset, data, f"{diff.operation.name} {diff.path}"))
            offset += len(data)
    except ForgeError as error:
        pieces.append(Piece(4, cell[4:], f"no diffs: {error}"))
    return pieces
