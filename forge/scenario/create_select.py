"""CREATE TABLE ... SELECT of one table: the columns that the new table gets of it, and its rows.

Recorded on MySQL 9.7, MariaDB 10.11 and 11.8 (docs/servers.md, Q).  A column of the SELECT that the statement defines
itself has the place of the SELECT; the statement's other columns come first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from forge.compile.grouping import is_transactional
from forge.compile.statements import Context, Origin, RowChange, RowsStatement
from forge.compile.tables import Row, TableColumn
from forge.errors import ScenarioError
from forge.scenario.column_sizes import LOBS
from forge.scenario.definition import ColumnDefinition, Definition
from forge.scenario.engines import INNODB
from forge.scenario.numbering import Numbering
from forge.scenario.state import TableState
from forge.scenario.syntax import CharsetClause, ColumnDraft, CreateTable, SelectDraft, SelectedColumn, TypeDraft
from forge.scenario.tokens import SqlError, SqlUnsupported, at_offset
from forge.scenario.where import matching, parse_where
from forge.servers import server_line
from forge.values.base import Value

_MOMENTS = ("DATETIME", "TIMESTAMP")
_INTEGERS = ("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT")


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
        #: Indexes in the source, with the names in the new table.
        self.chosen = [(source.definition.index_of(column.column, column.offset), column) for column in named]
        names = [column.name.lower() for _, column in self.chosen]
        if len(set(names)) < len(names):
            raise SqlError("the SELECT gives two columns of one name", select.offset, expected="AS with another name")
        if source.definition.partitions is not None or source.is_shuffled:
            self._unsupported("from a table with partitions, or rows in the places of deleted ones,")
        #: The first AUTO_INCREMENT value that was generated, and whether a TIMESTAMP was copied.
        self.first_number: int | None = None
        self.copies_timestamps = False

    def _in_order(self, numbers: list[int]) -> list[int]:
        """The rows as the server reads them: all keys that may serve must agree on the order."""
        definition = self.source.definition
        clustered = definition.engine == INNODB
        clustering = self.source.clustering if clustered else None
        own = {part.column for part in clustering.parts} if clustering is not None else set()
        used = {index for index, _ in self.chosen}
        where = {definition.index_of(name, self.select.offset) for name in self.select.where}
        found = self.source.ordered(numbers) if clustered else sorted(numbers)
        for key in self.source.table.keys:
            parts = {part.column for part in key.parts}
            if clustering is not None and parts == own:
                continue
            if len(found) > 1 and (used | where <= parts | own or key.parts[0].column in where):
                text = any(self.source.columns[index].wire.collation is not None for index in parts)
                if text or self.source.ordered_by(key, numbers) != found:
                    self._unsupported("that a secondary key could serve, whose order the rows would have,")
        return found

    def _unsupported(self, what: str) -> NoReturn:
        raise SqlUnsupported(f"CREATE TABLE ... SELECT {what} is not supported yet", self.select.offset)

    @property
    def drafts(self) -> tuple[ColumnDraft, ...]:
        """All columns of the new table, as SHOW CREATE TABLE takes them."""
        own = {draft.name.lower(): draft for draft in self.statement.columns}
        taken = {column.name.lower() for _, column in self.chosen}
        first = tuple(draft for name, draft in own.items() if name not in taken)
        return first + tuple(
            replace(own[column.name.lower()], name=column.name)
            if column.name.lower() in own
            else self._draft(self.source.columns[index], column)
            for index, column in self.chosen
        )

    def _draft(self, column: ColumnDefinition, named: SelectedColumn) -> ColumnDraft:
        written = column.draft
        text, comment = ("", "") if written is None else (written.type.text, written.comment)
        charset = CharsetClause() if written is None else written.type.charset
        return ColumnDraft(named.name, TypeDraft(column.type, charset, text=text), named.offset, comment=comment)

    def columns(self, own: tuple[ColumnDefinition, ...]) -> tuple[ColumnDefinition, ...]:
        """All columns of the new table, of which ``own`` are those that the statement defines."""
        self._check_own(own)
        defined = {column.name.lower(): column for column in own}
        taken = {column.name.lower() for _, column in self.chosen}
        found = [column for name, column in defined.items() if name not in taken]
        for index, named in self.chosen:
            source = self.source.columns[index]
            known = defined.get(named.name.lower())
            if known is None:
                found.append(self._copied(source, named))
                continue
            if not _fits(source, known):
                self._unsupported(f"into column {known.name!r} of another type")
            found.append(known.replace(name=named.name))
        return tuple(found)

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
        lost = column.type.name == "BIT" and column.default is not None and line.family == "mysql"
        if not column.visible or lost or (odd and not (column.type.name == "JSON" and column.default is None)):
            self._unsupported(f"of column {source.name!r}, whose definition the new table would get changed,")
        if column.type.srid is not None or column.type.compressed or (column.type.name in LOBS and column.has_default):
            self._unsupported(f"of column {source.name!r}")
        copied = source.replace(name=named.name, auto_increment=False)
        return copied.replace(has_default=True, default=0) if column.auto_increment else copied

    def charset(self, drafts: tuple[ColumnDraft, ...], definition: Definition) -> tuple[ColumnDraft, ...]:
        """The drafts in which copied columns name their character set, where it is not the new table's."""
        own = {draft.name.lower() for draft in self.statement.columns}
        collations = {column.name: column.type.collation for column in definition.columns}
        return tuple(
            replace(draft, type=replace(draft.type, charset=CharsetClause(charset="named")))
            if draft.name.lower() not in own and collations[draft.name] not in (None, definition.collation)
            else draft
            for draft in drafts
        )

    def insert(self, state: TableState, sql: str) -> RowsStatement:
        """Give the new table its rows.  Raises SqlError where a server would refuse one."""
        with at_offset(self.select.offset):
            conditions = parse_where(self.select.where, self.source)
            for condition in conditions:
                if condition.column.type.name not in _INTEGERS:
                    self._unsupported("with WHERE on columns that are no integers")
            numbers = self._in_order(matching(conditions, self.source))
            places = {column.name.lower(): index for index, column in self.chosen}
            changes = []
            # The server does not know how many rows there will be.
            numbering = Numbering(state.next_auto_increment, 1, is_transactional(state.table))
            moments = [index for index, _ in self.chosen if self.source.columns[index].type.name == "TIMESTAMP"]
            self.copies_timestamps = any(
                self.source.rows[number][index] is not None for number in numbers for index in moments
            )
            for number in numbers:
                source = self.source.rows[number]
                cells = [self._cell(column, places, source, numbering) for column in state.table.columns]
                state.add(tuple(cells))
                changes.append(RowChange(None, tuple(cells)))
            state.next_auto_increment = numbering.following
        assigned = {i for i, c in enumerate(state.table.columns) if c.name.lower() in places or c.auto_increment}
        return RowsStatement(
            kind="insert",
            table=state.table,
            changes=tuple(changes),
            sql=sql,
            assigned=frozenset(assigned),
            context=self._context(state, numbers, moments),
        )

    def _context(self, state: TableState, numbers: list[int], moments: list[int]) -> Context:
        """What the server had asked the time zone for: literal defaults of moments, values of TIMESTAMP columns."""
        first = self.source.rows[numbers[0]] if numbers else ()
        copied = any(first and first[index] is not None for index in moments)
        defaults = any(c.type.name in _MOMENTS and c.default is not None for c in state.table.columns)
        later: frozenset[Origin] = frozenset(("literal",) if self.copies_timestamps else ())
        origins = tuple(later if c.type.name == "TIMESTAMP" else frozenset() for c in state.table.columns)
        return Context(uses_zone=copied or defaults, origins=origins)

    def _cell(self, column: TableColumn, places: dict[str, int], source: Row, numbering: Numbering) -> Value | None:
        index = places.get(column.name.lower())
        if index is not None:
            value = source[index]
            if value is None and not column.nullable:
                raise ScenarioError(f"column {column.name!r} cannot be NULL, and the SELECT gives it")
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
        if not column.nullable and not column.has_default:
            raise ScenarioError(f"column {column.name!r} has no default, and the SELECT does not give it")
        return column.default


def _fits(source: ColumnDefinition, column: ColumnDefinition) -> bool:
    """Whether the source's values are the column's as they are."""
    if source.holds_json or column.holds_json or column.column.generated is not None:
        return False
    ours, theirs = column.type, source.type
    if ours.name == theirs.name == "VARCHAR":
        return (ours.length or 0) >= (theirs.length or 0) and ours.collation == theirs.collation
    return replace(ours, zerofill=False) == replace(theirs, zerofill=False)
