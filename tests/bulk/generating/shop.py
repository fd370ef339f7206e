"""The scenario that the tests of a volume share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from forge import read_rows
from forge.resources import corpora_dir
from forge.scenario import Scenario, load_scenario

SHOP = corpora_dir() / "volumes" / "shop.yaml"
#: The columns of each table's primary key.
KEYS = {"shop.customers": ("id",), "shop.orders": ("id",), "shop.items": ("order_id", "line")}

Row = dict[str, Any]
State = dict[str, dict[tuple[Any, ...], Row]]


def shop(**settings: Any) -> Scenario:
    return load_scenario(SHOP, settings)


def logs(folder: Path) -> list[Path]:
    return [folder / name for name in (folder / "binlog.index").read_text().split()]


def changes(paths: Sequence[Path]) -> list[tuple[str, Row]]:
    """(table, row with both images) of all changes, in the order of the log."""
    found = [
        (row["_file"], row["_event"], place, table, row)
        for table, batch in read_rows(list(map(str, paths)), images="both")
        for place, row in enumerate(batch.to_pylist())
    ]
    return [(table, row) for *_, table, row in sorted(found, key=lambda entry: entry[:3])]


def replayed(paths: Sequence[Path], keys: Mapping[str, tuple[str, ...]] = KEYS) -> State:
    """The rows that the log leaves; every change finds the row that it is of."""
    state: State = {name: {} for name in keys}
    for table, row in changes(paths):
        before, after = row["before"], row["after"]
        if before is not None:
            known = state[table].pop(_key(before, keys[table]))
            assert {name: known.get(name, before[name]) for name in before} == before
        if after is not None:
            key = _key(after, keys[table])
            assert key not in state[table]
            state[table][key] = after
    return state


def declared(folder: Path, keys: Mapping[str, tuple[str, ...]] = KEYS) -> State:
    """The state that stands beside the log."""
    return {
        name: {
            _key(row, key): row
            for part in sorted((folder / "state" / name).iterdir())
            for row in pq.read_table(part).to_pylist()
        }
        for name, key in keys.items()
    }


def _key(row: Row, names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)
