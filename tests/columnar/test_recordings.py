"""Every recorded log read in bulk: cell for cell what the canonical decode has."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="the extra `rows` is not installed")
pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")

import pyarrow as pa

from forge.check.canonical.cells import Cell, RowChange
from forge.check.canonical.decode import canonical_rows
from forge.columnar.reading.odd import ReadSummary
from forge.columnar.reading.rows import read_rows
from forge.columnar.registry import column_plan
from forge.errors import ForgeError, FormatError, UnsupportedError
from forge.values.registry import codec_for

RECORDINGS = Path(__file__).parents[2] / "corpora" / "recordings"
LOGS = sorted(path for path in RECORDINGS.rglob("*.0*") if path.suffix[1:].isdigit())

pytestmark = pytest.mark.slow


def value_of(cell: Cell) -> Any:
    """What Arrow has of a cell; None for what it cannot say too."""
    if cell.raw is None:
        return None
    if cell.partial:
        return cell.updated() or cell.text()
    plan, codec = column_plan(cell.column), codec_for(cell.column)
    assert plan is not None
    kind = plan.arrow_type
    try:
        value = cell.value()
        if pa.types.is_dictionary(kind):
            text = codec.text(cell.column, value)
            return text if int.from_bytes(cell.raw, "little") <= len(cell.column.members or ()) else None
        if pa.types.is_string(kind):
            return codec.text(cell.column, value)
        shown = codec.python_value(cell.column, value)
    except ForgeError:
        return None
    if pa.types.is_struct(kind):
        return {"srid": int.from_bytes(plan_bytes(cell)[:4], "little"), "wkb": plan_bytes(cell)[4:]}
    if pa.types.is_uint64(kind) and not isinstance(shown, int):
        return int.from_bytes(cell.raw, "little")
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return None if isinstance(shown, str) else shown
    return list(shown) if pa.types.is_list(kind) else shown


def plan_bytes(cell: Cell) -> bytes:
    plan = column_plan(cell.column)
    assert plan is not None
    assert cell.raw is not None
    return cell.raw[-plan.wire :]


def same(value: Any, other: Any) -> bool:
    if isinstance(value, float) and isinstance(other, float) and math.isnan(value):
        return math.isnan(other)
    return bool(value == other)


def image_of(cells: tuple[Cell, ...] | None, names: list[str]) -> dict[str, Any] | None:
    return None if cells is None else {names[cell.number - 1]: value_of(cell) for cell in cells}


def changes(data: bytes) -> tuple[dict[str, list[RowChange]], str | None]:
    found = defaultdict(list)
    try:
        for change in canonical_rows(data):
            found[f"{change.database}.{change.table}"].append(change)
    except (FormatError, UnsupportedError) as error:
        return found, str(error)
    return found, None


@pytest.mark.parametrize("log", LOGS, ids=lambda log: str(log.relative_to(RECORDINGS)))
def test_a_recording_reads_as_the_canonical_decode_has_it(log: Path) -> None:
    expected, problem = changes(log.read_bytes())
    if problem is not None:
        with pytest.raises(ForgeError, match=re.escape(problem)):
            list(read_rows(log))
        return
    summary = ReadSummary()
    seen: dict[str, int] = defaultdict(int)
    for table, batch in read_rows(log, images="both", on_odd="null", summary=summary):
        names = [field.name for field in batch.schema.field("before").type]
        for row in batch.to_pylist():
            change = expected[table][seen[table]]
            seen[table] += 1
            assert row["_operation"] == change.kind
            assert (row["_event"], row["_position"]) == (change.event_index, change.offset)
            for half, cells in (("before", change.before), ("after", change.after)):
                image = image_of(cells, names)
                assert (row[half] is None) == (image is None)
                bitmap = int.from_bytes(row[f"_present_{half}"], "little")
                assert bitmap == sum(1 << (cell.number - 1) for cell in cells or ())
                for name, value in (row[half] or {}).items():
                    assert image is not None
                    assert same(value, image.get(name)), (table, name)
    assert dict(seen) == {table: len(rows) for table, rows in expected.items()}
