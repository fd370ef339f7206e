"""``forge scenario``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from forge.cli.inputs import read_scenario, shown
from forge.cli.output import write_output
from forge.cli.parameters import FILE, settings_options, stdout_option

if TYPE_CHECKING:
    from forge.scenario.matrix import OptionSettings


@click.command()
@click.argument("file", type=FILE)
@settings_options("Use this server line instead of the script's, e.g. mysql-8.4.")
@stdout_option()
def command(file: str, settings: OptionSettings, output: str) -> None:
    """Print the SQL script FILE (- for standard input) as a scenario in YAML.

    Both make the same log: each statement stands as what it changes, with its text as `query`.

    \b
    Example:
      forge scenario session.sql -o session.yaml
      forge build session.yaml -o session.000001
    """
    from forge.scenario.matrix import document
    from forge.scenario.script import scenario_text

    write_output(output, scenario_text(document(read_scenario(file), file=shown(file), settings=settings)))
