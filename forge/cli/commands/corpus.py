"""``forge corpus``."""

from __future__ import annotations

import importlib.util
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forge.cli.commands.corpus_commands.findings import findings
from forge.cli.commands.corpus_commands.kit import export, freeze
from forge.cli.commands.corpus_commands.show import corpus_option, require_arrow, show
from forge.cli.output import echo, refuse_inputs, write_binlogs, write_files
from forge.cli.parameters import FILE, FOLDER, json_option
from forge.cli.progress import progress_to
from forge.errors import CheckFailed, EnvironmentMissing, ScenarioError, with_extra

if TYPE_CHECKING:
    from forge.corpus.cases import Case
    from forge.corpus.judge import Jury
    from forge.corpus.report import Tally
    from forge.corpus.workers import Workers

#: Up to ``VERY_FEW`` cases are built in this process, up to ``FEW`` by several: starting Spark would take longer.
VERY_FEW, FEW = 64, 512


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


for _subcommand in (show, export, freeze, findings):
    command.add_command(_subcommand)


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
@click.option(
    "--random",
    "count",
    type=click.IntRange(1),
    metavar="N",
    help="Draw N scenarios instead: types, character sets, keys, images, server lines.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of --random.")
@click.option(
    "--decoders", metavar="NAMES", help="Only these decoders, separated by commas (default: all on this machine)."
)
@click.option(
    "--master", metavar="URL", help="Build on this Spark master, for example 'local[4,3]', however few cases."
)
@click.option(
    "--partitions",
    type=click.IntRange(1),
    help="Number of pieces to divide the work into on Spark; it does not change the result.",
)
@json_option("The summary as JSON.")
def build(
    out: Path,
    scenarios: tuple[Path, ...],
    count: int | None,
    seed: int,
    decoders: str | None,
    master: str | None,
    partitions: int | None,
    as_json: bool,
) -> None:
    """Compile, decode and judge every case, and print a summary.

    Up to a few hundred cases are built by processes of this machine; more of them on Spark, if it is installed. The
    corpus is the same.

    Exit code 1 if binlog-forge's own reader contradicts the verdict of a case.

    \b
    Example:
      forge corpus build --out out/corpus
      forge corpus build --out out/corpus --master 'local[4,3]' --partitions 16 --json
      forge corpus build --out out/random --random 10000 --seed 7 --decoders forge,python-mysql-replication
    """
    require_arrow()
    # A call to the JVM that Ctrl-C interrupts is logged with whole traces, to the root logger.
    logging.getLogger().addHandler(logging.NullHandler())
    from forge.corpus.build import build_corpus, sliced
    from forge.corpus.judge import judge_cases
    from forge.corpus.manifest import read_entries
    from forge.corpus.report import Tally, summary_lines, summary_object

    if count is not None and scenarios:
        raise click.UsageError("give one of --random and --scenarios")
    jury = _jury(decoders)
    if count is None:
        cases = _found(scenarios)
        slices, total = sliced(cases), len(cases)
    else:
        from forge.corpus.random_cases import random_slices

        slices, total = random_slices(seed, count), count
    judge = partial(judge_cases, decoders=tuple(jury.present))
    with progress_to("cases judged, by task") as report, _workers(total, master, partitions) as workers:
        drawn_from = None if count is None else seed
        summary = build_corpus(slices, judge, out, jury=jury, workers=workers, progress=report, random_seed=drawn_from)
    tally = Tally(read_entries(out))
    if as_json:
        echo(json.dumps(summary_object(tally, summary), indent=2))
    else:
        echo("\n".join(summary_lines(tally, summary, str(out))))
    _refuse_wrong(tally, drawn=count is not None)


def _refuse_wrong(tally: Tally, *, drawn: bool) -> None:
    """Raises CheckFailed for cases that our own reader is wrong about, and for cases that were drawn and crash."""
    wrong = dict(tally.against)
    for finding in tally.failures if drawn else ():
        if finding.outcome in ("crashed", "timeout"):
            wrong |= dict.fromkeys(finding.cases, f"{finding.outcome}: {finding.first}")
    if wrong:
        first, said = next(iter(wrong.items()))
        more = f" (and {len(wrong) - 1} cases more)" if len(wrong) > 1 else ""
        raise CheckFailed(f"the reader of binlog-forge contradicts the verdict of {first}: {said}{more}")


def _found(scenarios: tuple[Path, ...]) -> list[Case]:
    """The cases of the folders, or the shipped ones."""
    from forge.corpus.cases import find_cases, shipped_folders
    from forge.corpus.workers import Processes

    for folder in scenarios:
        if not folder.is_dir():
            raise ScenarioError(f"there is no folder {folder}", expected="a folder of scenarios")
    with progress_to("scenario files read") as report:
        if scenarios:
            return find_cases([(folder.name, folder) for folder in scenarios], progress=report)
        return find_cases(shipped_folders(), workers=Processes(), progress=report)


def _jury(names: str | None) -> Jury:
    """The decoders that are chosen, of those that can run here."""
    from forge.check.decoders.table import decoder
    from forge.corpus.judge import Jury, jury_here

    jury = jury_here()
    if names is None:
        return jury
    chosen = [decoder(name.strip()).name for name in names.split(",")]
    return Jury(
        present={name: version for name, version in jury.present.items() if name in chosen},
        absent={name: reason for name, reason in jury.absent.items() if name in chosen},
    )


@contextmanager
def _workers(cases: int, master: str | None, partitions: int | None) -> Iterator[Workers]:
    """The workers for that many cases.  Starting a JVM takes as long as building hundreds of them."""
    from forge.corpus.workers import Processes, ThisProcess

    if master is None and cases <= FEW:
        yield ThisProcess() if cases <= VERY_FEW else Processes()
        return
    if master is None and (missing := _spark_missing()) is not None:
        echo(f"forge: built by processes of this machine: {missing}", err=True)
        yield Processes()
        return
    from forge.spark.corpus import spark_workers

    with spark_workers(master, partitions) as workers:
        yield workers


def _spark_missing() -> str | None:
    """Why Spark cannot run here; None if it can."""
    from forge.spark.java import find_java

    if importlib.util.find_spec("pyspark") is None:
        return f"PySpark is not installed: {with_extra('spark')}"
    try:
        find_java()
    except EnvironmentMissing as error:
        return str(error)
    return None


@command.command(short_help="Write the binary logs of a case.")
@click.argument("case")
@corpus_option
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
