"""Rows as the vendors' pseudo-SQL: ``###`` lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from forge.decode.cells import Cell, MappedTable, kind_of
from forge.events.plain import to_bytes
from forge.events.row_image import Image, images_of, iterate_rows, partial_columns, present_columns
from forge.events.rows import RowsBody
from forge.values.base import Column
from forge.vendors.cell_forms import is_printed, partial_form, type_form, value_form
from forge.vendors.quoting import in_backticks

_HEADS = {"insert": b"### INSERT INTO ", "update": b"### UPDATE ", "delete": b"### DELETE FROM "}


@dataclass(frozen=True, slots=True)
class _CellLine:
    """The line of a column's cells: what stands around the value; ``form`` is None where the rows end."""

    column: Column
    head: bytes
    tail: bytes
    null: bytes
    form: Callable[[bytes], bytes] | None


class UnknownColumnError(Exception):
    """A column that the program cannot print: the rest of the event's rows is not printed."""


@lru_cache(maxsize=64)
def _cell_lines(columns: tuple[Column, ...], family: str, commented: bool) -> tuple[_CellLine, ...]:
    return tuple(_cell_line(number, column, family, commented) for number, column in enumerate(columns, start=1))


def _cell_line(number: int, column: Column, family: str, commented: bool) -> _CellLine:
    head = b"###   @%d=" % number
    if not is_printed(column, family):
        meta = int.from_bytes(column.metadata, "little")
        unknown = b"!! Don't know how to handle column type=%d meta=%d (%04x)\n" % (column.type_code, meta, meta)
        return _CellLine(column, head, unknown, unknown, None)
    if not commented:
        return _CellLine(column, head, b"\n", b"NULL\n", value_form(column, family))
    form = type_form(column)
    assert form is not None
    rest = f"meta={form[1]} nullable={int(column.nullable)} is_null="
    tail, null = (f" /* {form[0]} {rest}{is_null} */\n".encode() for is_null in (0, 1))
    return _CellLine(column, head, tail, b"NULL" + null, value_form(column, family))


def row_lines(body: RowsBody, mapped: MappedTable, family: str, *, commented: bool) -> Iterator[bytes]:
    """The lines of each row.  Raises FormatError for rows that do not fit the columns."""
    columns = mapped.columns
    assert columns is not None
    lines = _cell_lines(columns, family, commented)
    table = b".".join(in_backticks(to_bytes(name)) for name in (mapped.body.database, mapped.body.table))
    kind = kind_of(body)
    head = _HEADS[kind] + table
    before, after = (() if bitmap is None else present_columns(bitmap, len(columns)) for bitmap in images_of(body))
    empty = b"" if family == "mysql" else b" /* no columns */"
    where, sets = (
        b"### " + word + (b"" if present else empty) + b"\n" for word, present in ((b"WHERE", before), (b"SET", after))
    )
    for row in iterate_rows(body, columns):
        if kind == "insert" and not after:
            yield head + b" VALUES ()\n"
            continue
        parts = [head, b"\n"]
        try:
            if row.before is not None:
                parts.append(where)
                _add_cells(parts, lines, before, row.before, columns)
            if row.after is not None:
                parts.append(sets)
                _add_cells(parts, lines, after, row.after, columns)
        except UnknownColumnError:
            yield b"".join(parts)
            return
        yield b"".join(parts)


def _add_cells(
    parts: list[bytes], lines: Sequence[_CellLine], present: Sequence[int], image: Image, columns: Sequence[Column]
) -> None:
    partial = partial_columns(image, columns)
    for index, raw in zip(present, image.cells, strict=True):
        line = lines[index]
        if line.form is None:
            parts += (line.head, line.tail)
            raise UnknownColumnError
        if raw is None:
            parts += (line.head, line.null)
            continue
        text = partial_form(Cell(index + 1, line.column, raw, True)) if index in partial else line.form(raw)
        parts += (line.head, text, line.tail)
