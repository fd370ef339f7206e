"""From generators to the sources of cells, for the definitions of one time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from forge.bulk.generating.cell_sources import (
    AddedSource,
    DatetimeSource,
    Draws,
    MomentSource,
    NormalSource,
    NullSource,
    NumberSource,
    PoolSource,
    PositionSource,
    ReferenceSource,
    SequenceSource,
    Source,
    TemplateSource,
    UuidSource,
    template_parts,
)
from forge.bulk.generating.epochs import Definitions, Epoch
from forge.bulk.generating.planned_tables import PlannedTable, threshold
from forge.bulk.generating.pools import Pool, plan_of, pool_of, pool_values
from forge.bulk.generating.volume_calendar import calendar_of
from forge.compile.rows.table_map import wire_columns
from forge.engine.requests.cells import ColumnPlace
from forge.errors import ScenarioError, UnsupportedError, about, nearest
from forge.plan.tables import Table, TableColumn
from forge.scenario.counter_hash import key_of
from forge.scenario.volume_model import Volume, VolumeColumn
from forge.values.base import Column
from forge.values.registry import codec_for

#: Values of pools by (table, column), as the scenario states them.
Pools = Mapping[tuple[str, str], Sequence[Any]]
#: Digits behind the point of numbers that are drawn, which fit 64 bits.
_MOST_DIGITS = 6
_POOLED = ("faker", "choice", "text", "bytes")
_MICROSECOND = dt.timedelta(microseconds=1)
_EPOCH = dt.datetime(1970, 1, 1)


@dataclass(frozen=True)
class Sources:
    """The sources of all tables' columns in one epoch."""

    definitions: Definitions
    epoch: Epoch
    tables: Sequence[PlannedTable]
    volume: Volume
    pools: Pools
    seed: int

    @cached_property
    def _made(self) -> dict[tuple[int, str], Source]:
        return {}

    @cached_property
    def _wire(self) -> list[dict[str, Column]]:
        session, line = self.definitions.plan.session, self.definitions.line
        return [
            {column.name.lower(): column for column in wire_columns(table, session, line) if column.name is not None}
            for table in self.epoch.tables
        ]

    def of_table(self, index: int) -> list[Source]:
        """The sources of a table's columns, in their order."""
        return [self.of(index, column.name.lower()) for column in self.epoch.tables[index].columns]

    def of(self, index: int, name: str) -> Source:
        """Raises ScenarioError for a generator that does not fit its column, UnsupportedError for one without."""
        made = self._made.get((index, name))
        if made is None:
            with about(f"{self.tables[index].name}: column {name!r}"):
                made = self._source(index, name)
            self._made[index, name] = made
        return made

    def _source(self, index: int, name: str) -> Source:
        planned = self.tables[index]
        if name not in self._wire[index]:
            raise ScenarioError("there is no such column now", suggestion=nearest(name, list(self._wire[index])))
        column = self._wire[index][name]
        first = next(
            (epoch for epoch in self.definitions.epochs if _column(epoch.tables[index], name) is not None), self.epoch
        )
        declared = self._declared(planned, _column(first.tables[index], name), name)
        draws = Draws(key_of(self.seed, planned.name, name), threshold(declared.nulls))
        if name in planned.references:
            reference = planned.references[name]
            parent = self.tables[reference.parent]
            key = None if reference.key is None else np.uint64(key_of(self.seed, planned.name, "key", reference.key))
            source: Source = ReferenceSource(
                column, draws, parent.lives, self.of(reference.parent, reference.column), reference.zipf, key
            )
        else:
            source = self._generated(planned, column, draws, declared, _column(first.tables[index], name))
            source.updated = name in planned.updated
        return source if first.begin == 0 else self._added(index, name, source, first)

    def _declared(self, planned: PlannedTable, column: TableColumn | None, name: str) -> VolumeColumn:
        if name in planned.columns:
            return planned.columns[name]
        assert column is not None
        from forge.bulk.generating.default_generators import default_column

        return default_column(planned.definition, column)

    def _added(self, index: int, name: str, source: Source, first: Epoch) -> Source:
        """Rows that were there before have what the server gave them: the default."""
        column = _column(first.tables[index], name)
        assert column is not None
        if column.default_now or column.computed_default or not (column.has_default or column.nullable):
            raise UnsupportedError("a column that is added needs a DEFAULT, a literal one, or to be NULL")
        value = column.default if column.has_default else None
        codec = codec_for(source.column)
        default = (
            pa.nulls(1, source.kind)
            if value is None
            else pool_of(source.column, [codec.text(source.column, value)]).array
        )
        return AddedSource(source, default, first.begin)

    def _generated(
        self, planned: PlannedTable, column: Column, draws: Draws, declared: VolumeColumn, first: TableColumn | None
    ) -> Source:
        kind = plan_of(column).arrow_type
        numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        assert first is not None
        if declared.reference is not None:
            raise ScenarioError(f"reference {declared.reference!r} leads nowhere")
        if declared.value is None:
            if not column.nullable:
                raise ScenarioError("it is NOT NULL, and its value is NULL")
            return NullSource(column, draws)
        if declared.uuid:
            return UuidSource(column, draws)
        if declared.template is not None:
            return self._template(planned, column, draws, declared.template)
        if declared.moment is not None:
            source = MomentSource(column, draws, calendar_of(self.volume), _step(first))
            source.updated = declared.moment == "change"
            return source
        if declared.datetime is not None and not pa.types.is_string(kind):
            return DatetimeSource(column, draws, *_ends(declared.datetime), _step(first))
        if declared.normal is not None or declared.random_int is not None or _is_counted(declared):
            if not numeric:
                raise ScenarioError("it is no column of numbers", expected="`template` or `text`")
            return self._numbers(planned, column, draws, declared, first)
        return PoolSource(column, draws, self._pool(planned, column, declared), declared.zipf)

    def _pool(self, planned: PlannedTable, column: Column, declared: VolumeColumn) -> Pool:
        name = str(column.name).lower()
        values = self.pools.get((planned.name, name))
        if values is None:
            values = pool_values(declared, self.seed, ColumnPlace(planned.name, name))
        if None in values:
            raise ScenarioError("NULL is among the values", expected="`nulls`, the part of the cells that are NULL")
        return pool_of(column, values, cut=declared.faker is not None)

    def _template(self, planned: PlannedTable, column: Column, draws: Draws, template: str) -> Source:
        parts: list[str | Source] = []
        for part in template_parts(template):
            named = part.startswith("{") and part not in ("{row}", "{hex}")
            other = part[1:-1].lower()
            if named and other == str(column.name).lower():
                raise ScenarioError(f"the template {template!r} names its own column")
            parts.append(self.of(planned.index, other) if named else part)
        source = TemplateSource(column, draws, parts)
        _check_text(source, planned)
        return source

    def _numbers(
        self, planned: PlannedTable, column: Column, draws: Draws, declared: VolumeColumn, first: TableColumn
    ) -> Source:
        digits = _digits(first)
        codec = codec_for(column)
        if declared.position is not None:
            if planned.owner is None:
                raise ScenarioError("`position` needs a table that is `inside` another")
            return PositionSource(column, draws, declared.position)
        if declared.sequence is not None:
            given = declared.sequence
            start, step = (given.get("start", 1), given.get("step", 1)) if isinstance(given, dict) else (given, 1)
            for end in (start, start + step * (planned.lives.rows - 1)):
                codec.accept(column, end)
            return SequenceSource(column, draws, start, step)
        if declared.random_int is not None:
            low, high = declared.random_int.get("min", 0), declared.random_int.get("max")
            if high is None or low > high:
                raise ScenarioError("random_int needs two whole numbers", expected="{random_int: {min: 1, max: 6}}")
            for end in (low, high):
                codec.accept(column, end)
            unit = 10**digits if first.type.name == "DECIMAL" else 1
            return NumberSource(column, draws, low * unit, high * unit, digits if unit > 1 else 0)
        assert declared.normal is not None
        least, most = _range(first)
        ends = (
            least if declared.normal.min is None else declared.normal.min,
            most if declared.normal.max is None else declared.normal.max,
        )
        if not least <= ends[0] <= ends[1] <= most:
            raise ScenarioError("`min` and `max` are out of the column's range, or the wrong way round")
        return NormalSource(column, draws, declared.normal.mean, declared.normal.deviation, ends, digits)


def pools_of(sources: Sequence[Sources]) -> dict[tuple[str, str], list[Any]]:
    """The values of all pools that providers and generators make, which are made once.  Raises ScenarioError."""
    made: dict[tuple[str, str], list[Any]] = {}
    for each in sources:
        for planned, table in zip(each.tables, each.epoch.tables, strict=True):
            for column in table.columns:
                name = column.name.lower()
                if name in planned.references or (planned.name, name) in made:
                    continue
                declared = each._declared(planned, column, name)
                pooled = any(getattr(declared, word) is not None for word in _POOLED) or (
                    declared.datetime is not None and column.type.collation is not None
                )
                if pooled and not declared.uuid:
                    with about(f"{planned.name}: column {column.name!r}"):
                        made[planned.name, name] = pool_values(declared, each.seed, ColumnPlace(planned.name, name))
    return made


def _column(table: Table, name: str) -> TableColumn | None:
    return next((column for column in table.columns if column.name.lower() == name), None)


def _is_counted(declared: VolumeColumn) -> bool:
    return declared.sequence is not None or declared.position is not None


def _step(column: TableColumn) -> int:
    """Microseconds of a time's last digit."""
    return int(10 ** (6 - column.type.fsp))


def _digits(column: TableColumn) -> int:
    """Digits behind the point."""
    if column.type.name == "DECIMAL" or column.type.scale is not None:
        return min(column.type.scale or 0, _MOST_DIGITS)
    return 2 if column.type.name in ("FLOAT", "DOUBLE") else 0


def _range(column: TableColumn) -> tuple[float, float]:
    kind = column.type
    if kind.name == "DECIMAL" or kind.precision is not None:
        digits = _digits(column)
        high = min(10 ** ((kind.precision or 10) - (kind.scale or 0)), 10 ** (18 - digits)) - 10.0**-digits
    else:
        bits = {"TINYINT": 8, "SMALLINT": 16, "MEDIUMINT": 24, "INT": 32, "BIT": kind.length or 1}.get(kind.name, 50)
        high = float((1 << (bits if kind.unsigned or kind.name == "BIT" else bits - 1)) - 1)
    if kind.name == "YEAR":
        return 1901, 2155
    return (0.0 if kind.unsigned or kind.name == "BIT" else -high), high


def _ends(given: Mapping[str, Any]) -> tuple[int, int]:
    """Microseconds since 1970 of both ends."""
    try:
        ends = [dt.datetime.fromisoformat(str(given[end])) for end in ("from", "to")]
    except (KeyError, ValueError):
        ends = []
    if not ends or ends[1] < ends[0] or any(end.tzinfo is not None for end in ends):
        raise ScenarioError("datetime needs two moments", expected="{datetime: {from: 2020-01-01, to: 2030-01-01}}")
    return (ends[0] - _EPOCH) // _MICROSECOND, (ends[1] - _EPOCH) // _MICROSECOND


def _check_text(source: TemplateSource, planned: PlannedTable) -> None:
    """The longest number of a row fits.  Raises ScenarioError."""
    if all(isinstance(part, str) for part in source.parts):
        texts = {"{row}": str(planned.lives.rows), "{hex}": "0" * 16}
        text = "".join(texts.get(part, part) for part in source.parts if isinstance(part, str))
        codec_for(source.column).accept(source.column, text)
