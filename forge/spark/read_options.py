"""What a read of ``format("binlog")`` is told: its options, checked before any task starts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast, get_args

import pyarrow as pa

from forge.binlog.folder import log_files
from forge.bulk.reading.beside import BESIDE
from forge.bulk.reading.odd import OnOdd
from forge.bulk.reading.splits import TARGET
from forge.bulk.reading.tables import Images, JsonForm
from forge.errors import ScenarioError, nearest
from forge.spark.locations import local_path

#: What a row of the frame is: a change of a row, or an event.
Rows = Literal["changes", "events"]
#: What the images of a change are where no table gives them columns.
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
_OWN = (
    "path", "paths", "table", "rows", "columns", "images", "on_odd", "json", "beside", "names", "values",
    "schema_change", "split_size", "tail", "pushdown",
)  # fmt: skip
_UNITS = {"k": 10, "m": 20, "g": 30}


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
    """The options that ``spark.read`` or ``spark.readStream`` gives; a stream knows ``also`` some of its own.

    Raises ScenarioError for one that cannot be.
    """
    options = {name.lower(): value for name, value in given.items()}
    known = (*_OWN, *also)
    for name in options:
        if name not in known:
            raise ScenarioError(
                f"unknown option {name!r} of a read", expected=", ".join(known), suggestion=nearest(name, known)
            )
    rows = cast(Rows, _word(options, "rows", get_args(Rows)))
    table = options.get("table")
    _check_fit(options, rows, table)
    return ReadOptions(
        paths=_paths(options),
        rows=rows,
        table=table,
        columns=_columns(options, rows),
        names=_names(options, "names"),
        beside=_beside(options),
        images=cast(Images, _word(options, "images", get_args(Images), "both" if table is None else "after")),
        on_odd=cast(OnOdd, _word(options, "on_odd", get_args(OnOdd), "text" if table is None else "error")),
        json=cast(JsonForm, _word(options, "json", get_args(JsonForm))),
        values=cast(Values, _word(options, "values", get_args(Values))),
        schema_change=cast(SchemaChange, _word(options, "schema_change", get_args(SchemaChange))),
        split_size=bytes_of(options, "split_size") or TARGET,
        tail=cast(Tail, _word(options, "tail", get_args(Tail))),
        pushdown=_word(options, "pushdown", ("true", "false"), str(pushdown).lower()) == "true",
    )


def _files_of(path: Path) -> list[Path]:
    files = log_files(path)
    if not files:
        raise ScenarioError(f"no log is in {path}", expected="files such as binlog.000001")
    return files


def _check_fit(options: Mapping[str, str], rows: Rows, table: str | None) -> None:
    """Options that only one kind of rows has."""
    of_tables = ("columns", "names", "images", "on_odd", "json", "schema_change")
    if rows == "events":
        foreign, fitting = [*of_tables, "table", "values", "beside"], "rows=events"
        foreign.remove("columns")
    elif table is None:
        foreign, fitting = list(of_tables), "a read without table"
    else:
        foreign, fitting = ["values"], "a read with table"
    for name in foreign:
        if name in options:
            raise ScenarioError(f"the option {name!r} has no meaning for {fitting}")


def _paths(options: Mapping[str, str]) -> tuple[str, ...]:
    if "path" in options:
        return (options["path"],)
    try:
        paths = json.loads(options.get("paths", "[]"))
    except ValueError:
        paths = None
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise ScenarioError("the option 'paths' is no list", expected='a JSON array: ["/a/binlog.000001", "/b"]')
    if not paths:
        raise ScenarioError("no path is given", expected='.load("/folder") or .option("path", "/folder")')
    return tuple(paths)


def _word(options: Mapping[str, str], name: str, words: tuple[str, ...], default: str | None = None) -> str:
    """One of ``words``, in any case; the first one unless given."""
    word = options.get(name, default or words[0]).lower()
    if word not in words:
        raise ScenarioError(
            f"option {name}: {options[name]!r}", expected=", ".join(words), suggestion=nearest(word, words)
        )
    return word


def _names(options: Mapping[str, str], name: str) -> tuple[str, ...] | None:
    """Names between commas, or a JSON array of them."""
    text = options.get(name)
    if text is None:
        return None
    if text.lstrip().startswith("["):
        try:
            names = json.loads(text)
        except ValueError:
            names = None
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            raise ScenarioError(
                f"option {name}: {text!r}", expected='names between commas, or a JSON array: ["a", "b"]'
            )
        return tuple(names)
    return tuple(stripped for one in text.split(",") if (stripped := one.strip()))


def _columns(options: Mapping[str, str], rows: Rows) -> tuple[str, ...] | None:
    names = _names(options, "columns")
    for name in names or () if rows == "events" else ():
        if name not in EVENT_COLUMNS:
            raise ScenarioError(
                f"an event has no column {name!r}", expected=", ".join(EVENT_COLUMNS),
                suggestion=nearest(name, EVENT_COLUMNS),
            )  # fmt: skip
    return names


def _beside(options: Mapping[str, str]) -> tuple[str, ...] | None:
    names = _names(options, "beside")
    shown = (*BESIDE, "_present", "_present_before", "_present_after")
    for name in names or ():
        if name not in shown:
            raise ScenarioError(
                f"there is no column {name!r} beside rows", expected=", ".join(shown), suggestion=nearest(name, shown)
            )
    return names


def bytes_of(options: Mapping[str, str], name: str) -> int | None:
    """A number of bytes from 1 on, None unless given; k, m and g are KiB, MiB and GiB, as Spark has them."""
    if name not in options:
        return None
    text = options[name].strip().lower().removesuffix("b").removesuffix("i")
    unit = _UNITS.get(text[-1:], 0)
    digits = text[:-1] if unit else text
    if not _is_count(digits):
        raise ScenarioError(f"option {name}: {options[name]!r}", expected="bytes from 1 on, such as 67108864 or 64m")
    return int(digits) << unit


def count_of(options: Mapping[str, str], name: str) -> int | None:
    """A number from 1 on, None unless given."""
    if name not in options:
        return None
    if not _is_count(options[name].strip()):
        raise ScenarioError(f"option {name}: {options[name]!r}", expected="a number from 1 on")
    return int(options[name])


def _is_count(digits: str) -> bool:
    return digits.isascii() and digits.isdecimal() and int(digits) > 0
