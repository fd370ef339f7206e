"""What the codecs of dates and times share: values are their own text, and what is clipped of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar

from forge.errors import ScenarioError, UnsupportedError
from forge.values.base import Column, TypedValue, Value
from forge.values.cells import FixedWidthCodec, bad_value
from forge.values.clipping import Clipped
from forge.values.literals import literal_sql, quoted, refuse
from forge.values.temporal.clipping import clip_clock, clip_moment
from forge.values.temporal.odd import is_odd, odd_form
from forge.values.temporal.text import (
    MAX_FSP,
    MAX_HOUR,
    Clock,
    Moment,
    accept_clock,
    accept_moment,
    clock_of,
    exact,
    fraction_text,
    has_usual_form,
    moment_of,
    parse_clock,
    parse_moment,
)

_CLOCK_PARTS = ("hour", "minute", "second", "microsecond")


class TemporalCodec(FixedWidthCodec):
    """Values are exact text; between it and the bytes lie the fields of a Moment or a Clock."""

    name: ClassVar[str]

    @abstractmethod
    def fsp(self, column: Column) -> int:
        """Fraction digits of the column's cells.  Raises FormatError for metadata that no such column has."""

    @abstractmethod
    def fields(self, column: Column, raw: bytes) -> Any:
        """The fields of a whole cell."""

    def builder(self, column: Column) -> Callable[[Any], bytes]:
        """What makes a cell of fields that can be stored."""
        return lambda fields: self.build(column, fields)

    def build(self, column: Column, fields: Any) -> bytes:
        """The cell of fields that can be stored; a type has this or :meth:`builder`."""
        return self.builder(column)(fields)

    @abstractmethod
    def parse(self, name: str, value: str) -> Any:
        """The fields of exact text.  Raises ScenarioError."""

    @abstractmethod
    def can_store(self, fields: Any) -> bool:
        """Whether servers could hold them, whatever they take."""

    def shown(self, column: Column, fields: Any) -> str:
        return str(fields.text(self.fsp(column)))

    def decode(self, column: Column, raw: bytes) -> str:
        fields = self.fields(column, self.whole(column, raw))
        if not self.can_store(fields):
            raise bad_value(f"{self.name} cannot be {self.shown(column, fields)}")
        return self.shown(column, fields)

    def encode(self, column: Column, value: str) -> bytes:
        name = self.type_name(column)
        fields = self.parse(name, value)
        exact(name, value, self.fsp(column), fields)
        if not self.can_store(fields):
            raise refuse(name, value, f"cannot hold this {'date' if isinstance(fields, Moment) else 'time'}")
        return self.build(column, fields)

    def text(self, column: Column, value: str) -> str:
        return value

    def sql(self, column: Column, value: str) -> str:
        return quoted(self.written(column, value))

    def written(self, column: Column, value: str) -> str:
        """The value as a session writes it in a literal."""
        return value

    def clip(self, column: Column, declared: Any) -> Clipped:
        if is_odd(self.type_name(column), declared):
            raise odd_form(self.type_name(column), declared)
        try:
            value = self.accept(column, declared)
        except UnsupportedError:
            raise
        except ScenarioError:
            nearest = self.nearest(column, declared)
            if nearest is None:
                raise
            return Clipped(nearest, _sent(declared))
        if not has_usual_form(declared):
            return Clipped(self.nearest(column, self.written(column, value)) or value, _sent(declared))
        return self.clip_accepted(column, value)

    @abstractmethod
    def clip_accepted(self, column: Column, value: str) -> Clipped:
        """What is stored of a value that ``accept`` takes, which may be more than the server does."""


class MomentCodec(TemporalCodec):
    """DATE, DATETIME and TIMESTAMP."""

    def parse(self, name: str, value: str) -> Moment:
        return parse_moment(name, value, MAX_FSP)

    def can_store(self, fields: Moment) -> bool:
        return fields.is_representable()

    def accept(self, column: Column, declared: Any) -> str:
        fsp = self.fsp(column)
        return self.shown(column, accept_moment(self.type_name(column), declared, fsp, column.dialect))

    def nearest(self, column: Column, declared: Any) -> str | None:
        return clip_moment(self, column, declared)

    def clip_accepted(self, column: Column, value: str) -> Clipped:
        return Clipped(value, self.sql(column, value))

    def python_value(self, column: Column, value: Value) -> Any:
        """A datetime; text for what is not a date of the calendar: a zero month or day, February 30."""
        moment = parse_moment("DATETIME", value, MAX_FSP)
        if moment.is_accepted() and moment.year and moment.month and moment.day:
            return self.python_date(moment)
        return value

    def python_date(self, moment: Moment) -> date:
        return datetime(*moment)

    def typed(self, column: Column, value: str) -> TypedValue:
        """The parts, of which year, month and day may be 0."""
        year, month, day, *clock = moment_of(value)
        parts = {"year": year, "month": month, "day": day}
        if " " not in value:
            return {"date": parts}
        return {"datetime": parts | dict(zip(_CLOCK_PARTS, clock, strict=True))}

    def examples(self, column: Column) -> tuple[str, ...]:
        fsp = fraction_digits(column)
        dates = ("0000-00-00", "2024-00-00", "2024-05-00", "2024-00-07", "0000-01-01", "9999-12-31", "2024-02-29")
        return tuple(f"{day} {clock}{fraction}" for day in dates for clock, fraction in _clocks(fsp, 23))


class ClockCodec(TemporalCodec):
    """TIME."""

    name = "TIME"
    largest_hour = MAX_HOUR

    def parse(self, name: str, value: str) -> Clock:
        return parse_clock(name, value, MAX_FSP)

    def can_store(self, fields: Clock) -> bool:
        return fields.hour <= self.largest_hour and fields.minute <= 59 and fields.second <= 59

    def accept(self, column: Column, declared: Any) -> str:
        fsp = self.fsp(column)
        return accept_clock(self.type_name(column), declared, fsp, column.dialect).text(fsp)

    def nearest(self, column: Column, declared: Any) -> str | None:
        return clip_clock(self, column, declared)

    def clip_accepted(self, column: Column, value: str) -> Clipped:
        nearest = self.nearest(column, value) or value
        return Clipped(nearest, self.sql(column, nearest))

    def python_value(self, column: Column, value: Value) -> timedelta:
        clock = parse_clock("TIME", value, MAX_FSP)
        span = timedelta(hours=clock.hour, minutes=clock.minute, seconds=clock.second, microseconds=clock.micro)
        return -span if clock.negative else span

    def typed(self, column: Column, value: str) -> TypedValue:
        negative, *clock = clock_of(value)
        return {"time": {"negative": negative, **dict(zip(_CLOCK_PARTS, clock, strict=True))}}

    def examples(self, column: Column) -> tuple[str, ...]:
        clocks = [clock + fraction for clock, fraction in _clocks(fraction_digits(column), MAX_HOUR)]
        return (*clocks, *(f"-{clock}" for clock in clocks[1:]))


def _sent(declared: Any) -> str:
    """The literal in SQL.  A float is its decimal digits: as a double it would lose some of a moment's."""
    return literal_sql(Decimal(repr(declared)) if isinstance(declared, float) else declared)


def fraction_digits(column: Column) -> int:
    """The fsp of a column: as declared, else as its metadata say."""
    if column.declared is not None:
        return column.declared.fsp
    return column.metadata[0] if column.metadata else 0


def _clocks(fsp: int, last_hour: int) -> tuple[tuple[str, str], ...]:
    unit = 10 ** (MAX_FSP - fsp) % 1_000_000
    return (
        ("00:00:00", fraction_text(0, fsp)),
        ("00:00:01", fraction_text(unit, fsp)),
        (f"{last_hour}:59:59", fraction_text((1_000_000 - unit) % 1_000_000, fsp)),
    )
