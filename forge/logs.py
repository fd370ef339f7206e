"""``forge.build`` and ``forge.read``: a log with what a correct reader gets of it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO, Literal

from forge.binlog.difference import Difference, differences
from forge.binlog.index import index_text
from forge.binlog.logged import logged_events
from forge.binlog.window import MOST_OF_A_STREAM, whole
from forge.binlog.wrapped import unwrapped
from forge.decode.cells import Cell, Kind, RowChange
from forge.decode.decode import canonical_events, events_without_rows
from forge.decode.table_maps import TableMaps
from forge.drafts import drafts
from forge.errors import ForgeError, FormatError, ScenarioError, UnsupportedError
from forge.plan.plan import Plan
from forge.plan.transactions import Transaction
from forge.scenario.model import Scenario
from forge.values.base import Column
from forge.values.registry import codec_for

#: How bytes are read: an error ends the reading, is kept beside what came before it, or rows are not read at all.
Mode = Literal["strict", "lenient", "raw"]
_MODES = ("strict", "lenient", "raw")
#: A mapping of YAML in one line.
_ONE_LINE = re.compile(r"^\s*\{|^[^/]*:(\s|$)")
#: A path, bytes, or a stream.
Source = str | PathLike[str] | bytes | BinaryIO


@dataclass(frozen=True, slots=True)
class Row:
    """A changed row: ``before`` and ``after`` map columns to values, an insert lacks ``before``, a delete ``after``.

    A column has its name where the log, or the scenario that it was built from, tells it, and is ``@1``, ``@2``...
    otherwise; a column that the image leaves out is not there.  Values are None for NULL, and what
    :func:`forge.values.decode` gives; an ENUM or SET whose members are known is text, the diffs of a partial update of
    JSON are a list.  What only the table's definition tells (members, character sets, UNSIGNED before MySQL 8.0) is
    that of the scenario, if there is one.
    """

    kind: Kind
    database: str
    table: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    #: Name of the file, number and offset of the event in it, and the number of the row in the event, from 1.
    file: str = field(compare=False)
    event: int = field(compare=False)
    offset: int = field(compare=False)
    row: int = field(compare=False)


@dataclass(frozen=True)
class LogFile:
    """One file: its name and bytes, and what a correct reader gets of them.

    ``problem`` is what ends the reading, if anything does; ``events`` and ``rows`` are what comes before it.
    """

    name: str
    data: bytes
    mode: Mode = "strict"
    #: The columns of tables, of which the log of a scenario does not tell all.
    declared: Mapping[str, Sequence[Column]] = field(default_factory=dict, repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<LogFile {self.name!r}: {len(self.data):,} bytes>"

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events, each as ``forge dump --json`` shows it (docs/canonical-decode.md)."""
        return self._read[0]

    @property
    def rows(self) -> list[Row]:
        """The changed rows of all tables, in the order of the file.  A ``raw`` log has none."""
        return self._read[1]

    @property
    def problem(self) -> FormatError | UnsupportedError | None:
        """What is wrong with the bytes; a ``strict`` log has nothing wrong, since reading it raised that."""
        return self._read[2]

    @cached_property
    def _read(self) -> tuple[list[dict[str, Any]], list[Row], FormatError | UnsupportedError | None]:
        events: list[dict[str, Any]] = []
        rows: list[Row] = []
        problem: FormatError | UnsupportedError | None = None
        try:
            if self.mode == "raw":
                events += events_without_rows(self.data)
            else:
                events += canonical_events(self.data)
        except (FormatError, UnsupportedError) as error:
            problem = error
        if self.mode != "raw":
            try:
                rows += self._rows()
            except (FormatError, UnsupportedError) as error:
                problem = problem or error
        return events, rows, problem

    def _rows(self) -> Iterator[Row]:
        tables = TableMaps()
        for logged in logged_events(self.data):
            tables.note(logged)
            for change in tables.changes(logged):
                yield self._row(change)

    def _row(self, change: RowChange) -> Row:
        logged = change.mapped.columns or ()
        declared = self.declared.get(f"{change.database}.{change.table}", ())
        same = [(column.type_code, column.metadata) for column in declared]
        columns = declared if same == [(column.type_code, column.metadata) for column in logged] else logged
        return Row(
            change.kind, change.database, change.table, _image(change.before, columns), _image(change.after, columns),
            self.name, change.event_index, change.offset, change.row,
        )  # fmt: skip


@dataclass(frozen=True)
class Log:
    """One log or more, a file each.

    ``tables`` are the rows that every table holds at the end, of a log that was built; values are as in :class:`Row`.
    """

    files: tuple[LogFile, ...]
    tables: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    #: The server line that it was built for.
    server: str | None = None

    def __repr__(self) -> str:
        """Where the log is from and how large it is: its bytes are in ``.data``."""
        server = "" if self.server is None else f" of {self.server}"
        files = repr(self.files[0].name) if len(self.files) == 1 else f"{len(self.files)} files"
        return f"<Log{server}: {files}, {sum(len(file.data) for file in self.files):,} bytes>"

    @property
    def data(self) -> bytes:
        """The bytes of the only file.  Raises ScenarioError if there are several."""
        if len(self.files) != 1:
            raise ScenarioError(f"the log has {len(self.files)} files", expected="one; .files has them all")
        return self.files[0].data

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events of all files."""
        return [event for file in self.files for event in file.events]

    @property
    def rows(self) -> list[Row]:
        """The changed rows of all files."""
        return [row for file in self.files for row in file.rows]

    @property
    def problem(self) -> FormatError | UnsupportedError | None:
        """What is wrong with the first file that has something wrong."""
        return next((file.problem for file in self.files if file.problem is not None), None)

    def write(self, path: str | PathLike[str]) -> list[Path]:
        """Write the files, and an index file if there are several; the paths of the files.

        ``path`` names the only file, or a folder (an existing one, or with a slash at its end) in which each file
        has its own name.  All files appear, or none.  Raises OSError; ScenarioError for several files and one name.
        """
        place = Path(path)
        if place.is_dir() or fspath(path).endswith("/"):
            place.mkdir(exist_ok=True)
            paths = [place / file.name for file in self.files]
        elif len(self.files) == 1:
            paths = [place]
        else:
            raise ScenarioError(f"the log has {len(self.files)} files", expected="a folder, with a slash at its end")
        contents = [(path, file.data) for path, file in zip(paths, self.files, strict=True)]
        if len(paths) > 1:
            contents.append((paths[0].with_suffix(".index"), index_text([file.name for file in self.files])))
        with drafts() as made:
            for target, data in contents:
                with open(made.open(target), "wb") as file:  # noqa: PTH123 - a descriptor, not a path
                    file.write(data)
        return paths


def build(
    scenario: str | PathLike[str] | Mapping[str, Any] | Scenario,
    *,
    server: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Log:
    """The log that a server would have written of a scenario.

    ``scenario``: the path of a file, its text (:func:`is_text`), a mapping with the same keys, or a
    :class:`forge.Scenario`.  ``server`` replaces its server line, ``settings`` are parameters of a template and fields
    to replace, as ``--set`` of ``forge build``.  A matrix is not expanded: :func:`forge.scenario.expand` does that.
    Raises ScenarioError with file and line.
    """
    from forge.compile import compile_files, file_names, write_files
    from forge.scenario.planning import plan

    chosen = dict(settings or {}) | ({} if server is None else {"server": server})
    planned = plan(_scenario(scenario, chosen))
    datas = write_files(planned, compile_files(planned))
    columns = _declared_columns(planned)
    # A torn file, or one that is wrong on purpose, is as it should be: what is wrong with it is its ``problem``.
    files = tuple(
        LogFile(name, data, "lenient", columns)
        for name, data in zip(file_names(planned, len(datas)), datas, strict=True)
    )
    return Log(files, _tables(planned), planned.server)


def is_text(scenario: object, folder: Path = Path()) -> bool:
    """Whether a scenario is given by its text, and not by a path (from ``folder``).

    A text has several lines, or one with a mapping in it (``{tables: [...]}``, ``scenario: one``) or a statement of SQL
    that names no file.
    """
    from forge.scenario.script import is_script

    if not isinstance(scenario, str):
        return False
    if "\n" in scenario:
        return True
    is_sql = " " in scenario and is_script(scenario, None)
    return (is_sql or bool(_ONE_LINE.search(scenario))) and not _is_file(folder / scenario)


def read(source: Source, mode: Mode = "strict") -> Log:
    """The log in a file, in bytes, or in a stream that is read to its end.

    ``strict`` raises the FormatError (file, event, offset) of bytes that break a rule of the format, UnsupportedError
    for rows that cannot be read; ``lenient`` keeps it as ``problem`` beside what comes before; ``raw`` reads events
    without their rows.  The log is in memory; :func:`forge.read_events` and :func:`forge.read_rows` read any size.
    A gzip or zstd file is read as the log inside, of at most 64 MiB.  Raises OSError.
    """
    if mode not in _MODES:
        raise ScenarioError(f"mode is {mode!r}", expected=f"one of {', '.join(_MODES)}")
    if isinstance(source, (bytes, bytearray, memoryview)):
        name, data = "bytes", bytes(source)
    elif isinstance(source, (str, PathLike)):
        name = fspath(source)
        with Path(source).open("rb") as opened:
            data = whole(opened, name)
    else:
        name, data = str(getattr(source, "name", "stream")), source.read()
    try:
        data = whole(unwrapped(io.BytesIO(data)), name, max(MOST_OF_A_STREAM, len(data)))
    except FormatError as error:
        raise error.in_file(name) from None
    file = LogFile(name, data, mode)
    if mode == "strict" and file.problem is not None:
        raise file.problem.in_file(name) if isinstance(file.problem, FormatError) else file.problem
    return Log((file,))


def diff(left: Log | Source, right: Log | Source) -> list[Difference]:
    """All differences in meaning between two logs: event, field, row or cell, both values, offset.

    Fields that follow from others (sizes, positions, checksums) count only where a log's own bytes contradict them; an
    empty list means that the bytes are equal, or differ in those alone.  Files of several are compared in their order.
    Raises OSError; ScenarioError for logs of different numbers of files.
    """
    ours, theirs = (log if isinstance(log, Log) else read(log, "raw") for log in (left, right))
    if len(ours.files) != len(theirs.files):
        raise ScenarioError(
            f"one log has {len(ours.files)} files, the other {len(theirs.files)}", expected="as many of both"
        )
    several = len(ours.files) > 1
    return [
        replace(found, file=mine.name if several else None)
        for mine, other in zip(ours.files, theirs.files, strict=True)
        for found in differences(mine.data, other.data)
    ]


def _scenario(scenario: str | PathLike[str] | Mapping[str, Any] | Scenario, settings: dict[str, Any]) -> Scenario:
    from forge.scenario.load import load_scenario
    from forge.scenario.matrix import base_scenario

    if isinstance(scenario, Scenario):
        import msgspec

        unknown = settings.keys() - {"server"}
        if unknown:
            raise ScenarioError(f"settings has {min(unknown)}", expected="a scenario as file, text or mapping")
        return msgspec.structs.replace(scenario, **settings)
    if isinstance(scenario, Mapping):
        from forge.scenario.template_process import yaml_text

        return base_scenario(yaml_text({"scenario": "unnamed"} | dict(scenario)), file="mapping", settings=settings)
    if isinstance(scenario, str) and is_text(scenario):
        return base_scenario(scenario, file="scenario", settings=settings)
    return load_scenario(Path(scenario), settings)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # A text may be longer than a path can be, or have a NUL.
        return False


def _declared_columns(plan: Plan) -> dict[str, Sequence[Column]]:
    """The columns of each table with their names, unless its definitions differ."""
    from forge.compile.rows.table_map import wire_columns
    from forge.servers import server_line

    tables = [*plan.tables.values()]
    for group in plan.groups:
        if isinstance(group, Transaction):
            tables += [statement.table for step in group.rows_statements for statement, _ in step.logged()]
    found: dict[str, set[tuple[Column, ...]]] = {}
    line = server_line(plan.server)
    for table in dict.fromkeys(tables):
        columns = wire_columns(table, plan.session, line)
        named = (replace(column, name=own.name) for column, own in zip(columns, table.columns, strict=True))
        found.setdefault(table.full_name, set()).add(tuple(named))
    return {name: columns.pop() for name, columns in found.items() if len(columns) == 1}


def _tables(plan: Plan) -> dict[str, list[dict[str, Any]]]:
    from forge.compile.rows.table_map import wire_columns
    from forge.servers import server_line

    line = server_line(plan.server)
    tables = {}
    for name, rows in plan.contents.items():
        table = plan.tables[name]
        columns = wire_columns(table, plan.session, line)
        tables[name] = [
            {
                declared.name: None if value is None else _python_value(column, value)
                for declared, column, value in zip(table.columns, columns, row, strict=True)
            }
            for row in rows
        ]
    return tables


def _image(cells: tuple[Cell, ...] | None, columns: Sequence[Column]) -> Mapping[str, Any] | None:
    if cells is None:
        return None
    return {
        columns[cell.number - 1].name or f"@{cell.number}": _value(cell, columns[cell.number - 1]) for cell in cells
    }


def _value(cell: Cell, column: Column) -> Any:
    if cell.raw is None:
        return None
    if cell.partial:
        return cell.plain().get("diffs")
    try:
        return _python_value(column, codec_for(column).decode(column, cell.raw))
    except ForgeError:
        return cell.raw  # The bytes are no value of their type, which every reader shows as it likes.


def _python_value(column: Column, value: Any) -> Any:
    codec = codec_for(column)
    return codec.python_value(column, value) if column.members is None else codec.text(column, value)
