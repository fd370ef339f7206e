"""``forge generate``: a volume of rows from a scenario, in this process.  forge.spark.generate does it on a cluster."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from forge import __version__
from forge.bulk.generating.setup import VolumeRequest, VolumeSetup, requested
from forge.bulk.generating.state import StatePart, state_parts, write_state
from forge.bulk.generating.volume_folder import Manifest, PartOutput, PartRecord, VolumeFolder
from forge.bulk.generating.volume_log import write_file
from forge.progress import Progress
from forge.scenario.model import Scenario

#: Has the parts of these numbers written, all of which are known to the setup; their records, in the same order.
Runner = Callable[[VolumeSetup, Path, Sequence[int], Progress | None], list[PartRecord]]

#: Rows that a file has if nobody says how many files there are to be.
ROWS_OF_FILE: Final = 500_000


@dataclass(frozen=True, slots=True)
class GeneratedVolume:
    """``kept``: parts that an earlier run had finished."""

    manifest: Manifest
    kept: int


def generate(
    scenario: Scenario,
    out: str | os.PathLike[str],
    *,
    rows: int,
    files: int | None = None,
    progress: Progress | None = None,
    runner: Runner | None = None,
) -> GeneratedVolume:
    """Write the logs of a volume into the folder ``out``, and the state that they leave.

    ``rows`` are inserted into all tables together; updates and deletes are beside them.  ``files``: of the log; the
    bytes depend on scenario, rows and files alone.

    Raises ScenarioError for what cannot be, and for a folder that holds something else; UnsupportedError.
    """
    setup = requested(scenario, rows, default_files(rows) if files is None else files)
    folder = VolumeFolder(Path(out), setup.identity)
    with folder.opened() as manifest:
        if manifest is not None:
            return GeneratedVolume(manifest, len(manifest.files) + len(manifest.state))
        parts = parts_of(setup)
        kept = {number: found for number, name in enumerate(parts) if (found := folder.finished(name)) is not None}
        missing = [number for number in range(len(parts)) if number not in kept]
        made = (runner or write_parts)(setup, folder.path, missing, progress) if missing else []
        records = kept | dict(zip(missing, made, strict=True))
        ordered = [records[number] for number in range(len(parts))]
        manifest = Manifest(
            forge=__version__,
            scenario=scenario.scenario,
            server=scenario.server,
            seed=scenario.seed,
            rows=rows,
            identity=setup.identity,
            files=ordered[: setup.request.files],
            state=ordered[setup.request.files :],
        )
        folder.commit(manifest)
        return GeneratedVolume(manifest, len(kept))


def default_files(rows: int) -> int:
    return max(-(-rows // ROWS_OF_FILE), 1)


def parts_of(setup: VolumeSetup) -> list[str]:
    """The names of all parts: the files of the log, then those of the state."""
    return [*setup.file_names, *(_state_name(setup, part) for part in state_parts(setup))]


def _state_name(setup: VolumeSetup, part: StatePart) -> str:
    return f"state/{setup.tables[part.table].name}/{part.name}"


def write_parts(setup: VolumeSetup, path: Path, numbers: Sequence[int], progress: Progress | None) -> list[PartRecord]:
    """Write parts one after the other, in this process."""
    total = sum(setup.request.transactions[number] for number in numbers if number < setup.request.files)
    done = 0

    def tell(transactions: int) -> None:
        nonlocal done
        done += transactions
        if progress is not None:
            progress(done, max(total, done))

    return [write_part(setup, path, number, tell) for number in numbers]


class PartWriter:
    """Writes parts of a volume wherever it is sent to: ``writer(number)`` is the number and the part's record."""

    def __init__(self, setup: VolumeSetup, path: Path) -> None:
        self._request = pickle.dumps(setup.request)
        self._folder = str(path.resolve())

    def __call__(self, number: int) -> tuple[int, PartRecord]:
        return number, write_part(_setup(self._request), Path(self._folder), number)


@lru_cache(maxsize=2)
def _setup(request: bytes) -> VolumeSetup:
    """Worked out once in a process, which writes several parts."""
    unpacked: VolumeRequest = pickle.loads(request)
    return VolumeSetup(unpacked)


def spread_over(
    run: Callable[[PartWriter, Sequence[int], Progress | None], list[tuple[int, PartRecord]]],
) -> Runner:
    """A runner out of what calls a function for each of several tasks, in any order and any process."""

    def write(setup: VolumeSetup, path: Path, numbers: Sequence[int], progress: Progress | None) -> list[PartRecord]:
        records = dict(run(PartWriter(setup, path), numbers, progress))
        return [records[number] for number in numbers]

    return write


def write_part(
    setup: VolumeSetup, path: Path, number: int, progress: Callable[[int], None] | None = None
) -> PartRecord:
    """Write part ``number`` of those that :func:`parts_of` names into the folder's own place for parts."""
    folder = VolumeFolder(path, setup.identity)
    name = parts_of(setup)[number]
    unknown: dict[str, Any] = {"name": "", "size": 0, "sha256": ""}

    def write_log(output: PartOutput) -> PartRecord:
        written = write_file(setup, number, output, progress)
        rows: dict[str, dict[str, int]] = {}
        for (table, operation), count in sorted(written.rows.items()):
            rows.setdefault(table, {})[operation] = count
        return PartRecord(**unknown, events=written.events, transactions=written.transactions, rows=rows)

    def write_table(output: PartOutput) -> PartRecord:
        part = state_parts(setup)[number - setup.request.files]
        count = write_state(setup, part, output)
        return PartRecord(**unknown, rows={setup.tables[part.table].name: {"state": count}})

    return folder.write_part(name, write_log if number < setup.request.files else write_table)
