"""Generated tables, rows and images, and cells that are damaged: rows in bulk as the canonical decode has them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="the extra [rows] is not installed")
pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")

from hypothesis import given
from hypothesis import strategies as st

from forge.binlog.payload import compress_events
from forge.binlog.writer import write_binlog
from forge.compile.rows.table_map import table_map, wire_columns
from forge.events.event import Event
from forge.events.format import FormatContext
from forge.events.format_description import FormatDescription
from forge.events.gtid import Gtid
from forge.events.row_image import ChangedRow, Image, bitmap_of, build_rows
from forge.events.rows import (
    DeleteRows,
    DeleteRowsV1,
    RowsBody,
    UpdateRows,
    UpdateRowsV1,
    WriteRows,
    WriteRowsV1,
)
from forge.plan.session import Session
from forge.servers import server_line
from forge.values.base import Column
from forge.values.registry import codec_for
from tests.bulk.reference_rows import difference
from tests.strategies.tables import rows_of, tables

pytestmark = pytest.mark.slow

_EVENTS: tuple[tuple[type[RowsBody], str], ...] = (
    (WriteRows, "after"), (UpdateRows, "both"), (DeleteRows, "before"),
    (WriteRowsV1, "after"), (UpdateRowsV1, "both"), (DeleteRowsV1, "before"),
)  # fmt: skip
_LENGTHS = bytes.fromhex("000d0008000000000400040000006200041a08000000080808020000000a0a0a2a2a001234000a2800")


@st.composite
def logs(draw: st.DrawFn, *, damaged: bool) -> bytes:
    """A log of one table with a few row events, each with images of its own; some inside a compressed transaction."""
    server = draw(st.sampled_from(("mysql-9.7", "mariadb-11.8")))
    line = server_line(server)
    table = draw(tables(server, max_columns=12))
    session = Session(row_metadata=draw(st.sampled_from(("minimal", "full"))))
    columns = wire_columns(table, session, line)
    mapped = table_map(table, 7, session, line)
    events: list[Event] = [Event(body=mapped)]
    for kind, images in draw(st.lists(st.sampled_from(_EVENTS), min_size=1, max_size=5)):
        events.append(Event(body=_rows(draw, kind, images, table, columns, server, damaged=damaged), timestamp=5))
    version = "9.7.4" if line.family == "mysql" else "11.8.9-MariaDB"
    description = FormatDescription(server_version=version, post_header_lengths=_LENGTHS)
    group = [Event(body=Gtid(uuid="00000000-0000-0000-0000-00000000002a", gno=draw(st.integers(1, 1 << 40))))]
    format = FormatContext(version, _LENGTHS, checksum=True)
    inside = draw(st.booleans())
    return write_binlog(
        [Event(body=description), *group, *([Event(body=compress_events(events, format))] if inside else events)]
    )


def _rows(
    draw: st.DrawFn, kind: type[RowsBody], images: str, table: Any, columns: tuple[Column, ...], server: str, *,
    damaged: bool,
) -> RowsBody:  # fmt: skip
    indexes = list(range(len(columns)))
    chosen = {
        half: sorted(draw(st.lists(st.sampled_from(indexes), unique=True, min_size=1) | st.just(indexes)))
        for half in ("before", "after")
        if images in (half, "both")
    }
    padding = draw(st.booleans())
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        made: dict[str, Image | None] = {"before": None, "after": None}
        for half, present in chosen.items():
            row = draw(rows_of(table, server, max_rows=1))[0]
            cells = [None if row[i] is None else codec_for(columns[i]).encode(columns[i], row[i]) for i in present]
            bits = (1 << (-len(present) % 8)) - 1 if padding else 0
            made[half] = Image(tuple(cells), padding=bits)
        rows.append(ChangedRow(made["before"], made["after"]))
    data = build_rows(rows)
    if damaged and data:
        at = draw(st.integers(0, len(data) - 1))
        data = data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 : draw(st.integers(at + 1, len(data)))]
    bitmaps = {half: bitmap_of(present, len(columns), padding=padding) for half, present in chosen.items()}
    if images == "both":
        return kind(  # type: ignore[call-arg]
            table_id=7, width=len(columns), present=bitmaps["before"], present_after=bitmaps["after"], rows=data
        )
    return kind(table_id=7, width=len(columns), present=bitmaps[images], rows=data)  # type: ignore[call-arg]


def _difference(log: bytes) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        path.write_bytes(log)
        return difference(path)


@given(logs(damaged=False))
def test_generated_rows_are_read_as_the_canonical_decode_has_them(log: bytes) -> None:
    assert _difference(log) is None


@given(logs(damaged=True))
def test_damaged_rows_are_refused_as_by_the_canonical_decode(log: bytes) -> None:
    assert _difference(log) is None
