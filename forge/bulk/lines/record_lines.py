"""The records of one table of some files as lines of text, from the rows in bulk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from forge.binlog.selection import Selection
from forge.bulk.lines.cell_texts import Unsaid, spans
from forge.bulk.lines.row_lines import Form, RowLines, header_line
from forge.bulk.reading.batches import Misfit
from forge.bulk.reading.choice import ChosenEvents
from forge.bulk.reading.file_rows import FileRows, Taker
from forge.bulk.reading.tables import Chosen, Images, Table, table_of
from forge.bulk.reading.window import RowIndexes, Window
from forge.errors import ForgeError
from forge.events.columns import names_of_records
from forge.values.base import Column

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring


@dataclass(frozen=True, slots=True)
class AskedLines:
    """Which rows are told, and how.  ``files`` has the name of each path as records show it."""

    files: Mapping[Path, str]
    form: Form
    table: str | None
    columns: Sequence[str] | None
    images: Images
    wanted: Selection
    keyring: Keyring | None
    #: Is told the bytes that were read.
    progress: Callable[[int], None]


def record_lines(asked: AskedLines) -> Iterator[tuple[int, memoryview]]:
    """(lines, their bytes), some at a time; of CSV the header first.

    Raises Unsaid, after the lines before, where the reference path has to go on: it has all messages too.
    """
    try:
        if asked.table is None or asked.form == "csv" or asked.columns is not None:
            met = _Met(asked.table)
            _read(met, asked)
            table, columns = met.table, tuple(met.columns)
        else:
            table, columns = asked.table, ()
        if table is None or not set(asked.columns or ()) <= set(columns):
            raise Unsaid
        telling = _Telling(asked, table, columns if asked.columns is None else tuple(asked.columns))
        if asked.form == "csv":
            yield 1, memoryview(telling.header())
        done = 0
        for path in asked.files:
            rows = FileRows(telling, path, keyring=asked.keyring, side_by_side=False)
            for _, batch in rows.batches():
                yield batch.num_rows, memoryview(spans(batch.column(0))[1])  # type: ignore[arg-type]
                asked.progress(done + rows.read_bytes)
            done += rows.read_bytes
    except (ForgeError, pa.ArrowException):
        raise Unsaid from None
    if not telling.is_met:
        raise Unsaid


def _read(tables: _Met, asked: AskedLines) -> None:
    for path in asked.files:
        for _ in FileRows(tables, path, keyring=asked.keyring).batches():
            pass


class _Nothing:
    """Takes rows, and looks at none."""

    schema = pa.schema([])

    def __init__(self, table: Table) -> None:
        self.table = table

    def of(self, window: Window, chosen: RowIndexes) -> Iterator[pa.RecordBatch | Misfit]:
        """As forge.bulk.reading.file_rows.Taker has it."""
        return iter(())


class _Met:
    """The columns of all definitions of the table, which is the only one of the log unless it is named."""

    def __init__(self, table: str | None) -> None:
        self.table = table
        self.columns: dict[str, None] = {}
        self._is_only = table is None

    def wants(self, name: str) -> bool:
        """As forge.bulk.reading.file_rows.Tables has it.  Raises Unsaid for a second table, if none was named."""
        if self.table is None:
            self.table = name
        if self._is_only and name != self.table:
            raise Unsaid
        return name == self.table

    def taker_of(self, name: str, columns: tuple[Column, ...], place: str, path: Path) -> Taker:
        """As forge.bulk.reading.file_rows.Tables has it."""
        self.columns |= dict.fromkeys(names_of_records(column.name for column in columns))
        return _Nothing(table_of(name, columns, Chosen(columns=())))


class _Telling:
    """The table whose rows become lines."""

    def __init__(self, asked: AskedLines, table: str, columns: tuple[str, ...]) -> None:
        self._asked = asked
        self._table = table
        halves = ("before.", "after.") if asked.images == "both" else ("",)
        self._fields = [half + name for half in halves for name in columns]
        self.is_met = False

    def header(self) -> bytes:
        """The line of names."""
        return header_line(self._fields)

    def wants(self, name: str) -> bool:
        """As forge.bulk.reading.file_rows.Tables has it."""
        return name == self._table

    def taker_of(self, name: str, columns: tuple[Column, ...], place: str, path: Path) -> Taker:
        """As forge.bulk.reading.file_rows.Tables has it."""
        asked, self.is_met = self._asked, True
        there = names_of_records(column.name for column in columns)
        chosen = None if asked.columns is None else tuple(column for column in asked.columns if column in there)
        table = table_of(name, columns, Chosen(asked.images, chosen))
        lines = RowLines(table, asked.files[path], asked.form, self._fields)
        return lines if asked.wanted.is_all else ChosenEvents(lines, asked.wanted)
