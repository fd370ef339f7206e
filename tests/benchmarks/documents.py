"""JSON columns by themselves: documents from text to binary, and the text of doubles."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from forge.bulk.plan import Cells, ColumnPlan, slacked
from forge.bulk.registry import column_plan
from forge.values.base import Column
from forge.values.wire_types import WireType
from tests.benchmarks.measure import InProcess

#: Numbers that become text.
_DOUBLES = 200_000
#: A document that is a double: its type, and eight bytes.
_DOUBLE_TYPE, _DOUBLE_SIZE = 0x0B, 9


def _json_plan() -> ColumnPlan:
    plan = column_plan(Column(WireType.JSON, b"\x04"))
    if plan is None:
        raise RuntimeError("no kernel knows JSON columns")
    return plan


def text_to_binary(source: Callable[[], pa.Table]) -> InProcess:
    """The column ``j`` as a server stores it; none of its rows may need the reference path."""
    texts = cache(lambda: source()["j"].combine_chunks())
    size = cache(lambda: pc.sum(pc.binary_length(texts())).as_py())
    plan = _json_plan()

    def run() -> int:
        odd = len(plan.write(texts()).odd)
        if odd:
            raise RuntimeError(f"{odd} documents went the reference path")
        return int(size())

    return InProcess(run)


def _numbers() -> np.ndarray:
    return np.arange(1, _DOUBLES + 1) / 7


def doubles_as_text() -> InProcess:
    """Documents that are doubles, as text."""
    buffer = slacked(_DOUBLES * _DOUBLE_SIZE)
    documents = buffer[: _DOUBLES * _DOUBLE_SIZE].reshape(_DOUBLES, _DOUBLE_SIZE)
    documents[:, 0] = _DOUBLE_TYPE
    documents[:, 1:] = _numbers().view(np.uint8).reshape(_DOUBLES, _DOUBLE_SIZE - 1)
    offsets = np.arange(0, _DOUBLES * _DOUBLE_SIZE, _DOUBLE_SIZE, dtype=np.int32)
    cells = Cells(buffer, offsets, np.full(_DOUBLES, _DOUBLE_SIZE, np.int32))
    plan = _json_plan()

    def run() -> int:
        odd = len(plan.read(cells).odd)
        if odd:
            raise RuntimeError(f"{odd} documents went the reference path")
        return _DOUBLES

    return InProcess(run)


def doubles_by_python() -> InProcess:
    """The same numbers as Python writes them."""
    numbers = _numbers().tolist()

    def run() -> int:
        return len([repr(number) for number in numbers])

    return InProcess(run)
