"""What logs reach in a decoder, and what it shows of them, kept between runs: reading them all takes minutes."""

from __future__ import annotations

import hashlib
import os
import pickle
from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.power.logs import Log, hash_of
from tests.power.subjects import Subject
from tests.power.tracing import At, Reached, traced
from tests.power.trials import baselines, in_child

#: Logs that a process reads.
_PART = 400


class Reading(NamedTuple):
    """The statements that a log reaches, the branches that it passes by, and the digest of what the decoder shows.
    Files have the names that :func:`_named` gives."""

    reached: list[At]
    passed: list[At]
    shown: bytes


def readings(
    subject: Subject, logs: Sequence[Log], folder: Path, jobs: int, say: Callable[[str], None]
) -> tuple[Reached, list[bytes]]:
    """What each log reaches, and the digests.  ``folder`` keeps them for the next run with the same code."""
    path, code = folder / f"{subject.name}.pickle", code_of(subject)
    # Our own.  Places are kept by the names of files, so that another clone of the same code can go on.
    of, kept = pickle.loads(path.read_bytes()) if path.exists() else (code, {})
    if of != code:
        kept = {}
    hashes = [hash_of(log.data) for log in logs]
    new = [number for number, key in enumerate(hashes) if key not in kept]
    say(f"{subject.name}: {len(new)} of {len(logs)} logs are new")
    parts = [new[at : at + _PART] for at in range(0, len(new), _PART)]
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs) as pool:
        works = pool.map(lambda part: _read(subject, [logs[at] for at in part]), parts)
        for part, read in zip(parts, works, strict=True):
            kept |= zip((hashes[number] for number in part), read, strict=True)
            draft = path.with_suffix(".draft")
            draft.write_bytes(pickle.dumps((code, kept)))
            draft.replace(path)
            say(f"{subject.name}: {sum(key in kept for key in hashes)} logs are read")
    return _united(subject, [kept[key] for key in hashes]), [kept[key].shown for key in hashes]


def _read(subject: Subject, logs: Sequence[Log]) -> list[Reading]:
    reached: Reached | None = in_child(lambda: traced(subject, logs))
    shown: list[bytes] | None = in_child(lambda: baselines(subject, logs))
    if reached is None or shown is None:
        raise SystemExit(f"{subject.name} died of a log")
    by_log = [Reading([], [], digest) for digest in shown]
    names = {str(path): name for name, path in _named(subject).items()}
    for places, kind in ((reached.logs, "reached"), (reached.passed, "passed")):
        for (file, line), numbers in places.items():
            for number in numbers:
                getattr(by_log[number], kind).append((names[file], line))
    return by_log


def _named(subject: Subject) -> dict[str, Path]:
    """The files of a subject by names that are the same in every clone."""
    folder = os.path.commonpath(subject.files)
    return {path.relative_to(folder).as_posix(): path for path in subject.files}


def _united(subject: Subject, read: Sequence[Reading]) -> Reached:
    files = {name: str(path) for name, path in _named(subject).items()}
    logs: dict[At, array[int]] = defaultdict(lambda: array("I"))
    passed: dict[At, array[int]] = defaultdict(lambda: array("I"))
    for number, reading in enumerate(read):
        for name, line in reading.reached:
            logs[files[name], line].append(number)
        for name, line in reading.passed:
            passed[files[name], line].append(number)
    return Reached(dict(logs), dict(passed))


def code_of(subject: Subject) -> str:
    """A digest of all code that has a say in what is shown."""
    digest = hashlib.sha256()
    for name, path in _named(subject).items():
        digest.update(name.encode() + b"\0" + path.read_bytes())
    measuring = (Path(__file__).with_name(f"{name}.py") for name in ("subjects", "tracing"))
    for path in (*subject.beside, *measuring):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
