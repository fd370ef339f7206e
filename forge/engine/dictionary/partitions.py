"""Partitions of a table: which one a row belongs to, and which definitions a server refuses.

A partition's id is its place in the table; with subpartitions, place times their number plus the place inside
(sql/sql_partition.cc; recorded on 9.7).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from forge.charsets import compare_key
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.key_definition import RowExpression
from forge.engine.dictionary.literals import strict_value
from forge.engine.dictionary.partition_hash import key_hash
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.tables import Row
from forge.servers import server_line
from forge.sql.ast.alter_actions import AlterPartitions
from forge.sql.ast.definitions import PartitionClause, PartitionDraft
from forge.sql.ast.expressions import Call, ColumnName, Literal, Node, walk
from forge.sql.errors import SqlError, at_offset
from forge.sql.expressions import Expression, parse_expression
from forge.sql.lexer import shown

MAX_PARTITIONS = 8192
#: What a partitioning function may do (sql/item_func.h, check_partition_func_processor).
_ALLOWED = frozenset({
    "NEG", "+", "-", "*", "DIV", "%", "MOD", "ABS", "FLOOR", "CEIL", "CEILING", "YEAR", "MONTH", "DAY", "DAYOFMONTH",
    "DAYOFWEEK", "DAYOFYEAR", "QUARTER", "WEEKDAY", "DATEDIFF", "TO_DAYS", "DATE", "HOUR", "MINUTE", "SECOND",
    "MICROSECOND", "TIME_TO_SEC", "TO_SECONDS", "YEARWEEK", "EXTRACT", "UNIX_TIMESTAMP",
})  # fmt: skip

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

    Raises SqlError where a server would refuse the clause, UnsupportedError for hashes that are not known here.
    """
    with at_offset(clause.offset):
        count = partition_count(clause)
        outer = _chooser(clause, count, definition, key_columns)
        if clause.inner is None:
            _check(count, clause.offset)
            return PartitionOf(outer)
        if clause.kind not in ("range", "list") or clause.inner.kind not in ("hash", "key"):
            raise ScenarioError("only RANGE and LIST partitions have subpartitions, by HASH or KEY")
        inner_count = clause.inner.count or 1
        _check(count * inner_count, clause.offset)
        return PartitionOf(outer, _chooser(clause.inner, inner_count, definition, key_columns), inner_count)


def partition_count(clause: PartitionClause) -> int:
    if clause.parts:
        if clause.count is not None and clause.count != len(clause.parts):
            raise SqlError(
                f"{len(clause.parts)} partitions are defined, but PARTITIONS says {clause.count}", clause.offset
            )
        return len(clause.parts)
    if clause.kind in ("range", "list"):
        raise SqlError(
            f"{clause.kind.upper()} partitions must be defined one by one", clause.offset, expected="(PARTITION ...)"
        )
    return 1 if clause.count is None else clause.count


def _check(count: int, offset: int) -> None:
    if not 1 <= count <= MAX_PARTITIONS:
        raise SqlError(f"the table has {count} partitions", offset, expected=f"1 to {MAX_PARTITIONS}")


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
        raise ScenarioError("KEY () needs a primary or unique key of the table", expected="KEY (column)")
    return sorted(key_columns)


def _chooser(clause: PartitionClause, count: int, definition: Definition, key_columns: Sequence[int]) -> Chooser:
    if clause.kind == "key":
        places = _columns(clause, definition, key_columns)
        columns = [definition.columns[place] for place in places]
        for column in columns:
            if column.type_facts.partitioning == "none":
                raise ScenarioError(f"a {column.type.name} column cannot distribute rows")
        return lambda row: _placed(key_hash(columns, [row[place] for place in places]), count, clause.linear)
    if clause.columns:
        places = _columns(clause, definition, key_columns)
        return _by_columns(clause, [definition.columns[place] for place in places], places)
    expression = _function(clause, definition)
    value = _integer_function(expression, definition)
    if clause.kind == "hash":
        return lambda row: _placed(_NULL if (number := value(row)) is None else number, count, clause.linear)
    if clause.kind == "range":
        return _by_range(value, [_bound(part, clause) for part in clause.parts])
    return _by_list(value, [[_constant(entry[0]) for entry in _listed(part, clause)] for part in clause.parts])


def _integer_function(expression: Expression, definition: Definition) -> Callable[[Row], int | None]:
    if not all(map(_is_allowed, walk(expression.tree))) or "'" in expression.sql or '"' in expression.sql:
        raise ScenarioError(
            f"{shown(expression.sql)} is not allowed as a partitioning function",
            expected="columns, + - * DIV MOD, and functions such as TO_DAYS, YEAR and UNIX_TIMESTAMP",
        )
    used = [definition.columns[definition.index_of(name, 0)] for name in expression.columns()]
    if not used:
        raise ScenarioError("the partitioning function is a constant", expected="a function of columns")
    of_moments = any(column.type.name == "TIMESTAMP" for column in used)
    if of_moments != expression.calls("UNIX_TIMESTAMP"):
        raise ScenarioError(
            f"{shown(expression.sql)} depends on the time zone",
            expected="UNIX_TIMESTAMP of a TIMESTAMP, and of nothing else",
        )
    if isinstance(expression.tree, ColumnName) and used[0].type_facts.partitioning != "expression":
        raise ScenarioError(
            f"column {used[0].name!r} is not an integer", expected="an integer, or a function that gives one"
        )
    computed = RowExpression(expression, definition.columns)
    return lambda row: None if (value := computed(row)) is None else int(value)


def _is_allowed(node: Node) -> bool:
    if isinstance(node, Call):
        return node.name in _ALLOWED
    return isinstance(node, ColumnName) or (isinstance(node, Literal) and node.value is not None)


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


def _bound(part: PartitionDraft, clause: PartitionClause) -> int | None:
    """What the values are less than; None for MAXVALUE."""
    if clause.kind != "range" or len(part.values) != 1 or len(part.values[0]) != 1:
        raise ScenarioError(f"partition {part.name!r} has no VALUES LESS THAN (value)")
    return None if part.values[0][0].upper() == "MAXVALUE" else _constant(part.values[0][0])


def _listed(part: PartitionDraft, clause: PartitionClause) -> tuple[tuple[str, ...], ...]:
    if not part.values:
        raise ScenarioError(f"partition {part.name!r} has no values", expected="VALUES IN (...)")
    return part.values


def _by_range(value: Callable[[Row], int | None], bounds: list[int | None]) -> Chooser:
    if any(bound is None for bound in bounds[:-1]):
        raise ScenarioError("only the last partition can have MAXVALUE")
    limits = [bound for bound in bounds if bound is not None]
    if any(limit >= following for limit, following in pairwise(limits)):
        raise ScenarioError("the values of VALUES LESS THAN must increase from partition to partition")

    def choose(row: Row) -> int:
        number = value(row)
        for place, bound in enumerate(bounds):
            if number is None or bound is None or number < bound:
                return place
        raise ScenarioError(f"the table has no partition for {number}")

    return choose


def _by_list(value: Callable[[Row], Any], lists: list[list[Any]]) -> Chooser:
    places: dict[Any, int] = {}
    for place, values in enumerate(lists):
        for entry in values:
            if entry in places:
                raise ScenarioError(f"{entry!r} is in two lists of values")
            places[entry] = place

    def choose(row: Row) -> int:
        values = value(row)
        if values not in places:
            raise ScenarioError(f"the table has no partition for {values!r}")
        return places[values]

    return choose


def _by_columns(clause: PartitionClause, columns: list[ColumnDefinition], places: list[int]) -> Chooser:
    """RANGE COLUMNS and LIST COLUMNS."""
    for column in columns:
        if column.type_facts.partitioning not in ("expression", "columns"):
            raise ScenarioError(f"a {column.type.name} column cannot be in COLUMNS partitions")
        if clause.kind == "range" and column.type.collation is not None:
            raise UnsupportedError("RANGE COLUMNS on text, which has the order of its collation, is not supported yet")

    def cells(row: Row) -> tuple[Any, ...]:
        return tuple(_comparable(column, row[place]) for column, place in zip(columns, places, strict=True))

    def declared(texts: tuple[str, ...]) -> tuple[Any, ...]:
        if len(texts) != len(columns):
            raise ScenarioError(f"{len(texts)} values for {len(columns)} columns")
        return tuple(_value(column, text) for column, text in zip(columns, texts, strict=True))

    if clause.kind == "list":
        return _by_list(cells, [[declared(entry) for entry in _listed(part, clause)] for part in clause.parts])
    bounds = [[_rank(value) for value in declared(part.values[0])] for part in clause.parts if part.values]
    if len(bounds) != len(clause.parts):
        raise ScenarioError("a partition has no VALUES LESS THAN (values)")
    if any(bound >= following for bound, following in pairwise(bounds)):
        raise ScenarioError("the values of VALUES LESS THAN must increase from partition to partition")

    def choose(row: Row) -> int:
        ranks = [_rank(value) for value in cells(row)]
        for place, bound in enumerate(bounds):
            if ranks < bound:
                return place
        raise ScenarioError(f"the table has no partition for {cells(row)!r}")

    return choose


def reads_zone(clause: PartitionClause | None, server: str) -> bool:
    """Whether a bound is made of a moment in the session's time zone."""
    functions = server_line(server).ddl.zoned_bounds
    parts = clause.parts if clause is not None else ()
    texts = [text.upper() for part in parts for entry in part.values for text in entry]
    return any(function in text for text in texts for function in functions)


class _Maximum:
    """MAXVALUE of a column."""


def _rank(value: Any) -> tuple[int, Any]:
    """NULL is below all values, MAXVALUE above."""
    if value is None:
        return (0, 0)
    return (2, 0) if isinstance(value, _Maximum) else (1, value)


def _value(column: ColumnDefinition, text: str) -> Any:
    if text.upper() == "MAXVALUE":
        return _Maximum()
    literal = parse_expression(text).evaluate({})
    return None if literal is None else _comparable(column, strict_value(column.wire, column.codec, literal))


def _comparable(column: ColumnDefinition, value: Any) -> Any:
    if isinstance(value, str) and column.type.collation is not None:
        return compare_key(column.type.collation, value)
    return value


#: What leaves the definition of a table as it is.
_KEEPING = ("exchange", "truncate", "rebuild", "optimize", "analyze", "check", "repair")


def altered_partitions(clause: PartitionClause | None, action: AlterPartitions) -> PartitionClause | None:
    """The clause after an action of ALTER TABLE.  Raises SqlError where a server would refuse it."""
    if action.kind == "by":
        return action.clause
    if clause is None:
        raise SqlError("the table has no partitions", action.offset)
    if action.kind == "remove":
        return None
    if action.kind in _KEEPING:
        partition_places(clause, action)
        return clause
    hashed = clause.kind in ("hash", "key")
    if action.kind == "coalesce" or (action.kind == "add" and action.count is not None):
        if not hashed:
            raise SqlError(f"{clause.kind.upper()} partitions are added and dropped by name", action.offset)
        count = partition_count(clause) + (action.count or 0) * (1 if action.kind == "add" else -1)
        _check(count, action.offset)
        return replace(clause, count=count, parts=())
    if action.kind == "reorganize" and not action.names:
        if not hashed:
            raise SqlError(f"{clause.kind.upper()} partitions are reorganized by name", action.offset)
        return clause
    if hashed:
        if action.kind == "add":
            return replace(clause, count=partition_count(clause) + len(action.parts), parts=())
        raise SqlError(f"{clause.kind.upper()} partitions are not dropped by name", action.offset, expected="COALESCE")
    places = partition_places(clause, action)
    if action.kind == "add":
        parts = (*clause.parts, *action.parts)
    else:
        kept = [part for place, part in enumerate(clause.parts) if place not in places]
        if action.kind == "reorganize":
            kept[places[0] : places[0]] = action.parts
        parts = tuple(kept)
    if not parts:
        raise SqlError("no partition is left", action.offset, expected="at least one; DROP TABLE removes a table")
    names = [part.name.lower() for part in parts]
    if len(set(names)) != len(names):
        raise SqlError("two partitions have one name", action.offset)
    return replace(clause, parts=parts, count=None)


def partition_places(clause: PartitionClause, action: AlterPartitions) -> list[int]:
    """The places of the partitions that an action names."""
    names = [part.name.lower() for part in clause.parts] or [f"p{n}" for n in range(partition_count(clause))]
    if not action.names:
        return list(range(len(names)))
    for name in action.names:
        if name.lower() not in names:
            raise SqlError(f"the table has no partition {name!r}", action.offset, expected=", ".join(names))
    return sorted(names.index(name.lower()) for name in action.names)
