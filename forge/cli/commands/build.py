"""``forge build``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from forge.cli.output import write_output
from forge.cli.parameters import parameters_option
from forge.errors import ScenarioError, nearest

if TYPE_CHECKING:
    from forge.scenario import Scenario

#: Names of cases that an error message lists.
_LISTED = 5


@click.command()
@click.argument("file")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where the binary log goes (- is stdout).")
@parameters_option
@click.option("--server", metavar="LINE", help="Another server line than the scenario's, e.g. mysql-8.4.")
@click.option("--case", metavar="NAME", help="One case of the scenario's matrix (without: the scenario as declared).")
def command(file: str, output: str, parameters: tuple[str, ...], server: str | None, case: str | None) -> None:
    """Compile the scenario FILE into a binary log.

    A scenario with session.max_binlog_size may make several: they get the numbers after that of the output, and an
    index file stands beside them.

    \b
    Example:
      forge build first.yaml -o first.000001
      forge build family.yaml --set session.row_image=minimal --server mysql-8.4 -o minimal.000001
    """
    from forge.binlog import write_binlog
    from forge.compile import compile_files
    from forge.scenario import parse_settings, plan

    settings = parse_settings(parameters)
    if server is not None:
        settings["server"] = server
    files = [write_binlog(events) for events in compile_files(plan(_scenario(file, settings, case)))]
    names = _file_names(output, len(files))
    for name, data in zip(names, files, strict=True):
        write_output(name, data)
    if len(files) > 1:
        folder = Path(output).parent
        index = "".join(f"./{Path(name).name}\n" for name in names)
        write_output(str(folder / f"{Path(output).stem}.index"), index.encode())


def _file_names(output: str, count: int) -> list[str]:
    """Names of a session's files: OUTPUT, and the numbers after its own.  Raises ScenarioError if it has none."""
    if count == 1:
        return [output]
    stem, _, number = output.rpartition(".")
    if not stem or not number.isdigit():
        raise ScenarioError(
            f"the scenario makes {count} files", expected="an output name that ends with a number, e.g. binlog.000001"
        )
    return [f"{stem}.{int(number) + place:0{len(number)}}" for place in range(count)]


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
