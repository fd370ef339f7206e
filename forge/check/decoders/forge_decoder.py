"""Ours: the reference, as one decoder among others."""

from __future__ import annotations

from collections.abc import Iterator

import forge
from forge.check.decoder import DecodedRow, DecodedTable, Decoder, DecodingEnded, Form, Item
from forge.decode.cells import Cell
from forge.decode.reference import Reference, read_reference
from forge.errors import ForgeError, UnsupportedError


class ForgeDecoder(Decoder):
    name = "forge"

    def available(self) -> None:
        return None

    def version(self) -> str:
        return forge.__version__

    def decode(self, data: bytes) -> Iterator[Item]:
        return self.decode_known(data, read_reference(data))

    def decode_known(self, data: bytes, reference: Reference) -> Iterator[Item]:
        for place in reference.events:
            if place in reference.tables:
                yield DecodedTable(place, reference.tables[place].full_name)
            for change in reference.rows.get(place, ()):
                images = (_image(change.before), _image(change.after))
                yield DecodedRow(place, change.database, change.table, change.kind, *images)
        if isinstance(reference.problem, UnsupportedError):
            raise DecodingEnded("unsupported", reference.problem.problem)
        if reference.problem is not None:
            raise DecodingEnded("refused", str(reference.problem))

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
