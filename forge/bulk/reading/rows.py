"""Rows of files as record batches: the reader that ``forge.read_rows`` gives."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack, get_args, overload

import pyarrow as pa

from forge.binlog.selection import ALL, Selection
from forge.bulk.reading.batches import Batches
from forge.bulk.reading.beside import BESIDE
from forge.bulk.reading.choice import ChosenEvents
from forge.bulk.reading.file_rows import FileRows, Taker
from forge.bulk.reading.listed import Listed
from forge.bulk.reading.odd import OnOdd, ReadSummary
from forge.bulk.reading.splits import Split
from forge.bulk.reading.tables import Chosen, Images, JsonForm, Table, table_of
from forge.errors import ScenarioError, nearest
from forge.values.base import Column

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring

#: A file or a split of one.
OnePath = str | os.PathLike[str] | Split
Paths = OnePath | Sequence[OnePath]


class RowReader:
    """The batches of some files or splits, in their order; those of one list of events table by table."""

    def __init__(
        self,
        paths: Sequence[Path | Split],
        *,
        table: str | None,
        chosen: Chosen,
        taker: Callable[[Table, str], Taker],
        parts: bool = False,
        keyring: Keyring | None = None,
        summary: ReadSummary | None = None,
        progress: Callable[[int], None] | None = None,
        watch: Callable[[Listed], None] | None = None,
    ) -> None:
        self._paths = paths
        self._watch = watch
        self._wanted = table
        self._chosen = chosen
        self._taker = taker
        self._parts = parts
        self._keyring = keyring
        self._summary = summary
        self._progress = progress
        #: A table of these columns; what is known of others with the same is shared with it.
        self._like: dict[tuple[Column, ...], Table] = {}
        self._schemas: dict[str, pa.Schema] = {}
        self.seen: set[str] = set()

    def batches(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """(table, batch).  Raises FormatError, after the rows before the bad bytes; ScenarioError for a table whose
        columns change.
        """
        done = 0
        for part in self._paths:
            path, split = (Path(part.path), part) if isinstance(part, Split) else (part, None)
            reader = FileRows(self, path, split, self._summary, keyring=self._keyring, watch=self._watch)
            for pair in reader.batches():
                yield pair
                if self._progress is not None:
                    self._progress(done + reader.read_bytes)
            done += reader.read_bytes
            if self._progress is not None:
                self._progress(done)

    def wants(self, name: str) -> bool:
        """Whether rows of that table are asked for."""
        self.seen.add(name)
        return self._wanted is None or name == self._wanted

    def schema_of(self, name: str) -> pa.Schema | None:
        """The schema of a table's batches; None if it was not met."""
        return self._schemas.get(name)

    def taker_of(self, name: str, columns: tuple[Column, ...], place: str, path: Path) -> Taker:
        """Who takes the rows of a table definition.

        Raises ScenarioError where one table is asked for as a whole, and has other columns than before.
        """
        like = self._like.get(columns)
        table = self._like[columns] = (
            table_of(name, columns, self._chosen) if like is None else replace(like, name=name)
        )
        taker = self._taker(table, str(path))
        if self._schemas.setdefault(name, taker.schema) != taker.schema and self._wanted and not self._parts:
            raise ScenarioError(
                f"the columns of {name} change at {place}",
                expected="parts=True, which gives batches of each definition, or positions before or behind it",
            )
        return taker


def paths_of(path: Paths) -> list[Path | Split]:
    """One path or several."""
    several = [path] if isinstance(path, (str, os.PathLike, Split)) else path
    return [one if isinstance(one, Split) else Path(one) for one in several]


class ReadOptions(TypedDict, total=False):
    """What :func:`read_rows` may be asked for."""

    columns: Sequence[str] | None
    images: Images
    on_odd: OnOdd
    json: JsonForm
    beside: Sequence[str] | None
    names: Sequence[str] | None
    wanted: Selection
    keyring: Keyring | None
    summary: ReadSummary | None
    progress: Callable[[int], None] | None


@dataclass(frozen=True, slots=True)
class _Options:
    """The same, with what holds unless it is given."""

    columns: Sequence[str] | None = None
    images: Images = "after"
    on_odd: OnOdd = "error"
    json: JsonForm = "text"
    beside: Sequence[str] | None = None
    names: Sequence[str] | None = None
    wanted: Selection = ALL
    keyring: Keyring | None = None
    summary: ReadSummary | None = None
    progress: Callable[[int], None] | None = None

    def check(self) -> None:
        """Raises ScenarioError for a word that an option does not have."""
        for name, word, words in (
            ("images", self.images, get_args(Images)),
            ("on_odd", self.on_odd, get_args(OnOdd)),
            ("json", self.json, get_args(JsonForm)),
        ):
            if word not in words:
                raise ScenarioError(
                    f"{name} cannot be {word!r}", expected=", ".join(words), suggestion=nearest(word, words)
                )

    def shown(self) -> tuple[str, ...]:
        """The columns beside rows.  Raises ScenarioError for a name that none has."""
        presence = ("_present_before", "_present_after") if self.images == "both" else ("_present",)
        shown = (*BESIDE, *presence)
        for name in self.beside or ():
            if name not in shown:
                raise ScenarioError(
                    f"there is no column {name!r} beside rows", expected=", ".join(shown),
                    suggestion=nearest(name, shown),
                )  # fmt: skip
        return shown if self.beside is None else tuple(name for name in shown if name in self.beside)

    def chosen(self) -> Chosen:
        columns, names = (None if words is None else tuple(words) for words in (self.columns, self.names))
        return Chosen(self.images, columns, names, self.json)


@overload
def read_rows(
    path: Paths, table: str, *, parts: Literal[False] = False, **options: Unpack[ReadOptions]
) -> pa.RecordBatchReader: ...


@overload
def read_rows(
    path: Paths, table: str | None = None, *, parts: bool = False, **options: Unpack[ReadOptions]
) -> Iterator[tuple[str, pa.RecordBatch]]: ...


def read_rows(
    path: Paths, table: str | None = None, *, parts: bool = False, **options: Unpack[ReadOptions]
) -> pa.RecordBatchReader | Iterator[tuple[str, pa.RecordBatch]]:
    """The changed rows of one binary log or several, as Arrow record batches (docs/rows-as-arrow.md).

    With ``table`` ("database.table") a reader of that table's rows, in the order of the log; without, pairs of table
    and batch, where the rows of one table keep their order, and the schema changes where the table's columns do.
    With ``table`` and ``parts`` such pairs of that table alone.
    ``columns`` are those that batches have.  ``images`` says which image a row shows: "after", "before", or "both" as
    two structs; a row that has one image shows that one.  ``beside`` names the columns that say where a row is from,
    all unless given.  ``names`` are for columns whose names the log does not have; such are ``@1``, ``@2`` otherwise.
    ``on_odd`` is what becomes of a cell that Arrow cannot say: an error, NULL, or text for the whole column.
    ``json`` is what documents are: "text" as the server prints it, or "binary" as it stores them.  ``wanted`` chooses
    events; the rows of others are not looked at.  ``keyring`` opens encrypted files.
    ``summary`` counts rows and such cells; ``progress`` is told the bytes read.  What a gzip or zstd file holds is read
    as it is unpacked.

    Raises ScenarioError for a table or column that is not there, and where the table's columns change; FormatError for
    bytes that break a rule of the format, after the rows before them; UnsupportedError for types that are not known;
    OSError.
    """
    asked = _Options(**options)
    asked.check()
    shown = asked.shown()

    def taker(defined: Table, file: str) -> Taker:
        batches = Batches(defined, asked.on_odd, shown, file)
        return batches if asked.wanted.is_all else ChosenEvents(batches, asked.wanted)

    reader = RowReader(
        paths_of(path), table=table, chosen=asked.chosen(), taker=taker, parts=parts, keyring=asked.keyring,
        summary=asked.summary, progress=asked.progress,
    )  # fmt: skip
    return reader.batches() if table is None or parts else _of_one_table(reader, table)


def _of_one_table(reader: RowReader, table: str) -> pa.RecordBatchReader:
    batches = (batch for _, batch in reader.batches())
    first = next(batches, None)
    schema = reader.schema_of(table)
    if schema is None:
        raise ScenarioError(
            f"no table {table!r} is in the log",
            expected=", ".join(sorted(reader.seen)) or "a log with tables",
            suggestion=nearest(table, reader.seen),
        )
    return pa.RecordBatchReader.from_batches(schema, chain(() if first is None else (first,), batches))
