"""Queries over the tables of the catalog, row by row.

The rows of a query come in the order of a server where that is certain: where servers could read tables in several ways
that give several orders, the query is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from forge.engine.dictionary.catalog import declared_name
from forge.engine.dictionary.table_state import TableState
from forge.engine.rows.aggregates import AGGREGATES, Aggregate, aggregate_of, group_key
from forge.engine.rows.context import DmlContext
from forge.engine.rows.joins import Joined, Relation
from forge.engine.rows.row_order import in_partitions, rank
from forge.engine.rows.scope import Query, ResultColumn, Scope, ScopeCells
from forge.errors import ScenarioError, UnsupportedError
from forge.sql.ast.expressions import Call, Cast, ColumnName, Literal, Node, Variable
from forge.sql.ast.query_trees import FromTable, Item, OrderTerm, Select
from forge.sql.ast.query_trees import Query as QueryText
from forge.sql.cursor import Cursor
from forge.sql.expressions import Operand
from forge.sql.expressions.comparisons import sort_key
from forge.sql.expressions.evaluation import evaluate, truth
from forge.sql.parse.expressions import expression
from forge.sql.parse.queries import parse_query

Result = list[tuple[Operand, ...]]
_UNORDERED = "the order of the query's rows depends on how a server reads its tables"


def read_query(sql: str, outer: Scope) -> Query:
    """A subquery of a statement.  Raises SqlError, ScenarioError, UnsupportedError."""
    return _compiled(parse_query(sql, outer.context.references.line.grammar), outer.context, outer)


def select_rows(sql: str, context: DmlContext) -> Result:
    """The rows of a query in the server's order.

    Raises SqlError, ScenarioError for what a server refuses, UnsupportedError for what is not computed here, and where
    the order is not certain.
    """
    return _compiled(parse_query(sql, context.references.line.grammar), context, None).ordered_rows(None)


def _compiled(text: QueryText, context: DmlContext, outer: Scope | None) -> _Union | _Select:
    if len(text.selects) == 1:
        return _Select(text.selects[0], context, outer)
    return _Union(text, context, outer)


class _Union:
    """Selects with UNION between them."""

    def __init__(self, text: QueryText, context: DmlContext, outer: Scope | None) -> None:
        self._text = text
        self._parts = [_Select(select, context, outer) for select in text.selects]
        self.columns: Sequence[ResultColumn] = self._parts[0].columns
        if len({len(part.columns) for part in self._parts}) > 1:
            raise ScenarioError("the SELECTs of a UNION have several numbers of columns (error 1222)")
        if not text.all or text.order:
            raise UnsupportedError("UNION without ALL, and ORDER BY of a UNION, are not supported yet")

    def rows(self, outer: ScopeCells | None) -> Result:
        return self._limited([row for part in self._parts for row in part.rows(outer)])

    def ordered_rows(self, outer: ScopeCells | None) -> Result:
        return self._limited([row for part in self._parts for row in part.ordered_rows(outer)])

    def _limited(self, rows: Result) -> Result:
        return _limited(rows, self._text.limit)


def _limited(rows: list[Any], limit: tuple[int, int] | None) -> list[Any]:
    return rows if limit is None else rows[limit[1] : limit[1] + limit[0]]


class _Select:
    """One SELECT: what it reads, and how its rows are made."""

    def __init__(self, select: Select, context: DmlContext, outer: Scope | None) -> None:
        self.context, self._limit, self._distinct = context, select.limit, select.distinct
        relations = [relation_of(one, context, outer) for one in select.sources]
        self.scope = Scope([one.source for one in relations], context, read_query, outer)
        self._aggregates: dict[str, Aggregate] = {}
        self._joined = Joined(relations, select.sources, select.where, self.scope)
        items = [made for item in select.items for made in self._items(item, select.sources)]
        self._names = {item.name.lower(): item.tree for item in items if item.tree is not None}
        self._trees = [self._bound(item.tree) for item in items if item.tree is not None]
        self._group = [self._bound(self._named(node, items, first="column")) for node in select.group]
        self._having = None if select.having is None else self._bound(self._named(select.having, items, first="column"))
        self._order = [(self._bound(self._named(node, items)), falls) for node, falls in select.order]
        self._is_grouped = bool(self._group or self._aggregates)
        self.columns: Sequence[ResultColumn] = [
            ResultColumn(item.name, self.scope.strength(tree)) for item, tree in zip(items, self._trees, strict=True)
        ]

    def _items(self, item: Item, sources: Sequence[FromTable]) -> list[Item]:
        """``*`` as its columns."""
        if item.tree is not None:
            return [item]
        found: list[Item] = []
        seen: set[str] = set()
        for source in self.scope.sources:
            if item.table is not None and item.table.lower() != source.alias:
                continue
            for column in source.columns:
                is_hidden = not (
                    isinstance(column, ResultColumn) or (column.column.visible and not column.column.system)
                )
                if is_hidden or (item.table is None and column.name.lower() in self.scope.joined & seen):
                    continue
                seen.add(column.name.lower())
                found.append(Item(ColumnName(column.name, source.alias), column.name))
        if not found:
            raise ScenarioError("SELECT * of no table (error 1096)", expected="a table of FROM")
        return found

    def _named(self, node: Node, items: Sequence[Item], *, first: str = "item") -> Node:
        """A term with what it names of the result: by place, or by name."""
        if isinstance(node, Literal) and isinstance(node.value, int) and not isinstance(node.value, bool):
            if not 1 <= node.value <= len(items):
                raise ScenarioError(f"there is no column {node.value} in the result (error 1054)")
            return items[node.value - 1].tree or node
        match node:
            case ColumnName(table=None) if node.name.lower() in self._names:
                is_column = first == "column" and self.scope.find(node) is not None
                return node if is_column else self._names[node.name.lower()]
            case Call() if node.name not in AGGREGATES:
                parts = (part if isinstance(part, Literal) else self._named(part, items, first=first)
                         for part in node.arguments)  # fmt: skip
                return Call(node.name, tuple(parts), node.start)
            case Cast():
                return Cast(self._named(node.operand, items, first=first), node.type)
        return node

    def _bound(self, node: Node) -> Node:
        return self.scope.bound(self._without_aggregates(node))

    def _without_aggregates(self, node: Node) -> Node:
        """The expression with names of values that each group has."""
        if isinstance(node, Call) and node.name in AGGREGATES:
            aggregate = aggregate_of(node, self.scope)
            name = f"@@aggregate.{len(self._aggregates)}"
            self._aggregates[name] = aggregate
            is_text = aggregate.name in ("MIN", "MAX", "GROUP_CONCAT", "ANY_VALUE") and bool(aggregate.arguments)
            self.scope.strengths[name] = self.scope.strength(aggregate.arguments[0]) if is_text else None
            return Variable(name)
        if isinstance(node, Call):
            return Call(node.name, tuple(map(self._without_aggregates, node.arguments)), node.start)
        return Cast(self._without_aggregates(node.operand), node.type) if isinstance(node, Cast) else node

    # Rows.

    def rows(self, outer: ScopeCells | None) -> Result:
        """The rows in some order, which is the server's only where the result is limited."""
        if self._limit is not None and not self._is_grouped:
            return self.ordered_rows(outer)
        return self._run(self._joined.rows(outer), outer)[0]

    def ordered_rows(self, outer: ScopeCells | None) -> Result:
        found, is_certain = self._run(self._joined.rows(outer), outer)
        if is_certain or len(found) < 2 or not self._joined.relations:
            return found
        for other in self._joined.other_orders(outer):
            if self._run(other, outer)[0] != found:
                raise UnsupportedError(_UNORDERED, expected="ORDER BY of a unique key, or `rows`")
        return found

    def _run(self, combined: list[ScopeCells], outer: ScopeCells | None) -> tuple[Result, bool]:
        """The result of these rows of FROM, and whether ORDER BY alone decides its order."""
        if self._is_grouped:
            combined = self._groups(combined, outer)
        if self._having is not None:
            combined = [cells for cells in combined if truth(evaluate(self._having, cells))]
        is_certain, keys = False, []
        if self._order:
            keys = [[sort_key(cells, evaluate(node, cells), node) for node, _ in self._order] for cells in combined]
            places = list(range(len(combined)))
            for term, (node, falls) in reversed(list(enumerate(self._order))):
                ranks = [self._rank(node, cells, keys[place][term]) for place, cells in enumerate(combined)]
                places.sort(key=ranks.__getitem__, reverse=falls)
            combined = [combined[place] for place in places]
            keys = [keys[place] for place in places]
            is_certain = all(first != second for first, second in pairwise(keys))
        rows = [tuple(evaluate(tree, cells) for tree in self._trees) for cells in combined]
        if self._distinct:
            rows = self._different(rows, combined)
        if self._limit is not None and keys and not is_certain and not self._distinct:
            self._check_ties(rows, keys)
        return _limited(rows, self._limit), is_certain

    def _rank(self, node: Node, cells: ScopeCells, key: Any) -> Any:
        """ENUM and SET are ordered by their numbers."""
        number = cells.number_of_members(node)
        return key if number is None else (True, number)

    def _check_ties(self, rows: Result, keys: list[Any]) -> None:
        """Which of equal rows LIMIT lets through is not known."""
        assert self._limit is not None
        end = sum(self._limit)
        for place in range(min(end, len(rows) - 1)):
            if keys[place] == keys[place + 1] and rows[place] != rows[place + 1]:
                raise UnsupportedError(
                    "LIMIT behind ORDER BY that leaves rows equal: " + _UNORDERED, expected="ORDER BY of a unique key"
                )

    def _different(self, rows: Result, combined: list[ScopeCells]) -> Result:
        found: dict[Any, tuple[Operand, ...]] = {}
        for row, cells in zip(rows, combined, strict=True):
            key = tuple(group_key(cells, value, tree) for value, tree in zip(row, self._trees, strict=True))
            found.setdefault(key, row)
        return list(found.values())

    def _groups(self, combined: list[ScopeCells], outer: ScopeCells | None) -> list[ScopeCells]:
        """One row of cells for each group, with the values of its aggregates."""
        groups: dict[Any, list[ScopeCells]] = {}
        for cells in combined:
            key = tuple(group_key(cells, evaluate(node, cells), node) for node in self._group)
            groups.setdefault(key, []).append(cells)
        if not groups and not self._group:
            groups[()] = []
        chosen = list(groups.values())
        if self._group and self.context.references.line.rows.sorts_groups:
            chosen.sort(key=lambda rows: [sort_key(rows[0], evaluate(node, rows[0]), node) for node in self._group])
        made = []
        for rows in chosen:
            first = rows[0] if rows else self.scope.cells([None] * len(self.scope.sources), outer)
            for name, aggregate in self._aggregates.items():
                first[name] = aggregate.of(rows)
            made.append(first)
        return made


def relation_of(one: FromTable, context: DmlContext, outer: Scope | None) -> Relation:
    """What FROM names.  Raises ScenarioError for a table that is not there."""
    if isinstance(one.table, QueryText):
        query = _compiled(one.table, context, outer)
        return Relation.of_query(one.alias, query.columns, query.ordered_rows)
    name = ".".join(f"`{part}`" for part in (one.table.database, one.table.name) if part is not None)
    state = context.catalog.table(declared_name(name), context.current_database)
    choose = (lambda numbers: in_partitions(state, numbers, one.partitions)) if one.partitions else None
    return Relation.of_table(one.alias, state, choose)


# ORDER BY of UPDATE and DELETE.


def order_terms(sql: str, context: DmlContext) -> list[OrderTerm]:
    """The terms of ORDER BY, and whether each is DESC.  Raises SqlError."""
    cursor = Cursor(sql, context.references.line.grammar)
    terms: list[OrderTerm] = []
    while not terms or cursor.accept_mark(","):
        terms.append((expression(cursor), cursor.accept_any("ASC", "DESC") == "DESC"))
    if not cursor.at_end():
        cursor.wrong("',' or the end of ORDER BY")
    return terms


def ordered_by(sql: str, scope: Scope, state: TableState, numbers: list[int]) -> list[int]:
    """The rows of a table in the order of ORDER BY.  Raises SqlError, UnsupportedError."""
    rows = list(numbers)
    for term, falls in reversed(order_terms(sql, scope.context)):
        rows.sort(key=_place(scope.bound(term), scope, state), reverse=falls)
    return rows


def _place(node: Node, scope: Scope, state: TableState) -> Callable[[int], Any]:
    place = scope.places.get(node.name) if isinstance(node, ColumnName) else None
    if place is not None and not state.columns[place[1]].type_facts.is_text:
        return rank(state, place[1])

    def place_of(number: int) -> tuple[bool, Any]:
        cells = scope.cells([state.rows[number]])
        return sort_key(cells, evaluate(node, cells), node)

    return place_of
