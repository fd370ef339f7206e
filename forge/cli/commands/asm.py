"""``forge asm``."""

from __future__ import annotations

import click

from forge.cli.inputs import read_text, shown
from forge.cli.output import refuse_inputs, write_output
from forge.cli.parameters import FILE


@click.command()
@click.argument("listing", type=FILE)
@click.option(
    "-o",
    "--output",
    required=True,
    type=FILE,
    metavar="FILE",
    help="Output file (- for standard output).",
)
def command(listing: str, output: str) -> None:
    """Assemble the binary log that LISTING (YAML or JSON lines, - for standard input) describes.

    Positions, lengths and checksums that the listing leaves out are computed.

    \b
    Example:
      forge disasm binlog.000001 -o binlog.listing
      forge asm binlog.listing -o again.000001
    """
    from forge.binlog.listing import assemble

    refuse_inputs([output], [listing])
    write_output(output, assemble(read_text(listing), file=shown(listing)))
