"""The cases of a corpus: every scenario file found, its matrix expanded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forge.errors import ScenarioError
from forge.resources import corpora_dir, templates_dir

SUFFIXES = (".yaml", ".yml", ".yaml.j2", ".yml.j2")
#: What a recording's folder holds beside its scenario.
_RECORDED = "scenario.yaml"


@dataclass(frozen=True, slots=True)
class Case:
    """One scenario, as a description that travels to a worker: text and the values chosen of its matrix.

    ``id`` is the file's name inside its folder of scenarios, with the choices if there are any.  ``file`` is relative,
    so that a corpus does not depend on where it was made.
    """

    id: str
    file: str
    text: str
    server: str
    tags: tuple[str, ...] = ()
    choices: dict[str, Any] = field(default_factory=dict)


def shipped_folders() -> list[tuple[str, Path]]:
    """Where the scenarios of the shipped corpus are, each folder with the name that it has in a manifest."""
    return [
        ("scenarios", corpora_dir() / "scenarios"),
        ("recordings", corpora_dir() / "recordings"),
        ("templates", templates_dir() / "scenarios"),
    ]


def find_cases(folders: Iterable[tuple[str, Path]]) -> list[Case]:
    """The cases of all scenario files under the folders (given with a name each), by id.

    A file that is wrong is one case more, which will be judged invalid with the error.
    """
    cases = [case for name, folder in folders for file in _files(folder) for case in cases_of(file, folder, name)]
    return sorted(cases, key=lambda case: case.id)


def cases_of(file: Path, folder: Path, name: str) -> Iterator[Case]:
    """The cases of one file in the folder that is called ``name``.  Raises OSError."""
    from forge.scenario import expand

    text = file.read_text("utf-8-sig", errors="surrogateescape")
    within = file.relative_to(folder)
    relative = f"{name}/{within.as_posix()}"
    stem = _stem(within)
    try:
        for one in expand(text, file=relative):
            chosen = f"[{one.name.partition('[')[2]}" if one.choices else ""
            tags = tuple(one.scenario.tags)
            yield Case(stem + chosen, relative, text, one.scenario.server, tags, one.choices)
    except ScenarioError:
        yield Case(stem, relative, text, "")


def compile_case(case: Case) -> bytes:
    """The bytes of a case.  Raises ScenarioError and UnsupportedError as compiling a scenario does."""
    from forge.binlog import write_binlog
    from forge.compile import compile_plan
    from forge.scenario import expand, plan

    found = [one.scenario for one in expand(case.text, file=case.file, settings=case.choices)]
    if len(found) != 1:
        raise ScenarioError(f"the choices of {case.id!r} name {len(found)} cases", file=case.file, expected="one")
    return write_binlog(compile_plan(plan(found[0])))


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if not path.name.endswith(SUFFIXES) or not path.is_file():
            continue
        if path.name == _RECORDED or not (path.parent / _RECORDED).is_file():
            yield path


def _stem(within: Path) -> str:
    """``a/b.yaml`` is ``a/b``; a recording's ``name/scenario.yaml`` is ``recordings/name``."""
    if within.name == _RECORDED and len(within.parts) > 1:
        return f"recordings/{within.parent.as_posix()}"
    suffix = next(suffix for suffix in sorted(SUFFIXES, key=len, reverse=True) if within.name.endswith(suffix))
    return within.as_posix().removesuffix(suffix)
