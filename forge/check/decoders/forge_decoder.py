"""Ours: the reference, as one decoder among others."""

from __future__ import annotations

from collections.abc import Iterator

import forge
from forge.binlog.logged import logged_events
from forge.check.canonical.cells import Cell
from forge.check.canonical.table_maps import TableMaps
from forge.check.decoder import DecodedRow, DecodedTable, Decoder, DecodingEnded, Form, Item
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
            for logged in logged_events(data):
                place = (logged.placed.offset, logged.inner)
                mapped = tables.note(logged)
                if mapped is not None:
                    yield DecodedTable(place, mapped.full_name)
                for change in tables.changes(logged):
                    images = (_image(change.before), _image(change.after))
                    yield DecodedRow(place, change.database, change.table, change.kind, *images)
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
