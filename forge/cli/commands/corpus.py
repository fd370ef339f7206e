"""``forge corpus``."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forge.cli.output import STDOUT, write_binlogs, write_output
from forge.cli.progress import progress_to
from forge.errors import CheckFailed, EnvironmentMissing, ScenarioError

if TYPE_CHECKING:
    from forge.corpus.manifest import Entry

DEFAULT = Path("out/corpus")


@click.group()
def command() -> None:
    """The conformance corpus: cases, their bytes, canonical decodes and verdicts.

    \b
    Example:
      forge corpus build --out out/corpus
      forge corpus show out/corpus --failing
      forge corpus extract first-day --from out/corpus -o first.000001
    """


@command.command()
@click.option(
    "--out", required=True, type=Path, metavar="DIR", help="Folder for the manifest; a corpus there is replaced."
)
@click.option("--scenarios", multiple=True, type=Path, metavar="DIR", help="Scenarios instead of the shipped ones.")
@click.option("--master", metavar="URL", help="Spark master (default: local[*,3], all cores of this machine).")
@click.option("--partitions", type=click.IntRange(1), help="Pieces of the work; the result is the same for any number.")
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON.")
def build(out: Path, scenarios: tuple[Path, ...], master: str | None, partitions: int | None, as_json: bool) -> None:
    """Compile, decode and judge every case, in parallel on Spark; ends with a summary table.

    Exit code 1 if our own reader goes against the verdict of a case.

    \b
    Example:
      forge corpus build --out out/corpus
      forge corpus build --out out/corpus --master 'local[4,3]' --partitions 16 --json
    """
    _require_arrow()
    # A call to the JVM that Ctrl-C interrupts is logged with whole traces, to the root logger.
    logging.getLogger().addHandler(logging.NullHandler())
    from forge.corpus.cases import find_cases, shipped_folders
    from forge.corpus.judge import judge_case, jury_here
    from forge.corpus.manifest import read_entries
    from forge.corpus.report import Tally, summary_lines, summary_object
    from forge.spark.corpus import build_corpus

    for folder in scenarios:
        if not folder.is_dir():
            raise ScenarioError(f"{folder} is no folder", expected="a folder of scenarios")
    with progress_to("scenario files read") as told:
        cases = find_cases([(folder.name, folder) for folder in scenarios] or shipped_folders(), progress=told)
    jury = jury_here()
    judge = partial(judge_case, decoders=tuple(jury.present))
    with progress_to("cases judged, by task") as told:
        summary = build_corpus(cases, judge, out, jury=jury, master=master, partitions=partitions, progress=told)
    tally = Tally(read_entries(out))
    if as_json:
        click.echo(json.dumps(summary_object(tally, summary), indent=2))
    else:
        click.echo("\n".join(summary_lines(tally, summary)))
    if tally.against:
        first, said = next(iter(tally.against.items()))
        more = f" (and {len(tally.against) - 1} cases more)" if len(tally.against) > 1 else ""
        raise CheckFailed(f"our own reader goes against the verdict of {first}: {said}{more}")


@command.command()
@click.argument("folder", type=Path, default=DEFAULT)
@click.option("--case", "case", metavar="ID", help="All about one case.")
@click.option("--tag", "tags", multiple=True, metavar="WORD", help="Only cases with this tag (all, if given again).")
@click.option("--failing", is_flag=True, help="Only cases that were not compiled, or that a decoder does not agree on.")
@click.option("--coverage", is_flag=True, help="Cases by feature and server line, and worklog rules without a case.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a case; with --coverage, one object.")
def show(folder: Path, case: str | None, tags: tuple[str, ...], failing: bool, coverage: bool, as_json: bool) -> None:
    """List the cases of the corpus in FOLDER (default out/corpus).

    \b
    Example:
      forge corpus show out/corpus --tag gtid
      forge corpus show out/corpus --case first-day
      forge corpus show out/corpus --coverage
    """
    _require_arrow()
    from forge.corpus.manifest import read_case, read_entries

    if case is not None:
        row = read_case(folder, case)
        write_output(STDOUT, json.dumps(_printable(row)) + "\n" if as_json else _one_case(row))
        return
    entries = (
        entry for entry in read_entries(folder) if set(tags) <= set(entry.tags) and (entry.failing or not failing)
    )
    if coverage:
        from forge.corpus.coverage import Coverage, coverage_lines, coverage_object

        found = Coverage(entries)
        lines = (line + "\n" for line in coverage_lines(found))
        write_output(STDOUT, json.dumps(coverage_object(found), indent=2) + "\n" if as_json else lines)
        return
    write_output(STDOUT, _json_lines(entries) if as_json else _case_lines(entries))


@command.command()
@click.argument("case")
@click.option("--from", "folder", type=Path, default=DEFAULT, metavar="DIR", help="The corpus (default out/corpus).")
@click.option("-o", "--output", metavar="FILE", help="Where the binary log goes (- is stdout).")
@click.option("--out", "out", type=Path, metavar="DIR", help="Folder for the files of the case under their own names.")
def extract(case: str, folder: Path, output: str | None, out: Path | None) -> None:
    """Write the binary logs of one CASE.

    With -o, the files of a case that has several follow FILE, which is the first one's name, with an index file, as
    `forge build` does. With --out, their canonical decodes (JSON lines) stand beside them.

    \b
    Example:
      forge corpus extract first-day --from out/corpus -o first.000001
      forge corpus extract first-day --from out/corpus --out first-day
    """
    _require_arrow()
    from forge.corpus.manifest import read_case

    if (output is None) == (out is None):
        raise click.UsageError("one of -o FILE and --out DIR is needed")
    row = read_case(folder, case)
    if not row["files"]:
        raise ScenarioError(f"the case {case!r} has no binary log: it was {row['status']} ({row['error']})")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        output = str(out / row["files"][0]["name"])
        for file in row["files"]:
            write_output(str(out / f"{file['name']}.jsonl"), file["decode"] or "")
    assert output is not None
    write_binlogs(output, [(file["name"], file["bytes"]) for file in row["files"]])


def _require_arrow() -> None:
    """Raises EnvironmentMissing unless the packages of the extra ``spark`` are here."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise EnvironmentMissing("the corpus needs PyArrow and PySpark: `pip install binlog-forge[spark]`") from error


def _printable(row: dict[str, Any]) -> dict[str, Any]:
    """A row as JSON can hold it: the bytes in base64, the decodes as lists of events."""
    files = []
    for file in row["files"]:
        decode = None if file["decode"] is None else [json.loads(line) for line in file["decode"].splitlines()]
        files.append(file | {"bytes": base64.b64encode(file["bytes"]).decode(), "decode": decode})
    return row | {"files": files}


def _json_lines(entries: Iterator[Entry]) -> Iterator[bytes]:
    import msgspec

    for entry in entries:
        yield msgspec.json.encode(entry) + b"\n"


def _case_lines(entries: Iterator[Entry]) -> Iterator[str]:
    from forge.corpus.report import table

    rows = [
        [
            entry.case,
            entry.server,
            str(len(entry.files)),
            str(entry.size),
            (entry.files[0].sha256 if entry.files else "")[:12],
            entry.verdict,
            _outcome_words(entry),
        ]
        for entry in entries
    ]
    for line in table(["case", "server", "files", "bytes", "sha256", "verdict", "outcome"], rows):
        yield line + "\n"


def _outcome_words(entry: Entry) -> str:
    from forge.corpus.judge import RIGHT

    if entry.against is not None or entry.status not in ("compiled", "unreadable"):
        return entry.status
    others = [f"{verdict.decoder} {verdict.outcome}" for verdict in entry.verdicts if verdict.outcome not in RIGHT]
    return ", ".join(others) or f"{len(entry.verdicts)} right"


def _one_case(row: dict[str, Any]) -> Iterator[str]:
    for name in ("case", "file", "server", "verdict", "phase", "status", "error", "against"):
        if row[name] is not None:
            yield f"{name:<8} {row[name]}\n"
    yield f"{'tags':<8} {', '.join(row['tags'])}\n"
    for verdict in row["verdicts"]:
        said = f": {verdict['detail']}" if verdict["detail"] else ""
        yield f"{verdict['decoder']} {verdict['version'] or ''}: {verdict['outcome']}{said}\n"
        for warning in verdict["warnings"]:
            yield f"  warned: {warning}\n"
    from forge.check.canonical.text import render_text

    for file in row["files"]:
        yield f"\n{file['name']}, {file['size']} bytes, sha256 {file['sha256']}\n"
        for line in (file["decode"] or "").splitlines():
            yield render_text(json.loads(line)) + "\n"
