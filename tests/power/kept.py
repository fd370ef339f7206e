"""What logs reach in a decoder, and what it shows of them, kept between runs: reading them all takes minutes."""

from __future__ import annotations

import hashlib
import pickle
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.power.logs import Log, hash_of
from tests.power.subjects import ROOT, Subject
from tests.power.tracing import At, Reached, traced
from tests.power.trials import baselines, in_child

#: Logs that a process reads.
_PART = 400


class Reading(NamedTuple):
    """The statements that a log reaches, the branches that it passes by, and the digest of what the decoder shows."""

    reached: list[At]
    passed: list[At]
    shown: bytes


def readings(
    subject: Subject, logs: Sequence[Log], folder: Path, jobs: int, say: Callable[[str], None]
) -> tuple[Reached, list[bytes]]:
    """What each log reaches, and the digests.  ``folder`` keeps them for the next run with the same code."""
    path = folder / f"{subject.name}-{code_of(subject)}.pickle"
    kept: dict[bytes, Reading] = pickle.loads(path.read_bytes()) if path.exists() else {}  # Our own.
    hashes = [hash_of(log.data) for log in logs]
    new = [number for number, key in enumerate(hashes) if key not in kept]
    say(f"{subject.name}: {len(new)} of {len(logs)} logs are new")
    parts = [new[at : at + _PART] for at in range(0, len(new), _PART)]
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs) as pool:
        works = pool.map(lambda part: _read(subject, [logs[at] for at in part]), parts)
        for part, read in zip(parts, works, strict=True):
            kept |= zip((hashes[number] for number in part), read, strict=True)
            path.write_bytes(pickle.dumps(kept))
            say(f"{subject.name}: {sum(key in kept for key in hashes)} logs are read")
    return _united([kept[key] for key in hashes]), [kept[key].shown for key in hashes]


def _read(subject: Subject, logs: Sequence[Log]) -> list[Reading]:
    reached: Reached | None = in_child(lambda: traced(subject, logs))
    shown: list[bytes] | None = in_child(lambda: baselines(subject, logs))
    if reached is None or shown is None:
        raise SystemExit(f"{subject.name} died of a log")
    by_log = [Reading([], [], digest) for digest in shown]
    for places, name in ((reached.logs, "reached"), (reached.passed, "passed")):
        for place, numbers in places.items():
            for number in numbers:
                getattr(by_log[number], name).append(place)
    return by_log


def _united(read: Sequence[Reading]) -> Reached:
    logs: dict[At, array[int]] = defaultdict(lambda: array("I"))
    passed: dict[At, array[int]] = defaultdict(lambda: array("I"))
    for number, reading in enumerate(read):
        for place in reading.reached:
            logs[place].append(number)
        for place in reading.passed:
            passed[place].append(number)
    return Reached(dict(logs), dict(passed))


def code_of(subject: Subject) -> str:
    """A digest of all code that has a say in what is shown."""
    digest = hashlib.sha256()
    for path in _files(subject):
        digest.update(path.as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _files(subject: Subject) -> Iterator[Path]:
    yield from subject.files
    yield from (ROOT / "tests" / "power" / f"{name}.py" for name in ("own_reader", "subjects", "tracing"))
    for folder in ("check/canonical", "binlog", "events", "values", "charsets"):
        yield from sorted((ROOT / "forge" / folder).rglob("*.py"))
    yield from sorted((ROOT / "corpora" / "testees" / subject.name).glob("*.py"))
