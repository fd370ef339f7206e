"""Where the rows that the server's SELECT gives and those of the decoded file differ.

A table that a statement changes after its creation in another way than row by row (TRUNCATE, RENAME, ALTER, DROP and
CREATE again), or whose rows the file does not tell in full, is compared with what the scenario says that it holds; so
is every other table, besides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import eq

from msgspec.structs import replace

from forge.binlog.writer import write_binlog
from forge.compile import compile_plan
from forge.compile.rows.table_map import wire_columns
from forge.plan.changes import RowChange
from forge.plan.definitions import AnyTableCreation, DdlStatement, dropped_tables
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.statements import RowsStatement
from forge.plan.tables import ForeignKey, Table
from forge.plan.transactions import RollbackTo, Transaction
from forge.record.contents import UNTOLD, Contents, Form, Shown, TableContents, asked_tables
from forge.record.replayed_contents import contents_of_decode
from forge.servers import server_line
from forge.values.base import Column
from forge.values.numeric.floats import to_float32

#: Statements after which a table's rows are what they were.
_HARMLESS = frozenset(("create_database", "alter_database", "create_index", "drop_index"))


@dataclass(frozen=True, slots=True)
class ContentsDifference:
    """The first row, numbered from 1, that the server and the decoded file do not have in common.

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


def comparable_tables(plan: Plan) -> dict[str, Table]:
    """The tables at the end whose rows are those of their row events: created once, not changed by DDL since, nor by
    transactions that were rolled back, prepared or there before the log, nor by foreign keys whose changes the server
    does not log, nor by a REPLACE whose images leave out what became the default,
    nor by an UPDATE whose images leave out what a trigger set.
    """
    line = server_line(plan.server)
    silent = line.rows.cascades == "silent"
    whole_images = line.rows.duplicate_images_whole or plan.session.row_image == "full"
    times: Counter[str] = Counter()
    for group in plan.groups:
        if isinstance(group, DdlStatement) and group.kind not in _HARMLESS and not group.no_effect:
            names = {table.full_name for table in group.tables}
            times.update(names)
            times.update(dropped_tables(group))
            if not isinstance(group, AnyTableCreation):
                # A table that has got its name by now was made under another.
                times.update(names)
        elif isinstance(group, Transaction) and (group.unlogged or _takes_back(group)):
            # What is taken back later may be in the log all the same.
            times.update({part.table.full_name for step in group.rows_statements for part in step.parts()})
        elif isinstance(group, Transaction) and not whole_images:
            sees_triggers = line.rows.noblob_sees_triggers
            losing = (step for step in group.rows_statements if _loses_cells(step, sees_triggers=sees_triggers))
            times.update({step.table.full_name for step in losing})
    if silent:
        children = (table for table in plan.tables.values() if any(map(_cascades, table.foreign_keys)))
        times.update({table.full_name for table in children})
    return {name: table for name, table in plan.tables.items() if times[name] == 1 and name not in plan.unopened}


def _loses_cells(step: RowsStatement, *, sees_triggers: bool) -> bool:
    """Whether images may leave out what triggers set, or what became the default in a REPLACE that updates."""
    if step.kind == "update" or step.text.updates is not None:
        return not sees_triggers and step.table.full_name in step.triggers.tables
    return step.kind == "insert" and any(change.kind == "update" for change in step.changes)


def _cascades(foreign: ForeignKey) -> bool:
    return (foreign.on_delete, foreign.on_update) != ("restrict", "restrict")


def _takes_back(transaction: Transaction) -> bool:
    """Whether changes of the transaction are taken back, or may be later."""
    return transaction.end != "commit" or any(isinstance(step, RollbackTo) for step in transaction.statements)


def first_contents_difference(plan: Plan, selected: Contents, files: Sequence[bytes]) -> ContentsDifference | None:
    """Where the rows that SELECT gave and those of the decoded file differ, text for text; None if nowhere.

    Tables that the file does not tell in full, those whose images may stand for several rows, and all of a file in
    statement format, are compared with those of the plan alone.
    """
    difference = _first_difference(selected, decoded_contents(plan, files))
    return difference or _first_difference(selected, planned_contents(plan))


def decoded_contents(plan: Plan, files: Sequence[bytes]) -> Contents:
    """The rows at the end of the files, of the tables that the files tell in full."""
    in_rows = not any(isinstance(group, Transaction) and group.has_text for group in plan.groups)
    logged_tables = comparable_tables(plan) if in_rows else {}
    decoded = contents_of_decode(files, _declared(plan, logged_tables)) if logged_tables else {}
    facts = server_line(plan.server).rows
    told = facts.generated_images != "inserted" and not facts.empty_virtual
    for name in decoded:
        _forget_generated(decoded[name], logged_tables[name], only_hashes=told)
    return {name: decoded[name] for name in logged_tables if name in decoded}


def planned_contents(plan: Plan) -> Contents:
    """The rows that the scenario itself says each table holds."""
    planned = {table.full_name: table for table in asked_tables(plan) if table.full_name in plan.contents}
    held = contents_of_decode([_logged(plan)], _declared(plan, planned))
    for name in held:
        _forget_generated(held[name], planned[name], only_hashes=not server_line(plan.server).rows.empty_virtual)
    return held


def _logged(plan: Plan) -> bytes:
    """A file in row format that inserts the rows of every table of the plan: statement format logs no rows."""
    plain = Session(
        row_metadata=plan.session.row_metadata, mysql56_temporal_format=plan.session.mysql56_temporal_format
    )
    groups = tuple(
        Transaction((RowsStatement("insert", plan.tables[name], tuple(RowChange(None, row) for row in rows)),), "")
        for name, rows in plan.contents.items()
        if rows
    )
    return write_binlog(compile_plan(replace(plan, session=plain, groups=groups, file_steps=(), event_steps=())))


def _declared(plan: Plan, tables: Mapping[str, Table]) -> dict[str, Sequence[Column]]:
    line = server_line(plan.server)
    return {name: wire_columns(table, plan.session, line) for name, table in tables.items()}


def _first_difference(selected: Contents, decoded: Contents) -> ContentsDifference | None:
    for name, contents in decoded.items():
        if name not in selected:
            return ContentsDifference(name, 1, "", "no such table", "the table")
        difference = table_difference(name, selected[name], contents)
        if difference is not None:
            return difference
    return None


def _forget_generated(contents: TableContents, table: Table, *, only_hashes: bool) -> None:
    """UPDATE changes generated columns without telling (MariaDB 11.8), and no SELECT tells the hashes of keys."""
    columns = [i for i, column in enumerate(table.columns) if column.generated is not None]
    if only_hashes:
        columns = [index for index in columns if table.columns[index].system]
    for row in contents.rows:
        for index in columns:
            row[index] = UNTOLD


Rows = list[tuple[Shown, ...]]


def table_difference(name: str, selected: TableContents, decoded: TableContents) -> ContentsDifference | None:
    """The first difference of a table, in the columns whose values are known in all rows.

    Equal rows are skipped; the first remaining row is compared with the most similar one of the other side.
    """
    if decoded.rows and len(selected.columns) != len(decoded.columns):
        return ContentsDifference(name, 1, "", f"{len(selected.columns)} columns", str(len(decoded.columns)))
    told = [place for place in range(len(selected.columns)) if all(row[place] != UNTOLD for row in decoded.rows)]
    ours, theirs = (_comparable(contents.rows, selected.forms, told) for contents in (selected, decoded))
    rows, others = _left_over(ours, theirs), [row for _, row in _left_over(theirs, ours)]
    if not rows:
        return (
            ContentsDifference(name, len(ours) + 1, "", "no such row", f"the row {_brief(others[0])}")
            if others
            else None
        )
    number, row = rows[0]
    if not others:
        return ContentsDifference(name, number, "", f"the row {_brief(row)}", "no such row")
    other = max(others, key=lambda candidate: sum(map(eq, row, candidate)))
    place = next(place for place, (one, two) in enumerate(zip(row, other, strict=True)) if one != two)
    column = selected.columns[told[place]]
    return ContentsDifference(name, number, column, _quoted(row[place]), _quoted(other[place]))


def _comparable(rows: Iterable[Sequence[Shown]], forms: Sequence[Form], told: Sequence[int]) -> Rows:
    """The cells of these columns, every FLOAT as the 32-bit number that it is."""
    return [tuple(_as_float32(row[at]) if forms[at] == "float" else row[at] for at in told) for row in rows]


def _as_float32(cell: Shown) -> Shown:
    return cell if cell is None else repr(to_float32(float(cell)))


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


_LONGEST = 120


def _quoted(cell: Shown) -> str:
    if cell is None:
        return "NULL"
    return repr(cell) if len(cell) <= _LONGEST else f"{cell[:_LONGEST]!r}... ({len(cell)} characters)"


def _brief(row: Sequence[Shown]) -> str:
    text = ", ".join(map(_quoted, row))
    return text if len(text) <= 2 * _LONGEST else f"{text[: 2 * _LONGEST]}..."
