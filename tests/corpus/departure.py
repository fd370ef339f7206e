"""Whether the files of a case decode to what the scenario did: its plan, row by row, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import Any

from forge.compile.rows.table_map import wire_columns
from forge.decode.cells import Cell, RowChange
from forge.decode.reference import Reference
from forge.errors import ForgeError
from forge.plan import changes as planned_changes
from forge.plan.plan import Plan
from forge.plan.tables import Row, Table
from forge.plan.transactions import Transaction
from forge.servers import server_line
from forge.values.base import Column
from forge.values.registry import codec_for

Columns = Sequence[Column]


def first_departure(plan: Plan, references: Sequence[Reference]) -> str | None:
    """The first row that our reader shows otherwise than it was planned, in a sentence; None if there is none.

    The plan must be of transactions on rows that are committed or rolled back as a whole, logged as rows.  Nothing is
    said of files that our reader stops in.
    """
    if any(reference.problem is not None for reference in references):
        return None
    decoded = chain.from_iterable(chain.from_iterable(reference.rows.values()) for reference in references)
    columns: dict[str, Columns] = {}
    for number, (planned, shown) in enumerate(zip_longest(_planned(plan), decoded), start=1):
        if planned is None or shown is None:
            return f"row {number}: it was {'not ' * (planned is None)}planned, and {'not ' * (shown is None)}decoded"
        table, change = planned
        if (table.full_name, change.kind) != (f"{shown.database}.{shown.table}", shown.kind):
            return (
                f"row {number}: planned was {change.kind} of {table.full_name}, decoded {shown.kind} of {shown.table}"
            )
        if table.full_name not in columns:
            columns[table.full_name] = wire_columns(table, plan.session, server_line(plan.server))
        said = _of_images(change, shown, columns[table.full_name])
        if said is not None:
            return f"row {number} of {table.full_name}: {said}"
    return None


def _planned(plan: Plan) -> Iterator[tuple[Table, planned_changes.RowChange]]:
    for group in plan.groups:
        if isinstance(group, Transaction) and group.end == "commit":
            for statement in group.rows_statements:
                yield from ((part.table, change) for part, change in statement.logged())


def _of_images(planned: planned_changes.RowChange, shown: RowChange, columns: Columns) -> str | None:
    for row, image in ((planned.before, shown.before), (planned.after, shown.after)):
        for cell in image or ():
            said = None if row is None else _of_cell(row, cell, columns[cell.number - 1])
            if said is not None:
                return f"column {cell.number}: {said}"
    return None


def _of_cell(row: Row, cell: Cell, column: Column) -> str | None:
    value = row[cell.number - 1]
    if value is None or cell.raw is None:
        return None if value is None and cell.raw is None else "NULL is planned, or decoded, and the other is not"
    planned = _shown(column, value)
    try:
        decoded = _shown(column, codec_for(column).decode(column, cell.raw))
    except ForgeError as error:
        return f"planned {planned!r:.80}, decoded {cell.raw[:40].hex()}: {error}"
    return None if planned == decoded else f"planned {planned!r:.80}, decoded {decoded!r:.80}"


def _shown(column: Column, value: Any) -> Any:
    """The text of a value, or the value where it has none."""
    text = codec_for(column).text(column, value)
    return value if text is None else text
