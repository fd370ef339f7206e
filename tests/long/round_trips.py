"""Changed logs, each a function of a seed and a number: what is listed of them assembles to the same bytes.

A log is FORMAT_DESCRIPTION and some events in a row of a log that a real server wrote: of our recordings, and of
Debian's ``mariadb-test-data`` where it is unpacked.  It is cut, bytes are changed, put in and taken out, of an event
(with the checksum mended or not) or anywhere in the file.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from forge.binlog.listing import assemble, listing_json
from forge.binlog.reader import MAGIC, frames
from forge.errors import ForgeError
from forge.resources import corpora_dir
from forge.testing.draws.source import RandomSource, Source
from forge.testing.mutations import changed_log
from tests import counted_runs

HERE = Path(__file__).parent
RUNS = HERE / "runs.jsonl"
#: Where `make servers` unpacks logs of other servers.
FOREIGN = Path(os.environ.get("FORGE_SERVERS") or Path.home() / ".cache" / "real-servers") / "test-data"
#: Bytes of a log that events are taken of, and of the events in a row of it; most changes of a log.
_LARGEST, _MOST_BYTES, _MOST_EVENTS, _MOST_CHANGES = 1 << 20, 2000, 8, 3


@dataclass(slots=True)
class Run(counted_runs.Run):
    """What a run has found."""

    #: How many logs the events came from.
    logs: int = 0

    def told(self) -> dict[str, object]:
        return {**super(Run, self).told(), "logs": self.logs}


@cache
def sources() -> tuple[tuple[bytes, ...], ...]:
    """The events of each log, the same in every run for one state of the repository and of the unpacked logs."""
    folders = (corpora_dir() / "recordings", HERE.parent / "record" / "recordings", FOREIGN)
    paths = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    logs = dict.fromkeys(path.read_bytes() for path in paths if 100 < path.stat().st_size <= _LARGEST)
    return tuple(tuple(frame.raw for frame in frames(log)) for log in logs if log.startswith(MAGIC))


def mutant(seed: int, number: int) -> bytes:
    """The log of that number."""
    source = RandomSource(f"tests/long/{seed}/{number}")
    events = source.one_of(sources())
    begin = source.integer(1, max(1, len(events) - 1))
    chosen, size = [events[0]], 0
    for raw in events[begin : begin + source.integer(1, _MOST_EVENTS)]:
        size += len(raw)
        if size > _MOST_BYTES and len(chosen) > 1:
            break
        chosen.append(raw[: 4 * _MOST_BYTES])
    data = MAGIC + b"".join(chosen)
    for _ in range(source.integer(1, _MOST_CHANGES)):
        data = _anywhere(source, data) if source.integer(0, 3) == 0 else changed_log(source, data)[0]
    return data


def _anywhere(source: Source, data: bytes) -> bytes:
    """The log with bytes changed, put in, taken out or cut off, wherever they stand."""
    at = source.integer(0, len(data))
    end = min(len(data), at + source.integer(1, 8))
    change = source.integer(0, 3)
    if change == 0:
        return data[:at]
    if change == 1:
        return data[:at] + data[end:]
    fresh = source.binary(8, 1)
    return data[:at] + fresh + data[at if change == 2 else end :]


def comes_back(data: bytes) -> bool:
    """Whether what is listed of the log assembles to it."""
    try:
        return assemble("".join(listing_json(data))) == data
    except ForgeError:
        return False


def run(seed: int, first: int, count: int, *, seconds: float | None = None) -> Run:
    """So many mutants from ``first`` on, or as many as ``seconds`` of CPU time suffice for."""
    result = Run(seed, first, logs=len(sources()))
    began = time.process_time()
    for number in range(first, first + count):
        if not comes_back(mutant(seed, number)):
            result.failures.append((number, "other bytes come back"))
        result.count += 1
        result.cpu_seconds = time.process_time() - began
        if seconds is not None and result.cpu_seconds > seconds:
            break
    return result
