"""``forge conform``."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, cast

import click

from forge.cli.output import echo, print_lines, write_output
from forge.cli.parameters import (
    FILE,
    FILE_OR_FOLDER,
    FOLDER,
    grouped,
    jobs_option,
    json_option,
    level_option,
    limits_options,
)
from forge.cli.progress import progress_to
from forge.errors import CheckFailed, ScenarioError

if TYPE_CHECKING:
    from forge.conform.kit.protocol import Level
    from forge.conform.kit.reading import OpenKit
    from forge.conform.testee import Limits

KIT = Path("out/kit")


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Which cases the testee gets."""

    folder: Path
    profile: str | None
    tags: str | None
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Kept:
    """Where results go beside standard output: files, and the folder of a report."""

    failures: str | None
    junit: str | None
    report: Path | None
    no_pages: bool


_CASES = (
    click.option(
        "--kit",
        "folder",
        type=FILE_OR_FOLDER,
        default=KIT,
        metavar="DIR",
        help="The kit, or its archive (default out/kit).",
    ),
    click.option("--profile", metavar="WORD", help="smoke, full (the default), a server line, or a tag."),
    click.option("--tags", metavar="EXPRESSION", help="Of these, only such as 'mysql-8.0 & rows & !JSON'."),
    click.option("--case", "ids", multiple=True, metavar="ID", help="Only this case. Repeatable."),
)
_KEPT = (
    click.option(
        "--write-expected-failures", "failures", type=FILE, metavar="FILE", help="Write the list of those that fail."
    ),
    click.option("--junit", type=FILE, metavar="FILE", help="Write the results as JUnit XML."),
    click.option(
        "--report", type=FOLDER, metavar="DIR", help="Add the results to a report: pages of all testees in it."
    ),
    click.option(
        "--no-pages", is_flag=True, help="With --report: keep the results alone; the next run makes the pages."
    ),
)


@click.command()
@click.argument("testee")
@grouped("chosen", _Chosen, *_CASES)
@level_option("What to compare (default: the most).")
@click.option("--expected-failures", "listed", type=FILE, metavar="FILE", help="Cases that are known to fail.")
@grouped("kept", _Kept, *_KEPT)
@jobs_option("Processes of the testee (default: one a core).")
@limits_options(20, 2048)
@click.option("--all", "whole", is_flag=True, help="Show every case that makes the run fail.")
@json_option("One JSON object per case, then one with the summary.")
def command(
    testee: str,
    chosen: _Chosen,
    level: Level | None,
    listed: str | None,
    kept: _Kept,
    jobs: int | None,
    limits: Limits,
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
    from forge.conform.pages.write import add_results, add_to_report, check_report
    from forge.conform.reports import junit_text, result_object, summary_lines, summary_object
    from forge.conform.runner import BAD, run_cases, standing

    if kept.report is not None:
        check_report(kept.report)
    elif kept.no_pages:
        raise ScenarioError("--no-pages goes with --report")
    known = read_expected_failures(Path(listed)) if listed is not None else {}
    jobs = jobs or os.cpu_count() or 1
    with opened_kit(chosen.folder) as kit:
        cases = kit.chosen(profile=chosen.profile, tags=chosen.tags, ids=chosen.ids)
        with progress_to("cases") as bar:
            hello, results = run_cases(kit, cases, testee, level=level, jobs=jobs, limits=limits, progress=bar)
        if kept.report is not None and kept.no_pages:
            add_results(kept.report, hello, results, known)
        elif kept.report is not None:
            with progress_to("pages") as bar:
                pages = add_to_report(kept.report, kit, hello, results, known, jobs=jobs, progress=bar)
            echo(f"{kept.report}: {pages} pages", err=True)
    if as_json:
        objects = [result_object(result, known) for result in results]
        print_lines(map(json.dumps, [*objects, {"summary": summary_object(hello, results, known)}]))
    else:
        print_lines(summary_lines(hello, results, known, whole=whole))
    if kept.junit is not None:
        write_output(kept.junit, junit_text(hello, results, known))
    if kept.failures is not None:
        failing = {r.case.id: (r.outcome, r.message or r.case.title) for r in results if not r.right}
        title = f"Cases that {hello.name} {hello.version} fails."
        write_output(kept.failures, failures_text(kept_reasons(failing, known), title=title))
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
