"""The rows of row events: labels for each image and each cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forge.decode.labels.runs import Labels, shown
from forge.errors import ForgeError, FormatError
from forge.events.row_image import Image, images_of, iterate_rows, partial_columns, present_columns
from forge.events.rows import RowsBody
from forge.values.base import Column, Piece
from forge.values.json.diff import build_diffs, parse_diffs
from forge.values.registry import codec_for

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
