"""The applier's model against what real replicas made of the same logs: corpora/replays."""

from __future__ import annotations

import pytest

from forge.errors import ForgeError
from forge.record.builds import LINES_OF_TODAY
from tests.replay.cells import Cell, read_cells
from tests.replay.predicted import predicted

#: Groups that the model does not know yet.
_OPEN = (
    "3d extra columns", "4c integers", "4d reals and decimals", "4e texts", "4g geometries", "4h types of MariaDB",
    "4h types of MySQL", "4i NULL into NOT NULL", "4j sql_mode of the replica", "5b values in the lookup",
    "6b generated columns", "6d generated invisible primary keys", "6g foreign keys", "6i triggers", "WL#4618",
    "WL#5092",
)  # fmt: skip
_CELLS = [cell for cell in read_cells() if cell.group not in _OPEN]


def _is_right(cell: Cell, line: str) -> bool:
    """Whether the prediction is what the replica had; False if it is refused by name."""
    try:
        found = predicted(cell, line)
    except ForgeError:
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
    assert sum(_is_right(cell, line) for cell in _CELLS if line in cell.results) >= 600
