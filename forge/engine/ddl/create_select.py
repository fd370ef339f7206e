"""CREATE TABLE ... SELECT of one table: the columns that the new table gets of it, and its rows.

Recorded on MySQL 9.7, MariaDB 10.11 and 11.8 (docs/servers/created-tables.md).  A column of the SELECT that the
statement defines itself has the place of the SELECT; the statement's other columns come first.
"""

from __future__ import annotations

from typing import NoReturn

from msgspec.structs import replace

from forge.engine.dictionary.column_drafts import define_column
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.key_definition import RowExpression
from forge.engine.dictionary.literals import taken
from forge.engine.dictionary.table_state import TableState
from forge.engine.rows.conversion import converted
from forge.engine.rows.defaults import StatementTime, omitted_value, with_generated
from forge.engine.rows.numbering import Numbering
from forge.engine.rows.row_order import as_read, rank
from forge.errors import ScenarioError
from forge.plan.changes import RowChange
from forge.plan.statement_text import StatementText
from forge.plan.statements import RowsStatement
from forge.plan.tables import Row, is_transactional
from forge.servers import server_line
from forge.sql.ast.definitions import (
    CharsetClause,
    ColumnDraft,
    KeyDraft,
    LiteralDefault,
    SelectDraft,
    SelectedColumn,
    TypeDraft,
)
from forge.sql.ast.expressions import Literal
from forge.sql.ast.statements import CreateTable
from forge.sql.errors import SqlError, SqlUnsupported, at_offset
from forge.sql.expressions import parse_expression
from forge.values.base import Value
from forge.values.declaration.sqltype import SqlType


class CopiedRows:
    """What CREATE TABLE ``statement`` takes from the table ``source``.  Raises SqlError and SqlUnsupported."""

    def __init__(self, statement: CreateTable, select: SelectDraft, source: TableState, server: str) -> None:
        self.statement, self.select, self.source, self.server = statement, select, source, server
        named = select.columns or tuple(
            SelectedColumn(column.name, column.name, select.offset)
            for column in source.columns
            if column.column.visible
        )
        #: The columns of the SELECT by their names in lower case: that of the source, or of a literal, and its name.
        self.chosen = {
            column.name.lower(): (
                self._constant(column) if column.literal is not None else self._column(column),
                column,
            )
            for column in named
        }
        if len(self.chosen) < len(named):
            problem = "two columns of the SELECT have the same name"
            raise SqlError(problem, select.offset, expected="AS with another name")
        #: The first AUTO_INCREMENT value that was generated.
        self.first_number: int | None = None

    def _index_of(self, name: str) -> int:
        return self.source.definition.index_of(name, self.select.offset)

    def _column(self, named: SelectedColumn) -> ColumnDefinition:
        return self.source.columns[self.source.definition.index_of(named.column, named.offset)]

    def _constant(self, column: SelectedColumn) -> ColumnDefinition:
        """The column that a server makes of a literal: INT or VARCHAR, not NULL; MySQL gives it a default, but in a
        primary key.
        """
        line = server_line(self.server)
        keys = [key for key in self.statement.parts if isinstance(key, KeyDraft) and key.kind == "primary"]
        keyed = {part.column.lower() for key in keys for part in key.parts}
        has_default = {"all": True, "none": False}.get(
            line.ddl.literals_have_defaults, column.name.lower() not in keyed
        )
        is_number = isinstance(column.literal, int)
        width = len(str(column.literal)) if is_number else None
        sql_type = SqlType("INT") if is_number else SqlType("VARCHAR", length=len(str(column.literal)))
        draft = ColumnDraft(
            column.name,
            TypeDraft(sql_type, offset=column.offset, width=width),
            column.offset,
            nullable=False,
            default=LiteralDefault(Literal(0 if is_number else "")) if has_default else None,
        )
        return replace(define_column(draft, line.query.client_charset[1], self.server), draft=draft)

    def _unsupported(self, form: str) -> NoReturn:
        raise SqlUnsupported(f"CREATE TABLE ... SELECT {form} is not supported yet", self.select.offset)

    @property
    def drafts(self) -> tuple[ColumnDraft, ...]:
        """All columns of the new table, as SHOW CREATE TABLE takes them."""
        own = {draft.name.lower(): draft for draft in self.statement.columns}
        first = tuple(draft for name, draft in own.items() if name not in self.chosen)
        return first + tuple(
            replace(own[name], name=named.name) if name in own else _draft(column, named)
            for name, (column, named) in self.chosen.items()
        )

    def columns(self, own: tuple[ColumnDefinition, ...]) -> tuple[ColumnDefinition, ...]:
        """All columns of the new table, of which ``own`` are those that the statement defines."""
        defined = {column.name.lower(): column for column in own}
        columns = [column for name, column in defined.items() if name not in self.chosen]
        for name, (source, named) in self.chosen.items():
            columns.append(defined[name].replace(name=named.name) if name in defined else self._copied(source, named))
        return tuple(columns)

    def _copied(self, source: ColumnDefinition, named: SelectedColumn) -> ColumnDefinition:
        """The source's column without its keys; AUTO_INCREMENT becomes DEFAULT 0."""
        column, line = source.column, server_line(self.server)
        changed = (
            column.default_now,
            column.on_update_now,
            column.computed_default,
            column.generated,
            column.type.name == "BIT" and column.default is not None and line.ddl.select_loses_bit_default,
            column.type.srid is not None,
            column.type.compressed,
            source.holds_json and not source.type_facts.is_json,
            source.type_facts.is_lob and column.has_default,
        )
        if any(changed):
            self._unsupported(f"of column {source.name!r}, whose definition the new table would get changed,")
        copied = source.replace(name=named.name, auto_increment=False, visible=True)
        return copied.replace(has_default=True, default=0) if column.auto_increment else copied

    def insert(self, state: TableState, sql: str, time: StatementTime) -> RowsStatement:
        """Give the new table its rows.  Raises SqlError where a server would refuse one."""
        with at_offset(self.select.offset):
            # The server does not know how many rows there will be.
            numbering = Numbering(state.next_auto_increment, 1, is_transactional(state.table))
            rows = [self._row(state, self.source.rows[number], numbering, time) for number in self._chosen()]
            for row in rows:
                state.add(row)
            state.next_auto_increment = numbering.following
        columns = enumerate(state.table.columns)
        assigned = {place for place, column in columns if column.name.lower() in self.chosen or column.auto_increment}
        changes = tuple(RowChange(None, row) for row in rows)
        return RowsStatement("insert", state.table, changes, StatementText(sql, frozenset(assigned)))

    def _row(self, state: TableState, source: Row, numbering: Numbering, time: StatementTime) -> Row:
        cells = dict(zip((column.name for column in self.source.columns), source, strict=True))
        values: list[Value | None] = []
        for column in state.columns:
            if column.name.lower() in self.chosen:
                values.append(self._given(column, cells, numbering))
            elif column.column.auto_increment:
                values.append(number := numbering.generated())
                self.first_number = self.first_number or number
            else:
                values.append(None if column.generated is not None else omitted_value(column, time))
        return with_generated(state.columns, values)

    def _given(self, column: ColumnDefinition, cells: dict[str, Value | None], numbering: Numbering) -> Value | None:
        source, named = self.chosen[column.name.lower()]
        if named.literal is not None:
            return taken(column.wire, named.literal, clips=False).value
        value = cells[source.name]
        if value is None and not column.column.nullable:
            raise ScenarioError(f"column {column.name!r} cannot be NULL, but the SELECT gives NULL")
        if column.column.auto_increment:
            if not isinstance(value, int) or value <= 0:
                self._unsupported("of 0, NULL or negative numbers into AUTO_INCREMENT")
            numbering.given(value)
        return converted(source, column, value)

    def _chosen(self) -> list[int]:
        """The rows that WHERE chooses, by ORDER BY or as the server reads them, and as many as LIMIT lets through."""
        source, compared = self.source, set[int]()
        numbers = [number for number, row in source.rows.items() if source.is_current(row)]
        if self.select.where:
            condition = parse_expression(self.select.where, server_line(self.server).grammar)
            compared = set(map(self._index_of, condition.columns()))
            if not all(source.columns[index].type_facts.is_integer for index in compared):
                self._unsupported("with WHERE on columns that are no integers")
            holds = RowExpression(condition, source.columns)
            numbers = [number for number in numbers if holds(source.rows[number])]
        key = source.clustering
        if key is not None and server_line(self.server).rows.merges_covering_keys:
            # MariaDB 10.11 merges partitions also where a key has all that is asked.
            asked = {self._index_of(named.column) for _, named in self.chosen.values() if named.literal is None}
            covers = asked | compared <= {part.column for part in key.parts}
            compared |= {key.parts[0].column} if covers else set()
        numbers = as_read(source, source.ordered(numbers), compared)
        for name, descending in reversed(self.select.order):
            numbers.sort(key=rank(source, self._index_of(name)), reverse=descending)
        count, skipped = self.select.limit or (len(numbers), 0)
        return numbers[skipped : skipped + count]


def _draft(column: ColumnDefinition, named: SelectedColumn) -> ColumnDraft:
    written = column.draft
    if named.literal is not None and written is not None:
        return replace(written, name=named.name)
    width, comment = (None, "") if written is None else (written.type.width, written.comment)
    charset = CharsetClause() if written is None else written.type.charset
    return ColumnDraft(named.name, TypeDraft(column.type, charset, width=width), named.offset, comment=comment)
