"""``forge corpus show``."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forge.cli.output import print_lines
from forge.cli.parameters import FOLDER, json_option
from forge.errors import EnvironmentMissing, ScenarioError, nearest, with_extra

if TYPE_CHECKING:
    from forge.corpus.manifest import Entry

DEFAULT = Path("out/corpus")
corpus_option = click.option(
    "--from", "folder", type=FOLDER, default=DEFAULT, metavar="DIR", help="The corpus (default out/corpus)."
)


@click.command(short_help="List cases, findings or the coverage.")
@click.argument("folder", type=FOLDER, default=DEFAULT)
@click.option("--case", "case", metavar="ID", help="Everything about one case.")
@click.option(
    "--tag", "tags", multiple=True, metavar="WORD", help="Only cases with this tag. Repeatable: cases with all of them."
)
@click.option("--failing", is_flag=True, help="Only cases that were not compiled, or that a decoder got wrong.")
@click.option("--findings", is_flag=True, help="Findings by decoder: each with its first case and the decoder's words.")
@click.option("--coverage", is_flag=True, help="Cases by feature and server line, and worklog rules without a case.")
@json_option("One JSON object per case; with --findings or --coverage, a single one.")
def show(
    folder: Path, case: str | None, tags: tuple[str, ...], failing: bool, findings: bool, coverage: bool, as_json: bool
) -> None:
    """List the cases of the corpus in FOLDER (default out/corpus).

    \b
    Example:
      forge corpus show out/corpus --tag gtid
      forge corpus show out/corpus --case first-day
      forge corpus show out/corpus --findings
      forge corpus show out/corpus --coverage
    """
    require_arrow()
    from forge.corpus.manifest import read_case, read_summary

    if (case is not None) + findings + coverage > 1 or (case is not None and (tags or failing)):
        raise click.UsageError(
            "use only one of --case, --findings and --coverage; --case takes neither --tag nor --failing"
        )
    if case is not None:
        row = read_case(folder, case)
        print_lines([json.dumps(_printable(row))] if as_json else _one_case(row))
        return
    entries = _chosen(folder, tags, failing)
    if findings:
        from forge.corpus.report import Tally, finding_lines, summary_object

        tally = Tally(entries)
        whole = summary_object(tally, read_summary(folder))
        print_lines([json.dumps(whole, indent=2)] if as_json else finding_lines(tally))
    elif coverage:
        from forge.corpus.coverage import Coverage, coverage_lines, coverage_object

        counts = Coverage(entries)
        print_lines([json.dumps(coverage_object(counts), indent=2)] if as_json else coverage_lines(counts))
    else:
        print_lines(_json_lines(entries) if as_json else _case_table(entries))


def require_arrow() -> None:
    """Raises EnvironmentMissing unless PyArrow is installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise EnvironmentMissing(f"the corpus needs PyArrow: {with_extra('rows')}") from error


def _chosen(folder: Path, tags: tuple[str, ...], failing: bool) -> list[Entry]:
    """The cases that have all the tags.  Raises ScenarioError for a tag that no case of the corpus has."""
    from forge.corpus.manifest import read_entries

    entries = list(read_entries(folder))
    words = {tag for entry in entries for tag in entry.tags}
    for tag in tags:
        if tag not in words:
            raise ScenarioError(f"no case in {folder} has the tag {tag!r}", suggestion=nearest(tag, words))
    return [entry for entry in entries if set(tags) <= set(entry.tags) and (entry.failing or not failing)]


def _printable(row: dict[str, Any]) -> dict[str, Any]:
    """A row as JSON can hold it: the bytes in base64, the decodes as lists of events."""
    files = []
    for file in row["files"]:
        decode = None if file["decode"] is None else [json.loads(line) for line in file["decode"].splitlines()]
        files.append(file | {"bytes": base64.b64encode(file["bytes"]).decode(), "decode": decode})
    return row | {"files": files}


def _json_lines(entries: Iterable[Entry]) -> Iterator[str]:
    import msgspec

    for entry in entries:
        yield msgspec.json.encode(entry).decode()


def _case_table(entries: Iterable[Entry]) -> list[str]:
    from forge.render.aligned import aligned

    rows = [["case", "server", "files", "bytes", "sha256", "verdict", "outcome"]]
    for entry in entries:
        digest = (entry.files[0].sha256 if entry.files else "")[:12]
        files, size = str(len(entry.files)), str(entry.size)
        rows.append([entry.case, entry.server, files, size, digest, entry.verdict, _outcome_words(entry)])
    return aligned(rows, numbers_from=1)


def _outcome_words(entry: Entry) -> str:
    from forge.corpus.outcomes import RIGHT

    if entry.against is not None or entry.status not in ("compiled", "unreadable"):
        return entry.status
    others = [f"{verdict.decoder} {verdict.outcome}" for verdict in entry.verdicts if verdict.outcome not in RIGHT]
    return ", ".join(others) or f"{len(entry.verdicts)} right"


def _one_case(row: dict[str, Any]) -> Iterator[str]:
    for name in ("case", "file", "server", "verdict", "phase", "status", "error", "against"):
        if row[name] is not None:
            yield f"{name:<8} {row[name]}"
    yield f"{'tags':<8} {', '.join(row['tags'])}"
    for verdict in row["verdicts"]:
        said = f": {verdict['detail']}" if verdict["detail"] else ""
        yield f"{verdict['decoder']} {verdict['version'] or ''}: {verdict['outcome']}{said}"
        for warning in verdict["warnings"]:
            yield f"  warned: {warning}"
    from forge.decode.printed import render_text

    for file in row["files"]:
        yield f"\n{file['name']}, {file['size']} bytes, sha256 {file['sha256']}"
        for line in (file["decode"] or "").splitlines():
            yield render_text(json.loads(line))
