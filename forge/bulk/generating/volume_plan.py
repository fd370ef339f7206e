"""What a volume would be, for people: rows, and the generator of each column."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.bulk.generating.planned_tables import PlannedTable
from forge.bulk.generating.setup import VolumeSetup
from forge.scenario.volume_model import GENERATORS, VolumeColumn


def volume_plan(setup: VolumeSetup) -> dict[str, Any]:
    """Tables with their columns' generators as text, and the transactions of each file."""
    return {
        "rows": setup.request.rows,
        "transactions": list(setup.request.transactions),
        "tables": [
            {
                "table": table.name,
                "rows": table.lives.rows,
                "inside": None if table.owner is None else setup.tables[table.owner].name,
                "updated": sorted(table.updated),
                "columns": {
                    column.name: _described(setup, table, column.name.lower()) for column in table.definition.columns
                },
            }
            for table in setup.tables
        ],
    }


def _described(setup: VolumeSetup, table: PlannedTable, name: str) -> str:
    reference = table.references.get(name)
    if reference is not None:
        parent = setup.tables[reference.parent].name
        drawn = "its row" if reference.key is None else "a row" if reference.zipf is None else "a row, by rank"
        return f"reference: {parent}.{reference.column} ({drawn})"
    return _shown(table.columns[name])


def _shown(column: VolumeColumn) -> str:
    given: dict[str, Any] = msgspec.to_builtins(column)
    [name] = [name for name in GENERATORS if name in given or (name == "value" and column.value is None)]
    value = given.pop(name, None)
    if isinstance(value, list) and len(value) > 5:
        value = f"{len(value)} values"
    rest = "".join(f", {key}: {item}" for key, item in given.items() if item not in ({}, None))
    return f"{name}: {value}{rest}"
