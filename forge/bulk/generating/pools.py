"""Pools of values: made once by the reference path, then drawn from by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.bulk.generating.arrays import Mask, Whole, fixed_array, validity_bitmap, with_nulls
from forge.bulk.plan import Bytes, Cells, ColumnPlan, slacked
from forge.bulk.registry import column_plan
from forge.bulk.writing.row_images import WireColumn
from forge.engine.requests.cells import ColumnPlace, is_generator, literal_of
from forge.errors import ScenarioError, UnsupportedError
from forge.scenario.generators import Generators
from forge.scenario.volume_model import VolumeColumn
from forge.values.base import Column
from forge.values.registry import codec_for

_NO_BYTES: Bytes = np.zeros(0, np.uint8)
_NO_STARTS = np.zeros(0, np.int64)
_NO_LENGTHS = np.zeros(0, np.int32)


def pool_values(declared: VolumeColumn, seed: int, place: ColumnPlace) -> list[Any]:
    """The values of a pool, as a scenario states them.  Raises ScenarioError for what its generator cannot make."""
    if declared.choice is not None:
        return [literal_of(value) for value in declared.choice]
    if declared.value is not msgspec.UNSET:
        return [literal_of(declared.value)]
    cell = _generator(declared)
    assert is_generator(cell, json=False)
    made = Generators(seed)(cell, place)
    return [made.literal(row) for row in range(declared.pool)]


def _generator(declared: VolumeColumn) -> Mapping[str, Any]:
    """The cell of forge.scenario.generators."""
    if declared.faker is not None:
        locale = {} if declared.locale is None else {"locale": declared.locale}
        return {"faker": declared.faker, "args": declared.args, **locale}
    for name in ("text", "bytes", "random_int", "datetime"):
        argument = getattr(declared, name)
        if argument is not None:
            return {name: argument}
    raise ScenarioError("the generator makes no pool of values")


@dataclass(frozen=True, slots=True)
class Pool:
    """The cells of a pool in one column: as an Arrow array, and as the wire has them."""

    plan: ColumnPlan
    array: pa.Array
    values: Bytes
    starts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int32]
    #: Values that are the same have the same number.
    same: Whole

    def __len__(self) -> int:
        return len(self.array)

    def taken(self, places: Whole, nulls: Mask | None) -> pa.Array:
        return with_nulls(self.array.take(fixed_array(pa.int64(), places, len(places), None)), nulls)

    def wire(self, places: Whole, nulls: Mask | None) -> WireColumn:
        bitmap = validity_bitmap(nulls)
        validity = _NO_BYTES if bitmap is None else np.frombuffer(bitmap, np.uint8)
        width = self.plan.wire
        if width > 0:
            values = self.values.reshape(-1, width)[places].reshape(-1)
            return WireColumn(width, values, _NO_STARTS, _NO_LENGTHS, validity, 0)
        return WireColumn(width, self.values, self.starts[places], self.lengths[places], validity, 0)


def pool_of(column: Column, declared: Sequence[Any], *, cut: bool = False) -> Pool:
    """The pool of these values; ``cut``: texts that the column has no room for are cut.

    Raises ScenarioError for values that the column cannot hold, UnsupportedError for those that Arrow cannot say.
    """
    codec, plan = codec_for(column), plan_of(column)
    cells = [codec.encode(column, _accepted(column, value, cut=cut)) for value in declared]
    prefix = max(-plan.wire, 0)
    lengths = np.array([len(cell) - prefix for cell in cells], np.int32)
    sizes = np.array([len(cell) for cell in cells], np.int64)
    starts = np.cumsum(sizes) - sizes + prefix
    joined = np.frombuffer(b"".join(cells), np.uint8)
    buffer = slacked(len(joined))
    buffer[: len(joined)] = joined
    buffer[len(joined) :] = 0
    read = plan.read(Cells(buffer, starts.astype(np.int32), lengths if prefix else _NO_LENGTHS))
    if len(read.odd):
        raise UnsupportedError(f"{declared[int(read.odd[0])]!r} has no value in Arrow, which the state is written as")
    array = plan.array(len(cells), None, 0, read)
    numbers: dict[bytes, int] = {}
    same = np.array([numbers.setdefault(cell, len(numbers)) for cell in cells], np.int64)
    return Pool(plan, array, joined, starts, lengths, same)


def plan_of(column: Column) -> ColumnPlan:
    """The plan of a column.  Raises UnsupportedError for a type that no kernel knows."""
    plan = column_plan(column)
    if plan is None:
        raise UnsupportedError(f"{codec_for(column).type_name(column)} is not generated in bulk")
    return plan


def _accepted(column: Column, value: Any, *, cut: bool) -> Any:
    codec = codec_for(column)
    try:
        return codec.accept(column, value)
    except ScenarioError:
        room = column.declared.length if column.declared is not None else None
        if not cut or room is None or not isinstance(value, str):
            raise
        return codec.accept(column, value[:room].rstrip())
