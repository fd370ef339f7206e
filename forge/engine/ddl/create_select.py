"""CREATE TABLE ... SELECT of one table: the columns that the new table gets of it, and its rows.

Recorded on MySQL 9.7, MariaDB 10.11 and 11.8 (docs/servers/created-tables.md).  A column of the SELECT that the
statement defines itself has the place of the SELECT; the statement's other columns come first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

from forge.engine.dictionary.cell_values import sort_value
from forge.engine.dictionary.column_drafts import define_column
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.engines import INNODB
from forge.engine.dictionary.literals import taken
from forge.engine.dictionary.table_state import TableState
from forge.engine.rows.numbering import Numbering
from forge.engine.rows.own_order import SCAN, agreed, by_key, by_partition, key_ranges, scanned
from forge.engine.rows.where import Condition, matching, parse_where
from forge.errors import ScenarioError
from forge.plan.changes import RowChange
from forge.plan.statement_text import StatementText
from forge.plan.statements import RowsStatement
from forge.plan.tables import Row, TableColumn, is_transactional
from forge.servers import server_line
from forge.sql.ast.definitions import CharsetClause, ColumnDraft, LiteralDefault, SelectDraft, SelectedColumn, TypeDraft
from forge.sql.ast.expressions import Literal
from forge.sql.ast.statements import CreateTable
from forge.sql.errors import SqlError, SqlUnsupported, at_offset
from forge.values.base import Value
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import column_for, facts_of


class CopiedRows:
    """What CREATE TABLE ``statement`` takes from the table ``source``.  Raises SqlError and SqlUnsupported."""

    def __init__(self, statement: CreateTable, select: SelectDraft, source: TableState, server: str) -> None:
        self.statement = statement
        self.select = select
        self.source = source
        self.server = server
        named = select.columns or tuple(
            SelectedColumn(column.name, column.name, select.offset)
            for column in source.columns
            if column.column.visible
        )
        #: The source's columns, with those of the literals behind them.
        self.selectable = [*source.columns, *(self._constant(column) for column in named if column.literal is not None)]
        self.literals = tuple(column.literal for column in named if column.literal is not None)
        places = iter(range(len(source.columns), len(self.selectable)))
        #: Indexes in these, with the names in the new table.
        self.chosen = [
            (next(places) if column.literal is not None else self._index_of(column.column, column.offset), column)
            for column in named
        ]
        names = [column.name.lower() for _, column in self.chosen]
        if len(set(names)) < len(names):
            raise SqlError(
                "two columns of the SELECT have the same name", select.offset, expected="AS with another name"
            )
        #: The first AUTO_INCREMENT value that was generated, and whether a DATETIME or TIMESTAMP was copied.
        self.first_number: int | None = None

    def _index_of(self, name: str, offset: int) -> int:
        return self.source.definition.index_of(name, offset)

    def _constant(self, column: SelectedColumn) -> ColumnDefinition:
        """The column that a server makes of a literal: INT or VARCHAR, not NULL; MySQL gives it a default, but in a
        primary key.
        """
        line = server_line(self.server)
        keyed = {part.column.lower() for key in self.statement.keys if key.kind == "primary" for part in key.parts}
        width: int | None
        default = None
        if line.ddl.literals_have_defaults == "none":
            keyed.add(column.name.lower())
        if isinstance(column.literal, int):
            width, sql_type = len(str(column.literal)), SqlType("INT")
            default = LiteralDefault(Literal(0))
        else:
            width, sql_type = None, SqlType("VARCHAR", length=len(column.literal or ""))
            default = LiteralDefault(Literal(""))
        draft = ColumnDraft(
            column.name,
            TypeDraft(sql_type, offset=column.offset, width=width),
            column.offset,
            nullable=False,
            default=default if column.name.lower() not in keyed or line.ddl.literals_have_defaults == "all" else None,
        )
        return replace(define_column(draft, line.query.client_charset[1], self.server), draft=draft)

    def _row(self, number: int) -> Row:
        return self.source.rows[number] + self.literals

    def _sorted(self, numbers: list[int], conditions: list[Condition]) -> list[int]:
        """The rows by ORDER BY, which has to leave nothing open, and as many as LIMIT lets through."""
        ordered = self._in_order(numbers, conditions) if not self.select.order else list(numbers)
        for name, descending in reversed(self.select.order):
            index = self._index_of(name, self.select.offset)
            column = self.source.columns[index]
            if column.wire.collation is not None or column.holds_json:
                self._unsupported(f"with ORDER BY {name}, a text,")
            ordered.sort(key=lambda number: _rank(column, self.source.rows[number][index]), reverse=descending)
        if self.select.order:
            columns = [self._index_of(name, self.select.offset) for name, _ in self.select.order]
            if len({tuple(self.source.rows[number][index] for index in columns) for number in ordered}) < len(ordered):
                self._unsupported("with ORDER BY of values that several rows have")
        if self.select.limit is not None:
            count, skipped = self.select.limit
            ordered = ordered[skipped : skipped + count]
        return ordered

    def _in_order(self, numbers: list[int], conditions: list[Condition]) -> list[int]:
        """The rows as the server reads them: all keys that may serve must agree on the order."""
        source, rows = self.source, server_line(self.server).rows
        if len(numbers) < 2:
            return numbers
        clustering = source.clustering if source.table.engine == INNODB else None
        own = {part.column for part in clustering.parts} if clustering is not None else set()
        compared = {condition.index for condition in conditions}
        used = compared | {index for index, column in self.chosen if column.literal is None}
        ways: dict[str, tuple[int, ...]] = {}
        ranges = "no" if clustering is None else key_ranges(source, clustering.parts[0].column, conditions)
        merges = ranges
        if used <= own and ranges != "maybe":
            merges = rows.merges_covering_keys if ranges == "no" else rows.merges_covering_ranges
        if clustering is not None and merges != "no":
            ways[clustering.name] = tuple(by_key(source, clustering, numbers))
        if clustering is None or merges != "yes":
            ways[SCAN] = tuple(scanned(source, numbers))
        for key in source.table.keys:
            serves = used <= {part.column for part in key.parts} | own or key.parts[0].column in compared
            if key is not clustering and serves:
                ways[key.name] = tuple(by_key(source, key, numbers))
                if source.table.partition is not None:
                    ways[f"{key.name} in each partition"] = tuple(by_partition(source, ways[key.name]))
        return list(agreed(source, ways, "ORDER BY"))

    def _unsupported(self, form: str) -> NoReturn:
        raise SqlUnsupported(f"CREATE TABLE ... SELECT {form} is not supported yet", self.select.offset)

    @property
    def drafts(self) -> tuple[ColumnDraft, ...]:
        """All columns of the new table, as SHOW CREATE TABLE takes them."""
        own = {draft.name.lower(): draft for draft in self.statement.columns}
        taken = {column.name.lower() for _, column in self.chosen}
        first = tuple(draft for name, draft in own.items() if name not in taken)
        return first + tuple(
            replace(own[column.name.lower()], name=column.name)
            if column.name.lower() in own
            else self._draft(self.selectable[index], column)
            for index, column in self.chosen
        )

    def _draft(self, column: ColumnDefinition, named: SelectedColumn) -> ColumnDraft:
        written = column.draft
        width, comment = (None, "") if written is None else (written.type.width, written.comment)
        charset = CharsetClause() if written is None else written.type.charset
        if named.literal is not None and written is not None:
            return replace(written, name=named.name)
        return ColumnDraft(named.name, TypeDraft(column.type, charset, width=width), named.offset, comment=comment)

    def columns(self, own: tuple[ColumnDefinition, ...]) -> tuple[ColumnDefinition, ...]:
        """All columns of the new table, of which ``own`` are those that the statement defines."""
        self._check_own(own)
        defined = {column.name.lower(): column for column in own}
        taken = {column.name.lower() for _, column in self.chosen}
        columns = [column for name, column in defined.items() if name not in taken]
        for index, named in self.chosen:
            source = self.selectable[index]
            target = defined.get(named.name.lower())
            if target is None:
                columns.append(self._copied(source, named))
                continue
            if named.literal is not None:
                if target.type_facts.is_moment or target.holds_json or target.column.generated is not None:
                    self._unsupported(f"of a literal into column {target.name!r}")
            elif not _fits(source, target):
                self._unsupported(f"into column {target.name!r} of another type")
            columns.append(target.replace(name=named.name))
        return tuple(columns)

    def _check_own(self, own: tuple[ColumnDefinition, ...]) -> None:
        """What is printed of the definition is known for plain columns, keys and options."""
        for definition in own:
            column = definition.column
            computed = column.default_now or column.on_update_now or column.computed_default or column.generated
            if computed or not column.visible or definition.holds_json or column.type.srid is not None:
                self._unsupported(f"with such a definition of column {column.name!r}")
        keys = self.statement.keys
        if any(key.special or not key.visible or key.using or key.comment for key in keys) or any(
            name != "COMMENT" for name, _ in self.statement.options.idle
        ):
            self._unsupported("with options of keys or of the table")

    def _copied(self, source: ColumnDefinition, named: SelectedColumn) -> ColumnDefinition:
        """The source's column without its keys; AUTO_INCREMENT becomes DEFAULT 0."""
        column, line = source.column, server_line(self.server)
        odd = (
            column.default_now
            or column.on_update_now
            or column.computed_default
            or column.generated
            or source.holds_json
        )
        lost = column.type.name == "BIT" and column.default is not None and line.ddl.select_loses_bit_default
        if not column.visible or lost or (odd and not (column.type.name == "JSON" and column.default is None)):
            self._unsupported(f"of column {source.name!r}, whose definition the new table would get changed,")
        if (
            column.type.srid is not None
            or column.type.compressed
            or (facts_of(column.type).is_lob and column.has_default)
        ):
            self._unsupported(f"of column {source.name!r}")
        copied = source.replace(name=named.name, auto_increment=False)
        return copied.replace(has_default=True, default=0) if column.auto_increment else copied

    def insert(self, state: TableState, sql: str) -> RowsStatement:
        """Give the new table its rows.  Raises SqlError where a server would refuse one."""
        with at_offset(self.select.offset):
            conditions = parse_where(self.select.where, self.source)
            for condition in conditions:
                if not condition.column.type_facts.is_integer:
                    self._unsupported("with WHERE on columns that are no integers")
            numbers = self._sorted(matching(conditions, self.source), conditions)
            places = {column.name.lower(): index for index, column in self.chosen}
            for column in state.table.columns:
                is_given = column.name.lower() in places or column.auto_increment or column.has_default
                if not (is_given or column.nullable):
                    # Servers refuse it without rows too (recorded on 9.7 and 11.8).
                    raise ScenarioError(f"column {column.name!r} has no default, and the SELECT gives no value for it")
            changes = []
            # The server does not know how many rows there will be.
            numbering = Numbering(state.next_auto_increment, 1, is_transactional(state.table))
            for number in numbers:
                source = self._row(number)
                cells = [self._cell(column, places, source, numbering) for column in state.table.columns]
                state.add(tuple(cells))
                changes.append(RowChange(None, tuple(cells)))
            state.next_auto_increment = numbering.following
        assigned = {i for i, c in enumerate(state.table.columns) if c.name.lower() in places or c.auto_increment}
        return RowsStatement(
            kind="insert",
            table=state.table,
            changes=tuple(changes),
            text=StatementText(sql, frozenset(assigned)),
        )

    def _converted(self, column: TableColumn, literal: Value | None) -> Value:
        """A literal as the new table's column holds it."""
        wire = column_for(column.type, name=column.name, nullable=column.nullable, server=self.server)
        return taken(wire, literal, clips=False).value

    def _cell(self, column: TableColumn, places: dict[str, int], source: Row, numbering: Numbering) -> Value | None:
        index = places.get(column.name.lower())
        if index is not None:
            value = self._converted(column, source[index]) if index >= len(self.source.columns) else source[index]
            if value is None and not column.nullable:
                raise ScenarioError(f"column {column.name!r} cannot be NULL, but the SELECT gives NULL")
            if column.auto_increment:
                if not isinstance(value, int) or value <= 0:
                    self._unsupported("of 0, NULL or negative numbers into AUTO_INCREMENT")
                numbering.given(value)
            return value
        if column.auto_increment:
            number = numbering.generated()
            self.first_number = number if self.first_number is None else self.first_number
            return number
        if column.default_now or column.computed_default or column.generated is not None:
            self._unsupported(f"into a table with column {column.name!r}, which it does not fill,")
        return column.default


def _rank(column: ColumnDefinition, value: Value | None) -> tuple[bool, Any]:
    """NULL comes first."""
    return value is not None, value if value is None else sort_value(column, value)


def _fits(source: ColumnDefinition, column: ColumnDefinition) -> bool:
    """Whether the source's values are the column's as they are."""
    if source.holds_json or column.holds_json or column.column.generated is not None:
        return False
    ours, theirs = column.type, source.type
    if ours.name == theirs.name == "VARCHAR":
        return (ours.length or 0) >= (theirs.length or 0) and ours.collation == theirs.collation
    return replace(ours, zerofill=False) == replace(theirs, zerofill=False)
