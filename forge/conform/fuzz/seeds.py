"""Seeds for other people's fuzzers: few and small logs that together have every event, column type and setting."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from forge.binlog.reader import MAGIC
from forge.conform.fuzz.excerpts import excerpts_of
from forge.conform.kit.reading import open_kit
from forge.decode.decode import canonical_events
from forge.decode.reference import read_reference
from forge.errors import FormatError, ScenarioError, UnsupportedError
from forge.progress import Progress
from forge.resources import shipped_corpora

#: Bytes of a seed: fuzzers are slow with larger ones.
LARGEST = 1 << 13


@dataclass(frozen=True, slots=True)
class SeedLog:
    """A seed: its bytes, what it was chosen for, and the rows that a reader gets (None: ours has a problem with it)."""

    data: bytes
    features: frozenset[str]
    rows: int | None

    @property
    def name(self) -> str:
        """The same for the same bytes, and safe as the name of a file."""
        return hashlib.sha256(self.data).hexdigest()[:16]


def kit_logs(folder: Path) -> list[Path]:
    """The logs of a kit's profile ``smoke``.  Raises ScenarioError if the folder is no kit."""
    kit = open_kit(folder)
    return [kit.path(case, file) for case in kit.chosen(profile="smoke") for file in case.files]


def recorded_logs() -> list[Path]:
    """The shipped logs of real servers.  Raises EnvironmentMissing if the corpus is not installed."""
    return sorted((shipped_corpora() / "recordings").rglob("*.0[0-9][0-9][0-9][0-9][0-9]"))


def chosen_seeds(paths: Iterable[Path], progress: Progress | None = None) -> list[SeedLog]:
    """Of these logs the smallest that together have the features of all of them, smallest first.

    Of logs above :data:`LARGEST` bytes there are their excerpts.  Raises OSError; ScenarioError if there is none left.
    """
    logs = sorted(_small_logs(sorted(set(paths))), key=len)
    seen: set[str] = set()
    chosen: list[SeedLog] = []
    for number, data in enumerate(logs, start=1):
        seed = _seed(data)
        if seed.features - seen:
            seen |= seed.features
            chosen.append(seed)
        if progress is not None:
            progress(number, len(logs))
    if not chosen:
        raise ScenarioError(f"there is no log of at most {LARGEST} bytes", expected="a kit of forge corpus export")
    return chosen


def _small_logs(paths: Iterable[Path]) -> Iterator[bytes]:
    """Each log that is not too large, and the excerpts of the others: one of each kind."""
    kinds: dict[object, bytes] = {}
    for path in paths:
        data = path.read_bytes()
        if len(data) <= LARGEST:
            if data:
                yield data
        elif data[: len(MAGIC)] == MAGIC:
            with suppress(FormatError):
                for sizes, excerpt in excerpts_of(data):
                    kinds.setdefault(sizes, excerpt)
    yield from (excerpt for excerpt in kinds.values() if len(excerpt) <= LARGEST)


def _seed(data: bytes) -> SeedLog:
    return SeedLog(data, frozenset(_features(data)), _rows(data))


def _rows(data: bytes) -> int | None:
    """How many rows a correct reader gets of a log, if it has no reason to refuse it."""
    reference = read_reference(data)
    return None if reference.problem else sum(map(len, reference.rows.values()))


def _features(data: bytes) -> Iterator[str]:
    """What a log has that decoders treat in ways of their own, up to where our reader stops."""
    family = ""
    try:
        for event in canonical_events(data):
            fields = event["fields"]
            family = "mariadb" if "MariaDB" in str(fields.get("server_version", family)) else family
            yield f"{event['type']} {family}"
            yield f"checksum {(event.get('checksum') or {}).get('algorithm')}"
            yield from (f"{event['type']} {name}{'' if value else ' empty'}" for name, value in fields.items())
            for column in fields.get("columns", ()) if event["type"] == "TABLE_MAP" else ():
                yield f"column {column['type_code']} {column.get('metadata')}"[:40]
            for record in fields.get("optional_metadata", ()) if event["type"] == "TABLE_MAP" else ():
                yield f"record {record['type']}"
            for status in fields.get("status_vars", ()):
                yield f"status {status.get('name') if isinstance(status, dict) else status}"
            if "rows" in event:
                yield f"{event['type']} rows {min(len(event['rows']), 3)}"
    except (FormatError, UnsupportedError) as error:
        yield f"stops: {getattr(error, 'phase', 'unsupported')}"
