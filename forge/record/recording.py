"""Recordings: a scenario, the binary log that a real server wrote of it, and the facts of that session.

A recording is a folder::

    scenario.yaml     the scenario as its author wrote it
    binlog.000001     the file that the server wrote, or the first of several
    binlog.index      if there are several, the index file
    facts.yaml        timestamps, ids and numbers that a scenario cannot decide (forge.plan.facts.Facts)
    recording.yaml    server version, options, and the template's parameters: how it was made
    contents.json     the rows that SELECT gave of every table afterwards (forge.record.contents)
"""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import yaml

from forge.binlog.difference import Difference, first_byte, first_difference_of_files
from forge.compile import compile_files, index_of_plan, write_files
from forge.errors import ForgeError, ScenarioError
from forge.plan.facts import Facts
from forge.plan.plan import Plan
from forge.record.contents import Contents, answered, questions
from forge.record.contents_difference import ContentsDifference, first_contents_difference
from forge.record.facts import facts_of
from forge.record.session import Recorded, record_plan
from forge.record.statuses import statuses_of
from forge.scenario import load_scenario, plan
from forge.scenario.file_texts import read_text
from forge.scenario.matrix import document
from forge.scenario.script import is_script, scenario_text

SCENARIO, BINLOG, FACTS, RECORDING = "scenario.yaml", "binlog.000001", "facts.yaml", "recording.yaml"
#: The index file, in a recording of several files.
INDEX = "binlog.index"
CONTENTS = "contents.json"
#: What the two logs are called in a difference.
_SIDES = ("recorded", "compiled")
#: libyaml's parser reads the facts of a session ten times as fast; not every PyYAML comes with it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: Parameters of the scenario's template and fields to replace, as ``forge.scenario.parse_settings`` gives them.
Settings = Mapping[str, Any]


class HowMade(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What ``recording.yaml`` says."""

    server_version: str
    build: str
    options: list[str] = []
    #: Parameters of the scenario's template, and fields of it that were replaced.
    settings: dict[str, Any] = {}
    #: Names of the files, in their order.
    files: list[str] = msgspec.field(default_factory=lambda: [BINLOG])


#: What a script has that reads another file.
_READS_FILES = re.compile(r"(?im)^\s*(?:source\s|\\\.)|\bINFILE\b")


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """``difference`` is None if the compiled files are the recorded ones, byte for byte; sizes are in bytes, of all
    files.

    ``contents`` is None if the decoded file and SELECT tell the same rows of the ``tables`` tables (of which ``rows``
    rows) that were compared; both counts are None where the bytes differ, and in a recording from before contents were
    kept.  ``statuses`` is the number of QUERY events whose status variables the facts had to say.
    """

    planned: Plan
    size: int
    compiled_size: int
    difference: Difference | None
    contents: ContentsDifference | None = None
    tables: int | None = None
    rows: int | None = None
    statuses: int = 0

    @property
    def identical(self) -> bool:
        return self.difference is None

    @property
    def problem(self) -> Difference | ContentsDifference | None:
        """The first thing that is not as recorded."""
        return self.difference or self.contents


def record(scenario: Path, out: Path, home: Path | None = None, *, parameters: Settings | None = None) -> Recorded:
    """Record a scenario (its matrix aside) on a fresh real server; the recording becomes the folder ``out``.

    Raises ScenarioError for a wrong scenario, EnvironmentMissing without the server, RecordingError if the server
    refuses a statement.
    """
    settings = parameters or {}
    planned = plan(load_scenario(scenario, settings))
    recorded = record_plan(planned, home, ask=questions(planned))
    how = HowMade(
        server_version=recorded.server_version,
        build=recorded.build,
        options=list(recorded.options),
        settings=dict(settings),
        files=[name for name, _ in recorded.files],
    )
    files = {SCENARIO: _as_recorded(scenario, settings), **dict(recorded.files)}
    if len(recorded.files) > 1:
        files[INDEX] = recorded.index
    files[FACTS] = facts_text(_recorded_facts(scenario, [data for _, data in recorded.files], settings)).encode()
    files[RECORDING] = _yaml_text(how).encode()
    files[CONTENTS] = _contents_text(answered(planned, recorded.answers))
    out.mkdir(parents=True, exist_ok=True)
    _remove_recorded(out)
    for name, data in files.items():
        (out / name).write_bytes(data)
    return recorded


def _as_recorded(scenario: Path, settings: Settings) -> bytes:
    """The scenario's file; a script that reads others, as the scenario that it is."""
    text = read_text(scenario)
    if is_script(text, str(scenario)) and _READS_FILES.search(text):
        return scenario_text(document(text, file=str(scenario), settings=settings)).encode()
    return scenario.read_bytes()


def facts_with_statuses(scenario: Path, facts: Facts, logs: Sequence[bytes], parameters: Settings | None) -> Facts:
    """The facts of the binary logs ``logs`` with those of QUERY events which the scenario, compiled, gives other status
    variables than these have.  Raises ScenarioError if it does not compile.
    """
    planned = plan(load_scenario(scenario, _with_facts(parameters, msgspec.structs.replace(facts, statuses=[]))))
    return msgspec.structs.replace(facts, statuses=statuses_of(planned, logs))


def facts_of_recording(folder: Path) -> Facts:
    """The facts of a recording, read from its binary logs anew.

    Raises ScenarioError if the folder is no recording, FormatError if a log cannot be read.
    """
    how = _how_made(folder)
    return _recorded_facts(folder / SCENARIO, [_read(folder / name) for name in how.files], how.settings)


def _recorded_facts(scenario: Path, logs: Sequence[bytes], settings: Settings) -> Facts:
    """Of a scenario that cannot be compiled, those of its logs alone."""
    facts = facts_of(*logs)
    try:
        return facts_with_statuses(scenario, facts, logs, settings)
    except ForgeError:
        return facts


def _remove_recorded(folder: Path) -> None:
    """Take away the files of a recording that was there before: the new one may have fewer, or other names."""
    if (folder / RECORDING).is_file():
        for name in (*_how_made(folder).files, INDEX):
            (folder / name).unlink(missing_ok=True)


def verify(folder: Path) -> VerifyResult:
    """Compile a recording's scenario with its facts and compare with its binary log; compare what that decodes to
    with what the server's SELECT gave.

    Raises ScenarioError if the folder is no recording or its scenario does not compile, FormatError if the binary
    log cannot be decoded.
    """
    how, facts = _how_made(folder), _facts(folder)
    recorded = {name: _read(folder / name) for name in how.files}
    result = _compared(folder / SCENARIO, facts, recorded, how.settings)
    if result.difference is None and len(recorded) > 1:
        compiled = index_of_plan(result.planned, len(recorded))
        result = replace(result, difference=_index_difference(_read(folder / INDEX), compiled))
    if result.difference is not None or not (folder / CONTENTS).exists():
        return result
    contents = _read_contents(folder / CONTENTS)
    return replace(
        result,
        contents=first_contents_difference(result.planned, contents, list(recorded.values())),
        tables=len(contents),
        rows=sum(len(table.rows) for table in contents.values()),
    )


def verify_against(scenario: Path, logs: Mapping[str, bytes], parameters: Settings | None = None) -> VerifyResult:
    """Compile a scenario with the facts of the binary logs ``logs`` (by name, in their order), which anybody may have
    recorded, but for those that the scenario has itself, and compare.

    Raises ScenarioError if the scenario does not compile, FormatError if a log cannot be read or holds no transactions
    that the compiler could make.
    """
    recorded = list(logs.values())
    declared = load_scenario(scenario, parameters).session.facts
    # What the scenario says itself holds: of groups that it places as events, the log's facts are of no group of its.
    known = msgspec.to_builtins(facts_of(*recorded)) | (msgspec.to_builtins(declared) if declared else {})
    facts = msgspec.convert(known, Facts)
    result = _compared(scenario, facts, logs, parameters)
    if result.difference is None or facts.statuses:
        return result
    found = facts_with_statuses(scenario, facts, recorded, parameters)
    return _compared(scenario, found, logs, parameters) if found.statuses else result


def _compared(scenario: Path, facts: Facts, logs: Mapping[str, bytes], parameters: Settings | None) -> VerifyResult:
    planned = plan(load_scenario(scenario, _with_facts(parameters, facts)))
    recorded, compiled = list(logs.values()), write_files(planned, compile_files(planned))
    return VerifyResult(
        planned,
        sum(map(len, recorded)),
        sum(map(len, compiled)),
        first_difference_of_files(list(logs), recorded, compiled, _SIDES),
        statuses=len(facts.statuses),
    )


def facts_text(facts: Facts) -> str:
    """Facts as ``session.facts`` of a scenario takes them, in YAML."""
    return _yaml_text(facts)


def _index_difference(recorded: bytes, compiled: bytes) -> Difference | None:
    if recorded == compiled:
        return None
    ours, theirs = (data.decode("utf-8", "replace") for data in (recorded, compiled))
    return Difference(None, first_byte(recorded, compiled), "index", "names", ours, theirs, sides=_SIDES)


def recorded_settings(folder: Path) -> dict[str, Any]:
    """What makes the recorded file of a recording's scenario: its settings, and the facts of the session as one more.

    Raises ScenarioError if the folder is no recording.
    """
    return _with_facts(_how_made(folder).settings, _facts(folder))


def _with_facts(settings: Settings | None, facts: Facts) -> dict[str, Any]:
    return {**(settings or {}), "session.facts": msgspec.to_builtins(facts)}


def find_recordings(patterns: Iterable[str]) -> list[Path]:
    """The recording folders that patterns name: folders, files within them, globs (``corpora/recordings/**``).

    Each comes once, in the order of mention, a glob's in alphabetical order.  Raises ScenarioError for a pattern that
    names none.
    """
    recordings: dict[Path, None] = {}
    for pattern in patterns:
        matches = glob.glob(pattern, recursive=True)  # noqa: PTH207 - Path.glob takes no absolute pattern
        places = [pattern] if Path(pattern).exists() else sorted(matches)
        folders = [folder for place in places for folder in _recordings_at(Path(place))]
        if not folders:
            raise ScenarioError(f"{pattern} names no recording", expected=f"a folder with {SCENARIO} and {BINLOG}")
        recordings |= dict.fromkeys(folders)
    return list(recordings)


def _recordings_at(place: Path) -> list[Path]:
    folder = place if place.is_dir() else place.parent
    if (folder / RECORDING).is_file():
        return [folder]
    return sorted(path.parent for path in place.rglob(RECORDING)) if place.is_dir() else []


def _contents_text(contents: Contents) -> bytes:
    """One line a row, so that a difference between two recordings can be read."""
    tables = []
    for name, table in contents.items():
        rows = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in table.rows)
        head = f'  "columns": {json.dumps(table.columns, ensure_ascii=False)},\n  "forms": {json.dumps(table.forms)},'
        rows = f"[\n{rows}\n  ]" if rows else "[]"
        tables.append(f'{json.dumps(name, ensure_ascii=False)}: {{\n{head}\n  "rows": {rows}\n}}')
    return ("{" + ",\n".join(tables) + "}\n").encode("utf-8")


def _how_made(folder: Path) -> HowMade:
    how: HowMade = _read_yaml(folder / RECORDING, HowMade)
    return how


def _facts(folder: Path) -> Facts:
    facts: Facts = _read_yaml(folder / FACTS, Facts)
    return facts


def _read_contents(path: Path) -> Contents:
    try:
        return msgspec.json.decode(_read(path), type=Contents)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ScenarioError(f"not valid in a recording: {error}", file=str(path)) from None


def _yaml_text(value: msgspec.Struct) -> str:
    text: str = yaml.safe_dump(
        msgspec.to_builtins(value), default_flow_style=None, sort_keys=False, allow_unicode=True, width=116
    )
    return text


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ScenarioError(f"{path} cannot be read: {error.strerror}", expected="a recording's folder") from None


def _read_yaml(path: Path, kind: Any) -> Any:
    try:
        return msgspec.convert(yaml.load(_read(path), _LOADER), kind)
    except (yaml.YAMLError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise ScenarioError(f"not valid in a recording: {' '.join(str(error).split())}", file=str(path)) from None
