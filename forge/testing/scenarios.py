"""Scenarios for Hypothesis, drawn so that what fails is shrunk to one column, one row and no change after it.

Hypothesis leaves out a thing of a list where that moves nothing else that is drawn.  So the values of a column, and its
part of the key, are drawn beside the column; rows and changes name values and columns by number, each by as many draws
as the next; and what is drawn after the columns is never more than what is drawn of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec.structs import replace

from forge.engine.requests.transactions import Transaction
from forge.plan.session import Session
from forge.plan.tables import KeyPart, TableColumn
from forge.scenario import build
from forge.scenario.model import Scenario
from forge.servers import server_line
from forge.testing.drawn import HypothesisSource
from forge.testing.draws.rows import Cells, literal_of
from forge.testing.draws.scenarios import (
    KEYS,
    TABLES,
    Choices,
    column_of,
    create_table,
    is_condition,
    key_text,
    lines_with_rows,
    session_of,
    with_fractions,
)
from forge.testing.draws.source import Source
from forge.testing.draws.tables import is_key_type, key_part

#: Parts of a key at most, and the change that is rolled back.
_PARTS, _ROLLBACK = 3, 7


@st.composite
def scenarios(draw: st.DrawFn, choices: Choices) -> Scenario:
    """A scenario of one table.  Raises ScenarioError if a line has none of the types that are to be chosen from."""
    source = HypothesisSource(draw)
    server = source.one_of(choices.servers or lines_with_rows())
    # One choice takes all settings back.
    session = Session() if choices.plain or not source.truth() else session_of(source, server_line(server))
    table = source.one_of(TABLES)
    kind = source.one_of((None, *KEYS))
    insert = build.replace if source.once_in(8) else build.insert
    numbers = [source.integer(0, choices.rows) for _ in range(choices.rows)]
    changes = source.integer(0, choices.changes)
    places = count()
    drawn = source.several(
        lambda inner: _column(inner, next(places), server, choices, kind is not None), 1, choices.columns
    )
    columns, key = _keyed(drawn)
    rows = _rows([number - 1 for number in numbers if number] or [0], columns, [part.column for part in key])
    text = create_table(
        table,
        [one.column for one in columns],
        key_text([one.column for one in columns], key, kind) if kind and key else None,
    )
    transactions = [Transaction(statements=[insert(table, *rows)])]
    transactions += [_change(source, table, columns, rows, choices) for _ in range(changes)]
    session = with_fractions(session, [one.column for one in columns])
    scenario = Scenario("drawn", server=server, session=session, tables=[text])
    return msgspec.structs.replace(scenario, transactions=transactions)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A column with what is drawn beside it."""

    column: TableColumn
    #: Whether a cell is NULL, if the column takes that, and the literal that it has otherwise.
    pool: list[tuple[bool, Any]]
    #: The part of the key that it is.
    part: KeyPart | None

    def cell(self, number: int) -> Any:
        is_null, value = self.pool[number % len(self.pool)]
        return None if is_null and self.column.nullable else value


def _column(source: Source, place: int, server: str, choices: Choices, has_key: bool) -> _Drawn:
    column = column_of(source, place, server, server_line(server), choices)
    in_key = has_key and is_key_type(column.type) and source.truth()
    part = key_part(source, column.type, place) if in_key else None
    pool = [
        (column.nullable and source.once_in(4), literal_of(source, column.type, server))
        for _ in range(source.integer(1, choices.rows))
    ]
    return _Drawn(column, pool, part)


def _keyed(drawn: Sequence[_Drawn]) -> tuple[list[_Drawn], list[KeyPart]]:
    """The columns as the table has them, and the parts of its key."""
    parts = [one.part for one in drawn if one.part is not None][:_PARTS]
    places = {part.column for part in parts}
    columns = [
        dataclasses.replace(one, column=replace(one.column, nullable=False, visible=True)) if place in places else one
        for place, one in enumerate(drawn)
    ]
    if not any(one.column.visible for one in columns):
        columns[0] = dataclasses.replace(columns[0], column=replace(columns[0].column, visible=True))
    return columns, parts


def _rows(numbers: Sequence[int], columns: Sequence[_Drawn], key: Sequence[int]) -> list[Cells]:
    """The rows of an INSERT; one with the key of an earlier one, since a pool has few values, is left out."""
    rows: dict[Any, Cells] = {}
    for place, number in enumerate(numbers):
        row = {one.column.name: one.cell(number) for one in columns}
        same = tuple(str(row[columns[part].column.name]).casefold() for part in key) or place
        rows.setdefault(same, row)
    return list(rows.values())


def _change(
    source: Source, table: str, columns: Sequence[_Drawn], rows: Sequence[Cells], choices: Choices
) -> Transaction:
    """A transaction after the INSERT, of as many draws as any other."""
    kind = source.integer(0, 7)
    row, of, first, second, value = (
        source.integer(0, most)
        for most in (choices.rows, choices.columns, choices.columns - 1, choices.columns - 1, choices.rows - 1)
    )
    conditions = [one for one in columns if is_condition(one.column)]
    where = None
    if of and conditions:
        name = conditions[(of - 1) % len(conditions)].column.name
        where = {name: rows[row % len(rows)][name]}
    changed = {
        one.column.name: one.cell(value) for one in (columns[first % len(columns)], columns[second % len(columns)])
    }
    delete, update = build.delete(table, where=where), build.update(table, set=changed, where=where)
    if kind == _ROLLBACK:
        return Transaction(statements=[update, delete], end="rollback")
    return Transaction(statements=[delete] if kind < 2 else [update] if kind < 6 else [update, delete])
