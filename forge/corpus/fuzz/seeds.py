"""Seeds for other people's fuzzers: few and small logs that together have every event, column type and setting."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from forge.check.canonical.decode import canonical_events
from forge.corpus.kit.reading import open_kit
from forge.errors import FormatError, ScenarioError, UnsupportedError
from forge.progress import Progress
from forge.resources import shipped_corpora

#: Bytes of a seed: fuzzers are slow with larger ones.
LARGEST = 1 << 13


@dataclass(frozen=True, slots=True)
class SeedLog:
    """A seed: its bytes, and what it was chosen for."""

    data: bytes
    features: frozenset[str]

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

    Logs above :data:`LARGEST` bytes are left out.  Raises OSError; ScenarioError if there is none left.
    """
    sized = sorted((path.stat().st_size, path) for path in set(paths))
    small = [path for size, path in sized if 0 < size <= LARGEST]
    seen: set[str] = set()
    chosen: list[SeedLog] = []
    for number, path in enumerate(small, start=1):
        data = path.read_bytes()
        features = frozenset(_features(data))
        if features - seen:
            seen |= features
            chosen.append(SeedLog(data, features))
        if progress is not None:
            progress(number, len(small))
    if not chosen:
        raise ScenarioError(f"there is no log of at most {LARGEST} bytes", expected="a kit of forge corpus export")
    return chosen


def _features(data: bytes) -> Iterator[str]:
    """What a log has that decoders treat in ways of their own, up to where our reader stops."""
    family = ""
    try:
        for event in canonical_events(data):
            fields = event["fields"]
            family = "mariadb" if "MariaDB" in str(fields.get("server_version", family)) else family
            yield f"{event['type']} {family}"
            yield f"checksum {(event.get('checksum') or {}).get('algorithm')}"
            yield from (f"{event['type']} {name}" for name in fields)
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
