"""``forge generate``."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import click

from forge.cli.inputs import read_scenario, shown
from forge.cli.output import print_lines
from forge.cli.parameters import FILE, json_option, output_option, settings_options
from forge.cli.progress import progress_to

if TYPE_CHECKING:
    from forge.bulk.generating.generate import Runner
    from forge.bulk.generating.volume_folder import Manifest
    from forge.scenario import Scenario
    from forge.scenario.matrix import OptionSettings

#: From this many rows on, files are written in parallel.
_MANY = 1_000_000
#: What a process that writes files needs.
_OF_WORKERS = ("forge.bulk.generating.generate", "pyarrow.compute", "pyarrow.parquet")


@click.command()
@click.argument("file", metavar="SCENARIO", type=FILE)
@click.option("--rows", type=click.IntRange(min=1), required=True, metavar="N", help="Rows to insert, in all tables.")
@click.option(
    "--files", type=click.IntRange(min=1), metavar="M", help="Files of the log; one for 500000 rows if not given."
)
@output_option("A new or empty folder, or one to go on with.", metavar="DIR")
@settings_options("Use this server line.")
@click.option("--seed", type=int, help="Use this seed in the place of the scenario's.")
@click.option(
    "--master", metavar="URL", help="Run on Spark: its master, e.g. spark://host:7077; `none` for this process alone."
)
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@json_option("One JSON object: the manifest, or the plan.")
def command(
    file: str,
    rows: int,
    files: int | None,
    output: str,
    settings: OptionSettings,
    seed: int | None,
    master: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Write the binary logs of many rows with whole lives: inserted, updated, some deleted.

    The tables of SCENARIO get rows whose references hold; `volume:` in it says how many each, what is in their columns,
    how often they change. DIR gets the files of the log, an index, and below state/ the rows that must be there at
    the end, as Parquet. The bytes depend on scenario, rows and files alone. What a run that was stopped has finished
    is kept when the same command runs again.

    \b
    Example:
      forge generate shop.yaml --rows 10000 -o shop/
      forge generate shop.yaml --rows 1000000 --files 8 --dry-run -o big/
      forge generate shop.yaml --rows 100000000 --files 200 --master spark://host:7077 -o /shared/big
    """
    import msgspec

    from forge.scenario.matrix import base_scenario

    scenario = base_scenario(read_scenario(file), file=shown(file), settings=settings)
    if seed is not None:
        origin = scenario.origin
        scenario = msgspec.structs.replace(scenario, seed=seed)
        scenario.__dict__["located"] = origin
    if dry_run:
        _plan(scenario, rows, files, as_json)
        return
    begin = time.monotonic()
    with progress_to("generating") as show:
        if master is not None and master != "none":
            from forge.spark.generate import generate_on_spark

            made = generate_on_spark(scenario, output, rows=rows, files=files, master=master, progress=show)
        else:
            from forge.bulk.generating.generate import generate

            runner = _side_by_side() if master is None and rows >= _MANY else None
            made = generate(scenario, output, rows=rows, files=files, progress=show, runner=runner)
    seconds = time.monotonic() - begin
    if as_json:
        print_lines([msgspec.json.encode(made.manifest).decode()])
    else:
        print_lines(_summary(made.manifest, made.kept, seconds))


def _side_by_side() -> Runner:
    """Parts are written by as many processes as there are cores."""
    from forge.bulk.generating.generate import spread_over
    from forge.corpus.workers import Processes

    return spread_over(Processes(modules=_OF_WORKERS).begin().run)


def _summary(manifest: Manifest, kept: int, seconds: float) -> list[str]:
    from forge.bulk.generating.volume_folder import total_rows
    from forge.render.aligned import aligned

    records = [*manifest.files, *manifest.state]
    size = sum(record.size for record in manifest.files)
    events = sum(record.events for record in manifest.files)
    transactions = sum(record.transactions for record in manifest.files)
    counted = total_rows(records)
    changes = sum(count for table in counted.values() for name, count in table.items() if name != "state")
    names = ("insert", "update", "delete", "state")
    rows = [[table, *(f"{counts.get(name, 0):,}" for name in names)] for table, counts in counted.items()]
    table = aligned([["table", "inserts", "updates", "deletes", "left"], *rows], numbers_from=1)
    files = [record.name for record in manifest.files]
    span = files[0] if len(files) == 1 else f"{files[0]} to {files[-1]}"
    made = f"{span}: {size:,} bytes, {events:,} events, {transactions:,} transactions, {changes:,} rows"
    speed = f"{seconds:.1f} s, {changes / max(seconds, 0.001):,.0f} rows/s"
    return [*table, made, f"{kept} of {len(records)} parts were there already" if kept else speed]


def _plan(scenario: Scenario, rows: int, files: int | None, as_json: bool) -> None:
    from forge.bulk.generating.generate import default_files
    from forge.bulk.generating.setup import requested
    from forge.bulk.generating.volume_plan import volume_plan

    setup = requested(scenario, rows, default_files(rows) if files is None else files)
    planned: dict[str, Any] = volume_plan(setup)
    if as_json:
        print_lines([json.dumps(planned, ensure_ascii=False)])
        return
    lines = []
    for table in planned["tables"]:
        inside = f" inside {table['inside']}" if table["inside"] else ""
        lines.append(
            f"{table['table']}: {table['rows']:,} rows{inside}, updates of {', '.join(table['updated']) or 'nothing'}"
        )
        lines += [f"  {name}: {generator}" for name, generator in table["columns"].items()]
    count = len(planned["transactions"])
    lines.append(f"{count} file{'s' if count > 1 else ''}, {sum(planned['transactions']):,} transactions")
    print_lines(lines)
