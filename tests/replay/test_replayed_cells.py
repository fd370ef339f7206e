"""The applier's model against what real replicas made of the same logs: corpora/replays."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError
from forge.record.builds import LINES_OF_TODAY
from tests.replay.cells import Cell, read_cells
from tests.replay.predicted import predicted

_CELLS = list(read_cells())
#: Cells that are refused by name, by line: long unique keys of MariaDB 11.8, engines that the scenario's server lacks.
_REFUSED = {"mysql-9.7": 0, "mariadb-10.11": 1, "mariadb-11.8": 9}


def _is_right(cell: Cell, line: str) -> bool:
    """Whether the prediction is what the replica had; False if it is refused by name."""
    try:
        found = predicted(cell, line)
    except ScenarioError:
        return False
    assert found == cell.results[line].outcome, (cell.group, cell.name, line)
    return True


@pytest.mark.parametrize("cell", _CELLS[::9], ids=lambda cell: f"{cell.group}/{cell.name}")
def test_some_cells_end_as_on_the_replica(cell: Cell) -> None:
    for line in LINES_OF_TODAY:
        if line in cell.results:
            _is_right(cell, line)


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES_OF_TODAY)
def test_all_cells_end_as_on_the_replica(line: str) -> None:
    right = [_is_right(cell, line) for cell in _CELLS if line in cell.results]
    assert sum(right) >= 600
    assert right.count(False) == _REFUSED[line]
