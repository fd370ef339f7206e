"""What the tables of a recording hold at the end: as the server's SELECT tells it, and as the decoded file tells it.

The server is asked in forms that lose nothing: text as the hex of its UTF-8, bytes as hex, BIT as a number, FLOAT as
the DOUBLE that it is (SELECT prints six digits).  The decoded rows are replayed: an insert adds a row, a delete takes
away its before image, an update replaces one by the other.  Where the file alone does not tell what a value is
(``binlog_row_metadata`` below FULL; MariaDB's UUID and INET types), the declaration does.

A table that a statement changes after its creation in another way than row by row (TRUNCATE, RENAME, ALTER, DROP and
CREATE again), or whose rows the file does not tell in full, is compared with what the scenario says that it holds; so
is every other table, besides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal, NamedTuple

import msgspec

from forge.binlog.logged import logged_events
from forge.check.cells import Cell, RowChange
from forge.check.table_maps import TableMaps
from forge.compile.plan import Plan
from forge.compile.statements import DdlStatement, RowsStatement
from forge.compile.status import quoted
from forge.compile.table_map import wire_columns
from forge.compile.tables import ForeignKey, Table, TableColumn
from forge.compile.transactions import RollbackTo, Transaction
from forge.errors import ForgeError, FormatError
from forge.record.logged_contents import contents_logged
from forge.servers import server_line
from forge.values.base import Column
from forge.values.column_charset import BINARY_COLLATION
from forge.values.floats import to_float32
from forge.values.mariadb_types import NETWORK_SIZES, network_text

Form = Literal["text", "hex", "float"]
#: Hex in a column of the form ``hex``, else text; None is NULL.
Shown = str | None

_TEXTS = frozenset(("CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM", "SET"))
_BYTES = frozenset(("BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "VECTOR"))
_GEOMETRIES = frozenset(
    ("GEOMETRY", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON",
     "GEOMETRYCOLLECTION")
)  # fmt: skip
#: Stands in a replayed row for a cell that no image ever told.
UNTOLD = "\N{REPLACEMENT CHARACTER} untold"
_SEPARATOR = "next table"
#: Statements after which a table's rows are what they were.
_HARMLESS = frozenset(("create_database", "alter_database", "create_index", "drop_index"))


class TableContents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rows of one table, in the order of its primary key if it has one; ``forms`` has one entry a column."""

    columns: list[str]
    forms: list[Form]
    rows: list[list[str | None]]


Contents = dict[str, TableContents]


@dataclass(frozen=True, slots=True)
class ContentsDifference:
    """The first row that the server and the decoded file do not have in common; it counts from 1, a column by name.

    ``column`` is "" if one of them has no such row at all.
    """

    table: str
    row: int
    column: str
    selected: str
    decoded: str

    def __str__(self) -> str:
        column = f", column {self.column}" if self.column else ""
        return f"table {self.table}, row {self.row}{column}: SELECT gives {self.selected}, the decode {self.decoded}"


def questions(plan: Plan) -> str:
    """SELECT statements for the rows of every table that the plan leaves, to be run in a session of their own."""
    asked = ["SET NAMES utf8mb4;", "SET SESSION time_zone = '+00:00';"]
    for table in _asked_tables(plan):
        asked.append(f"SELECT '{_SEPARATOR}';")
        asked.append(_select(table))
    return "\n".join(asked) + "\n"


def _asked_tables(plan: Plan) -> list[Table]:
    """To open a MEMORY table for the first time after a start of the server would be logged."""
    return [table for name, table in plan.tables.items() if name not in plan.unopened]


def answered(plan: Plan, answers: str) -> Contents:
    """The contents out of what the client printed for :func:`questions`.  Raises FormatError if it does not fit."""
    parts = _parts(answers.split("\n")[:-1])
    tables = _asked_tables(plan)
    if len(parts) != len(tables):
        raise FormatError(f"{len(tables)} tables were asked for, {len(parts)} answered", phase="value")
    contents: Contents = {}
    for table, lines in zip(tables, parts, strict=True):
        asked = [_question(column) for column in table.columns]
        rows = []
        for line in lines:
            fields = line.split("\t")
            if len(fields) != len(asked):
                raise FormatError(f"a row of {table.full_name} has {len(fields)} columns", phase="value")
            rows.append([_parsed(field, question) for field, question in zip(fields, asked, strict=True)])
        contents[table.full_name] = TableContents(
            [column.name for column in table.columns], [question.form for question in asked], rows
        )
    return contents


def contents_of_decode(files: Sequence[bytes], declared: Mapping[str, Sequence[Column]] | None = None) -> Contents:
    """The rows that every table holds at the end of a session's files, if it had none before, by replaying their row
    changes.

    ``declared`` are columns, by full name of their table, that add what the file does not tell; only those tables are
    replayed then.  Cells that no image told are ``UNTOLD``.  Raises FormatError as the canonical decode does, and for
    a row that is changed but not there: data definition statements are not replayed.
    """
    wires = declared or {}
    tables: dict[str, _Replay] = {}
    # A relay log may be rotated between a TABLE_MAP and its rows.
    maps = TableMaps()
    for change in (change for data in files for change in _changes(data, wires, maps)):
        name = f"{change.database}.{change.table}"
        if declared is not None and name not in declared:
            continue
        if name not in tables:
            assert change.mapped.columns is not None
            tables[name] = _Replay(name, change.mapped.columns)
        tables[name].apply(change)
    contents = {name: table.contents() for name, table in tables.items()}
    for name, wire in wires.items():
        contents.setdefault(name, TableContents([column.name or "" for column in wire], [_form(c) for c in wire], []))
    return contents


def comparable_tables(plan: Plan) -> dict[str, Table]:
    """The tables at the end whose rows are those of their row events: created once, not changed by DDL since, nor by
    transactions that were rolled back or prepared, nor by foreign keys whose changes the server does not log, nor by
    a REPLACE whose images leave out what became the default.
    """
    line = server_line(plan.server)
    silent = line.cascades == "silent"
    told = line.duplicate_images_whole or plan.session.row_image == "full"
    times: Counter[str] = Counter()
    for group in plan.groups:
        if isinstance(group, DdlStatement) and group.kind not in _HARMLESS and not group.no_effect:
            times.update({table.full_name for table in group.tables})
            times.update({f"{database}.{name}" for database, name in group.dropped})
        elif isinstance(group, Transaction) and _takes_back(group):
            # What is taken back later may be in the log all the same.
            times.update({part.table.full_name for step in group.rows_statements for part in step.parts()})
        elif isinstance(group, Transaction) and not told:
            times.update({step.table.full_name for step in group.rows_statements if _is_updating_replace(step)})
    if silent:
        children = (table for table in plan.tables.values() if any(map(_cascades, table.foreign_keys)))
        times.update({table.full_name for table in children})
    return {name: table for name, table in plan.tables.items() if times[name] == 1 and name not in plan.unopened}


def _is_updating_replace(step: RowsStatement) -> bool:
    return step.kind == "insert" and step.updates is None and any(change.kind == "update" for change in step.changes)


def _cascades(foreign: ForeignKey) -> bool:
    return (foreign.on_delete, foreign.on_update) != ("restrict", "restrict")


def _takes_back(transaction: Transaction) -> bool:
    """Whether changes of the transaction are taken back, or may be later."""
    return transaction.end != "commit" or any(isinstance(step, RollbackTo) for step in transaction.statements)


def first_contents_difference(plan: Plan, selected: Contents, files: Sequence[bytes]) -> ContentsDifference | None:
    """Where the rows that SELECT gave and those of the decoded file differ, text for text; None if nowhere.

    Tables that the file does not tell in full, and all of a file in statement format, are compared with those of the
    plan alone.
    """
    in_rows = not any(isinstance(group, Transaction) and group.has_text for group in plan.groups)
    told = comparable_tables(plan) if in_rows else {}
    decoded = contents_of_decode(files, _declared(plan, told)) if told else {}
    if server_line(plan.server).generated_images == "inserted":
        for name, table in told.items():
            _forget_generated(decoded[name], table)
    found = _first_difference(selected, {name: decoded[name] for name in told})
    if found is not None:
        return found
    planned = {table.full_name: table for table in _asked_tables(plan) if table.full_name in plan.contents}
    return _first_difference(selected, contents_of_decode([contents_logged(plan)], _declared(plan, planned)))


def _declared(plan: Plan, tables: Mapping[str, Table]) -> dict[str, Sequence[Column]]:
    line = server_line(plan.server)
    return {name: wire_columns(table, plan.session, line) for name, table in tables.items()}


def _first_difference(selected: Contents, decoded: Contents) -> ContentsDifference | None:
    for name, contents in decoded.items():
        if name not in selected:
            return ContentsDifference(name, 1, "", "no such table", "the table")
        found = _table_difference(name, selected[name], contents)
        if found is not None:
            return found
    return None


def _forget_generated(contents: TableContents, table: Table) -> None:
    """UPDATE changes generated columns without telling (MariaDB 11.8)."""
    for row in contents.rows:
        for index, column in enumerate(table.columns):
            if column.generated is not None:
                row[index] = UNTOLD


def _select(table: Table) -> str:
    asked = ", ".join(_question(column).sql for column in table.columns)
    order = ""
    if table.primary_key is not None:
        order = " ORDER BY " + ", ".join(quoted(table.columns[part.column].name) for part in table.primary_key.parts)
    return f"SELECT {asked} FROM {quoted(table.database)}.{quoted(table.name)}{order};"


class _Question(NamedTuple):
    """The expression for a column, the form of its value, and whether the answer is the hex of UTF-8."""

    sql: str
    form: Form
    is_hex_of_text: bool = False


def _question(column: TableColumn) -> _Question:
    name, kind = quoted(column.name), column.type.name
    if kind in _TEXTS and column.type.collation != BINARY_COLLATION:
        return _Question(f"HEX(CONVERT({name} USING utf8mb4))", "text", True)
    if kind in ("ENUM", "SET"):
        return _Question(f"HEX({name})", "text", True)
    if kind in _TEXTS or kind in _BYTES or kind in _GEOMETRIES:
        return _Question(f"HEX({name})", "hex")
    if kind == "JSON":
        return _Question(f"HEX(CONVERT(CAST({name} AS CHAR) USING utf8mb4))", "text", True)
    if kind == "BIT":
        return _Question(f"CAST({name} AS UNSIGNED)", "text")
    if kind == "FLOAT":
        return _Question(f"CAST({name} AS DOUBLE)", "float")
    if kind == "DOUBLE" and (column.type.scale is not None or column.type.zerofill):
        return _Question(f"CAST({name} AS DOUBLE)", "text")
    if column.type.zerofill:
        return _Question(f"{name} + 0", "text")
    return _Question(name, "text")


def _parts(lines: Sequence[str]) -> list[list[str]]:
    """The lines behind each separator."""
    parts: list[list[str]] = []
    for is_separator, group in groupby(lines, lambda line: line == _SEPARATOR):
        if is_separator:
            parts.extend([] for _ in group)
        elif parts:
            parts[-1].extend(group)
    return parts


def _parsed(field: str, question: _Question) -> Shown:
    if field == "NULL":
        return None
    if question.is_hex_of_text:
        return bytes.fromhex(field).decode("utf-8")
    return field.lower() if question.form == "hex" else field


def _changes(data: bytes, declared: Mapping[str, Sequence[Column]], maps: TableMaps) -> Iterator[RowChange]:
    """The rows of the canonical decode, with what the declared columns add to those of the file."""
    for logged in logged_events(data):
        mapped = maps.note(logged)
        if mapped is not None and mapped.columns is not None and mapped.full_name in declared:
            completed = _completed(mapped.columns, declared[mapped.full_name])
            maps.by_id[mapped.body.table_id] = replace(mapped, columns=completed)
        yield from maps.changes(logged)


def _completed(told: Sequence[Column], declared: Sequence[Column]) -> tuple[Column, ...]:
    """The columns of a table map; what it does not tell of them comes from the declaration, if that fits."""
    if [(c.type_code, c.metadata) for c in told] != [(c.type_code, c.metadata) for c in declared]:
        return tuple(told)
    names = ("name", "unsigned", "collation", "members", "geometry_type", "dimensions")
    completed = []
    for column, other in zip(told, declared, strict=True):
        missing = {name: getattr(other, name) for name in names if getattr(column, name) is None}
        completed.append(replace(column, declared=other.declared, **missing))
    return tuple(completed)


Raws = tuple[Any, ...]


class _Replay:
    """The rows of one table while its changes are applied; a row is the bytes of its cells."""

    def __init__(self, name: str, columns: Sequence[Column]) -> None:
        self.name = name
        self.columns = columns
        #: Rows and how many of each there are, in the order of their first appearance.
        self.rows: dict[Raws, int] = {}

    def apply(self, change: RowChange) -> None:
        assert change.mapped.columns is not None
        if len(change.mapped.columns) != len(self.columns):
            raise FormatError(
                f"{self.name} has another number of columns than before",
                phase="row", event_index=change.event_index, offset=change.offset,
            )  # fmt: skip
        row: Raws = (UNTOLD,) * len(self.columns)
        if change.before is not None:
            row = self._taken(change.before, change)
        if change.after is not None:
            cells = list(row)
            for cell in change.after:
                # The diffs of a partial update are not applied here.
                cells[cell.number - 1] = UNTOLD if cell.partial else cell.raw
            self.rows[tuple(cells)] = self.rows.get(tuple(cells), 0) + 1

    def _taken(self, before: Iterable[Cell], change: RowChange) -> Raws:
        """The row that an image stands for, taken out of the table."""
        wanted = {cell.number - 1: cell.raw for cell in before}
        whole = tuple(wanted.get(index, UNTOLD) for index in range(len(self.columns)))
        found: Raws | None = whole if whole in self.rows else None
        if found is None:
            fitting = [row for row in self.rows if all(row[at] in (raw, UNTOLD) for at, raw in wanted.items())]
            # A key that no image told fits everywhere, so a row that has it is the better one.
            found = min(fitting, key=lambda row: sum(row[at] is UNTOLD for at in wanted), default=None)
        if found is None:
            raise FormatError(
                f"row {change.row} of the event changes a row that {self.name} does not have",
                phase="row", event_index=change.event_index, offset=change.offset,
            )  # fmt: skip
        self.rows[found] -= 1
        if not self.rows[found]:
            del self.rows[found]
        return tuple(wanted.get(at, cell) for at, cell in enumerate(found))

    def contents(self) -> TableContents:
        forms = [_form(column) for column in self.columns]
        rows = [
            [_shown(column, raw) for column, raw in zip(self.columns, row, strict=True)]
            for row, count in self.rows.items()
            for _ in range(count)
        ]
        return TableContents([column.name or "" for column in self.columns], forms, rows)


def _form(column: Column) -> Form:
    """Only for columns whose type is not declared; a comparison goes by the form that the server was asked for."""
    if column.type_code == 4:
        return "float"
    return "hex" if column.type_code in (242, 255) or column.collation == BINARY_COLLATION else "text"


def _shown(column: Column, raw: Any) -> Shown:
    """The text of a cell as the canonical decode gives it; hex of its bytes where it has none, and of GEOMETRY."""
    if raw is None or raw == UNTOLD:
        return None if raw is None else UNTOLD
    cell = Cell(1, column, raw)
    try:
        value = cell.value()
        declared = column.declared.name if column.declared is not None else ""
        if declared in NETWORK_SIZES:
            return network_text(declared, value)
        if column.type_code in (242, 255) or (declared == "VECTOR" and isinstance(value, bytes)):
            return bytes(value).hex()
        text = cell.text()
        if declared == "YEAR" and column.declared is not None and column.declared.length == 2:
            text = str(text)[-2:]
    except ForgeError as error:
        return f"{raw.hex()} ({error})"
    return text.hex() if isinstance(text, bytes) else text


Rows = list[tuple[Shown, ...]]


def _table_difference(name: str, selected: TableContents, decoded: TableContents) -> ContentsDifference | None:
    """Rows in common are passed over; the first that is left is laid beside the most similar one of the other side."""
    ours, theirs = _comparable(selected.rows, selected.forms), _comparable(decoded.rows, selected.forms)
    left = [row for _, row in _left_over(theirs, ours)]
    for number, row in _left_over(ours, theirs):
        if not left:
            return ContentsDifference(name, number, "", f"the row {_brief(row)}", "no such row")
        other = max(left, key=lambda candidate: sum(map(_equal, row, candidate)))
        left.remove(other)
        for column, one, two in zip(selected.columns, row, other, strict=True):
            if not _equal(one, two):
                return ContentsDifference(name, number, column, _quoted(one), _quoted(two))
    if left:
        return ContentsDifference(name, len(ours) + 1, "", "no such row", f"the row {_brief(left[0])}")
    return None


def _comparable(rows: Iterable[Sequence[Shown]], forms: Sequence[Form]) -> Rows:
    """The rows with every FLOAT as the 32-bit number that it is."""
    return [
        tuple(_as_float32(cell) if form == "float" else cell for cell, form in zip(row, forms, strict=True))
        for row in rows
    ]


def _as_float32(cell: Shown) -> Shown:
    return cell if cell is None or cell == UNTOLD else repr(to_float32(float(cell)))


def _left_over(rows: Rows, others: Rows) -> list[tuple[int, tuple[Shown, ...]]]:
    """(number from 1, row) of the rows that the others do not have as often."""
    there = Counter(others)
    left = []
    for number, row in enumerate(rows, start=1):
        if there[row]:
            there[row] -= 1
        else:
            left.append((number, row))
    return left


def _equal(one: Shown, other: Shown) -> bool:
    return one == other or UNTOLD in (one, other)


_LONGEST = 120


def _quoted(cell: Shown) -> str:
    if cell is None:
        return "NULL"
    return repr(cell) if len(cell) <= _LONGEST else f"{cell[:_LONGEST]!r}... ({len(cell)} characters)"


def _brief(row: Sequence[Shown]) -> str:
    text = ", ".join(map(_quoted, row))
    return text if len(text) <= 2 * _LONGEST else f"{text[: 2 * _LONGEST]}..."
