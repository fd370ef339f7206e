"""``forge record``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forge.cli.output import echo, refuse_inputs
from forge.cli.parameters import FILE_OR_FOLDER, FOLDER, json_option, settings_options

if TYPE_CHECKING:
    from forge.scenario.matrix import OptionSettings


@click.command()
@click.argument("scenario", type=FILE_OR_FOLDER)
@click.option(
    "--server",
    type=FOLDER,
    metavar="DIR",
    help="Folder of the unpacked servers (default: $FORGE_SERVERS, else ~/.cache/real-servers).",
)
@click.option(
    "-o", "--output", "out", type=FOLDER, metavar="DIR", help="Folder of the recording (default: the scenario's name)."
)
@settings_options()
@json_option("One JSON object: the folder, the server's version, and the name and size of each file.")
def command(scenario: Path, server: Path | None, out: Path | None, settings: OptionSettings, as_json: bool) -> None:
    """Run SCENARIO on a fresh real server and keep its binary log, with the facts of that session.

    It keeps all files of a session that makes several (session.max_binlog_size, flush, restart), and their index file.
    `forge verify` compiles the scenario with these facts and compares byte for byte.

    \b
    Example:
      forge record first.yaml -o recordings/first
      forge verify recordings/first
    """
    from forge.record.recording import CONTENTS, FACTS, RECORDING, record

    folder = out or Path(scenario.stem)
    refuse_inputs([str(folder / name) for name in (CONTENTS, FACTS, RECORDING)], [str(scenario)])
    recorded = record(scenario, folder, server, parameters=settings)
    if as_json:
        sizes = [{"name": name, "size": len(data)} for name, data in recorded.files]
        recording = {"recording": str(folder), "server_version": recorded.server_version, "files": sizes}
        echo(json.dumps(recording, ensure_ascii=False))
        return
    size = sum(len(data) for _, data in recorded.files)
    files = "" if len(recorded.files) == 1 else f" in {len(recorded.files)} files"
    echo(f"{folder}: {size} bytes{files} recorded on {recorded.server_version}")
