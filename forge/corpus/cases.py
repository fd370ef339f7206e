"""The cases of a corpus: every scenario file found, its matrix expanded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from msgspec.structs import replace as replace_in

from forge.corpus.vocabulary import vocabulary
from forge.corpus.workers import ThisProcess, Workers
from forge.errors import ForgeError, Phase, ScenarioError, Verdict
from forge.events.event import Event
from forge.plan.plan import Plan
from forge.progress import Progress
from forge.resources import shipped_corpora, templates_dir
from forge.scenario.model import Scenario

SUFFIXES = (".yaml", ".yml", ".yaml.j2", ".yml.j2")
#: The scenario in a recording's folder; nothing else in it is one.
RECORDED = "scenario.yaml"
#: Files that a worker reads at once.
_TOGETHER = 16


@dataclass(frozen=True, slots=True)
class Case:
    """One scenario, as a description that travels to a worker: text, and the settings that make the case of it.

    ``id`` is the file's name inside its folder of scenarios, with the choices of its matrix if it has one.  ``file``
    is relative, so that a corpus does not depend on where it was made.  ``tags`` are the author's, and ``recorded``.
    ``title`` says in a sentence what it is for.
    ``verdict`` and ``phase`` say what a correct reader does with the bytes; ``problem``, why a file is no scenario.
    """

    id: str
    file: str
    text: str
    server: str
    title: str | None = None
    tags: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    verdict: Verdict = "accept"
    phase: Phase | None = None
    problem: str | None = None
    #: In the place of the text, of a case that was made by a program.
    scenario: Scenario | None = None


#: The folders of the shipped corpus, by the names that they have in a manifest.
SHIPPED = ("scenarios", "recordings", "templates")


def shipped_folders() -> list[tuple[str, Path]]:
    """Where the scenarios of the shipped corpus are: :data:`SHIPPED`.

    Raises EnvironmentMissing if it is not installed.
    """
    corpora = shipped_corpora()
    folders = (corpora / "scenarios", corpora / "recordings", templates_dir() / "scenarios")
    return list(zip(SHIPPED, folders, strict=True))


def find_cases(
    folders: Iterable[tuple[str, Path]], *, workers: Workers | None = None, progress: Progress | None = None
) -> list[Case]:
    """The cases of all scenario files under the folders (given with a name each), by id.

    A file that is wrong is one case more, which will be judged invalid with the error.  ``workers`` (this process) read
    the files.
    """
    files = [(file, folder, name) for name, folder in folders for file in _files(folder)]
    together = [files[start : start + _TOGETHER] for start in range(0, len(files), _TOGETHER)]
    found = (workers or ThisProcess()).run(_cases_of_files, together, progress)
    return sorted((case for cases in found for case in cases), key=lambda case: case.id)


def _cases_of_files(files: Sequence[tuple[Path, Path, str]]) -> list[Case]:
    return [case for place in files for case in cases_of(*place)]


def cases_of(file: Path, folder: Path, name: str) -> Iterator[Case]:
    """The cases of one file in the folder that is called ``name``.  Raises OSError."""
    from forge.scenario.file_texts import read_text
    from forge.scenario.matrix import expand

    within = file.relative_to(folder)
    relative = f"{name}/{within.as_posix()}"
    stem = _stem(within)
    text = ""
    family: list[Case] = []
    wrong: list[Case] = []
    try:
        text = read_text(file)
        if file.name == RECORDED:
            yield _recorded_case(stem, relative, text, file.parent)
            return
        for member in expand(text, file=relative):
            choices = f"[{member.name.partition('[')[2]}" if member.choices else ""
            family.append(_case(stem + choices, relative, text, member.scenario, member.choices))
    except ScenarioError as error:
        wrong.append(Case(stem, relative, text, "", problem=str(error.replace(file=relative))))
    yield from (*_told_apart(family), *wrong)


def _recorded_case(stem: str, file: str, text: str, folder: Path) -> Case:
    """A recording with the facts of its session: the bytes of this case are those that the server wrote."""
    from forge.record.recording import recorded_settings
    from forge.scenario.matrix import base_scenario

    settings = recorded_settings(folder)
    scenario = base_scenario(text, file=file, settings=settings)
    case = _case(stem, file, text, scenario, settings, "recorded")
    return replace(case, title=_with_words(case.title or "A recorded session", [f"recording {stem.partition('/')[2]}"]))


def _told_apart(family: Sequence[Case]) -> Iterator[Case]:
    """The cases of a family, those of one title with the choices in which they differ."""
    from forge.scenario.matrix import choice_words

    alike: dict[str | None, list[Case]] = {}
    for case in family:
        alike.setdefault(case.title, []).append(case)
    for title, cases in alike.items():
        said = [choice_words(case.settings) for case in cases]
        differing = [place for place, words in enumerate(zip(*said, strict=True)) if len(set(words)) > 1]
        for case, words in zip(cases, said, strict=True):
            yield replace(case, title=_with_words(title, [words[place] for place in differing]))


def _with_words(title: str | None, words: Sequence[str]) -> str | None:
    """A title with these words in parentheses at its end."""
    if title is None or not words:
        return title
    text = title.strip()
    return f"{text.removesuffix('.')} ({', '.join(words)}){'.' if text.endswith('.') else ''}"


def _case(case: str, file: str, text: str, scenario: Scenario, settings: dict[str, Any], *more_tags: str) -> Case:
    tags = (*scenario.tags, *more_tags)
    return Case(case, file, text, scenario.server, scenario.description, tags, settings, *scenario.expected)


@dataclass(frozen=True, slots=True)
class BinlogFile:
    """A binary log file under the name that the files before and behind it know it by."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class CompiledCase:
    """The files of a case, in order, and all its tags: those of its author, its features, the rules that it shows.

    ``twin``: the files that the scenario makes without its fault; none if it has no fault that can be left out.
    """

    files: list[BinlogFile]
    tags: tuple[str, ...] = ()
    twin: Sequence[BinlogFile] = ()


def compile_case(case: Case) -> CompiledCase:
    """Make the files of a case.  Raises ScenarioError and UnsupportedError as compiling a scenario does."""
    from forge.binlog.reader import read_events
    from forge.corpus.features import features_of
    from forge.scenario.matrix import base_scenario

    if case.problem is not None:
        raise ScenarioError(case.problem)
    scenario = case.scenario or base_scenario(case.text, file=case.file, settings=case.settings)
    planned, events, files = _compiled(scenario)
    if planned.session.edits:
        events = [[placed.event for placed in read_events(file.data, strict=False)] for file in files]
    verdict = f"verdict:{case.verdict}" + (f": {case.phase}" if case.verdict == "reject" else "")
    tags = {*features_of(scenario, planned, events), verdict}
    tags |= vocabulary().rules_shown_by([*case.tags, *tags])
    return CompiledCase(
        files,
        (*case.tags, *sorted(tags - set(case.tags))),
        () if case.verdict == "accept" else _twin(scenario, files),
    )


def _compiled(scenario: Scenario) -> tuple[Plan, list[list[Event]], list[BinlogFile]]:
    from forge.compile import compile_files, file_names, write_files
    from forge.scenario import plan

    planned = plan(scenario)
    events = compile_files(planned)
    names = file_names(planned, len(events))
    files = [BinlogFile(name, data) for name, data in zip(names, write_files(planned, events), strict=True)]
    return planned, events, files


def _twin(scenario: Scenario, broken: Sequence[BinlogFile]) -> Sequence[BinlogFile]:
    """The files of the scenario without its fault, which a correct reader reads; none if it makes the same ones."""
    whole = unbroken(scenario)
    if whole is None:
        return ()
    # The faults of one scenario file are often those of one log.
    kept = _TWINS.get(key := repr(whole))
    if kept is None:
        if len(_TWINS) == _KEPT_TWINS:
            _TWINS.clear()
        _TWINS[key] = kept = _read_rightly(whole)
    return () if [file.data for file in kept] == [file.data for file in broken] else kept


_TWINS: dict[str, Sequence[BinlogFile]] = {}
_KEPT_TWINS = 32


def _read_rightly(scenario: Scenario) -> Sequence[BinlogFile]:
    """The files of a scenario; none if it makes none, or if one is wrong."""
    from forge.decode.expected import expected_of

    try:
        _, _, files = _compiled(scenario)
    except ForgeError:
        return ()
    return () if any(expected_of(file.data).problem is not None for file in files) else files


def unbroken(scenario: Scenario) -> Scenario | None:
    """The scenario without what makes its files wrong: edits, a torn end, or metadata that no server writes.

    None if it has nothing of that.
    """
    session = scenario.session
    if session.edits or session.torn is not None:
        whole = replace_in(session, edits=[], torn=None)
        if session.metadata.verdict != "accept":
            whole = replace_in(whole, metadata=type(session.metadata)())
    elif session.metadata.verdict != "accept":
        whole = replace_in(session, metadata=type(session.metadata)())
    else:
        return None
    return replace_in(scenario, scenario="unbroken", description=None, session=whole, verdict=None, phase=None)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if not path.name.endswith(SUFFIXES) or not path.is_file():
            continue
        if path.name == RECORDED or not (path.parent / RECORDED).is_file():
            yield path


def _stem(within: Path) -> str:
    """``a/b.yaml`` is ``a/b``; a recording's ``name/scenario.yaml`` is ``recordings/name``."""
    if within.name == RECORDED and len(within.parts) > 1:
        return f"recordings/{within.parent.as_posix()}"
    suffix = next(suffix for suffix in sorted(SUFFIXES, key=len, reverse=True) if within.name.endswith(suffix))
    return within.as_posix().removesuffix(suffix)
