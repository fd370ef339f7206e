"""``forge verify``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forge.cli.inputs import errors_in, read_bytes
from forge.cli.output import echo
from forge.cli.parameters import FILE, json_option, settings_options
from forge.cli.progress import progress
from forge.errors import CheckFailed, ForgeError, FormatError, ScenarioError, counted

if TYPE_CHECKING:
    from forge.record.recording import VerifyResult
    from forge.scenario.matrix import OptionSettings


@click.command()
@click.argument("recordings", nargs=-1, required=True, type=FILE, metavar="RECORDING...")
@click.option(
    "--against",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="A binary log that anybody recorded: RECORDING is a scenario then. Repeatable, for the files of one session.",
)
@settings_options()
@json_option("One JSON object per recording.")
def command(recordings: tuple[str, ...], against: tuple[str, ...], settings: OptionSettings, as_json: bool) -> None:
    """Compile recorded scenarios with the facts of their sessions, and compare with the recording byte for byte.

    The decoded rows are also compared with the rows that the server's SELECT returned. A RECORDING is a folder that
    `forge record` made, a folder of such folders, or a pattern (** too). A difference is given as field and offset;
    exit code 1 if there is one.

    \b
    Example:
      forge verify corpora/recordings
      forge verify 'corpora/recordings/**' --json
      forge verify shop.yaml --against binlog.000001
    """
    if against:
        _verify_against(recordings, against, settings, as_json)
        return
    if settings:
        raise ScenarioError("--set changes a scenario", expected="--against FILE beside it")
    from forge.record.recording import find_recordings, verify

    folders = find_recordings(recordings)
    different = statuses = 0
    for folder in progress(folders, total=len(folders), label="recordings"):
        try:
            result = verify(folder)
        except ForgeError as error:
            if len(folders) == 1:
                if isinstance(error, FormatError):
                    raise error.in_file(str(folder)) from None
                raise
            different += 1
            _show(folder, str(error), as_json)
            continue
        different += result.problem is not None
        statuses += result.statuses
        _show(folder, None if result.problem is None else str(result.problem), as_json, result)
    if different:
        raise CheckFailed(f"{different} of {len(folders)} recordings differ")
    if not as_json:
        echo(f"{counted(len(folders), 'recording')}, all byte-identical{_from_facts(statuses)}")


def _verify_against(
    scenarios: tuple[str, ...], against: tuple[str, ...], settings: OptionSettings, as_json: bool
) -> None:
    from forge.record.recording import verify_against

    if len(scenarios) != 1:
        raise ScenarioError(f"--against compares one scenario, not {len(scenarios)}", expected="one scenario file")
    (scenario,) = map(Path, scenarios)
    logs = {file: read_bytes(file) for file in against}
    with errors_in(against[0]):
        result = verify_against(scenario, logs, settings)
    _show(scenario, None if result.problem is None else str(result.problem), as_json, result)
    if result.problem is not None:
        raise CheckFailed("the scenario does not make these bytes")


def _show(folder: Path, problem: str | None, as_json: bool, result: VerifyResult | None = None) -> None:
    if as_json:
        shown: dict[str, Any] = {"recording": str(folder), "identical": problem is None}
        shown |= {name: getattr(result, name, None) for name in ("size", "tables", "rows", "statuses")}
        echo(json.dumps(shown | {"problem": problem}))
    elif problem is not None or result is None:
        echo(f"{folder}: {problem}")
    else:
        rows = "" if result.rows is None else f", {counted(result.rows, 'row')} as SELECT gives them"
        echo(f"{folder}: identical, {result.size} bytes{rows}{_from_facts(result.statuses)}")


def _from_facts(statuses: int) -> str:
    """How many QUERY events have status variables of the facts, if any have."""
    return f", {statuses} {'status' if statuses == 1 else 'statuses'} from facts" if statuses else ""
