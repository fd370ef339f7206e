"""Cells that a statement does not give: defaults, CURRENT_TIMESTAMP, generated columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.json_cells import cells_for
from forge.engine.dictionary.literals import taken, zero_value
from forge.engine.dictionary.system_columns import last_moment
from forge.engine.dictionary.table_state import TableState
from forge.errors import ScenarioError, UnsupportedError, about
from forge.plan.tables import Row
from forge.sql.expressions import Document, Operand
from forge.values.base import Value
from forge.values.json.binary import encode_document
from forge.values.json.codec import as_json
from forge.values.json.text import format_json
from forge.values.literals import shown
from forge.values.registry import facts_of


def zone_refusal(column: ColumnDefinition, what: str) -> UnsupportedError:
    """The error for the use of a TIMESTAMP, ``what``, that depends on the session's time zone."""
    return UnsupportedError(
        f"{what} TIMESTAMP column {column.name!r} in a time zone other than UTC is not supported yet",
        expected="time_zone +00:00 or SYSTEM",
    )


def check_reads(columns: Collection[ColumnDefinition], offset: int) -> None:
    """Raises UnsupportedError for an expression with these columns in it, ``offset`` minutes ahead of UTC."""
    for column in columns:
        if offset and column.is_timestamp:
            raise zone_refusal(column, "an expression with")


def check_expressions(state: TableState, offset: int) -> None:
    """The same for the table's generated columns, keys and CHECK constraints."""
    if not offset:
        return
    used: set[str] = set()
    for column in state.columns:
        if column.generated is not None:
            used |= {column.name.lower(), *column.column.uses}
    for part in (part for key in state.table.keys for part in key.parts):
        used |= part.expression.uses if part.expression is not None else frozenset()
    for _, holds in state.checks:
        used |= {name.lower() for name in holds.expression.columns()}
    check_reads([column for column in state.columns if column.name.lower() in used], offset)


class StatementTime(Struct, frozen=True):
    """What CURRENT_TIMESTAMP is in a statement: seconds since the epoch and microseconds, in UTC.

    The session's clock is ``offset`` minutes ahead of it.
    """

    second: int
    microsecond: int
    offset: int = 0

    def cell(self, column: ColumnDefinition, digits: int | None = None) -> str:
        """The time as the column holds it, a TIMESTAMP in UTC; ``digits`` of its fraction, unless as many as it has."""
        second = self.second if column.is_timestamp else self.second + 60 * self.offset
        return self._text(second, column.type.fsp if digits is None else digits)

    def local(self, digits: int) -> str:
        """``YYYY-MM-DD hh:mm:ss`` of the session's clock, with fraction digits."""
        return self._text(self.second + 60 * self.offset, digits)

    def _text(self, second: int, digits: int) -> str:
        """Further digits are cut, as servers cut them."""
        moment = dt.datetime.fromtimestamp(second, dt.UTC)
        fraction = f".{self.microsecond:06d}"[: digits + 1] if digits else ""
        return moment.replace(tzinfo=None).isoformat(" ", "seconds") + fraction


def omitted_value(column: ColumnDefinition, time: StatementTime, *, clips: bool = False) -> Value | None:
    """What a column gets that an INSERT leaves out (but for AUTO_INCREMENT).  Raises ScenarioError for no default.

    Without strict mode (``clips``) a NOT NULL column without a default gets the implicit one of its type.
    """
    facts = column.column
    if facts.system:
        return _kept_value(column, time)
    if facts.has_default:
        return facts.default
    if facts.default_now:
        return time.cell(column) if facts.clock_digits is None else _clock(column, time, facts.clock_digits)
    if column.default is not None:
        check_reads([column], time.offset)
        value = column.default.evaluate({})
        if value is not None:
            return stored_result(column, value, clips=clips)
        if not facts.nullable:
            raise ScenarioError(f"column {column.name!r} is NOT NULL, and its default NULL", expected="a value for it")
    if facts.computed_default:
        raise UnsupportedError(f"the default of column {column.name!r} is not computed here", expected="a value for it")
    # Not even a session without strict mode has one for a geometry (recorded on MySQL 9.7).
    is_refused = not clips or facts_of(facts.type).is_geometry
    if facts.lacks_default and is_refused and facts_of(facts.type).kind != "enum":
        raise ScenarioError(f"column {column.name!r} has no default", expected="a value for it")
    if facts.nullable:
        return None
    if facts_of(facts.type).kind == "enum":
        # The one type whose implicit default strict mode accepts: the first member.
        return 1
    zero = zero_value(column.wire) if clips else None
    if zero is not None:
        return zero
    if clips and (column.type_facts.is_json or column.type_facts.kind == "vector"):
        # MySQL stores the document null, or an empty vector.
        raise UnsupportedError(f"column {column.name!r} without a value and strict mode is not supported yet")
    raise ScenarioError(f"column {column.name!r} is NOT NULL and has no default", expected="a value for it")


def _kept_value(column: ColumnDefinition, time: StatementTime) -> Value | None:
    """What a server keeps by itself of a row that comes; hashes are computed once all others are there."""
    if column.column.system == "row_start":
        return time.cell(column)
    return last_moment(column.wire.dialect) if column.column.system == "row_end" else None


def _clock(column: ColumnDefinition, time: StatementTime, digits: int) -> Value:
    """What an expression that is nothing but the time gives a column."""
    moment = time.cell(column, digits)
    return taken(column.wire, moment.partition(" ")[2] if column.type.name == "TIME" else moment, clips=False).value


def with_generated(columns: Sequence[ColumnDefinition], values: Sequence[Value | None], *, clips: bool = False) -> Row:
    """The row with its generated columns computed.  Raises ScenarioError where the result does not fit."""
    row = list(values)
    for index, column in enumerate(columns):
        if column.row_hash is not None:
            row[index] = column.row_hash(tuple(row))
        if column.generated is None:
            continue
        with about(f"generated column {column.name!r}"):
            result = column.generated.evaluate(cells_for(columns, row, column.column.uses))
            row[index] = None if result is None else stored_result(column, result, clips=clips)
        if row[index] is None and not column.column.nullable:
            raise ScenarioError(f"generated column {column.name!r} is NOT NULL, but its value is NULL")
    return tuple(row)


def stored_result(column: ColumnDefinition, result: Operand, *, clips: bool) -> Value | None:
    """What a column holds of an expression's result.  Raises ScenarioError where it does not fit."""
    if column.type_facts.is_json and isinstance(result, int | float | Decimal | bytes):
        problem = f"a JSON column cannot hold {shown(result)} of an expression: it is no document"
        raise ScenarioError(problem, expected="CAST(... AS JSON)")
    literal = as_literal(column, result)
    if column.type_facts.is_json and not isinstance(literal, str):
        # No literal may give the types that an expression gives.
        return literal if isinstance(literal, bytes) else encode_document(as_json(literal))
    return taken(column.wire, literal, clips=clips).value


def as_literal(column: ColumnDefinition, value: Operand) -> Any:
    """What an expression gave, as a literal of the column: documents keep the types of their numbers."""
    if not isinstance(value, Document):
        return value
    return encode_document(value.value) if column.type_facts.is_json else format_json(value.value)
