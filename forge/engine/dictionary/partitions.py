"""Partitions of a table: which one a row belongs to, and what ALTER TABLE makes of them.

A partition's id is its place in the table; with subpartitions, place times their number plus the place inside
(sql/sql_partition.cc; recorded on 9.7).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from forge.charsets import compare_key, order_key
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.key_definition import RowExpression
from forge.engine.dictionary.literals import strict_value
from forge.engine.dictionary.partition_hash import key_hash
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.tables import Row
from forge.servers import server_line
from forge.sql.ast.actions import AlterPartitions
from forge.sql.ast.definitions import PartitionClause, PartitionDraft
from forge.sql.errors import SqlError, at_offset
from forge.sql.expressions import Expression, parse_expression

#: What HASH takes for NULL: the least BIGINT (part_val_int; recorded with 13 partitions).
_NULL = -(1 << 63)

Chooser = Callable[[Row], int]


@dataclass(frozen=True, slots=True)
class PartitionOf:
    """The id of the partition that a row belongs to.  Raises ScenarioError if there is none (1526)."""

    outer: Chooser
    inner: Chooser | None = None
    inner_count: int = 1

    def __call__(self, row: Row) -> int:
        place = self.outer(row)
        return place if self.inner is None else place * self.inner_count + self.inner(row)


def partition_of(clause: PartitionClause, definition: Definition, key_columns: Sequence[int]) -> PartitionOf:
    """How rows are distributed.  ``key_columns`` are those of the table's key, for KEY ().

    Raises SqlError for a clause that says nothing, UnsupportedError for hashes that are not known here.
    """
    with at_offset(clause.offset):
        outer = _chooser(clause, partition_count(clause), definition, key_columns)
        if clause.inner is None:
            return PartitionOf(outer)
        inner_count = clause.inner.count or 1
        return PartitionOf(outer, _chooser(clause.inner, inner_count, definition, key_columns), inner_count)


def partition_count(clause: PartitionClause) -> int:
    """How many partitions there are, subpartitions aside."""
    return len(clause.parts) or (1 if clause.count is None else clause.count)


def used_columns(clause: PartitionClause, definition: Definition, key_columns: Sequence[int]) -> set[int]:
    """The columns that the clause distributes rows by."""
    used: set[int] = set()
    for level in (clause, clause.inner):
        if level is not None and level.expression:
            used |= {definition.index_of(name, level.offset) for name in _function(level, definition).columns()}
        elif level is not None:
            used |= set(_columns(level, definition, key_columns))
    return used


def _function(clause: PartitionClause, definition: Definition) -> Expression:
    return parse_expression(clause.expression, server_line(definition.server).grammar, of_partitions=True)


def _columns(clause: PartitionClause, definition: Definition, key_columns: Sequence[int]) -> list[int]:
    if clause.columns:
        named = [definition.index_of(name, clause.offset) for name in clause.columns]
        # KEY hashes its columns in the order of the table (set_up_field_array).
        return sorted(named) if clause.kind == "key" else named
    if not key_columns:
        raise SqlError("KEY () needs a primary or unique key", clause.offset, expected="KEY (column)")
    return sorted(key_columns)


def _chooser(clause: PartitionClause, count: int, definition: Definition, key_columns: Sequence[int]) -> Chooser:
    if clause.kind == "key":
        places = _columns(clause, definition, key_columns)
        columns = [definition.columns[place] for place in places]
        return lambda row: _placed(key_hash(columns, [row[place] for place in places]), count, clause.linear)
    if clause.columns:
        places = _columns(clause, definition, key_columns)
        return _by_columns(clause, [definition.columns[place] for place in places], places)
    computed = RowExpression(_function(clause, definition), definition.columns)

    def value(row: Row) -> int | None:
        return None if (number := computed(row)) is None else int(number)

    if clause.kind == "hash":
        return lambda row: _placed(_NULL if (number := value(row)) is None else number, count, clause.linear)
    if clause.kind == "range":
        return _by_range(value, [_bound(part) for part in clause.parts])
    return _by_list(value, [[_constant(entry[0]) for entry in part.values] for part in clause.parts])


def _placed(number: int, count: int, linear: bool) -> int:
    """A hash's partition: the remainder, its sign apart; LINEAR: its low bits."""
    if not linear:
        return abs(number) % count
    mask = (1 << (count - 1).bit_length()) - 1
    place = number & mask
    return place if place < count else number & (mask >> 1)


def _constant(text: str) -> int | None:
    value = parse_expression(text, of_partitions=True).evaluate({})
    if value is not None and not isinstance(value, int):
        raise ScenarioError(f"{text} is not an integer", expected="an integer")
    return value


def _bound(part: PartitionDraft) -> int | None:
    """What the values are less than; None for MAXVALUE."""
    if len(part.values) != 1 or len(part.values[0]) != 1:
        raise ScenarioError(f"partition {part.name!r} has no VALUES LESS THAN (value)")
    return None if part.values[0][0].upper() == "MAXVALUE" else _constant(part.values[0][0])


def _by_range(value: Callable[[Row], int | None], bounds: list[int | None]) -> Chooser:
    def choose(row: Row) -> int:
        number = value(row)
        for place, bound in enumerate(bounds):
            if number is None or bound is None or number < bound:
                return place
        raise ScenarioError(f"the table has no partition for {number}")

    return choose


def _by_list(value: Callable[[Row], Any], lists: list[list[Any]]) -> Chooser:
    places = {entry: place for place, values in enumerate(lists) for entry in values}

    def choose(row: Row) -> int:
        values = value(row)
        if values not in places:
            raise ScenarioError(f"the table has no partition for {values!r}")
        return places[values]

    return choose


def _by_columns(clause: PartitionClause, columns: list[ColumnDefinition], places: list[int]) -> Chooser:
    """RANGE COLUMNS and LIST COLUMNS."""
    comparable = _ordered if clause.kind == "range" else _comparable

    def cells(row: Row) -> tuple[Any, ...]:
        return tuple(comparable(column, row[place]) for column, place in zip(columns, places, strict=True))

    def declared(texts: tuple[str, ...]) -> tuple[Any, ...]:
        if len(texts) != len(columns):
            raise ScenarioError(f"{len(texts)} values for {len(columns)} columns")
        return tuple(_value(column, text, comparable) for column, text in zip(columns, texts, strict=True))

    if clause.kind == "list":
        return _by_list(cells, [[declared(entry) for entry in part.values] for part in clause.parts])
    bounds = [[_rank(value) for value in declared(part.values[0])] for part in clause.parts if part.values]

    def choose(row: Row) -> int:
        ranks = [_rank(value) for value in cells(row)]
        for place, bound in enumerate(bounds):
            if ranks < bound:
                return place
        raise ScenarioError(f"the table has no partition for {cells(row)!r}")

    return choose


class _Maximum:
    """MAXVALUE of a column."""


def _rank(value: Any) -> tuple[int, Any]:
    """NULL is below all values, MAXVALUE above."""
    if value is None:
        return (0, 0)
    return (2, 0) if isinstance(value, _Maximum) else (1, value)


def _value(column: ColumnDefinition, text: str, comparable: Callable[[ColumnDefinition, Any], Any]) -> Any:
    if text.upper() == "MAXVALUE":
        return _Maximum()
    literal = parse_expression(text).evaluate({})
    return None if literal is None else comparable(column, strict_value(column.wire, column.codec, literal))


def _comparable(column: ColumnDefinition, value: Any) -> Any:
    if isinstance(value, str) and column.type.collation is not None:
        return compare_key(column.type.collation, value)
    return value


def _ordered(column: ColumnDefinition, value: Any) -> Any:
    """What values are compared by.  Raises UnsupportedError for a text whose order is not known."""
    if not isinstance(value, str) or column.type.collation is None:
        return value
    place = order_key(column.type.collation, value)
    if place is None:
        raise UnsupportedError(
            f"the order of {value!r} in column {column.name!r} is not known", expected="printable ASCII"
        )
    return place


#: What leaves the definition of a table as it is.
_KEEPING = ("exchange", "truncate", "rebuild", "optimize", "analyze", "check", "repair")


def altered_partitions(clause: PartitionClause | None, action: AlterPartitions) -> PartitionClause | None:
    """The clause after an action of ALTER TABLE.  Raises SqlError for partitions that are not there."""
    if action.kind == "by":
        return action.clause
    if clause is None:
        raise SqlError("the table has no partitions", action.offset)
    if action.kind == "remove":
        return None
    places = partition_places(clause, action)
    if action.kind in _KEEPING or (action.kind == "reorganize" and not action.names):
        return clause
    if clause.kind in ("hash", "key"):
        changed = action.count or len(action.parts)
        count = partition_count(clause) + (changed if action.kind == "add" else -changed)
        if count < 1:
            raise SqlError("no partition is left", action.offset, expected="at least one")
        return replace(clause, count=count, parts=())
    if action.kind == "add":
        return replace(clause, parts=(*clause.parts, *action.parts), count=None)
    kept = [part for place, part in enumerate(clause.parts) if place not in places]
    if action.kind == "reorganize":
        kept[places[0] : places[0]] = action.parts
    if not kept:
        raise SqlError("no partition is left", action.offset, expected="at least one; DROP TABLE removes a table")
    return replace(clause, parts=tuple(kept), count=None)


def partition_places(clause: PartitionClause, action: AlterPartitions) -> list[int]:
    """The places of the partitions that an action names."""
    names = [part.name.lower() for part in clause.parts] or [f"p{n}" for n in range(partition_count(clause))]
    if not action.names:
        return list(range(len(names)))
    for name in action.names:
        if name.lower() not in names:
            raise SqlError(f"the table has no partition {name!r}", action.offset, expected=", ".join(names))
    return sorted(names.index(name.lower()) for name in action.names)
