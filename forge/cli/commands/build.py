"""``forge build``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from forge.cli.output import write_binlogs
from forge.cli.parameters import parameters_option
from forge.errors import ScenarioError, nearest

if TYPE_CHECKING:
    from forge.scenario import Scenario

#: Names of cases that an error message lists.
_LISTED = 5


@click.command()
@click.argument("file")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="Where the binary log goes (- is stdout, a folder takes it with its own name).",
)
@parameters_option
@click.option("--server", metavar="LINE", help="Another server line than the scenario's, e.g. mysql-8.4.")
@click.option("--case", metavar="NAME", help="One case of the scenario's matrix (without: the scenario as declared).")
def command(file: str, output: str, parameters: tuple[str, ...], server: str | None, case: str | None) -> None:
    """Compile the scenario FILE into a binary log.

    Some scenarios make several (session.max_binlog_size, flush, restart), with an index file beside them: the output
    is the first one's name, or a folder.

    \b
    Example:
      forge build first.yaml -o first.000001
      forge build family.yaml --set session.row_image=minimal --server mysql-8.4 -o minimal.000001
    """
    from forge.compile.files.compilation import compile_files, file_names, index_of_plan, write_files
    from forge.scenario import parse_settings, plan

    settings = parse_settings(parameters)
    if server is not None:
        settings["server"] = server
    planned = plan(_scenario(file, settings, case))
    files = write_files(planned, compile_files(planned))
    names = file_names(planned, len(files))
    write_binlogs(output, list(zip(names, files, strict=True)), index_of_plan(planned, len(files)))


def _scenario(file: str, settings: dict[str, object], case: str | None) -> Scenario:
    from forge.scenario import iterate_cases, load_scenario

    if case is None:
        return load_scenario(file, settings)
    names: list[str] = []
    for one in iterate_cases(file, settings):
        if one.name == case:
            return one.scenario
        names.append(one.name)
    shown = ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
    raise ScenarioError(
        f"there is no case {case!r}", file=file, expected=f"one of {shown}", suggestion=nearest(case, names)
    )
