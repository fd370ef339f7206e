"""The cells of ``corpora/replays``: each has a name, results and, built or kept, a log."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from forge.record.builds import BUILD_OF_LINE, LINES_OF_TODAY
from tests.replay.built import log_of, row_events
from tests.replay.cells import Cell, read_cells, write_cells

_CELLS = list(read_cells())


def test_a_file_is_written_as_it_was_read(tmp_path: Path) -> None:
    write_cells(tmp_path / "cells.jsonl", _CELLS)
    assert list(read_cells([tmp_path / "cells.jsonl"])) == _CELLS


def test_every_cell_has_a_name_of_its_own_and_results() -> None:
    assert [name for name, count in Counter((cell.group, cell.name) for cell in _CELLS).items() if count > 1] == []
    assert [cell.name for cell in _CELLS if not cell.results] == []
    assert {line for cell in _CELLS for line in cell.results} <= set(BUILD_OF_LINE)


@pytest.mark.parametrize("line", LINES_OF_TODAY)
def test_there_are_cells_that_end_well_and_others(line: str) -> None:
    errors = Counter(cell.results[line].error for cell in _CELLS if line in cell.results)
    assert errors[0] > 100
    assert len(errors) > 5


def _logged(cell: Cell) -> None:
    for line in cell.results:
        assert any(row_events(log_of(cell, cell.source or line))), (cell.group, cell.name, line)


@pytest.mark.parametrize("cell", _CELLS[::60], ids=lambda cell: f"{cell.group}/{cell.name}")
def test_some_logs_have_rows(cell: Cell) -> None:
    _logged(cell)


@pytest.mark.slow
def test_all_logs_have_rows() -> None:
    for cell in _CELLS:
        _logged(cell)
