"""Cells that Arrow cannot say: an error, NULL, or text, as the reader is asked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

import pyarrow as pa

from forge.bulk.reading import beside
from forge.bulk.reading.odd import OnOdd, ReadSummary
from forge.bulk.reading.rows import read_rows
from forge.compile import compile_files, write_files
from forge.decode.decode import canonical_rows
from forge.errors import FormatError, UnsupportedError
from forge.scenario import Scenario, Session, insert, plan
from forge.values.registry import codec_for
from tests.recorded import RECORDINGS

pytestmark = pytest.mark.slow

#: Recordings with zero and partial dates, the zero TIMESTAMP, and members that an ENUM lacks.
LOGS = [
    RECORDINGS / name / "mysql-9.7" / "binlog.000001"
    for name in ("values/datetimes", "values/zero-dates", "values/zero-defaults", "values/enums", "lenient")
]
over_logs = pytest.mark.parametrize("log", LOGS, ids=lambda log: log.parts[-3])
#: MariaDB's TIME(f) of before 5.6, which nothing in a file tells from TIME.
OLD_FRACTIONS = RECORDINGS / "values/old-fractions/mariadb-11.8/binlog.000001"


def shown(log: Path, on_odd: OnOdd, summary: ReadSummary) -> tuple[dict[tuple[str, int, str], Any], set[str]]:
    """The cells after changes, by table, number of the change and column; and the names of columns that are text."""
    cells: dict[tuple[str, int, str], Any] = {}
    texts: set[str] = set()
    rows: Counter[str] = Counter()
    for table, batch in read_rows(log, beside=(), on_odd=on_odd, summary=summary):
        for row in batch.to_pylist():
            cells |= {(table, rows[table], name): value for name, value in row.items()}
            rows[table] += 1
        texts |= {f"{table}.{field.name}" for field in batch.schema if pa.types.is_string(field.type)}
    return cells, texts


def texts_of(log: Path) -> dict[tuple[str, int, str], str | None]:
    """The same cells as the canonical decode has them; None for NULL."""
    cells: dict[tuple[str, int, str], str | None] = {}
    rows: Counter[str] = Counter()
    for change in canonical_rows(log.read_bytes()):
        table = f"{change.database}.{change.table}"
        for cell in change.after or change.before or ():
            name = cell.column.name or f"@{cell.number}"
            text = None if cell.raw is None else codec_for(cell.column).text(cell.column, cell.value())
            cells[table, rows[table], name] = text
        rows[table] += 1
    return cells


@over_logs
def test_as_text_a_column_is_what_the_canonical_decode_shows(log: Path) -> None:
    summary = ReadSummary()
    cells, columns = shown(log, "text", summary)
    expected = texts_of(log)
    compared = {place for place in cells if f"{place[0]}.{place[2]}" in columns}
    assert compared
    assert {place: cells[place] for place in compared} == {place: expected[place] for place in compared}


@over_logs
def test_as_null_just_the_odd_cells_are_null_and_counted(log: Path) -> None:
    summary = ReadSummary()
    cells, _ = shown(log, "null", summary)
    lost = [place for place, text in texts_of(log).items() if text is not None and cells[place] is None]
    assert summary.odd == sum(summary.odd_columns.values()) == len(lost)
    assert summary.odd_columns == Counter(name for _, _, name in lost)


def test_as_error_the_cell_is_told_with_file_place_and_column() -> None:
    with pytest.raises(FormatError) as caught:
        shown(LOGS[1], "error", ReadSummary())
    assert (caught.value.phase, caught.value.file) == ("value", str(LOGS[1]))
    assert caught.value.rule.startswith("column a: ")
    assert "0000-00-00" in caught.value.rule
    assert caught.value.offset is not None


@pytest.mark.parametrize("on_odd", ["error", "null", "text"])
def test_old_fractions_are_refused_however_odd_cells_are_wanted(on_odd: OnOdd) -> None:
    with pytest.raises(UnsupportedError, match=r"temporal types from before 5\.6"):
        shown(OLD_FRACTIONS, on_odd, ReadSummary())


def test_no_row_of_an_event_is_read_whose_last_row_shows_another_width(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "MOST_ROWS", 1)
    short: Any = {"event": "WRITE_ROWS_V1", "set": {"rows.2.a": {"hex": "0000"}}}
    scenario = Scenario(
        "wide",
        server="mariadb-11.8",
        verdict="may",
        phase="row",
        session=Session(row_metadata="full", mysql56_temporal_format=False, edits=[short]),
        tables=["CREATE TABLE t.t (a TIME)"],
    ).transaction(insert("t.t", {"a": "1:00:00"}, {"a": "2:00:00"}, {"a": "3:00:00"}))
    planned = plan(scenario)
    log = tmp_path / "log"
    log.write_bytes(write_files(planned, compile_files(planned))[0])
    with pytest.raises(UnsupportedError, match=r"temporal types from before 5\.6"):
        next(iter(read_rows(log)))


@pytest.mark.parametrize("on_odd", ["error", "text"])
def test_bytes_that_are_no_value_are_an_error_in_a_column_that_has_no_text(on_odd: OnOdd, tmp_path: Path) -> None:
    digits: Any = {"event": "WRITE_ROWS", "set": {"rows.0.a": {"hex": "ff0000"}}}
    scenario = Scenario(
        "odd",
        verdict="reject",
        phase="value",
        session=Session(row_metadata="full", edits=[digits]),
        tables=["CREATE TABLE t.t (a DECIMAL(5,2))"],
    ).transaction(insert("t.t", {"a": 1}))
    planned = plan(scenario)
    log = tmp_path / "log"
    log.write_bytes(write_files(planned, compile_files(planned))[0])
    with pytest.raises(FormatError, match=r"column a: .*DECIMAL"):
        shown(log, on_odd, ReadSummary())


@pytest.mark.parametrize("size", [2, 100])
def test_bytes_that_are_not_text_of_their_character_set_are_odd(size: int, tmp_path: Path) -> None:
    data = bytes([0x85]) * size
    scenario = Scenario(
        "odd", session=Session(row_metadata="full"), tables=["CREATE TABLE t.t (a TEXT CHARACTER SET cp932)"]
    ).transaction(insert("t.t", {"a": "あ"}, {"a": data}, {"a": None}))
    planned = plan(scenario)
    log = tmp_path / "log"
    log.write_bytes(write_files(planned, compile_files(planned))[0])
    cases: list[tuple[OnOdd, str | None]] = [("text", f"0x{data.hex()}"), ("null", None)]
    for on_odd, text in cases:
        assert [row for _, batch in read_rows(log, on_odd=on_odd) for row in batch["a"].to_pylist()] == [
            "あ",
            text,
            None,
        ]
    with pytest.raises(FormatError, match=r"column a: TEXT b'.* has no text") as caught:
        list(read_rows(log))
    assert len(caught.value.rule) < 120
