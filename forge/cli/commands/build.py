"""``forge build``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forge.cli.case_names import folder_names
from forge.cli.output import is_folder, refuse_inputs, write_binlogs
from forge.cli.parameters import FILE, complete_servers, parameters_option
from forge.cli.progress import progress
from forge.errors import ScenarioError, nearest

if TYPE_CHECKING:
    from forge.scenario import Case, Scenario
    from forge.scenario.matrix import Settings

#: Names of cases that an error message lists.
_LISTED = 5


@click.command()
@click.argument("file", type=FILE)
@click.option(
    "-o",
    "--output",
    required=True,
    type=FILE,
    metavar="FILE",
    help="Where the binary log goes: a file, - for stdout, or a folder (with a slash, it is made).",
)
@parameters_option
@click.option(
    "--server",
    metavar="LINE",
    shell_complete=complete_servers,
    help="Another server line than the scenario's, e.g. mysql-8.4.",
)
@click.option("--case", "case_name", metavar="NAME", help="One case of the scenario's matrix.")
def command(file: str, output: str, parameters: tuple[str, ...], server: str | None, case_name: str | None) -> None:
    """Compile the scenario FILE into a binary log.

    A session that rotates makes several files, with an index file beside them: the output is the first one's name, or
    a folder. A scenario with a matrix makes a case of every combination: each gets a folder of its own inside the
    output folder. What goes into a folder is listed.

    \b
    Example:
      forge build first.yaml -o first.000001
      forge build family.yaml -o family/
      forge build family.yaml --set session.row_image=minimal --server mysql-8.4 -o minimal.000001
    """
    from forge.scenario import parse_settings

    refuse_inputs([output], [file])
    settings = parse_settings(parameters, server=server)
    if case_name is not None:
        _build(_case(file, settings, case_name).scenario, file, output)
        return
    cases = _cases(file, settings)
    if len(cases) == 1:
        _build(cases[0].scenario, file, output)
    elif is_folder(output):
        _build_all(cases, file, output)
    else:
        raise ScenarioError(
            f"the matrix makes {len(cases)} cases, and {output} is one file",
            file=file,
            expected=f"a folder with a slash at its end for all of them, or one of them by --case NAME ({_some(cases)})"
            " or by --set KEY=VALUE for each key of the matrix",
        )


def _cases(file: str, settings: Settings) -> list[Case]:
    from forge.scenario import iterate_cases

    cases = list(iterate_cases(file, settings))
    if not cases:
        raise ScenarioError("the matrix excludes every combination of its values", file=file)
    return cases


def _case(file: str, settings: Settings, name: str) -> Case:
    cases = _cases(file, settings)
    for case in cases:
        if case.name == name:
            return case
    names = [case.name for case in cases]
    raise ScenarioError(
        f"there is no case {name!r}", file=file, expected=f"one of {_some(cases)}", suggestion=nearest(name, names)
    )


def _some(cases: list[Case]) -> str:
    more = f" and {len(cases) - _LISTED} more" if len(cases) > _LISTED else ""
    return ", ".join(case.name for case in cases[:_LISTED]) + more


def _build_all(cases: list[Case], file: str, output: str) -> None:
    """Build every case into a folder of its own; a case that cannot be built does not stop the others."""
    Path(output).mkdir(exist_ok=True)
    folders = folder_names([case.name for case in cases])
    failures: list[tuple[str, ScenarioError]] = []
    for case, folder in zip(progress(cases, total=len(cases), what="cases"), folders, strict=True):
        try:
            _build(case.scenario, file, str(Path(output) / folder) + os.sep)
        except ScenarioError as error:
            failures.append((case.name, error))
    click.echo(f"{len(cases) - len(failures)} of {len(cases)} cases")
    if failures:
        name, problem = failures[0]
        raise ScenarioError(f"{len(failures)} of {len(cases)} cases cannot be built; the first is {name}: {problem}")


def _build(scenario: Scenario, file: str, output: str) -> None:
    from forge.compile.files.compilation import compile_files, file_names, index_of_plan, write_files
    from forge.scenario import plan

    planned = plan(scenario)
    files = write_files(planned, compile_files(planned))
    names = file_names(planned, len(files))
    targets = write_binlogs(
        output, list(zip(names, files, strict=True)), index_of_plan(planned, len(files)), inputs=[file]
    )
    if is_folder(output):
        for target, data in zip(targets, files, strict=True):
            click.echo(f"{target}: {len(data)} bytes")
