"""INSERT and REPLACE: what they do to a table's rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any, Literal

from msgspec import structs
from msgspec.structs import replace

from forge.engine.dictionary.columns import ColumnDefinition, largest_number
from forge.engine.dictionary.literals import zero_value
from forge.engine.dictionary.table_state import TableState
from forge.engine.dml.assignments import declared_updates, updated_cells
from forge.engine.dml.generated_inserts import GeneratedInsert, insert_generated, is_suited
from forge.engine.dml.row_texts import duplicate_text, insert_text
from forge.engine.dml.row_times import remove_row, rest_of_change, stamped
from forge.engine.dml.trigger_bodies import run_triggers, without_triggers
from forge.engine.dml.updates import updated_row
from forge.engine.requests.cells import ColumnPlace, Computed, is_expression
from forge.engine.requests.rows import Insert, Replace
from forge.engine.requests.statements import Statement
from forge.engine.rows.cells import cell_value, not_null, set_by_trigger
from forge.engine.rows.context import DmlContext
from forge.engine.rows.defaults import omitted_value, with_generated
from forge.engine.rows.foreign_keys import Operation
from forge.engine.rows.numbering import numbering_of
from forge.engine.rows.selects import select_rows
from forge.engine.rows.where import column_index
from forge.errors import ScenarioError, about
from forge.plan.changes import Insertions, RowChange
from forge.plan.effects import Evaluation, Numbers, Search
from forge.plan.statement_text import Clauses, LongSql, StatementText
from forge.plan.statements import Further, RowsStatement
from forge.plan.tables import Row
from forge.sql.reads.inserts import has_column_list
from forge.values.base import Value
from forge.values.clipping import Clipped

#: A cell of a list that stands for the column's default.
_DEFAULT = {"sql": "DEFAULT"}


def insert_rows(
    state: TableState, statement: Statement, insert: Insert | Replace, context: DmlContext, *, rows_known: bool = True
) -> RowsStatement:
    """Run an INSERT or REPLACE; ``rows_known``: the server knows beforehand how many rows there are.

    Raises ScenarioError where a server would refuse it.
    """
    if isinstance(insert, Insert) and insert.ignore:
        context = replace(context, ignores=True)
    if insert.select is not None and insert.rows is None and insert.row is None:
        with context.place("replace" if isinstance(insert, Replace) else "insert", "select"):
            found = [[Computed(value) for value in row] for row in select_rows(insert.select, context)]
        insert = structs.replace(insert, rows=found)
    return _Insert(state, statement, insert, context, rows_known=rows_known).run()


def _declared_rows(
    state: TableState, insert: Insert | Replace, kind: str, context: DmlContext
) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    """(steps to the row's entry, its cells by column) for every row."""
    named = insert.columns
    if named is None:
        named = [column.name for column in state.columns if column.column.visible and not column.column.system]
    if insert.row is not None:
        for _ in range(insert.count or 0):
            yield ("row",), insert.row
    for number, row in enumerate(insert.rows or ()):
        steps = ("rows", number)
        if isinstance(row, list):
            with context.place(kind, *steps):
                if len(row) != len(named):
                    raise ScenarioError(f"the row has {len(row)} cells", expected=f"{len(named)}, as many as columns")
            yield steps, {name: cell for name, cell in zip(named, row, strict=True) if cell != _DEFAULT}
        else:
            yield steps, row


def _trigger_cells(
    state: TableState, kind: str, insert: Insert | Replace, context: DmlContext
) -> tuple[dict[int, Clipped], dict[int, Clipped]]:
    """What BEFORE triggers set on INSERT, and on UPDATE where ON DUPLICATE KEY UPDATE changes a row.

    Which of the two a column is set by, the texts of the triggers say.
    """
    cells = set_by_trigger(state, kind, insert.set_by_trigger, context)
    if not isinstance(insert, Insert) or not insert.on_duplicate_key_update:
        return cells, {}
    on_insert = context.references.set_by_triggers(state.table, "insert")
    on_update = context.references.set_by_triggers(state.table, "update")
    updating = {index: cell for index, cell in cells.items() if index in on_update}
    declared = insert.set_by_update_trigger
    updating |= set_by_trigger(state, kind, declared, context, field="set_by_update_trigger")
    only = updating.keys() & on_update - on_insert
    return {index: cell for index, cell in cells.items() if index not in only}, updating


class _Insert:
    """One statement: its rows so far, and what became of them."""

    def __init__(
        self,
        state: TableState,
        statement: Statement,
        insert: Insert | Replace,
        context: DmlContext,
        *,
        rows_known: bool,
    ) -> None:
        self.state = state
        self.statement = statement
        self.kind = kind = "replace" if isinstance(insert, Replace) else "insert"
        self.insert = insert
        self.context = context
        self.line = context.references.line
        self.rows = insert.count if insert.count is not None else len(insert.rows or ())
        self.numbering = numbering_of(state, insert, self.rows if rows_known else 1, context)
        #: The columns by the names that rows give them.
        self.places: dict[str, tuple[int, ColumnPlace]] = {}
        self.literals: list[dict[int, Clipped]] = []
        self.changes: list[RowChange] = []
        self.further: list[Further] = []
        #: The columns stay marked as used after a row that was updated.
        self.stays_marked = False
        self.updates = dict(declared_updates(state, insert, kind, context))
        self.by_trigger, self.by_update_trigger = _trigger_cells(state, kind, insert, context)
        #: The rows, where they are stored all at once.
        self.generated: GeneratedInsert | None = None
        #: What ON DUPLICATE KEY UPDATE has come upon.
        self.duplicate: Literal["found", "updated"] | None = None

    def run(self) -> RowsStatement:
        numbering = self.numbering
        try:
            if not self._insert_generated():
                for steps, cells in _declared_rows(self.state, self.insert, self.kind, self.context):
                    with self.context.place(self.kind, *steps):
                        row, mark, generated = self._computed(cells, steps)
                        self._store(self._fired("insert", "before", None, row), mark, generated)
        finally:
            numbering = self.numbering
            self.state.next_auto_increment = numbering.following if numbering.keeps_rows else 1
            self.state.has_numbered = numbering.has_numbered
        columns = self._columns()
        return RowsStatement(
            kind="insert",
            table=self.state.table,
            changes=tuple(self.changes) if self.generated is None else Insertions(self.generated.rows),
            further=tuple(self.further),
            text=StatementText(
                self.statement.query or self._sql(columns),
                assigned=self._assigned(columns) if self._has_column_list() else None,
                updates=frozenset(self.updates) if self.updates else None,
                clauses=Clauses(
                    ignores=self.kind == "replace" or self.context.ignores, selects=self.insert.select is not None
                ),
                line=self.context.line,
            ),
            search=Search(matched=self.rows),
            evaluation=Evaluation(numbers=Numbers(numbering.first, numbering.first_stored), duplicate=self.duplicate),
        )

    def _assigned(self, columns: list[int]) -> frozenset[int]:
        by_triggers = self.context.references.written_by_triggers(self.state.table, "insert")
        return frozenset((*columns, *self.by_trigger)) | by_triggers

    def _columns(self) -> list[int]:
        """The columns that the statement's text gives values for."""
        if not self.insert.column_list:
            return [i for i, column in enumerate(self.state.columns) if column.column.visible]
        if self.insert.select is not None:
            # The SELECT gives them in this order.
            return [column_index(self.state, name) for name in self.insert.columns or ()]
        columns = sorted(frozenset().union(*self.literals))
        if not columns and self.rows > 1:
            # INSERT () VALUES (), () is an error in MINIMAL images (1534): name a column.
            columns = [next(i for i, c in enumerate(self.state.columns) if c.generated is None)]
        return columns

    def _has_column_list(self) -> bool:
        if self.statement.query is not None:
            return has_column_list(self.statement.query)
        return self.insert.column_list

    def _sql(self, columns: list[int]) -> str | LongSql:
        verb = "REPLACE" if self.kind == "replace" else "INSERT IGNORE" if self.context.ignores else "INSERT"
        listed, select = self.insert.column_list, self.insert.select
        text = insert_text(verb, self.state, columns, self.literals, listed=listed, select=select)
        updates = {index: source if isinstance(source, int) else source.sql for index, source in self.updates.items()}
        text += duplicate_text(self.state, updates)
        if self.generated is None:
            return text
        return LongSql(self.generated.sql(self.state, columns), text)

    def _insert_generated(self) -> bool:
        """Insert rows that a generator makes all at once, where it can; whether it did."""
        if self.numbering.rows != self.rows or not is_suited(self.state, self.statement, self.insert, self.context):
            return False
        self.generated = insert_generated(self.state, self.insert, self._omitted, self.numbering, self.context)
        if self.generated is None:
            return False
        self.numbering = self.generated.numbering
        self.literals = self.generated.examples
        return True

    def _computed(self, cells: Mapping[str, Any], steps: tuple[str | int, ...]) -> tuple[Row, int, int]:
        """A row, and the statement's next number before it and that which it has got."""
        state, context = self.state, self.context
        literals: dict[int, Clipped] = {}
        name = ""
        try:
            for name, cell in cells.items():
                index, place = self._named(name)
                if index in literals:
                    raise ScenarioError(f"column {place.column!r} is given twice")
                so_far = partial(self._so_far, literals) if isinstance(cell, dict) and is_expression(cell) else None
                literals[index] = cell_value(state.columns[index], cell, place, state.inserted, context, so_far)
                self._check_named(state.columns[index])
        except ScenarioError:
            # To enter the place of each cell beforehand would take longer than most cells.
            with context.place(self.kind, *steps, name):
                raise
        self.literals.append(literals)
        values: list[Value | None] = [
            literals[index].value if index in literals else self._omitted(column)
            for index, column in enumerate(state.columns)
        ]
        numbered = state.auto_increment
        mark, generated = self.numbering.mark(), 0
        if numbered is not None and (values[numbered] is None or not (values[numbered] or context.keeps_zero)):
            # NULL, 0 and nothing at all mean the next number, 0 not with NO_AUTO_VALUE_ON_ZERO.
            values[numbered] = generated = self._next_number(state.columns[numbered])
        clips = context.ignores or (context.clips and self.rows > 1)
        for index, column in enumerate(state.columns):
            if column.generated is None:
                # Without strict mode several rows are spared what one row is not (ER_BAD_NULL_ERROR).
                values[index] = not_null(column, values[index], state.name, clips=clips)
        for index, cell in self.by_trigger.items():
            values[index] = cell.value
        row = with_generated(state.columns, values, clips=context.clips or context.ignores)
        return row, mark, generated

    def _so_far(self, literals: Mapping[int, Clipped]) -> tuple[TableState, Row]:
        """The row whose further cells have their defaults; a number that is not made yet is 0."""
        defaults = (0 if c.column.auto_increment else c.column.default for c in self.state.columns)
        row = [literals[i].value if i in literals else default for i, default in enumerate(defaults)]
        return self.state, tuple(row)

    def _named(self, name: str) -> tuple[int, ColumnPlace]:
        """The column of that name.  Raises ScenarioError."""
        known = self.places.get(name)
        if known is None:
            index = column_index(self.state, name)
            known = self.places[name] = index, ColumnPlace(self.state.name, self.state.columns[index].name)
        return known

    def _check_named(self, column: ColumnDefinition) -> None:
        """Without a list of columns the SQL has no place for a value of an invisible one."""
        if not (self.insert.column_list or column.column.visible):
            raise ScenarioError(
                f"column {column.name!r} is invisible, and `column_list: false` leaves it out",
                expected="no cell for it",
            )

    def _fired(self, event: Operation, timing: str, old: Row | None, new: Row | None) -> Row:
        """Run the triggers; the new row as they leave it."""
        rows = run_triggers(self.state, event, timing, (old, new), self.context, lambda change: self._follow([change]))
        return rows or ()

    def _follow(self, changes: list[RowsStatement]) -> None:
        """Changes by foreign keys come before that of their parent."""
        self.further += [Further(len(self.changes), change) for change in changes]

    def _log(self, before: Row | None, after: Row | None, *, duplicate: bool = False) -> None:
        self.changes.append(RowChange(before, after, duplicate or self.stays_marked))

    def _omitted(self, column: ColumnDefinition) -> Value | None:
        if column.generated is not None or column.column.auto_increment:
            return None
        if self._is_forgotten(column):
            return None if column.column.nullable else zero_value(column.wire)
        with about(f"table {self.state.name}"):
            return omitted_value(column, self.context.time, clips=self.context.clips or self.context.ignores)

    def _is_forgotten(self, column: ColumnDefinition) -> bool:
        """Whether the server does not compute the column's default: MySQL's of an invisible column where the statement
        has no column list (recorded on 9.7).
        """
        computes = self.line.rows.computes_invisible_defaults
        computed = column.column.computed_default or column.column.default_now
        return computed and not column.column.visible and not computes and not self._has_column_list()

    def _next_number(self, column: ColumnDefinition) -> int:
        number = self.numbering.generated()
        if number > largest_number(column):
            raise ScenarioError(f"{self.state.name}.{column.name} has no number left after {number - 1}")
        return number

    def _store(self, row: Row, mark: int, generated: int) -> None:
        """Add the row, or do what the statement does where one of its keys exists (write_record in sql_insert.cc)."""
        state = self.state
        own = row[state.auto_increment] or 0 if state.auto_increment is not None else 0
        duplicate = state.conflict(row)
        if state.auto_increment is not None and not generated:
            counts = duplicate is None or self.kind == "replace" or self.insert.select is not None
            self.numbering.given(own, counts=counts and self.numbering.keeps_rows)
        if generated and self.numbering.first_stored is None and (duplicate is None or self.kind == "replace"):
            self.numbering.first_stored = generated
        if duplicate is None:
            self._add(row, mark, generated)
        elif self.updates:
            self.stays_marked = True
            self.duplicate = self.duplicate or "found"
            self.numbering.reset(mark, generated)
            self._update(row, duplicate[1])
        elif self.context.ignores:
            self.numbering.reset(mark, generated)
        elif self.kind == "replace":
            self._replace(row, generated)
        else:
            state.add(row)  # raises

    def _add(self, row: Row, mark: int, generated: int) -> None:
        try:
            self.context.references.check_row(self.state, row)
        except ScenarioError:
            if not self.context.ignores:
                raise
            self.numbering.reset(mark, generated)
            return
        self.state.add(row)
        self._log(None, row)
        self._fired("insert", "after", None, row)

    def _replace(self, row: Row, generated: int) -> None:
        """Rows in the way are deleted; the one that the last unique key finds is updated instead.

        A row that has the number which the server made is an error.
        """
        state = self.state
        while (duplicate := state.conflict(row)) is not None:
            key, number = duplicate
            if generated and key.parts[0].column == state.auto_increment:
                state.add(row)  # raises
            before = state.rows[number]
            references = self.context.references
            bound = references.is_parent(state.table) or bool(references.triggers(state.table, "delete"))
            bound |= state.table.row_end is not None and not references.line.rows.replaces_versions_in_place
            if (key.hashed or key == state.unique[-1]) and not bound:
                self.stays_marked = True
                # MEMORY does not compare them (recorded on MySQL 9.7).
                if before != row or state.table.engine == "MEMORY":
                    self._change(number, row, range(len(row)))
                return
            self._fired("delete", "before", before, None)
            removed, cascaded = remove_row(state, number, None, self.context, replacement=row)
            self._follow(without_triggers(cascaded, self.context))
            self.changes += [replace(change, after_duplicate=True) for change in removed]
            self._fired("delete", "after", before, None)
            if state.auto_increment is not None:
                self.numbering.given(row[state.auto_increment] or 0)
        self.context.references.check_row(state, row)
        state.add(row)
        self._log(None, row, duplicate=True)
        self._fired("insert", "after", None, row)

    def _change(self, number: int, after: Row, assigned: Collection[int]) -> None:
        self.duplicate = "updated" if self.updates else self.duplicate
        before = self.state.rows[number]
        after = stamped(self.state, after, assigned, self.context)
        self.context.references.check_row(self.state, after, before)
        self._follow(without_triggers(self.context.references.parent_changes(self.state, before, after), self.context))
        self._log(before, after)
        self.state.change(number, after)
        rest = rest_of_change(self.state, before, assigned, None, self.context)
        self.changes += [replace(change, after_duplicate=self.stays_marked) for change in rest]
        self.numbering.following = max(self.numbering.following, self.state.next_auto_increment)

    def _update(self, new: Row, number: int) -> None:
        state = self.state
        before = state.rows[number]
        values = updated_cells(state, self.updates, before, new, self.context, rows=self.rows)
        after = updated_row(state, before, values, self.by_update_trigger, self.context)
        after = self._fired("update", "before", before, after)
        if after != before:
            if self.context.ignores and state.conflict(after, number) is not None:
                return
            self._change(number, after, self.updates)
        self._fired("update", "after", before, after)
        if state.auto_increment is not None:
            self.numbering.skip_to(after[state.auto_increment] or 0)
