"""The logs that consumers are asked about: those of the scenarios in corpora/compat, and small recordings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from forge.binlog import read_events, write_binlog
from forge.compile import compile_files
from forge.errors import ScenarioError
from forge.events.query import Query
from forge.plan.plan import Plan
from forge.record.builds import BUILD_OF_LINE
from forge.record.recording import BINLOG, INDEX, RECORDING, SCENARIO, recorded_settings
from forge.resources import corpora_dir
from forge.scenario import load_scenario, plan
from forge.scenario.file_texts import read_text
from forge.scenario.matrix import expand
from tests.long.compat.table import matrix_path

#: Bytes of a recording.
_LARGEST = 8192


@dataclass(frozen=True, slots=True)
class Log:
    """A file of a recording or of a scenario in corpora/compat, and the plan that made it."""

    name: str
    data: bytes
    plan: Plan


def logs(each: int) -> Iterator[Log]:
    """Those of the scenarios, and small recordings of each line, spread over their names."""
    yield from made_logs().values()
    of_line: dict[str, list[Path]] = {line: [] for line in BUILD_OF_LINE}
    for file in sorted((corpora_dir() / "recordings").rglob(RECORDING)):
        binlog = file.with_name(BINLOG)
        small = binlog.is_file() and binlog.stat().st_size <= _LARGEST and not file.with_name(INDEX).exists()
        if small and _goes_on(binlog.read_bytes()):
            server = plan(load_scenario(file.with_name(SCENARIO), recorded_settings(file.parent))).server
            of_line.get(server, []).append(file.parent)
    for folders in of_line.values():
        for folder in folders[:: max(1, len(folders) // each)][:each]:
            settings = {key: value for key, value in recorded_settings(folder).items() if key != "session.facts"}
            planned = plan(load_scenario(folder / SCENARIO, settings))
            name = folder.relative_to(corpora_dir()).as_posix()
            yield Log(name, (folder / BINLOG).read_bytes(), planned)


def _goes_on(data: bytes) -> bool:
    """Whether a replica of the writer itself can take the log: statements have definers, and none failed."""
    queries = [placed.event.body for placed in read_events(data) if isinstance(placed.event.body, Query)]
    return b"DEFINER=``" not in data and not any(query.error_code for query in queries)


def data_of(name: str) -> bytes:
    """The log of that name."""
    if name.startswith("recordings/"):
        return (corpora_dir() / name / BINLOG).read_bytes()
    return made_logs()[name].data


@cache
def made_logs() -> dict[str, Log]:
    """Those of the scenarios, by name."""
    return {log.name: log for path in sorted(matrix_path().parent.glob("*.yaml*")) for log in _made(path)}


def _made(path: Path) -> Iterator[Log]:
    """The files of a scenario's matrix, but for what a line cannot say."""
    there = set()
    for case in expand(read_text(path), file=path.name):
        with suppress(ScenarioError):
            planned = plan(case.scenario)
            (data,) = (write_binlog(events) for events in compile_files(planned))
            if data not in there:
                there.add(data)
                yield Log(f"compat/{case.name}", data, planned)
