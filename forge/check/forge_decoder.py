"""Ours: the reference, as one decoder among others."""

from __future__ import annotations

from collections.abc import Iterator

import forge
from forge.binlog.reader import read_events
from forge.check.cells import Cell, TableMaps
from forge.check.decoders import DecodedRow, DecodedTable, Decoder, DecodingEnded, Form, Item
from forge.errors import ForgeError, FormatError, UnsupportedError


class ForgeDecoder(Decoder):
    name = "forge"

    def available(self) -> None:
        return None

    def version(self) -> str:
        return forge.__version__

    def decode(self, data: bytes) -> Iterator[Item]:
        tables = TableMaps()
        try:
            for placed in read_events(data, strict=True):
                mapped = tables.note(placed)
                if mapped is not None:
                    yield DecodedTable(placed.offset, mapped.full_name)
                for change in tables.changes(placed):
                    yield DecodedRow(
                        placed.offset,
                        change.database,
                        change.table,
                        change.kind,
                        _image(change.before),
                        _image(change.after),
                    )
        except UnsupportedError as error:
            raise DecodingEnded("unsupported", error.problem) from None
        except FormatError as error:
            raise DecodingEnded("refused", str(error)) from None

    def normalise(self, cell: Cell) -> Form:
        return form_of(cell)


def form_of(cell: Cell) -> Form:
    """Text, bytes, or the raw cell where it has no value."""
    try:
        return cell.text()
    except ForgeError:
        return cell.raw


def _image(cells: tuple[Cell, ...] | None) -> dict[int, Form] | None:
    return None if cells is None else {cell.number: form_of(cell) for cell in cells}
