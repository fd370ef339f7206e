"""The rows of FROM: tables and queries, nested loops over them, and the orders in which servers may go through them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, permutations
from typing import Any

from msgspec import Struct

from forge.engine.dictionary.table_state import TableState
from forge.engine.rows.row_order import as_read, by_key
from forge.engine.rows.scope import ResultColumn, Scope, ScopeCells, Source, has_subquery
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.tables import Key
from forge.sql.ast.expressions import Call, ColumnName, Literal, Node, walk
from forge.sql.ast.query_trees import FromTable
from forge.sql.expressions.evaluation import evaluate, truth

#: Combinations of rows that a query may look at, and other orders that are tried.
_MOST, _MOST_ORDERS = 2_000_000, 24
Rows = list[Sequence[Any]]


class Relation(Struct, frozen=True):
    """A table of FROM, or a query in parentheses: ``rows`` gives what it has, for the cells around."""

    source: Source
    state: TableState | None
    rows: Callable[[ScopeCells | None], Rows]
    choose: Callable[[list[int]], list[int]] | None = None

    @classmethod
    def of_table(
        cls, alias: str, state: TableState, choose: Callable[[list[int]], list[int]] | None = None
    ) -> Relation:
        source = Source.of(alias, state.columns, state.table.database)
        return cls(source, state, lambda outer: [], choose)

    @classmethod
    def of_query(
        cls, alias: str, columns: Sequence[ResultColumn], rows: Callable[[ScopeCells | None], Any]
    ) -> Relation:
        return cls(Source.of(alias, columns), None, lambda outer: list(rows(None)))

    def orders(self, used: frozenset[int], compared: set[int], outer: ScopeCells | None) -> list[Rows]:
        """Its rows in the orders in which servers may read them, the likeliest first.

        A key that holds all that the query asks for is read instead of the table (recorded on three servers).
        """
        state = self.state
        if state is None:
            return [self.rows(outer)]
        numbers = [number for number, row in state.rows.items() if state.is_current(row)]
        if self.choose is not None:
            numbers = self.choose(numbers)
        clustering = state.clustering
        plain = [key for key in state.table.keys if key is not clustering and _is_plain(key, state)]
        own = {part.column for part in clustering.parts} if clustering is not None else set()
        is_innodb = state.table.engine == "InnoDB"
        covering = [key for key in plain if is_innodb and used <= {part.column for part in key.parts} | own]
        by_first = [key for key in plain if key.parts[0].column in compared]
        by_primary = clustering is not None and clustering.parts[0].column in compared
        orders = [as_read(state, numbers, compared)]
        for key in (*covering, *by_first):
            orders.append(by_key(state, key, numbers))
        if covering and not by_primary and len(covering) == 1 and not by_first:
            orders = orders[1:]
        found: list[list[int]] = []
        for order in orders:
            if order not in found:
                found.append(order)
        return [[state.rows[number] for number in order] for order in found]


def _is_plain(key: Key, state: TableState) -> bool:
    """Whether a key has nothing but whole columns."""
    drafts = {made.name: draft for made, draft in zip(state.table.keys, state.definition.keys, strict=False)}
    draft = drafts.get(key.name)
    has_prefix = draft is None or any(part.prefix for part in draft.parts)
    return (
        key.kind in ("primary", "unique", "index")
        and not has_prefix
        and all(part.expression is None and part.column < len(state.columns) for part in key.parts)
    )


class Joined:
    """FROM and WHERE of a query."""

    def __init__(
        self, relations: Sequence[Relation], texts: Sequence[FromTable], where: Node | None, scope: Scope
    ) -> None:
        self.relations, self._texts, self._scope = relations, texts, scope
        if len(relations) > 2 and any(text.join == "right" for text in texts):
            raise UnsupportedError("RIGHT JOIN of more than two tables is not supported yet")
        self._on = [self._conditions(place, text) for place, text in enumerate(texts)]
        self._where = [] if where is None else [scope.bound(part) for part in conjuncts(where)]

    def _conditions(self, place: int, text: FromTable) -> list[Node]:
        """What joins a table to those before it."""
        using = text.using
        sources = self._scope.sources
        if using == ():
            before = {name for source in sources[:place] for name in source.places}
            using = tuple(name for name in sources[place].places if name in before)
        found = [] if text.on is None else [self._scope.bound(part) for part in conjuncts(text.on)]
        for name in using or ():
            first = next((source for source in sources[:place] if name.lower() in source.places), None)
            if first is None or name.lower() not in sources[place].places:
                raise ScenarioError(f"there is no column {name!r} to join (error 1054)", expected="one of both tables")
            pair = ColumnName(name, first.alias), ColumnName(name, sources[place].alias)
            found.append(self._scope.bound(Call("=", pair)))
            self._scope.joined.add(name.lower())
        return found

    def _compared(self, index: int) -> set[int]:
        """The columns of a source that WHERE compares with something else."""
        found: set[int] = set()
        for condition in (*self._where, *(part for on in self._on for part in on)):
            if isinstance(condition, Call) and condition.name in ("=", "<", "<=", ">", ">=", "<=>", "IN", "BETWEEN"):
                for side in condition.arguments:
                    place = self._scope.places.get(side.name) if isinstance(side, ColumnName) else None
                    if place is not None and place[0] == index:
                        found.add(place[1])
        return found

    def rows(self, outer: ScopeCells | None) -> list[ScopeCells]:
        """The rows in the likeliest order."""
        if not self.relations:
            cells = self._scope.cells([], outer)
            return [cells] if all(truth(evaluate(part, cells)) for part in self._where) else []
        scans = [scan[0] for scan in self._scans(outer)]
        return list(self._combined(scans, self.first_order(), outer))

    def other_orders(self, outer: ScopeCells | None) -> Iterator[list[ScopeCells]]:
        """The rows in the other orders that are possible."""
        scans = self._scans(outer)
        orders = [self.first_order()]
        if len(self.relations) > 1 and all(text.join == "inner" for text in self._texts) and not self._is_looked_up():
            orders = list(islice(permutations(range(len(self.relations))), 6))
        likeliest = [scan[0] for scan in scans]
        choices = [likeliest]
        for index, scan in enumerate(scans):
            # What is joined by a hash comes the other way round.
            turned = [scan[0][::-1]] if len(scans) > 1 and not self._is_looked_up() else []
            for other in (*scan[1:], *turned):
                choices.append([*likeliest[:index], other, *likeliest[index + 1 :]])
        every = ((order, choice) for choice in choices for order in orders)
        for order, choice in islice(every, 1, _MOST_ORDERS):
            yield list(self._combined(choice, order, outer))

    def _scans(self, outer: ScopeCells | None) -> list[list[Rows]]:
        return [
            relation.orders(self._scope.reads(index), self._compared(index), outer)
            for index, relation in enumerate(self.relations)
        ]

    def first_order(self) -> tuple[int, ...]:
        """The likeliest order of the tables: a RIGHT JOIN goes from its second table to the first, and a join by a
        unique key to the table that has it.
        """
        turns = any(text.join == "right" for text in self._texts)
        by_key_of_first = len(self.relations) == 2 and self._has_unique(0) and not self._has_unique(1)
        is_inner = all(text.join == "inner" for text in self._texts)
        places = range(len(self.relations))
        return tuple(reversed(places)) if turns or (by_key_of_first and is_inner) else tuple(places)

    def _is_looked_up(self) -> bool:
        """Whether the second of two tables is found by a unique key, and the first has no key for the other way."""
        if len(self.relations) != 2:
            return False
        outer, inner = self.first_order()
        state = self.relations[outer].state
        compared = self._compared(outer)
        firsts = set() if state is None else {key.parts[0].column for key in state.table.keys}
        joined = self._join_columns(outer)
        has_constant = any(
            isinstance(part, Call) and any(isinstance(side, Literal) for side in part.arguments) for part in self._where
        )
        if any(text.join != "inner" for text in self._texts):
            return self._has_unique(inner)
        is_certain = self._scope.context.references.line.rows.joins_by_unique_keys
        return (
            is_certain and self._has_unique(inner) and not firsts & joined and not (has_constant and compared & firsts)
        )

    def _join_columns(self, index: int) -> set[int]:
        """The columns of a source that are equal to columns of others."""
        found: set[int] = set()
        for part in (*self._where, *(part for on in self._on for part in on)):
            if not (isinstance(part, Call) and part.name == "="):
                continue
            places = [self._scope.places.get(side.name) for side in part.arguments if isinstance(side, ColumnName)]
            if len(places) == 2 and None not in places:
                found |= {place[1] for place in places if place is not None and place[0] == index}
        return found

    def _has_unique(self, index: int) -> bool:
        state, joined = self.relations[index].state, self._join_columns(index)
        return state is not None and any(
            {part.column for part in key.parts} <= joined for key in state.table.keys if key.kind != "index"
        )

    def _combined(self, scans: Sequence[Rows], order: Sequence[int], outer: ScopeCells | None) -> Iterator[ScopeCells]:
        """Nested loops.  Raises UnsupportedError where they would take too long."""
        count = len(order)
        is_outer = any(text.join != "inner" for text in self._texts)
        conditions: list[list[Node]] = [[] for _ in order]
        for part in (*self._where, *(() if is_outer else (part for on in self._on for part in on))):
            conditions[self._depth(part, order)].append(part)
        joins = [self._texts[max(order[: depth + 1])].join if depth else "inner" for depth in range(count)]
        looked_at = 0
        rows: list[Any] = [None] * count

        def loop(depth: int) -> Iterator[ScopeCells]:
            nonlocal looked_at
            if depth == count:
                yield self._scope.cells(list(rows), outer)
                return
            place = order[depth]
            on = self._on[max(order[: depth + 1])] if is_outer and depth else []
            found = False
            for row in scans[place]:
                looked_at += 1
                if looked_at > _MOST:
                    raise UnsupportedError(
                        f"the query looks at more than {_MOST} combinations of rows",
                        expected="a smaller join, or `rows`",
                    )
                rows[place] = row
                cells = self._scope.cells(rows, outer)
                if on and not all(truth(evaluate(part, cells)) for part in on):
                    continue
                found = True
                if all(truth(evaluate(part, cells)) for part in conditions[depth]):
                    yield from loop(depth + 1)
            rows[place] = None
            if not found and joins[depth] != "inner":
                cells = self._scope.cells(rows, outer)
                if all(truth(evaluate(part, cells)) for part in conditions[depth]):
                    yield from loop(depth + 1)

        yield from loop(0)

    def _depth(self, node: Node, order: Sequence[int]) -> int:
        """How many loops a condition is inside of, at least."""
        if has_subquery(node):
            return len(order) - 1
        places = [self._scope.places.get(part.name) for part in walk(node) if isinstance(part, ColumnName)]
        return max((order.index(place[0]) for place in places if place is not None), default=0)


def conjuncts(node: Node) -> list[Node]:
    """The conditions that AND joins."""
    if isinstance(node, Call) and node.name == "AND":
        return [part for side in node.arguments for part in conjuncts(side)]
    return [node]
