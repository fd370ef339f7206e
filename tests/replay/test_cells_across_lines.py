"""Logs of one line on replicas of another (corpora/replays/lines.jsonl): NF1, NF2, WL#4033; ``forge compat`` agrees."""

from __future__ import annotations

import pytest

from forge.check.compat.report import compatibility_of_logs
from tests.replay.built import log_of
from tests.replay.cells import Cell, read_cells, replays_dir

_CELLS = [cell for cell in read_cells([replays_dir() / "lines.jsonl"]) if cell.source]
#: Errors of who cannot read the log: an event, a character set, a type of columns that stops MariaDB without a number.
_UNREADABLE = (1594, 13121, 22, -2)
_DOCUMENTS = [cell for cell in _CELLS if cell.name.startswith("rows: from")]


def _error(source: str, replica: str, *, rows_query: int | None = None) -> set[int]:
    """What replicas of a line say of a source's logs with the usual names and collations."""
    return {
        cell.results[replica].error
        for cell in _DOCUMENTS
        if cell.source == source and cell.session.get("binlog_rows_query_log_events") in (rows_query, None)
    }


def test_nf1_old_logs_go_onto_new_replicas_but_for_those_of_version_1_onto_9_7() -> None:
    assert [_error("mysql-5.5", new) for new in ("mysql-5.6.14", "mysql-5.6", "mysql-8.0")] == [{0}] * 3
    assert _error("mysql-5.5", "mysql-9.7") == {13121}
    assert _error("mysql-5.6", "mysql-9.7", rows_query=0) == _error("mysql-5.6", "mysql-9.7", rows_query=1) == {0}


@pytest.mark.parametrize("source", ["mysql-8.0", "mysql-9.7"])
def test_nf2_metadata_makes_no_difference_to_an_old_replica(source: str) -> None:
    by_metadata = [
        [cell.results for cell in _DOCUMENTS if f"from {source}, metadata {metadata}" in cell.name]
        for metadata in ("MINIMAL", "FULL")
    ]
    minimal, full = ([{line: one.outcome for line, one in results.items()} for results in some] for some in by_metadata)
    assert minimal == full
    assert len(minimal) == 2


@pytest.mark.parametrize("source", ["mysql-5.6.14", "mysql-5.6", "mysql-8.0", "mysql-9.7"])
def test_wl4033_new_logs_stop_an_old_replica_and_no_new_one(source: str) -> None:
    """OM is 5.5, which knows no ignorable events; its own go onto every NS but 9.7, of another reason (NF1)."""
    for rows_query in (0, 1):
        assert _error(source, "mysql-5.5", rows_query=rows_query) == {1594}
        new = [line for line in ("mysql-5.6", "mysql-8.0", "mysql-9.7") if line != source]
        assert [_error(source, line, rows_query=rows_query) for line in new] == [{0}] * len(new)


def _is_agreed(cell: Cell) -> None:
    log = log_of(cell, cell.source)
    for line, result in cell.results.items():
        stops = compatibility_of_logs([log], line, decoded=False).replica_stops is not None
        assert result.error not in _UNREADABLE or stops, (cell.name, line)
        assert result.error or not stops, (cell.name, line)


@pytest.mark.parametrize("cell", _CELLS[::10], ids=lambda cell: f"{cell.group}/{cell.name}")
def test_compat_says_the_same_of_some(cell: Cell) -> None:
    _is_agreed(cell)


@pytest.mark.slow
def test_compat_says_the_same_of_all() -> None:
    for cell in _CELLS:
        _is_agreed(cell)
