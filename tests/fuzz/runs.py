"""A run over mutants: every reader reads each; what fails is kept, and the run is counted in ``runs.jsonl``."""

from __future__ import annotations

import gc
import resource
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from forge.errors import FormatError, UnsupportedError
from tests import counted_runs
from tests.fuzz.mutants import mutant
from tests.fuzz.readers import READERS, Reader

HERE = Path(__file__).parent
#: Where runs are counted, and the logs of failures that were mended.
RUNS = HERE / "runs.jsonl"
REGRESSIONS = HERE / "regressions"
#: CPU seconds and bytes of memory that a reader may take for a mutant; CPU seconds after which it hangs.
SECONDS, MEMORY, HANGS = 1.0, 256 << 20, 30.0
#: CPU seconds after which a reader is timed again.
_SLOW = 0.1
#: Mutants that are read before anything is measured: modules are imported, kernels loaded.
_WARM = 50


@dataclass(slots=True)
class Run(counted_runs.Run):
    """What a run has found."""

    outcomes: Counter[str] = field(default_factory=Counter)
    #: CPU seconds and bytes of memory that a reader took at most for a mutant.
    slowest: float = 0.0
    memory: int = 0

    def told(self) -> dict[str, object]:
        return {
            **super(Run, self).told(), "slowest_ms": round(1000 * self.slowest), "memory_mib": self.memory >> 20,
            "outcomes": dict(sorted(self.outcomes.items())),
        }  # fmt: skip


def read(data: bytes, reader: Reader, path: Path) -> str:
    """What the reader does: ``read`` or ``refused``.  Raises whatever is a failure."""
    try:
        reader(data, path)
    except (FormatError, UnsupportedError):
        return "refused"
    return "read"


def run(seed: int, first: int, count: int, path: Path, *, seconds: float | None = None) -> Run:
    """Read so many mutants from number ``first`` on, or as many as ``seconds`` allow; ``path`` is a file to write."""
    with _alarms():
        for number in range(_WARM):
            _read_all(Run(seed, first), number, mutant(seed, number), path)
        gc.freeze()  # What is there now stays: nobody need look for garbage in it.
        result = Run(seed, first)
        begun, ends = time.process_time(), None if seconds is None else time.monotonic() + seconds
        for number in range(first, first + count):
            _read_all(result, number, mutant(seed, number), path)
            result.count += 1
            if ends is not None and time.monotonic() > ends:
                break
    result.cpu_seconds = time.process_time() - begun
    return result


def _read_all(result: Run, number: int, data: bytes, path: Path) -> None:
    signal.setitimer(signal.ITIMER_VIRTUAL, HANGS)
    before, begun = _peak(), time.process_time()
    suspects: list[tuple[str, Reader]] = []
    for name, reader in READERS.items():
        try:
            result.outcomes[f"{name} {read(data, reader, path)}"] += 1
        except Exception as error:  # noqa: BLE001 - whatever else a reader raises is the finding
            result.failures.append((number, f"{name}: {type(error).__name__}: {str(error)[:200]}"))
            begun = time.process_time()
            continue
        took, begun = time.process_time() - begun, time.process_time()
        if took > _SLOW:
            suspects.append((name, reader))
        else:
            result.slowest = max(result.slowest, took)
    memory = _peak() - before
    if memory > MEMORY:
        suspects = list(READERS.items())
    else:
        result.memory = max(result.memory, memory)
    for name, reader in suspects:
        # The first mutant that needs a kernel waits for its compiler: what counts is the second time.
        _judge(result, number, name, data, reader, path)


def _judge(result: Run, number: int, name: str, data: bytes, reader: Reader, path: Path) -> None:
    _forget_peak()
    before, begun = _peak(), time.process_time()
    read(data, reader, path)
    took, memory = time.process_time() - begun, _peak() - before
    result.slowest, result.memory = max(result.slowest, took), max(result.memory, memory)
    if took > SECONDS:
        result.failures.append((number, f"{name}: {took:.1f} s of CPU"))
    if memory > MEMORY:
        result.failures.append((number, f"{name}: {memory >> 20} MiB of memory"))


def _peak() -> int:
    """The most memory that the process had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _forget_peak() -> None:
    """Let the peak be what the process has now (proc(5), clear_refs)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


class _Hangs(Exception):
    pass


@contextmanager
def _alarms() -> Iterator[None]:
    """The timer that a reader starts ends it."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise _Hangs(f"it had not ended after {HANGS:.0f} s of CPU")

    before = signal.signal(signal.SIGVTALRM, ring)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
