"""Make findings' files anew, and their pages: ``python -m tests.findings [NAME]... --make --pages DIR``.

``--make`` takes the cases that a decoder fails for the reason of a record, makes their files smaller while the decoder
does the same with them, and writes the smallest into the record.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from forge.conform.findings.records import Finding, findings_dir, read_findings
from forge.conform.kit.reading import open_kit
from forge.errors import ScenarioError
from tests.findings.make import make_finding
from tests.findings.record_text import record_text
from tests.findings.site import finding_pages


@click.command(help=__doc__)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--make", is_flag=True, help="Make the smallest file of each anew.")
@click.option("--kit", type=click.Path(path_type=Path), default="out/kit", help="The kit, for --make.")
@click.option("--testees", type=click.Path(path_type=Path), default="out/testees", help="Built testees, for --make.")
@click.option("--seconds", type=float, default=120.0, help="Seconds for a case.")
@click.option("--timeout", type=float, default=3.0, help="Seconds for a file.")
@click.option("--pages", type=click.Path(path_type=Path), help="Write a page for each, and their index.")
def main(
    names: tuple[str, ...], make: bool, kit: Path, testees: Path, seconds: float, timeout: float, pages: Path | None
) -> None:
    found = {finding.name: finding for finding in read_findings()}
    if unknown := [name for name in names if name not in found]:
        raise click.UsageError(f"there is no finding {unknown[0]!r}")
    if make:
        _make([found[name] for name in names] or list(found.values()), kit, testees, seconds=seconds, timeout=timeout)
    if pages is not None:
        pages.mkdir(parents=True, exist_ok=True)
        for name, text in finding_pages(read_findings()).items():
            (pages / name).write_text(text, "utf-8")


def _make(findings: list[Finding], folder: Path, testees: Path, *, seconds: float, timeout: float) -> None:
    """Make the files of these findings; those that cannot be made are said at the end."""
    kit = open_kit(folder)
    failed: list[str] = []
    for finding in findings:
        path = findings_dir() / f"{finding.name}.toml"
        program = shlex.quote(str((testees / finding.decoder).absolute()))
        try:
            made = make_finding(finding, kit, program, seconds=seconds, timeout=timeout)
        except ScenarioError as error:
            failed.append(str(error))
            continue
        path.write_text(record_text(path.read_text("utf-8"), made), "utf-8")
        click.echo(f"{finding.name}: {len(made.data)} bytes, {made.outcome}: {made.wrong[:100]}")
    if failed:
        raise click.ClickException("; ".join(failed))


if __name__ == "__main__":
    main()
