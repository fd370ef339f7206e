"""``forge corpus findings``."""

from __future__ import annotations

import click

from forge.cli.output import echo
from forge.errors import ScenarioError, nearest


@click.command(short_help="List defects of decoders.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
def findings(names: tuple[str, ...]) -> None:
    """List the records of defects in other people's decoders (corpora/findings).

    \b
    Example:
      forge corpus findings
      forge corpus findings go-mysql-year-zero
    """
    from forge.conform.findings.records import count_withheld, public, read_findings

    found = {finding.name: finding for finding in read_findings()}
    for name in names:
        if name not in found:
            raise ScenarioError(f"there is no finding {name!r}", suggestion=nearest(name, found))
    chosen = [found[name] for name in names] or list(found.values())
    for finding in public(chosen):
        size = "no file" if finding.made is None else f"{len(finding.made.data)} bytes"
        echo(f"{finding.name}: {finding.status}, {size}: {finding.title}")
    if withheld := count_withheld(chosen):
        echo(f"{withheld} more wait for their vendor")
