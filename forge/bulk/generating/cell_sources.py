"""What the cells of a column are made of: arrays of values as functions of row and version."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from forge.bulk.generating.arrays import (
    Mask,
    Whole,
    fixed_array,
    number_array,
    text_array,
    text_scalar,
    time_array,
    with_nulls,
)
from forge.bulk.generating.draws import changing_ranks, even_ranks, parents_of, skewed_ranks, zipf_table
from forge.bulk.generating.lives import Keys, Lives, Rows, drawn
from forge.bulk.generating.pools import Pool, plan_of
from forge.bulk.generating.volume_calendar import Calendar
from forge.bulk.writing.row_images import WireColumn
from forge.bulk.writing.wire_columns import ColumnWriter, in_type
from forge.errors import ScenarioError
from forge.scenario.counter_hash import key_of
from forge.values.base import Column

_NO_RANKS = np.zeros(0, np.int64)
#: Of so few numbers an update draws another one; of more, odd and even ones take turns.
_FEW = 256
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
#: Where the hyphens of a UUID's text are.
_HYPHENS = (8, 13, 18, 23)


@dataclass(frozen=True)
class Draws:
    """Where a column's cells have their randomness from: 64 bits, and how many are NULL (of 2^64)."""

    key: int
    nulls: int = 0

    def of(self, *words: object) -> np.uint64:
        return np.uint64(key_of(self.key, *words))

    def null_rows(self, rows: Rows) -> Mask | None:
        return None if not self.nulls else drawn_numbers(self.of("null"), rows.counters) < np.uint64(self.nulls)

    def changing(self, word: str, rows: Rows, same: Whole, table: tuple[Whole, Whole] | None) -> tuple[Whole, Mask]:
        """A rank for each version of a row, other than that of the version before, and which rows are NULL."""
        starts, sums = (_NO_RANKS, _NO_RANKS) if table is None else table
        nulls = np.uint64(self.nulls)
        found = changing_ranks(self.of(word), self.of("null"), nulls, rows.numbers, rows.versions, starts, sums, same)
        missing = found < 0
        return np.maximum(found, 0), missing


def drawn_numbers(key: np.uint64 | Keys, counters: Whole) -> Keys:
    """The numbers that keys have for counters."""
    numbers: Keys = drawn.py_func(key, counters)  # type: ignore[attr-defined]
    return numbers


def _alternating(numbers: Whole, rows: Rows, span: int) -> Whole:
    """Numbers below ``span``, odd in every second version: none is that of the version before."""
    return np.asarray(np.minimum(numbers >> 1, span // 2 - 1) * 2 + (rows.versions & 1)) if span > 1 else numbers


class Source(ABC):
    """The cells of one column.  ``column`` is the wire's; ``updated``: every version of a row has its own."""

    updated = False

    def __init__(self, column: Column, draws: Draws) -> None:
        self.column = column
        self.draws = draws
        self.kind: pa.DataType = plan_of(column).arrow_type

    @cached_property
    def _writer(self) -> ColumnWriter:
        return ColumnWriter(self.column)

    def array(self, rows: Rows) -> pa.Array:
        """The values, of the type that the column has in Arrow."""
        return self.values(rows if self.updated else rows.inserted)

    def wire(self, rows: Rows) -> WireColumn:
        """The same as the wire has them."""
        cells, _ = self._writer.write(self.array(rows), 0)
        return cells

    @abstractmethod
    def values(self, rows: Rows) -> pa.Array:
        """As :meth:`array`, of the rows and versions that the cells depend on."""


class NullSource(Source):
    """NULL in all rows."""

    def values(self, rows: Rows) -> pa.Array:
        return pa.nulls(len(rows), self.kind)


class PoolSource(Source):
    """Values of a pool."""

    def __init__(self, column: Column, draws: Draws, pool: Pool, zipf: float | None) -> None:
        super().__init__(column, draws)
        self.pool = pool
        self._table = None if zipf is None else zipf_table(zipf, len(pool))

    def _places(self, rows: Rows) -> tuple[Whole, Mask | None]:
        """Places in the pool, and which rows are NULL."""
        if self.updated:
            return self.draws.changing("pool", rows, self.pool.same, self._table)
        key = self.draws.of("pool")
        nulls = self.draws.null_rows(rows)
        if len(self.pool) == 1:
            return np.zeros(len(rows), np.int64), nulls
        if self._table is not None:
            return np.asarray(skewed_ranks(key, rows.counters, *self._table)), nulls
        return np.asarray(even_ranks(key, rows.counters, len(self.pool))), nulls

    def values(self, rows: Rows) -> pa.Array:
        return self.pool.taken(*self._places(rows))

    def wire(self, rows: Rows) -> WireColumn:
        return self.pool.wire(*self._places(rows if self.updated else rows.inserted))


class NumberSource(Source):
    """Whole numbers, all as likely; ``digits`` of them stand behind the point."""

    def __init__(self, column: Column, draws: Draws, low: int, high: int, digits: int) -> None:
        super().__init__(column, draws)
        self.low, self.span, self.digits = low, high - low + 1, digits

    def values(self, rows: Rows) -> pa.Array:
        key, nulls = self.draws.of("number"), self.draws.null_rows(rows)
        if self.updated and self.span <= _FEW:
            places, nulls = self.draws.changing("number", rows, np.arange(self.span), None)
        else:
            places = np.asarray(even_ranks(key, rows.counters, self.span))
            if self.updated:
                places = _alternating(places, rows, self.span)
        return number_array(self.kind, self.low + places, self.digits, nulls)


class NormalSource(Source):
    """Numbers around a mean."""

    def __init__(
        self, column: Column, draws: Draws, mean: float, deviation: float, ends: tuple[float, float], digits: int
    ) -> None:
        super().__init__(column, draws)
        self.mean, self.deviation, self.ends, self.digits = mean, deviation, ends, digits

    def values(self, rows: Rows) -> pa.Array:
        # Eight numbers of 65536: variance (65536^2 - 1) / 12 each.
        one = drawn_numbers(self.draws.of("normal"), rows.counters)
        pieces = [
            each.view(np.uint16).reshape(-1, 4) for each in (one, drawn_numbers(one, np.ones_like(rows.counters)))
        ]
        sums = sum(each.sum(axis=1, dtype=np.int64) for each in pieces) - 8 * 32767.5
        unit = 10**self.digits
        numbers = (self.mean + sums / 53509.91 * self.deviation) * unit
        low, high = self.ends
        whole = np.rint(np.clip(numbers, low * unit, high * unit)).astype(np.int64)
        if self.updated:
            least = round(low * unit)
            whole = least + _alternating(whole - least, rows, round(high * unit) - least + 1)
        return number_array(self.kind, whole, self.digits, self.draws.null_rows(rows))


class SequenceSource(Source):
    """Numbers that go on from row to row."""

    def __init__(self, column: Column, draws: Draws, start: int, step: int) -> None:
        super().__init__(column, draws)
        self.start, self.step = start, step

    def values(self, rows: Rows) -> pa.Array:
        return number_array(self.kind, self.start + self.step * rows.numbers, 0, self.draws.null_rows(rows))


class PositionSource(Source):
    """Numbers of rows inside the same owner."""

    def __init__(self, column: Column, draws: Draws, start: int) -> None:
        super().__init__(column, draws)
        self.start = start

    def values(self, rows: Rows) -> pa.Array:
        firsts = rows.lives.inside_of(rows.owners)
        return number_array(self.kind, self.start + rows.numbers - firsts, 0, None)


class MomentSource(Source):
    """The time at which a row got its version; of versions 0, of its insert."""

    def __init__(self, column: Column, draws: Draws, calendar: Calendar, step: int) -> None:
        super().__init__(column, draws)
        self.calendar, self.step = calendar, step

    def values(self, rows: Rows) -> pa.Array:
        return time_array(self.kind, self.calendar.times(rows.moments), self.step, self.draws.null_rows(rows))


class DatetimeSource(Source):
    """Times between two, all as likely."""

    def __init__(self, column: Column, draws: Draws, low: int, high: int, step: int) -> None:
        super().__init__(column, draws)
        self.low, self.high, self.step = low, high, step

    def values(self, rows: Rows) -> pa.Array:
        micros = self.low + np.asarray(even_ranks(self.draws.of("time"), rows.counters, self.high - self.low + 1))
        return time_array(self.kind, micros, self.step, self.draws.null_rows(rows))


class UuidSource(Source):
    """128 bits a row: as a UUID's text, or as bytes."""

    def values(self, rows: Rows) -> pa.Array:
        words = np.empty((len(rows), 2), ">u8")
        words[:, 0] = drawn_numbers(self.draws.of("high"), rows.counters)
        words[:, 1] = drawn_numbers(self.draws.of("low"), rows.counters)
        # Version 4, variant 1 (RFC 9562).
        octets = words.view(np.uint8).copy()
        octets[:, 6] = octets[:, 6] & 0x0F | 0x40
        octets[:, 8] = octets[:, 8] & 0x3F | 0x80
        nulls = self.draws.null_rows(rows)
        if pa.types.is_fixed_size_binary(self.kind):
            return fixed_array(self.kind, octets, len(rows), nulls)
        if pa.types.is_binary(self.kind):
            return with_nulls(text_array(octets).view(pa.binary()), nulls)
        text = np.full((len(rows), 36), ord("-"), np.uint8)
        text[:, [place for place in range(36) if place not in _HYPHENS]] = _hex_digits(octets)
        return with_nulls(text_array(text), nulls)


def _hex_digits(octets: np.typing.NDArray[np.uint8]) -> np.typing.NDArray[np.uint8]:
    digits = np.empty((len(octets), 2 * octets.shape[1]), np.uint8)
    digits[:, 0::2], digits[:, 1::2] = _HEX[octets >> 4], _HEX[octets & 15]
    return digits


class TemplateSource(Source):
    """Text with the row's number, a hash of it, and cells of other columns in it."""

    def __init__(self, column: Column, draws: Draws, parts: Sequence[str | Source]) -> None:
        super().__init__(column, draws)
        self.parts = parts

    def values(self, rows: Rows) -> pa.Array:
        joined = [self._part(part, rows) for part in self.parts]
        text = pc.binary_join_element_wise(*joined, text_scalar(""), null_handling="replace", null_replacement="")
        if isinstance(text, pa.Scalar):
            text = pa.repeat(text, len(rows))
        text = with_nulls(text, self.draws.null_rows(rows))
        return text if text.type == self.kind else text.cast(self.kind)

    def _part(self, part: str | Source, rows: Rows) -> pa.Array | pa.Scalar:
        if isinstance(part, Source):
            array = part.array(rows)
            array = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
            return array.cast(pa.string())
        if part == "{row}":
            return fixed_array(pa.int64(), rows.numbers + 1, len(rows), None).cast(pa.string())
        if part == "{hex}":
            words = drawn_numbers(self.draws.of("hex"), rows.counters).astype(">u8")
            return text_array(_hex_digits(words.view(np.uint8).reshape(-1, 8)))
        return text_scalar(part)


def template_parts(template: str) -> list[str]:
    """A template's literal texts and the names in braces, braces included.  Raises ScenarioError for an open brace."""
    parts = [part for part in re.split(r"(\{[^{}]*\})", template) if part]
    if any("{" in part or "}" in part for part in parts if not re.fullmatch(r"\{[^{}]*\}", part)):
        raise ScenarioError(f"the template {template!r} has a brace without its other one")
    return parts


class ReferenceSource(Source):
    """The cells that another table's column has in the rows that these refer to.

    ``owner``: they are inside of those rows; else these are drawn, by ``key``.
    """

    def __init__(
        self, column: Column, draws: Draws, parent: Lives, source: Source, zipf: float | None, key: np.uint64 | None
    ) -> None:
        super().__init__(column, draws)
        self.parent, self.source, self.zipf, self.key = parent, source, zipf, key

    def parents(self, rows: Rows) -> Whole:
        """The numbers of the rows that these refer to; -1 for none."""
        if self.key is None:
            return rows.owners
        return parents_of(rows.lives, self.parent, self.key, self.zipf, rows.numbers)

    def values(self, rows: Rows) -> pa.Array:
        found = self.parents(rows)
        cells = self.source.array(Rows(self.parent, np.maximum(found, 0)))
        nulls = self.draws.null_rows(rows)
        missing = found < 0
        if missing.any():
            if not self.column.nullable:
                raise ScenarioError(
                    f"column {self.column.name!r} refers to rows that are not there yet, and is NOT NULL"
                )
            nulls = missing if nulls is None else nulls | missing
        cells = with_nulls(cells, nulls)
        taken = in_type(cells, self.kind)
        if taken is None:
            raise ScenarioError(f"column {self.column.name!r} cannot hold the values that it refers to")
        return taken


class AddedSource(Source):
    """A column that rows from before its making have the default of, until they are changed."""

    def __init__(self, source: Source, default: pa.Array, since: int) -> None:
        super().__init__(source.column, source.draws)
        self.source, self.default, self.since = source, default, since
        self.updated = source.updated

    def values(self, rows: Rows) -> pa.Array:
        before = rows.moments < self.since
        if not before.any():
            return self.source.values(rows)
        both = pa.concat_arrays([self.source.values(rows), self.default])
        places = np.where(before, len(rows), np.arange(len(rows)))
        return both.take(fixed_array(pa.int64(), places, len(rows), None))
