"""``forge conform``."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, cast

import click

from forge.cli.output import STDOUT, echo, write_output
from forge.cli.parameters import FILE, FOLDER
from forge.cli.progress import progress_to
from forge.errors import CheckFailed, ScenarioError

if TYPE_CHECKING:
    from forge.conform.kit.reading import OpenKit

KIT = Path("out/kit")


@click.command()
@click.argument("testee")
@click.option(
    "--kit", "folder", type=FOLDER, default=KIT, metavar="DIR", help="The kit, or its archive (default out/kit)."
)
@click.option("--profile", metavar="WORD", help="smoke, full (the default), a server line, or a tag.")
@click.option("--case", "ids", multiple=True, metavar="ID", help="Only this case. Repeatable.")
@click.option("--level", type=click.Choice(["frames", "events", "rows"]), help="What to compare (default: the most).")
@click.option("--expected-failures", "listed", type=FILE, metavar="FILE", help="Cases that are known to fail.")
@click.option(
    "--write-expected-failures", "write", type=FILE, metavar="FILE", help="Write the list of those that fail."
)
@click.option("--junit", type=FILE, metavar="FILE", help="Write the results as JUnit XML.")
@click.option("--report", type=FOLDER, metavar="DIR", help="Add the results to a report: pages of all testees in it.")
@click.option("--no-pages", is_flag=True, help="With --report: keep the results alone; the next run makes the pages.")
@click.option(
    "-j", "--jobs", type=click.IntRange(1), metavar="N", help="Processes of the testee (default: one a core)."
)
@click.option(
    "--timeout", type=click.FloatRange(0.1), default=20.0, metavar="S", help="Seconds for a file (default 20)."
)
@click.option(
    "--memory", type=click.IntRange(16), default=2048, metavar="MIB", help="Memory of a testee (default 2048)."
)
@click.option("--all", "whole", is_flag=True, help="Show every case that makes the run fail.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per case, then one with the summary.")
def command(
    testee: str,
    folder: Path,
    profile: str | None,
    ids: tuple[str, ...],
    level: str | None,
    listed: str | None,
    write: str | None,
    junit: str | None,
    report: Path | None,
    no_pages: bool,
    jobs: int | None,
    timeout: float,
    memory: int,
    whole: bool,
    as_json: bool,
) -> None:
    """Hold a decoder against the cases of a kit.

    TESTEE is a command that reads requests and answers with what the decoder shows, a JSON object a line
    (docs/conform.md). Exit code 1 if a case fails that is not on the list of expected failures, fails otherwise than
    the list says, or is on the list and right.

    \b
    Example:
      forge conform ./my-testee --profile smoke
      forge conform 'python3 testee.py' --expected-failures known.txt --junit results.xml
      forge conform ./my-testee --report out/report
    """
    from forge.conform.expected_failures import failures_text, kept_reasons, read_expected_failures
    from forge.conform.kit.protocol import Level
    from forge.conform.pages.write import add_results, add_to_report, check_report
    from forge.conform.reports import junit_text, result_object, summary_lines, summary_object
    from forge.conform.runner import BAD, run_cases, standing
    from forge.conform.testee import Limits

    if report is not None:
        check_report(report)
    elif no_pages:
        raise ScenarioError("--no-pages goes with --report")
    known = read_expected_failures(Path(listed)) if listed is not None else {}
    wanted: Level | None = next((word for word in ("frames", "events", "rows") if word == level), None)
    with opened_kit(folder) as kit:
        cases = kit.chosen(profile=profile, ids=ids)
        with progress_to("cases") as bar:
            hello, results = run_cases(
                kit,
                cases,
                testee,
                level=wanted,
                jobs=jobs or os.cpu_count() or 1,
                limits=Limits(seconds=timeout, memory=memory << 20),
                progress=bar,
            )
        if report is not None and no_pages:
            add_results(report, hello, results, known)
        elif report is not None:
            with progress_to("pages") as bar:
                pages = add_to_report(
                    report, kit, hello, results, known, jobs=jobs or os.cpu_count() or 1, progress=bar
                )
            echo(f"{report}: {pages} pages", err=True)
    if as_json:
        lines = [json.dumps(result_object(result, known)) + "\n" for result in results]
        write_output(STDOUT, [*lines, json.dumps({"summary": summary_object(hello, results, known)}) + "\n"])
    else:
        write_output(STDOUT, (line + "\n" for line in summary_lines(hello, results, known, whole=whole)))
    if junit is not None:
        write_output(junit, junit_text(hello, results, known))
    if write is not None:
        failing = {r.case.id: (r.outcome, r.message or r.case.title) for r in results if not r.right}
        title = f"Cases that {hello.name} {hello.version} fails."
        write_output(write, failures_text(kept_reasons(failing, known), title=title))
        return
    bad = [result for result in results if standing(result, known) in BAD]
    if bad:
        raise CheckFailed(f"{hello.name}: not as expected: {len(bad)} of {len(results)} cases")


@contextmanager
def opened_kit(path: Path) -> Iterator[OpenKit]:
    """The kit in a folder, or in an archive, which is unpacked for the time of the block."""
    from forge.conform.kit.reading import open_kit

    if path.is_dir() or not path.name.endswith(".tar.gz"):
        yield open_kit(path)
        return
    with tempfile.TemporaryDirectory(prefix="forge-kit-") as folder:
        try:
            with tarfile.open(path, "r:gz") as archive:
                _unpack(archive, Path(folder))
        except (tarfile.TarError, EOFError, OSError) as error:
            raise ScenarioError(f"{path} is no archive of a kit: {error}") from None
        inside = [found.parent for found in Path(folder).glob("*/index.jsonl")]
        yield open_kit(inside[0] if inside else Path(folder))


def _unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """What a kit is made of: regular files below its folder.  Raises TarError for anything else.

    The filters of ``extractall`` came with Python 3.11.4.
    """
    for member in archive:
        place = PurePosixPath(member.name)
        if place.is_absolute() or ".." in place.parts or not (member.isreg() or member.isdir()):
            raise tarfile.TarError(f"{member.name!r} is no file below the archive's folder")
        if member.isreg():
            target = folder / place
            target.parent.mkdir(parents=True, exist_ok=True)
            with cast("IO[bytes]", archive.extractfile(member)) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file)
