"""Server lines from their files: one TOML file for each line, found by listing the folder.

A file says which line it is ``like``, and states the facts in which it differs, each with its evidence::

    like = "mysql-9.7"
    server_version = "9.8.0"

    [rows]
    flags = { value = 0x0010, evidence = "corpora/recordings/empty" }

A line without ``like`` states every fact.  ``value = "none"`` stands for None where the fact may be None.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import NoneType
from typing import Any, get_args

import msgspec

from forge.errors import ScenarioError, nearest
from forge.servers.features import Family, release
from forge.servers.line import SUBJECTS, ServerLine
from forge.servers.shipped import shipped

_LINES = files("forge.servers").joinpath("lines")
#: The lines that were recorded first, from which the others of their families inherit.
COMPLETE_LINES: dict[str, str] = {"mysql": "mysql-9.7", "mariadb": "mariadb-10.11"}
_ENDING = ".toml"
#: The first two numbers of a release that a name ends with.
_RELEASE = re.compile(r"(\d+)(?:\.(\d+))?(?:\.\d+)?$")
_OF_A_LINE = ("like", "family", "server_version", "recorded", *SUBJECTS)


@dataclass(frozen=True, slots=True)
class Evidence:
    """How a fact is known: ``line`` is the one that states it, ``source`` a recording, a page, a file, or words."""

    line: str
    source: str


@dataclass(frozen=True, slots=True)
class _Resolved:
    """Everything that a line says, its own and inherited."""

    identity: dict[str, str]
    facts: dict[tuple[str, str], Any]
    evidence: dict[tuple[str, str], Evidence]


@cache
def server_names() -> tuple[str, ...]:
    """The known lines, e.g. ``mysql-9.7``."""
    return _names(_LINES)


@cache
def server_line(name: str) -> ServerLine:
    """The line of that name.  Raises ScenarioError with the nearest known name."""
    return load_line(name, _LINES)


@cache
def complete_line(family: Family) -> ServerLine:
    """The line of a family that inherits from no other: it stands for the family where no line is named."""
    return server_line(COMPLETE_LINES[family])


@cache
def newest_line(family: Family) -> ServerLine:
    """The newest line of a family; of the others no more is read than what stands before the facts."""
    heads = {name: tomllib.loads(line_text(name).partition("\n[")[0]) for name in server_names()}

    def said(name: str, key: str) -> str:
        head: dict[str, str] = heads[name]
        return head[key] if key in head else said(head["like"], key)

    of_family = [name for name in heads if said(name, "family") == family]
    return server_line(max(of_family, key=lambda name: release(said(name, "server_version"))))


@cache
def evidence(name: str) -> Mapping[str, Evidence]:
    """How each fact of a line is known, by names such as ``rows.null_padding``; raises as :func:`server_line` does."""
    return {".".join(key): source for key, source in _shipped_line(name).evidence.items()}


def line_text(name: str) -> str:
    """The file of a line as it stands."""
    return _LINES.joinpath(f"{name}{_ENDING}").read_text("utf-8")


def load_line(name: str, folder: Traversable) -> ServerLine:
    """The line of that name in a folder of TOML files.

    Raises ScenarioError, with the file, for a line or fact that nobody knows, a value of another type, a line that is
    like itself, and a line that states too little.
    """
    resolved = _shipped_line(name) if folder is _LINES else _resolved(name, folder, ())
    for subject in SUBJECTS:
        for fact in _types(subject):
            if (subject, fact) not in resolved.facts:
                raise _wrong(name, f"the fact {subject}.{fact} is missing", expected="it, or a line to be like")
    subjects = {
        subject: record(**{fact: resolved.facts[subject, fact] for fact in _types(subject)})
        for subject, record in SUBJECTS.items()
    }
    for key in ("family", "server_version"):
        if key not in resolved.identity:
            raise _wrong(name, f"{key} is missing")
    return msgspec.convert({"name": name, **resolved.identity, **subjects}, ServerLine)


def _names(folder: Traversable) -> tuple[str, ...]:
    return tuple(sorted(entry.name.removesuffix(_ENDING) for entry in folder.iterdir() if entry.name.endswith(_ENDING)))


def nearest_line(name: str, names: Iterable[str]) -> str | None:
    """The line that was probably meant: of a release between two lines the older one, else the nearest by letters."""
    said = _RELEASE.search(name)
    if said is None:
        return nearest(name.lower(), names)
    vendor = "mariadb" if "maria" in name.lower() or int(said[1]) >= 10 else "mysql"
    known = [(found, line) for line in names if (found := _RELEASE.search(line)) and line.startswith(vendor)]
    releases = sorted(((int(found[1]), int(found[2])), line) for found, line in known)
    older = [line for release, line in releases if release <= (int(said[1]), int(said[2] or 0))]
    return older[-1] if older else releases[0][1] if releases else None


def _wrong(name: str, problem: str, *, expected: str | None = None, suggestion: str | None = None) -> ScenarioError:
    return ScenarioError(problem, file=f"{name}{_ENDING}", expected=expected, suggestion=suggestion)


def _table(name: str, folder: Traversable) -> dict[str, Any]:
    """The file of a line.  Raises ScenarioError for one that is not there, is no TOML, or has unknown keys."""
    names = _names(folder)
    if name not in names:
        if (why := shipped("without_line.toml").get(name)) is not None:
            raise ScenarioError(f"there is no server line for {name}: {why}")
        # All are more than a sentence holds.
        raise ScenarioError(
            f"unknown server line {name!r}",
            expected="one that `forge servers` lists",
            suggestion=nearest_line(name, names),
        )
    try:
        table = tomllib.loads(folder.joinpath(f"{name}{_ENDING}").read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise _wrong(name, f"this is no TOML: {error}") from None
    for key, value in table.items():
        if key not in _OF_A_LINE:
            raise _wrong(
                name, f"unknown key {key!r}", expected=", ".join(_OF_A_LINE), suggestion=nearest(key, _OF_A_LINE)
            )
        kind, expected = (dict, "a table of facts") if key in SUBJECTS else (str, "text")
        if not isinstance(value, kind):
            raise _wrong(name, f"{key} is {value!r}", expected=expected)
    if table.get("family", "mysql") not in ("mysql", "mariadb"):
        raise _wrong(name, f"unknown family {table['family']!r}", expected="mysql or mariadb")
    return table


def _resolved(name: str, folder: Traversable, heirs: tuple[str, ...]) -> _Resolved:
    """What the line says; ``heirs`` are the lines that are like it."""
    if name in heirs:
        raise _wrong(name, f"the line is like itself: {' -> '.join((*heirs, name))}")
    try:
        table = _table(name, folder)
    except ScenarioError as error:
        raise error if error.file is not None or not heirs else error.at(f"{heirs[-1]}{_ENDING}", None) from None
    if "like" not in table:
        parent = _Resolved({}, {}, {})
    elif folder is _LINES:
        parent = _shipped_line(table["like"])
    else:
        parent = _resolved(table["like"], folder, (*heirs, name))
    stated = {key: table[key] for key in ("family", "server_version", "recorded") if key in table}
    # What was recorded on the other line says nothing of recordings of this one.
    identity = {key: value for key, value in parent.identity.items() if key != "recorded"} | stated
    facts, sources = dict(parent.facts), dict(parent.evidence)
    for subject in SUBJECTS:
        for fact, said in table.get(subject, {}).items():
            facts[subject, fact], source = _fact(name, subject, fact, said)
            sources[subject, fact] = Evidence(name, source)
    return _Resolved(identity, facts, sources)


@cache
def _shipped_line(name: str) -> _Resolved:
    """As :func:`_resolved`: of the lines of this package each file is read once, and when it is asked for."""
    return _resolved(name, _LINES, ())


def _fact(name: str, subject: str, fact: str, stated: Any) -> tuple[Any, str]:
    """The value and its evidence.  Raises ScenarioError for an unknown fact, and for a value of another type."""
    types = _types(subject)
    if fact not in types:
        names = [f"{subject}.{word}" for subject in SUBJECTS for word in _types(subject)]
        raise _wrong(name, f"unknown fact {subject}.{fact}", suggestion=nearest(f"{subject}.{fact}", names))
    if not isinstance(stated, dict) or set(stated) != {"value", "evidence"} or not isinstance(stated["evidence"], str):
        raise _wrong(name, f"{subject}.{fact} is {stated!r}", expected='{ value = ..., evidence = "..." }')
    if not stated["evidence"].strip():
        raise _wrong(name, f"{subject}.{fact} has no evidence", expected="a recording, a page, a source file")
    value = None if stated["value"] == "none" and NoneType in get_args(types[fact]) else stated["value"]
    try:
        return msgspec.convert(value, types[fact]), stated["evidence"]
    except msgspec.ValidationError as error:
        # As msgspec says it: Expected `int`, got `str`.
        expected, _, _ = str(error).removeprefix("Expected ").partition(",")
        raise _wrong(name, f"{subject}.{fact} is {stated['value']!r}", expected=expected.split(" - at ")[0]) from None


@cache
def _types(subject: str) -> dict[str, Any]:
    """The facts of a subject; what has a default is a session's."""
    return {field.name: field.type for field in msgspec.structs.fields(SUBJECTS[subject]) if field.required}
