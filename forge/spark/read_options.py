"""What a read of ``format("binlog")`` is told: its options, checked before any task starts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import pyarrow as pa

from forge.binlog.folder import log_files
from forge.bulk.reading.beside import BESIDE
from forge.bulk.reading.odd import OnOdd
from forge.bulk.reading.splits import TARGET
from forge.bulk.reading.tables import Images, JsonForm
from forge.errors import ScenarioError, nearest
from forge.spark.locations import local_path
from forge.spark.options import Options, json_texts

#: What a row of the frame is: a change of a row, or an event.
Rows = Literal["changes", "events"]
#: How images are shown where no table is chosen.
Values = Literal["json", "binary"]
#: What becomes of a file that ends inside an event or a transaction.
Tail = Literal["strict", "lenient"]
SchemaChange = Literal["error", "union"]

#: Columns of a row of ``rows=events``, with their Arrow types in Spark's form.
EVENT_COLUMNS: Final[dict[str, pa.DataType]] = {
    "_file": pa.string(),
    "_position": pa.int64(),
    "_event": pa.int64(),
    "_type_code": pa.int16(),
    "_type": pa.string(),
    "_timestamp": pa.timestamp("us", tz="UTC"),
    "_server_id": pa.int64(),
    "_size": pa.int64(),
    "_flags": pa.int32(),
    "body": pa.string(),
}
READ_OPTIONS = (
    "path", "paths", "table", "rows", "columns", "images", "on_odd", "json", "beside", "names", "values",
    "schema_change", "split_size", "tail", "pushdown",
)  # fmt: skip
_PRESENCE = ("_present", "_present_before", "_present_after")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options of one read.  ``columns``, ``names`` and ``beside`` are None unless given; ``paths`` as given."""

    paths: tuple[str, ...]
    rows: Rows
    table: str | None
    columns: tuple[str, ...] | None
    names: tuple[str, ...] | None
    beside: tuple[str, ...] | None
    images: Images
    on_odd: OnOdd
    json: JsonForm
    values: Values
    schema_change: SchemaChange
    split_size: int
    tail: Tail
    pushdown: bool

    def files(self) -> list[Path]:
        """The files in the order in which they are read.  Raises ScenarioError for a path without a log; OSError."""
        return [file for path in self.paths for file in _files_of(local_path(path))]

    @property
    def shown_beside(self) -> tuple[str, ...]:
        """The columns beside a change's own, in their order."""
        shown: tuple[str, ...] = tuple(BESIDE)
        if self.table is not None or self.values == "binary":  # A JSON text shows by itself what is there.
            shown += ("_present_before", "_present_after") if self.images == "both" else ("_present",)
        return shown if self.beside is None else tuple(name for name in shown if name in self.beside)

    @property
    def never_null(self) -> frozenset[str]:
        """The columns without a null: Spark does not look for one in each row."""
        if self.rows == "events":
            return frozenset(EVENT_COLUMNS)
        own = () if self.table is not None else ("_table",)
        return frozenset((*own, *(name for name in self.shown_beside if name in BESIDE and name != "_gtid")))


def read_options(given: Mapping[str, str], *, also: Iterable[str] = (), pushdown: bool = False) -> ReadOptions:
    """The options that ``spark.read`` or ``spark.readStream`` gives; ``also`` are those of streams.

    Raises ScenarioError for one that cannot be.
    """
    options = Options(given, (*READ_OPTIONS, *also), "a read")
    rows, table = options.word("rows", Rows), options.text("table")
    _check_fit(options, rows, table)
    columns, beside = options.names("columns"), options.names("beside")
    if rows == "events":
        _check_names(columns, EVENT_COLUMNS, "an event has no column {!r}")
    _check_names(beside, (*BESIDE, *_PRESENCE), "there is no column {!r} beside rows")
    return ReadOptions(
        paths=_paths(options),
        rows=rows,
        table=table,
        columns=columns,
        names=options.names("names"),
        beside=beside,
        images=options.word("images", Images, "both" if table is None else "after"),
        on_odd=options.word("on_odd", OnOdd, "text" if table is None else "error"),
        json=options.word("json", JsonForm),
        values=options.word("values", Values),
        schema_change=options.word("schema_change", SchemaChange),
        split_size=options.size("split_size") or TARGET,
        tail=options.word("tail", Tail),
        pushdown=options.flag("pushdown", default=pushdown),
    )


def _files_of(path: Path) -> list[Path]:
    files = log_files(path)
    if not files:
        raise ScenarioError(f"no log is in {path}", expected="files such as binlog.000001")
    return files


def _check_fit(options: Options, rows: Rows, table: str | None) -> None:
    """Options that only one kind of rows has."""
    of_tables = ("names", "images", "on_odd", "json", "schema_change")
    foreign: tuple[str, ...]
    if rows == "events":
        foreign, fitting = (*of_tables, "table", "values", "beside"), "rows=events"
    elif table is None:
        foreign, fitting = (*of_tables, "columns"), "a read without table"
    else:
        foreign, fitting = ("values",), "a read with table"
    for name in foreign:
        if options.text(name) is not None:
            raise ScenarioError(f"the option {name!r} has no meaning for {fitting}")


def _check_names(names: Iterable[str] | None, known: Collection[str], problem: str) -> None:
    for name in names or ():
        if name not in known:
            raise ScenarioError(problem.format(name), expected=", ".join(known), suggestion=nearest(name, known))


def _paths(options: Options) -> tuple[str, ...]:
    path = options.text("path")
    if path is not None:
        return (path,)
    paths = json_texts(options.text("paths") or "[]")
    if paths is None:
        raise ScenarioError("the option 'paths' is no list", expected='a JSON array: ["/a/binlog.000001", "/b"]')
    if not paths:
        raise ScenarioError("no path is given", expected='.load("/folder") or .option("path", "/folder")')
    return paths
