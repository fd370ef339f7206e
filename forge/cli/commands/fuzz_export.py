"""``forge fuzz export``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from forge.cli.output import echo, write_files
from forge.cli.parameters import FOLDER, complete_engines, json_option, out_option
from forge.cli.progress import progress_to
from forge.errors import ScenarioError


@click.command(short_help="Write a fuzz target for another fuzzer: seeds, a dictionary, a harness.")
@click.option(
    "--for", "name", required=True, metavar="ENGINE", shell_complete=complete_engines,
    help="libfuzzer, go, cargo-fuzz, jazzer, afl or atheris.",
)  # fmt: skip
@click.option(
    "--seeds", "kit", type=FOLDER, metavar="KIT", help="Choose from a kit's profile smoke (default: recorded logs)."
)
@out_option("A new or empty folder.", required=True)
@json_option("What was written as JSON.")
def export(name: str, kit: Path | None, out: Path, as_json: bool) -> None:
    """Write a fuzz target for another fuzzer to the folder DIR.

    It has seeds, the smallest logs of at most 8 KiB that together have every feature; a dictionary, if the engine takes
    one; and a harness, which runs as it is: put your reader into the place of the one in it.

    \b
    Example:
      forge fuzz export --for go -o fuzz/
      forge fuzz export --for libfuzzer --seeds out/smoke -o fuzz/
    """
    from forge.conform.fuzz.export import engine_of, exported
    from forge.conform.fuzz.seeds import chosen_seeds, kit_logs, recorded_logs

    engine = engine_of(name)
    if out.is_dir() and any(out.iterdir()):
        raise ScenarioError(f"{out} is not empty", expected="a new or empty folder")
    with progress_to("logs") as report:
        seeds = chosen_seeds(recorded_logs() if kit is None else kit_logs(kit), report)
    files = [(out / path, data) for path, data in exported(engine, seeds).items()]
    for path, _ in files:
        path.parent.mkdir(parents=True, exist_ok=True)
    write_files([(str(path), data) for path, data in files])
    if as_json:
        echo(json.dumps({"engine": name, "seeds": len(seeds), "files": len(files), "run": engine.run}))
    else:
        echo(f"{out}: {len(seeds)} seeds of {sum(len(seed.data) for seed in seeds)} bytes")
        echo(f"cd {out} && {engine.run}")
