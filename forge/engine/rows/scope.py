"""What the expressions of a statement may name: the columns of its tables by their aliases, what its session knows, and
what its subqueries give.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from forge.charsets import collation, default_collation
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.json_cells import document_of_cell, stored_times
from forge.engine.rows.context import DmlContext
from forge.engine.rows.defaults import check_reads, omitted_value
from forge.errors import ScenarioError, UnsupportedError, nearest
from forge.sql.ast.expressions import Call, Cast, ColumnName, Literal, Node, Unread, Variable, walk
from forge.sql.expressions import Cells, Operand, computable
from forge.sql.expressions.types import KEEPS_COLLATION, UTF8MB4_BIN
from forge.values.json.binary import Json

_BINARY = 63
#: How strongly a text insists on its collation (0 is COLLATE), as servers count it.
_CHOSEN, _OF_COLUMN, _OF_SERVER, _OF_LITERAL, _OF_NUMBER = 0, 2, 3, 4, 5
_OF_JSON = ("JSON_VALUE", "->>", "JSON_UNQUOTE")
_NAMES = ("DATABASE", "SCHEMA", "USER", "CURRENT_USER", "SESSION_USER", "SYSTEM_USER", "VERSION")
#: Functions that name days and months as lc_time_names says.
_OF_LOCALE, _ENGLISH = ("DAYNAME", "MONTHNAME", "DATE_FORMAT", "TIME_FORMAT"), "en_US"
#: Functions of MySQL whose numbers no text has a collation for.
Strength = tuple[int, int]


class ResultColumn(Struct, frozen=True):
    """A column of a query's result, whose cells are operands."""

    name: str
    collation: Strength | None = None

    def operand(self, value: Operand) -> Operand:
        return value


class Source(Struct, frozen=True):
    """Rows under the name by which a statement's expressions call them.  ``hidden``: only by that name, or where no
    other has the column.
    """

    alias: str
    columns: Sequence[ColumnDefinition | ResultColumn]
    database: str | None = None
    hidden: bool = False
    places: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls, alias: str, columns: Sequence[ColumnDefinition | ResultColumn], database: str | None = None, *,
        names: Sequence[str] | None = None, hidden: bool = False,
    ) -> Source:  # fmt: skip
        named = [column.name for column in columns] if names is None else names
        places = {name.lower(): place for place, name in reversed(list(enumerate(named)))}
        return cls(alias.lower(), columns, database, hidden, places)


class Query(Protocol):
    """A subquery that can be run."""

    columns: Sequence[ResultColumn]

    def rows(self, outer: ScopeCells | None) -> list[tuple[Operand, ...]]:
        """What it gives where ``outer`` are the cells around it."""


class Scope:
    """The sources of a query or statement, inside those around it."""

    def __init__(
        self,
        sources: Sequence[Source],
        context: DmlContext,
        read: Callable[[str, Scope], Query],
        outer: Scope | None = None,
    ) -> None:
        self.sources, self.context, self.outer = sources, context, outer
        self._read = read
        self._depth: int = 0 if outer is None else outer._depth + 1
        #: By the key of a column that an expression names: its source and its place there.
        self.places: dict[str, tuple[int, int]] = {}
        self.constants: dict[str, Operand] = {}
        #: Columns that USING joins: the first source has them.
        self.joined: set[str] = set()
        #: What stands for an aggregate, by its key.
        self.strengths: dict[str, Strength | None] = {}
        self._queries: dict[str, Query] = {}
        self._collations: dict[tuple[int, ...], tuple[int, tuple[Node, ...]]] = {}
        #: Whether a subquery names what is outside of it.
        self.is_correlated = False

    # Names.

    def find(self, name: ColumnName) -> tuple[int, int] | None:
        """The source that has a column, and its place there.  Raises ScenarioError for a name that several have."""
        wanted, table = name.name.lower(), None if name.table is None else name.table.lower()
        found = [
            (index, source.places[wanted])
            for index, source in enumerate(self.sources)
            if wanted in source.places
            and (table is None or table == source.alias)
            and (name.database is None or source.database in (None, name.database))
        ]
        shown = [place for place in found if not self.sources[place[0]].hidden] or found
        if len(shown) > 1 and wanted not in self.joined:
            raise ScenarioError(f"column {name.name!r} is ambiguous (error 1052)", expected="its table before it")
        return shown[0] if shown else None

    def bound(self, node: Node) -> Node:
        """The expression with the keys of its columns.  Raises ScenarioError, UnsupportedError."""
        computed = computable(node, "", self.context.references.line.grammar, in_statement=True)
        if computed.calls(*_OF_LOCALE) and self.context.known.get("@@lc_time_names", _ENGLISH) != _ENGLISH:
            raise UnsupportedError("names of days and months in another language are not supported yet")
        return self._bound(node)

    def _bound(self, node: Node) -> Node:
        match node:
            case ColumnName():
                return dataclasses.replace(node, name=self.key(node), table=None, database=None)
            case Call(name="VALUES" | "VALUE", arguments=(ColumnName() as column,)):
                return dataclasses.replace(
                    column, name=self.key(dataclasses.replace(column, table="values()")), table=None
                )
            case Call(name="DEFAULT", arguments=(ColumnName() as column,)):
                return dataclasses.replace(column, name=self._default(column), table=None)
            case Call():
                return dataclasses.replace(node, arguments=tuple(self._bound(part) for part in node.arguments))
            case Cast():
                return replace(node, operand=self._bound(node.operand))
        return node

    def key(self, name: ColumnName) -> str:
        """What a column is called among the cells.  Raises ScenarioError for one that is not there."""
        place = self.find(name)
        if place is not None:
            index, column = place
            key = f"{self._depth}.{index}.{name.name.lower()}"
            if key not in self.places:
                self.places[key] = place
                defined = self.sources[index].columns[column]
                if isinstance(defined, ColumnDefinition):
                    check_reads([defined], self.context.time.offset)
            return key
        if self.outer is not None:
            self.is_correlated = True
            return self.outer.key(name)
        names = [column.name for source in self.sources for column in source.columns]
        shown = name.name if name.table is None else f"{name.table}.{name.name}"
        raise ScenarioError(
            f"there is no column {shown!r} here (error 1054)",
            expected=f"one of {', '.join(names)}" if names else "a value",
            suggestion=nearest(name.name, names),
        )

    def _default(self, name: ColumnName) -> str:
        place = self.find(name)
        if place is None:
            return self.key(name)
        column = self.sources[place[0]].columns[place[1]]
        assert isinstance(column, ColumnDefinition)
        if column.generated is not None or column.column.auto_increment:
            raise UnsupportedError(f"DEFAULT({column.name}) is not supported yet", expected="a value")
        key = f"{self._depth}.default.{place[0]}.{column.name.lower()}"
        self.constants[key] = column.operand(omitted_value(column, self.context.time, clips=self.context.clips))
        self.strengths[key] = self._of_column(*place)
        return key

    def reads(self, source: int = 0) -> frozenset[int]:
        """The places of a source's columns that expressions name."""
        return frozenset(place for index, place in self.places.values() if index == source)

    def cells(self, rows: Sequence[Sequence[Any] | None], outer: Cells | None = None) -> ScopeCells:
        """The cells of a row of each source; None is a row that an outer join has not."""
        return ScopeCells(self, rows, outer)

    # What expressions ask for.

    def query(self, node: Unread) -> Query:
        """A subquery.  Raises UnsupportedError for what is none."""
        if not node.sql.startswith("("):
            raise UnsupportedError(f"{node.sql} in expressions is not supported yet")
        if node.sql not in self._queries:
            self._queries[node.sql] = self._read(node.sql, self)
        return self._queries[node.sql]

    def value(self, name: str) -> Operand:
        if name in self.constants:
            return self.constants[name]
        if name == "@@now":
            return self.context.time.local
        if name == "@@utc_offset":
            return self.context.time.offset
        return self.context.session_value(name)

    def collation(self, *nodes: Node) -> int:
        key = tuple(map(id, nodes))
        if key not in self._collations:
            found = self._joined_collation([self.strength(node) for node in nodes])
            self._collations[key] = (_BINARY if found is None else found[1]), nodes
        return self._collations[key][0]

    def strength(self, node: Node) -> Strength | None:
        """The collation of a node's text, behind how strongly it insists on it; None of a number."""
        connection = self.context.connection_collation
        match node:
            case ColumnName():
                return self._of_key(node.name)
            case Literal(value=str(), charset=str() as name):
                return _OF_LITERAL, default_collation(name, self._server).id
            case Literal(value=str()):
                return _OF_LITERAL, connection
            case Literal(value=bytes()):
                return _OF_LITERAL, _BINARY
            case Literal():
                return None
            case Cast(type=target):
                return (_OF_COLUMN, connection) if target.name in ("CHAR", "NCHAR") else None
            case Call(name="COLLATE", arguments=(_, Literal(value=str() as name))):
                return _CHOSEN, collation(name, self._server).id
            case Call(name=name) if name in _OF_JSON:
                return _OF_COLUMN, UTF8MB4_BIN
            case Call(name=name) if name in _NAMES:
                return _OF_SERVER, default_collation("utf8mb3", self._server).id
            case Call(name="IF"):
                parts = node.arguments[1:]
            case Call(name="CASE"):
                parts = (*node.arguments[1:-1:2], node.arguments[-1])
            case Call(name=name) if name in KEEPS_COLLATION:
                parts = node.arguments
            case Unread():
                columns = self.query(node).columns
                return columns[0].collation if columns else None
            case Variable() if node.name in self.strengths:
                return self.strengths[node.name]
            case Variable():
                known = self.context.variables.get(node.name.removeprefix("@"))
                return _OF_COLUMN, connection if known is None or known.collation is None else known.collation
            case _:
                return _OF_LITERAL, connection
        return self._joined_collation([self.strength(part) for part in parts])

    @property
    def _server(self) -> str:
        return self.context.references.line.name

    def _of_key(self, key: str) -> Strength | None:
        if key in self.strengths:
            return self.strengths[key]
        if key in self.places:
            return self._of_column(*self.places[key])
        return None if self.outer is None else self.outer._of_key(key)

    def _of_column(self, index: int, place: int) -> Strength | None:
        column = self.sources[index].columns[place]
        if isinstance(column, ResultColumn):
            return column.collation
        if column.type_facts.is_bytes:
            return _OF_COLUMN, _BINARY
        number = column.wire.collation
        return None if number is None or not column.type_facts.has_charset else (_OF_COLUMN, number)

    def _joined_collation(self, strengths: Sequence[Strength | None]) -> Strength | None:
        """The collation that several texts agree on.  Raises UnsupportedError where they do not (error 1267)."""
        known = [strength for strength in strengths if strength is not None]
        if not known:
            return None
        level = min(strength for strength, _ in known)
        chosen = list(dict.fromkeys(number for strength, number in known if strength == level))
        if len(chosen) == 1:
            return level, chosen[0]
        entries = [collation(number, self._server) for number in chosen]
        binary = [entry for entry in entries if entry.name.endswith("_bin")]
        if level and len({entry.charset for entry in entries}) == 1 and len(binary) == 1:
            return level, binary[0].id
        if _BINARY in chosen:
            return level, _BINARY
        names = ", ".join(entry.name for entry in entries)
        raise UnsupportedError(f"texts of several collations ({names}) beside each other", expected="COLLATE")


class ScopeCells(Cells):
    """Rows of a scope's sources; a cell is made an operand when somebody asks for it."""

    def __init__(self, scope: Scope, rows: Sequence[Sequence[Any] | None], outer: Cells | None) -> None:
        super().__init__({}, self._document, self)
        self.scope, self._rows, self._outer = scope, rows, outer
        self.keeps_quotients = scope.context.references.line.values.quotients_keep_groups

    def __missing__(self, name: str) -> Operand:
        place = self.scope.places.get(name)
        if place is None:
            return self._outer[name] if self._outer is not None else self.scope.value(name)
        row = self._rows[place[0]]
        cell = None if row is None else row[place[1]]
        value = self[name] = self.scope.sources[place[0]].columns[place[1]].operand(cell)
        return value

    def row(self, index: int) -> Sequence[Any] | None:
        """The row of a source; None where an outer join has none."""
        return self._rows[index]

    def number_of_members(self, node: Node) -> int | None:
        """What an ENUM or SET is stored as; None of other columns, and of expressions."""
        place = self.scope.places.get(node.name) if isinstance(node, ColumnName) else None
        if place is None:
            return None
        row, column = self._rows[place[0]], self.scope.sources[place[0]].columns[place[1]]
        if row is None or not isinstance(column, ColumnDefinition) or not column.type_facts.has_members:
            return None
        number: int | None = row[place[1]]
        return number

    def _document(self, name: str) -> Json:
        place = self.scope.places.get(name)
        if place is None:
            assert self._outer is not None
            return self._outer.document(name)
        row, column = self._rows[place[0]], self.scope.sources[place[0]].columns[place[1]]
        if not isinstance(column, ColumnDefinition):
            raise UnsupportedError(f"{column.name} of a query inside a JSON document is not supported yet")
        dialect = column.wire.dialect
        return stored_times(document_of_cell(column, None if row is None else row[place[1]]), dialect)

    def collation(self, *nodes: Node) -> int:
        return self.scope.collation(*nodes)

    def rows(self, query: Unread, row: Any) -> list[tuple[Operand, ...]]:
        return self.scope.query(query).rows(self)

    def value(self, name: str) -> Operand:
        return self.scope.value(name)


def has_subquery(node: Node) -> bool:
    return any(isinstance(part, Unread) for part in walk(node))
