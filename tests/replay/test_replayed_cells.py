"""The applier's model against what real replicas made of the same logs: corpora/replays."""

from __future__ import annotations

import pytest

from forge.errors import ForgeError
from forge.record.builds import LINES_OF_TODAY
from tests.replay.cells import Cell, read_cells
from tests.replay.predicted import predicted

_CELLS = list(read_cells())
#: At most so many of a hundred cells may be refused by name.
_REFUSED = {"mysql-9.7": 1, "mariadb-10.11": 4, "mariadb-11.8": 4}


def _is_right(cell: Cell, line: str) -> bool:
    """Whether the prediction is what the replica had; False if it is refused by name."""
    try:
        found = predicted(cell, line)
    except ForgeError:
        return False
    assert found == cell.results[line].outcome, (cell.group, cell.name, line)
    return True


@pytest.mark.parametrize("cell", _CELLS[::17], ids=lambda cell: f"{cell.group}/{cell.name}")
def test_some_cells_end_as_on_the_replica(cell: Cell) -> None:
    for line in LINES_OF_TODAY:
        if line in cell.results:
            _is_right(cell, line)


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES_OF_TODAY)
def test_all_cells_end_as_on_the_replica(line: str) -> None:
    right = [_is_right(cell, line) for cell in _CELLS if line in cell.results]
    assert sum(right) >= 600
    assert right.count(False) <= len(right) * _REFUSED[line] / 100
