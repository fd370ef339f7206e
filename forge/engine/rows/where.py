"""WHERE clauses: which rows they choose, and SQL that chooses the same rows on a server.

Text is compared exactly, character by character; where the column's collation would call other rows of the table
equal as well, the SQL compares bytes.  Order (lt, ge, between ...) of text is the order of its bytes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from forge.engine.dictionary.columns import ColumnDefinition, comparable, sort_value, stored_bytes_of
from forge.engine.dictionary.literals import strict_value
from forge.engine.dictionary.table_state import TableState
from forge.errors import ScenarioError, UnsupportedError, about, nearest
from forge.plan.tables import Row
from forge.servers.facts.values import Dialect
from forge.sql.write import identifier
from forge.values.base import Value
from forge.values.literals import hexadecimal

#: Operators by their word: SQL, and how values compare.
_ORDERINGS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "lt": ("<", operator.lt),
    "le": ("<=", operator.le),
    "gt": (">", operator.gt),
    "ge": (">=", operator.ge),
}
OPERATORS = (*_ORDERINGS, "ne", "between")


def value_sql(column: ColumnDefinition, value: Value | None) -> str:
    """A literal that stores, or equals, exactly this value."""
    return "NULL" if value is None else column.codec.sql(column.wire, value)


def comparison_sql(column: ColumnDefinition, value: Value | None) -> str:
    """A literal to compare the column with: BINARY(n) has its padding."""
    return hexadecimal(value) if isinstance(value, bytes) else value_sql(column, value)


class Condition(Struct, frozen=True):
    """One comparison of a column: ``word`` is eq, ne, in, or an operator; ``values`` may hold None for NULL."""

    index: int
    column: ColumnDefinition
    word: str
    values: tuple[Value | None, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that it reads."""
        return (self.index,)

    @property
    def range_column(self) -> int:
        """The column whose key servers can search for it."""
        return self.index

    def holds(self, row: Sequence[Value | None]) -> bool:
        """Whether a row meets the condition."""
        return self.matches(row[self.index])

    def matches(self, value: Value | None) -> bool:
        """Whether a cell meets the condition; NULL meets only ``null`` and a list with null in it."""
        if self.column.type.name == "YEAR" and self.column.type.length == 2 and value is not None:
            # A YEAR(2) compares the two digits that it shows (recorded on MariaDB).
            is_found = value % 100 in [bound % 100 for bound in self.values if bound is not None]
            return is_found if self.word in ("eq", "in") else self.has_literal and not is_found
        if self.word in ("eq", "in"):
            if self.null_is_zero and value is not None and set(value) <= set("0-: ."):
                return True
            return value in self.values if value is not None else None in self.values
        if self.word == "ne":
            return value is not None and value not in self.values
        if value is None:
            return False
        cell = sort_value(self.column, value)
        bounds = [sort_value(self.column, bound) for bound in self.values]
        if self.word == "between":
            return bool(bounds[0] <= cell <= bounds[1])
        return _ORDERINGS[self.word][1](cell, bounds[0])

    @property
    def has_literal(self) -> bool:
        return any(value is not None for value in self.values)

    @property
    def null_is_zero(self) -> bool:
        """Whether IS NULL finds the zero date: in NOT NULL columns of DATE and DATETIME, and not beside an OR on MySQL
        (recorded).
        """
        if self.column.type.name not in ("DATE", "DATETIME") or self.column.column.nullable or None not in self.values:
            return False
        return self.word in ("eq", "in") and (not self.has_literal or self.column.wire.dialect.null_finds_zero_dates)

    def sql(self, cells: Iterable[Value | None]) -> str:
        """The condition in SQL; ``cells`` are the column's values in all rows of the table."""
        literals = [value for value in self.values if value is not None]
        is_null = f"{identifier(self.column.name)} IS NULL"
        if self.word in ("eq", "in") and not literals:
            return is_null
        if self.word == "ne" and not literals:
            return f"{identifier(self.column.name)} IS NOT NULL"
        left, rights = self._sides(literals, cells)
        if self.word == "between":
            return f"{left} BETWEEN {rights[0]} AND {rights[1]}"
        if self.word == "in":
            text = f"{left} IN ({', '.join(rights)})"
            return f"({text} OR {is_null})" if None in self.values else text
        mark = {"eq": "=", "ne": "<>"}.get(self.word) or _ORDERINGS[self.word][0]
        return f"{left} {mark} {rights[0]}"

    def _sides(self, literals: list[Value], cells: Iterable[Value | None]) -> tuple[str, list[str]]:
        """The SQL of the column and of the literals."""
        name = identifier(self.column.name)
        ordering = self.word in OPERATORS and self.word != "ne"
        if self.column.type_facts.has_members:
            if ordering:
                return f"{name} + 0", [str(value) for value in literals]
            rights = [value_sql(self.column, value) for value in literals]
            # A list of names and numbers would compare both as another type than the column's (recorded on 9.7).
            return name, [str(value) for value in literals] if any(text.isdigit() for text in rights) else rights
        is_text = self.column.wire.collation is not None and not _is_binary(self.column)
        if is_text and (ordering or self._collation_differs(literals, cells)):
            return f"CAST({name} AS BINARY)", [hexadecimal(stored_bytes_of(self.column, value)) for value in literals]
        return name, [comparison_sql(self.column, value) for value in literals]

    def _collation_differs(self, literals: list[Value], cells: Iterable[Value | None]) -> bool:
        """Whether the server's comparison of text could choose other rows than the exact one.

        Outside ASCII, collations are known only approximately: there the answer is always yes.
        """
        if not all(isinstance(value, str) and value.isascii() for value in literals):
            return True
        keys = {comparable(self.column, value) for value in literals}
        for cell in cells:
            if cell is None or cell in literals:
                continue
            if not isinstance(cell, str) or not cell.isascii() or comparable(self.column, cell) in keys:
                return True
        return False


def _is_binary(column: ColumnDefinition) -> bool:
    return column.type_facts.is_bytes


def parse_where(
    where: Mapping[str, Any] | None, state: TableState, *, dialect: Dialect | None = None
) -> list[Condition]:
    """The conditions of a declared WHERE; all have to hold.

    ``dialect`` is what the session's modes make of values: without NO_ZERO_DATE and NO_ZERO_IN_DATE dates with a zero
    month or day are compared like others.

    Raises ScenarioError for unknown columns and operators, and literals that the column cannot hold.
    """
    conditions: list[Condition] = []
    for name, declared in (where or {}).items():
        index = column_index(state, name)
        column = state.columns[index]
        if not column.type_facts.comparable:
            if declared is None:
                conditions.append(Condition(index, column, "eq", (None,)))
                continue
            raise UnsupportedError(f"column {name!r}: {column.type.name} columns in where are not supported yet")
        conditions += _conditions(index, column.under(dialect), declared)
    return conditions


def column_index(state: TableState, name: str) -> int:
    """Index of a column by its declared name.  Raises ScenarioError with the nearest name."""
    index = state.definition.find(name)
    if index is None:
        names = [column.name for column in state.columns]
        raise ScenarioError(
            f"table {state.name} has no column {name!r}",
            expected=f"one of {', '.join(names)}",
            suggestion=nearest(name, names),
        )
    return index


def _conditions(index: int, column: ColumnDefinition, declared: Any) -> Iterable[Condition]:
    if isinstance(declared, list):
        if not declared:
            raise ScenarioError(f"column {column.name!r}: the list of values is empty", expected="at least one")
        yield Condition(index, column, "in", tuple(_value(column, item) for item in declared))
    elif isinstance(declared, Mapping) and set(declared) not in ({"hex"}, {"value"}):
        for word, operand in declared.items():
            if word not in OPERATORS:
                raise ScenarioError(
                    f"column {column.name!r}: unknown operator {word!r}",
                    expected=f"one of {', '.join(OPERATORS)}",
                    suggestion=nearest(str(word), OPERATORS),
                )
            yield _ordered(index, column, word, operand)
    else:
        yield Condition(index, column, "eq", (_value(column, declared),))


def _ordered(index: int, column: ColumnDefinition, word: str, operand: Any) -> Condition:
    if word == "between":
        if not isinstance(operand, list) or len(operand) != 2:
            raise ScenarioError(f"column {column.name!r}: between needs two values", expected="[low, high]")
        values = tuple(_value(column, item) for item in operand)
    else:
        values = (_value(column, operand),)
    if word != "ne" and column.type.name == "YEAR" and column.type.length == 2:
        raise UnsupportedError(f"column {column.name!r}: {word} on YEAR(2) is not supported", expected="YEAR(4)")
    if word != "ne" and None in values:
        raise ScenarioError(f"column {column.name!r}: {word} with null matches no row", expected="a literal")
    return Condition(index, column, word, values)


def _value(column: ColumnDefinition, declared: Any) -> Value | None:
    if isinstance(declared, Mapping) and set(declared) == {"value"}:
        declared = declared["value"]
    if declared is None:
        return None
    with about(f"column {column.name!r}"):
        return strict_value(column.wire, column.codec, declared)


class RowCondition(Protocol):
    """What chooses rows: a declared condition, or one of SQL text."""

    @property
    def holds(self) -> Callable[[Row], bool | None]:
        """Whether a row meets it; None is no."""


def matching(conditions: Sequence[RowCondition], state: TableState) -> list[int]:
    """Numbers of the rows that meet all conditions, in the order in which a server changes them."""
    chosen = [
        number
        for number, row in state.rows.items()
        if state.is_current(row) and all(condition.holds(row) for condition in conditions)
    ]
    return state.ordered(chosen)


def rows_with_keys(state: TableState, keys: Sequence[Any]) -> list[int]:
    """The rows that have these primary keys.  Raises ScenarioError for a key that none has."""
    if state.clustering is None:
        raise ScenarioError(f"{state.name} has no primary key", expected="a table with one, or `where`")
    names = [state.columns[part.column].name for part in state.clustering.parts]
    numbers: list[int] = []
    for key in keys:
        cells = key if isinstance(key, list) else [key]
        if len(cells) != len(names):
            raise ScenarioError(f"the key {key!r} has {len(cells)} cells", expected=f"those of {', '.join(names)}")
        found = matching(parse_where(dict(zip(names, cells, strict=True)), state), state)
        if not found:
            raise ScenarioError(f"{state.name} has no row {key!r}", expected="the primary key of a row")
        numbers += found
    return numbers


def where_sql(conditions: list[Condition], state: TableState) -> str:
    """`` WHERE ...``, or nothing if there are no conditions."""
    if not conditions:
        return ""
    parts = [c.sql(row[c.index] for row in state.rows.values()) for c in conditions]
    return " WHERE " + " AND ".join(parts)
