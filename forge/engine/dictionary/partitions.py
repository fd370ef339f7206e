"""Partitions of a table: which one a row belongs to, and what ALTER TABLE makes of them.

A partition's id is its place in the table; with subpartitions, place times their number plus the place inside
(sql/sql_partition.cc; recorded on 9.7).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

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

_MAXIMUM, _BEHIND_ALL = "MAXVALUE", (2, 0)

Chooser = Callable[[Row], int]


class PartitionOf(Struct, frozen=True):
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
        return _by_values(clause, _ColumnCells([definition.columns[place] for place in places], places, clause.kind))
    computed = RowExpression(_function(clause, definition), definition.columns)
    if clause.kind == "hash":
        return lambda row: _placed(_NULL if (number := computed(row)) is None else int(number), count, clause.linear)
    return _by_values(clause, _Numbers(computed))


def _placed(number: int, count: int, linear: bool) -> int:
    """A hash's partition: the remainder without its sign; LINEAR: its low bits."""
    if not linear:
        return abs(number) % count
    mask = (1 << (count - 1).bit_length()) - 1
    place = number & mask
    return place if place < count else number & (mask >> 1)


class _Numbers(Struct, frozen=True):
    """What RANGE and LIST compare: the value of an expression."""

    computed: RowExpression

    def of_row(self, row: Row) -> tuple[Any, ...]:
        number = self.computed(row)
        return (None if number is None else int(number),)

    def declared(self, texts: tuple[str, ...]) -> tuple[Any, ...]:
        """The value that VALUES states.  Raises ScenarioError."""
        value = parse_expression(texts[0], of_partitions=True).evaluate({})
        if len(texts) != 1 or (value is not None and not isinstance(value, int)):
            raise ScenarioError(f"{', '.join(texts)} is not an integer", expected="an integer")
        return (value,)


class _ColumnCells(Struct, frozen=True):
    """What RANGE COLUMNS and LIST COLUMNS compare: the cells of columns."""

    columns: list[ColumnDefinition]
    places: list[int]
    kind: str

    def of_row(self, row: Row) -> tuple[Any, ...]:
        return tuple(
            self._comparable(column, row[place]) for column, place in zip(self.columns, self.places, strict=True)
        )

    def declared(self, texts: tuple[str, ...]) -> tuple[Any, ...]:
        """The values that VALUES states.  Raises ScenarioError."""
        if len(texts) != len(self.columns):
            raise ScenarioError(f"{len(texts)} values for {len(self.columns)} columns")
        return tuple(self._value(column, text) for column, text in zip(self.columns, texts, strict=True))

    def _value(self, column: ColumnDefinition, text: str) -> Any:
        literal = None if text.upper() == _MAXIMUM else parse_expression(text).evaluate({})
        return None if literal is None else self._comparable(column, strict_value(column.wire, column.codec, literal))

    def _comparable(self, column: ColumnDefinition, value: Any) -> Any:
        """What values are compared by.  Raises UnsupportedError for a text whose order is not known."""
        if not isinstance(value, str) or column.type.collation is None:
            return value
        if self.kind == "list":
            return compare_key(column.type.collation, value)
        place = order_key(column.type.collation, value)
        if place is None:
            raise UnsupportedError(
                f"the order of {value!r} in column {column.name!r} is not known", expected="printable ASCII"
            )
        return place


def _by_values(clause: PartitionClause, values: _Numbers | _ColumnCells) -> Chooser:
    """RANGE and LIST."""
    ranges = clause.kind == "range"
    if ranges:
        bounds = [_bound(part, values) for part in clause.parts]
    else:
        places = {values.declared(entry): place for place, part in enumerate(clause.parts) for entry in part.values}

    def choose(row: Row) -> int:
        cells = values.of_row(row)
        if ranges:
            ranks = [_rank(value) for value in cells]
            place = next((place for place, bound in enumerate(bounds) if ranks < bound), None)
        else:
            place = places.get(cells)
        if place is None:
            raise ScenarioError(f"the table has no partition for {', '.join(map(str, cells))}")
        return place

    return choose


def _bound(part: PartitionDraft, values: _Numbers | _ColumnCells) -> list[tuple[int, Any]]:
    """What the values of a partition are less than."""
    if len(part.values) != 1:
        raise ScenarioError(f"partition {part.name!r} has no VALUES LESS THAN (value)")
    texts = part.values[0]
    if texts[0].upper() == _MAXIMUM and len(texts) == 1:
        return [_BEHIND_ALL]
    ranks = map(_rank, values.declared(texts))
    return [_BEHIND_ALL if text.upper() == _MAXIMUM else rank for text, rank in zip(texts, ranks, strict=True)]


def _rank(value: Any) -> tuple[int, Any]:
    """NULL is below all values."""
    return (0, 0) if value is None else (1, value)


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
        return replace(clause, count=max(count, 1), parts=())
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
