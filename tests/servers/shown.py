"""Find what recordings of a line show of the facts that it inherits: ``python -m tests.servers.shown LINE...``.

A recording shows a fact if the compiled files are others, or none, with every other value that lines have of it.  The
results are ``forge/servers/shown.toml``, which says for each line its facts and the recordings; ``forge servers`` calls
these facts recorded here.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import Any

import msgspec

from forge.compile import compile_files, write_files
from forge.errors import ForgeError
from forge.record.recording import SCENARIO, find_recordings, recorded_settings
from forge.resources import corpora_dir
from forge.scenario import load_scenario, plan
from forge.scenario.matrix import base_scenario
from forge.servers import ServerLine, server_line, server_names
from forge.servers.line import SUBJECTS
from forge.servers.loading import evidence
from forge.servers.overview import kind_of_evidence, shown, value_of

FILE = Path(__file__).resolve().parents[2] / "forge" / "servers" / "shown.toml"


def line_of(folder: Path) -> str:
    """The line of a recording: that of its scenario, or the one that its settings name."""
    server = recorded_settings(folder).get("server")
    return str(server or base_scenario((folder / SCENARIO).read_text()).server)


def recordings_of(name: str) -> list[str]:
    """The recordings of a line, small ones first, by their places in corpora/recordings."""
    folders = [folder for folder in find_recordings([str(corpora_dir() / "recordings")]) if line_of(folder) == name]
    sizes = {folder: sum(path.stat().st_size for path in folder.iterdir()) for folder in folders}
    return [str(folder.relative_to(corpora_dir() / "recordings")) for folder in sorted(folders, key=sizes.__getitem__)]


def compiled(recording: str) -> list[bytes] | None:
    """The files that the recording's scenario makes; None if it is refused."""
    folder = corpora_dir() / "recordings" / recording
    try:
        planned = plan(load_scenario(folder / SCENARIO, recorded_settings(folder)))
        return write_files(planned, compile_files(planned))
    except ForgeError:
        return None


def other_values(name: str, fact: str) -> list[Any]:
    """What lines have in the place of the line's value; of a fact that is the same everywhere, the contrary."""
    own, found = value_of(server_line(name), fact), []
    for other in map(server_line, server_names()):
        value = value_of(other, fact)
        if value != own and value not in found:
            found.append(value)
    return found or ([not own] if isinstance(own, bool) else [])


@contextmanager
def another(name: str, fact: str, value: Any) -> Iterator[None]:
    """The line has another value of the fact."""
    subject, _, field = fact.partition(".")
    facts = getattr(server_line(name), subject)
    own = getattr(facts, field)
    msgspec.structs.force_setattr(facts, field, value)
    try:
        yield
    finally:
        msgspec.structs.force_setattr(facts, field, own)


def shows(name: str, recording: str, fact: str, value: Any, own: list[bytes] | None) -> bool:
    """Whether the recording would be another with that value of the fact."""
    with another(name, fact, value):
        try:
            return compiled(recording) != own
        except Exception:  # noqa: BLE001 - a value of another family may fit nothing, which shows nothing
            return False


def is_shown(name: str, recording: str, fact: str) -> bool:
    """Whether the recording rules out every other value of the fact."""
    own, others = compiled(recording), other_values(name, fact)
    return bool(others) and all(shows(name, recording, fact, value, own) for value in others)


@contextmanager
def _traced(line: ServerLine, read: set[str]) -> Iterator[None]:
    """Enters the facts that are asked of the line."""
    plain = {subject: getattr(line, subject) for subject in SUBJECTS}
    for subject, facts in plain.items():
        fields = frozenset(facts.__struct_fields__)

        def asked(self: Any, field: str, subject: str = subject, fields: frozenset[str] = fields) -> Any:
            if field in fields:
                read.add(f"{subject}.{field}")
            return msgspec.Struct.__getattribute__(self, field)

        metaclass: Any = type(type(facts))
        traced = metaclass(type(facts).__name__, (type(facts),), {"__getattribute__": asked}, frozen=True)
        msgspec.structs.force_setattr(line, subject, traced(**{field: getattr(facts, field) for field in fields}))
    try:
        yield
    finally:
        for subject, facts in plain.items():
            msgspec.structs.force_setattr(line, subject, facts)


def _forget() -> None:
    """What is kept of earlier scenarios would be asked of no line."""
    kept = [each for name, module in list(sys.modules.items()) if name.startswith(("forge.sql", "forge.plan"))
            for each in vars(module).values() if isinstance(each, _lru_cache_wrapper)]  # fmt: skip
    for each in kept:
        each.cache_clear()


def facts_read(name: str, recording: str) -> set[str]:
    """The facts that the recording's scenario asks of its line."""
    read: set[str] = set()
    _forget()
    with _traced(server_line(name), read):
        compiled(recording)
    return read


def find_shown(name: str) -> dict[str, str]:
    """The inherited facts of a line that its recordings show, each with one that does."""
    recorded = {fact for fact, each in evidence(name).items() if each.line == name}
    recorded = {fact for fact in recorded if kind_of_evidence(evidence(name)[fact].source) == "recorded"}
    open_facts = {fact: other_values(name, fact) for fact in evidence(name) if fact not in recorded}
    found: dict[str, str] = {}
    for recording in recordings_of(name):
        read = facts_read(name, recording) & open_facts.keys()
        own = compiled(recording)
        for fact in sorted(read):
            others = open_facts[fact]
            if others and all(shows(name, recording, fact, value, own) for value in others):
                found[fact] = recording
                del open_facts[fact]
        sys.stderr.write(f"{name}: {recording}: {len(found)} shown, {len(open_facts)} not yet\n")
    return found


def text_of(facts: dict[str, dict[str, str]]) -> str:
    """``shown.toml``."""
    head = "".join(f"{line}\n" for line in FILE.read_text().splitlines() if line.startswith("#"))
    tables = ""
    for name, shown_by in sorted(facts.items()):
        rows = "".join(f"{json.dumps(fact)} = {json.dumps(shown_by[fact])}\n" for fact in sorted(shown_by))
        tables += f"\n[{json.dumps(name)}]\n{rows}" if rows else ""
    return head + tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lines", nargs="*", help="by default all that are recorded")
    recorded = [name for name in server_names() if server_line(name).recorded is not None]
    lines = parser.parse_args().lines or recorded
    FILE.write_text(text_of(shown() | {name: find_shown(name) for name in lines}))


if __name__ == "__main__":
    main()
