"""The cases of a corpus: every scenario file found, its matrix expanded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from forge.errors import ScenarioError
from forge.resources import corpora_dir, templates_dir

if TYPE_CHECKING:
    from forge.scenario.load import LoadedCase

SUFFIXES = (".yaml", ".yml")


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario of a file, as a description that travels to a worker: nothing but text.

    ``id`` is the file's name inside its folder of scenarios, and the name of the case in it if there are several.
    """

    id: str
    file: str
    text: str
    name: str
    server: str
    tags: tuple[str, ...] = ()


def scenario_folders() -> list[Path]:
    """Where the scenarios of the shipped corpus are."""
    return [corpora_dir() / "scenarios", templates_dir() / "families"]


def find_cases(folders: Iterable[Path]) -> list[Case]:
    """The cases of all scenario files under the folders, by id.  Raises ScenarioError for the first wrong file."""
    cases = [case for folder in folders for path in _files(folder) for case in cases_of(path, folder)]
    return sorted(cases, key=lambda case: case.id)


def cases_of(path: Path, folder: Path) -> list[Case]:
    """The cases of one file.  Raises ScenarioError, OSError."""
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        raise ScenarioError("this is not UTF-8 text", file=str(path)) from None
    within = path.relative_to(folder)
    # Relative, so that a corpus does not depend on where it was made.
    file = (Path(folder.name) / within).as_posix()
    stem = within.with_suffix("").as_posix()
    loaded = _load(file, text)
    return [
        Case(
            id=stem if len(loaded) == 1 else f"{stem}:{name}",
            file=file,
            text=text,
            name=name,
            server=one.scenario.server,
            tags=tuple(one.scenario.tags),
        )
        for name, one in loaded.items()
    ]


def compile_case(case: Case) -> bytes:
    """The bytes of a case.  Raises ScenarioError and UnsupportedError as compiling a scenario does."""
    from forge.binlog import write_binlog
    from forge.compile import compile_plan
    from forge.scenario.load import plan

    return write_binlog(compile_plan(plan(_load(case.file, case.text)[case.name].scenario)))


@lru_cache(maxsize=16)
def _load(file: str, text: str) -> dict[str, LoadedCase]:
    """The expanded cases of a file's text by name; kept, since the cases of a file follow each other in a worker."""
    from forge.scenario.load import load_cases

    return {one.name: one for one in load_cases(text, file=file)}


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
