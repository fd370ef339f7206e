"""``forge scenario``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from forge.cli.inputs import read_scenario, shown
from forge.cli.logs_as_scenarios import LogPart, is_log, log_options
from forge.cli.output import echo, write_output
from forge.cli.parameters import FILE, settings_options, stdout_option
from forge.errors import CheckFailed, ScenarioError, counted

if TYPE_CHECKING:
    from forge.scenario.matrix import OptionSettings


@click.command()
@click.argument("file", type=FILE)
@settings_options("Use this server line instead of the script's, or of the one that the log's version names.")
@log_options
@click.option("--sql", "as_script", is_flag=True, help="Of a log: a SQL script in the place of YAML.")
@stdout_option()
def command(file: str, settings: OptionSettings, part: LogPart, as_script: bool, output: str) -> None:
    """Print the SQL script or the binary log FILE (- for standard input, a script) as a scenario in YAML.

    A script and its scenario make the same log: each statement stands as what it changes, with its text as `query`. The
    scenario of a log makes the log again, byte for byte. Transactions that no statements give stand as their events;
    which these are and why is said on standard error. Exit code 1 if the build is not the log.

    \b
    Example:
      forge scenario session.sql -o session.yaml
      forge scenario binlog.000001 -o log.yaml
      forge scenario binlog.000001 --only-transactions 1-3 --schema shop.sql -o few.yaml
    """
    from forge.scenario.matrix import document
    from forge.scenario.script import scenario_text

    if not is_log(file):
        part.refuse(file, as_script=as_script)
        tree = document(read_scenario(file), file=shown(file), settings=settings)
        if not isinstance(tree, dict):
            raise ScenarioError(
                "the file is none of these", file=shown(file), expected="a SQL script, a log, a scenario"
            )
        write_output(output, scenario_text(tree))
        return
    told = part.retold(file, settings, as_script=as_script)
    write_output(output, scenario_text(told.tree) if told.script is None else told.script)
    for obstacle in told.obstacles:
        echo(f"{shown(file)}: {obstacle}", err=True)
    if not told.identical:
        what = "script" if as_script else "scenario"
        problem = f"the {what} does not make the very bytes of the log"
        raise CheckFailed(problem if told.problem is None else f"{problem}: {told.problem}")
    echo(
        f"{shown(file)}: {told.said} of {counted(told.groups, 'transaction')} as statements; the build is the log",
        err=True,
    )
