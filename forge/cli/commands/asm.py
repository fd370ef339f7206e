"""``forge asm``."""

from __future__ import annotations

import click

from forge.cli.inputs import read_text, shown
from forge.cli.output import write_output


@click.command()
@click.argument("listing")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where the binary log goes (- is stdout).")
def command(listing: str, output: str) -> None:
    """Make the binary log that LISTING (YAML or JSON lines, - for standard input) describes.

    Positions, lengths and checksums that the listing does not give are derived.

    \b
    Example:
      forge disasm binlog.000001 -o binlog.listing
      forge asm binlog.listing -o again.000001
    """
    from forge.binlog.listing.listing import assemble

    write_output(output, assemble(read_text(listing), file=shown(listing)))
