"""``forge corpus findings``."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from forge.cli.commands.conform import KIT, opened_kit
from forge.cli.output import echo, write_files
from forge.cli.parameters import FOLDER
from forge.cli.progress import progress
from forge.errors import ScenarioError, nearest

TESTEES = Path("out/testees")


@click.command(short_help="Defects of decoders: list them, make their files and pages.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--make", "make", is_flag=True, help="Make the smallest file of each anew.")
@click.option("--kit", "folder", type=FOLDER, default=KIT, metavar="DIR", help="The kit, for --make (default out/kit).")
@click.option(
    "--testees", type=FOLDER, default=TESTEES, metavar="DIR", help="Built testees, for --make (default out/testees)."
)
@click.option(
    "--seconds", type=click.FloatRange(1), default=120.0, metavar="S", help="Seconds for a case (default 120)."
)
@click.option("--timeout", type=click.FloatRange(0.1), default=3.0, metavar="S", help="Seconds for a file (default 3).")
@click.option("--pages", type=FOLDER, metavar="DIR", help="Write a page for each, and their index.")
def findings(
    names: tuple[str, ...],
    make: bool,
    folder: Path,
    testees: Path,
    seconds: float,
    timeout: float,
    pages: Path | None,
) -> None:
    """List the records of defects in other people's decoders (corpora/findings).

    --make takes the cases that a decoder fails for the reason of a record, makes their files smaller while the decoder
    does the same with them, and writes the smallest into the record.

    \b
    Example:
      forge corpus findings
      forge corpus findings go-mysql-year-zero --make
      forge corpus findings --pages pages
    """
    from forge.conform.findings.make import make_finding
    from forge.conform.findings.pages import finding_pages
    from forge.conform.findings.records import count_withheld, findings_dir, public, read_findings, record_text

    found = {finding.name: finding for finding in read_findings()}
    for name in names:
        if name not in found:
            raise ScenarioError(f"there is no finding {name!r}", suggestion=nearest(name, found))
    chosen = [found[name] for name in names] or list(found.values())
    failed: list[str] = []
    if make:
        with opened_kit(folder) as kit:
            for finding in progress(chosen, total=len(chosen), label="findings"):
                path = findings_dir() / f"{finding.name}.toml"
                program = shlex.quote(str((testees / finding.decoder).absolute()))
                try:
                    made = make_finding(finding, kit, program, seconds=seconds, timeout=timeout)
                except ScenarioError as error:
                    failed.append(str(error))
                    continue
                write_files([(str(path), [record_text(path.read_text("utf-8"), made).encode()])])
                echo(f"{finding.name}: {len(made.data)} bytes, {made.outcome}: {made.wrong[:100]}")
    elif pages is None:
        for finding in public(chosen):
            size = "no file" if finding.made is None else f"{len(finding.made.data)} bytes"
            echo(f"{finding.name}: {finding.status}, {size}: {finding.title}")
        if withheld := count_withheld(chosen):
            echo(f"{withheld} more wait for their vendor")
    if pages is not None:
        pages.mkdir(parents=True, exist_ok=True)
        write_files([(str(pages / name), [text.encode()]) for name, text in finding_pages(read_findings()).items()])
    if failed:
        raise ScenarioError("; ".join(failed))
