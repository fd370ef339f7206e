"""``forge corpus``."""

from __future__ import annotations

import json
import logging
from functools import partial
from pathlib import Path

import click

from forge.cli.commands.corpus_kit import export, freeze
from forge.cli.commands.corpus_show import DEFAULT, require_arrow, show
from forge.cli.output import refuse_inputs, write_binlogs, write_files
from forge.cli.parameters import FILE, FOLDER
from forge.cli.progress import progress_to
from forge.errors import CheckFailed, ScenarioError


@click.group()
def command() -> None:
    """The conformance corpus: cases, their bytes, canonical decodes and verdicts.

    \b
    Example:
      forge corpus build --out out/corpus
      forge corpus show out/corpus --failing
      forge corpus extract first-day --from out/corpus -o first.000001
      forge corpus export out/kit
    """


command.add_command(show)
command.add_command(export)
command.add_command(freeze)


@command.command(short_help="Compile, decode and judge every case.")
@click.option(
    "--out", required=True, type=FOLDER, metavar="DIR", help="Folder of the corpus; an existing corpus is replaced."
)
@click.option(
    "--scenarios",
    multiple=True,
    type=FOLDER,
    metavar="DIR",
    help="Use these scenarios instead of the shipped ones. Repeatable.",
)
@click.option("--master", metavar="URL", help="Spark master (default: local[*,3], all cores of this machine).")
@click.option(
    "--partitions",
    type=click.IntRange(1),
    help="Number of pieces to divide the work into; it does not change the result.",
)
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON.")
def build(out: Path, scenarios: tuple[Path, ...], master: str | None, partitions: int | None, as_json: bool) -> None:
    """Compile, decode and judge every case, in parallel on Spark, and print a summary.

    Exit code 1 if binlog-forge's own reader contradicts the verdict of a case.

    \b
    Example:
      forge corpus build --out out/corpus
      forge corpus build --out out/corpus --master 'local[4,3]' --partitions 16 --json
    """
    require_arrow()
    # A call to the JVM that Ctrl-C interrupts is logged with whole traces, to the root logger.
    logging.getLogger().addHandler(logging.NullHandler())
    from forge.corpus.cases import find_cases, shipped_folders
    from forge.corpus.judge import judge_case, jury_here
    from forge.corpus.manifest import read_entries
    from forge.corpus.report import Tally, summary_lines, summary_object
    from forge.spark.corpus import build_corpus

    for folder in scenarios:
        if not folder.is_dir():
            raise ScenarioError(f"there is no folder {folder}", expected="a folder of scenarios")
    with progress_to("scenario files read") as report:
        cases = find_cases([(folder.name, folder) for folder in scenarios] or shipped_folders(), progress=report)
    jury = jury_here()
    judge = partial(judge_case, decoders=tuple(jury.present))
    with progress_to("cases judged, by task") as report:
        summary = build_corpus(cases, judge, out, jury=jury, master=master, partitions=partitions, progress=report)
    tally = Tally(read_entries(out))
    if as_json:
        click.echo(json.dumps(summary_object(tally, summary), indent=2))
    else:
        click.echo("\n".join(summary_lines(tally, summary, str(out))))
    if tally.against:
        first, said = next(iter(tally.against.items()))
        more = f" (and {len(tally.against) - 1} cases more)" if len(tally.against) > 1 else ""
        raise CheckFailed(f"the reader of binlog-forge contradicts the verdict of {first}: {said}{more}")


@command.command(short_help="Write the binary logs of a case.")
@click.argument("case")
@click.option("--from", "folder", type=FOLDER, default=DEFAULT, metavar="DIR", help="The corpus (default out/corpus).")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Output file (- for standard output).")
@click.option("--out", "out", type=FOLDER, metavar="DIR", help="Folder for the files of the case and their decodes.")
def extract(case: str, folder: Path, output: str | None, out: Path | None) -> None:
    """Write the binary logs of one CASE.

    -o names the first file; further files, and the index file, are written beside it under their own names. --out
    writes all files into a folder, each with its canonical decode (JSON lines).

    \b
    Example:
      forge corpus extract first-day --from out/corpus -o first.000001
      forge corpus extract first-day --from out/corpus --out first-day
    """
    require_arrow()
    from forge.corpus.manifest import SUMMARY, parts, read_case

    if (output is None) == (out is None):
        raise click.UsageError("give one of -o FILE and --out DIR")
    row = read_case(folder, case)
    if not row["files"]:
        raise ScenarioError(f"the case {case!r} has no binary log: it was {row['status']} ({row['error']})")
    inputs = [str(path) for path in (*parts(folder), folder / SUMMARY)]
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        output = str(out / row["files"][0]["name"])
        decodes = [(str(out / f"{file['name']}.jsonl"), file["decode"] or "") for file in row["files"]]
        refuse_inputs([target for target, _ in decodes], inputs)
        write_files(decodes)
    assert output is not None
    write_binlogs(output, [(file["name"], file["bytes"]) for file in row["files"]], inputs=inputs)
