"""``forge facts``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forge.cli.inputs import errors_in, read_bytes, shown
from forge.cli.output import refuse_inputs, write_output
from forge.cli.parameters import FILE, FILE_OR_FOLDER, json_option, settings_options, stdout_option
from forge.errors import ScenarioError

if TYPE_CHECKING:
    from forge.plan.facts import Facts
    from forge.scenario.matrix import OptionSettings


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILES...")
@stdout_option()
@click.option(
    "--scenario",
    type=FILE_OR_FOLDER,
    metavar="FILE",
    help="What happened: the facts also say where status variables are others than those that it compiles to.",
)
@settings_options()
@json_option("JSON instead of YAML.")
def command(
    files: tuple[str, ...], output: str, scenario: Path | None, settings: OptionSettings, as_json: bool
) -> None:
    """Print the facts of the session that wrote the binary logs FILES: times and ids that no scenario decides.

    A scenario takes them as session.facts; it then compiles to these bytes, if it says what happened. Several FILES are
    those of one session, in their order. - is standard input. Of a folder that `forge record` made, the facts are read
    anew, with its scenario.

    \b
    Example:
      forge facts binlog.000001 -o facts.yaml
      forge facts binlog.000001 --scenario shop.yaml
      forge facts recordings/first -o recordings/first/facts.yaml
      forge verify shop.yaml --against binlog.000001
    """
    import msgspec

    from forge.record.recording import facts_text

    if settings and scenario is None:
        raise ScenarioError("--set changes a scenario", expected="--scenario FILE beside it")
    refuse_inputs([output], [*files, *([] if scenario is None else [str(scenario)])])
    with errors_in(files[0]):
        facts = _facts(files, scenario, settings)
    text = json.dumps(msgspec.to_builtins(facts)) + "\n" if as_json else facts_text(facts)
    write_output(output, text)


def _facts(files: tuple[str, ...], scenario: Path | None, settings: OptionSettings) -> Facts:
    from forge.record.facts import facts_of
    from forge.record.recording import facts_of_recording, facts_with_statuses

    if len(files) == 1 and scenario is None and Path(files[0]).is_dir():
        return facts_of_recording(Path(files[0]))
    logs = [read_bytes(file) for file in files]
    facts = facts_of(*logs, names=[shown(file) for file in files])
    return facts if scenario is None else facts_with_statuses(scenario, facts, logs, settings)
