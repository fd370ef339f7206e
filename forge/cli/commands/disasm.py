"""``forge disasm``."""

from __future__ import annotations

import click

from forge.cli.inputs import open_log
from forge.cli.output import STDOUT, refuse_inputs, write_output
from forge.cli.parameters import FILE


@click.command()
@click.argument("file", type=FILE)
@click.option(
    "-o",
    "--output",
    default=STDOUT,
    type=FILE,
    metavar="LISTING",
    help="Output file (default: standard output).",
)
@click.option("--json", "as_json", is_flag=True, help="JSON lines instead of YAML.")
def command(file: str, output: str, as_json: bool) -> None:
    """Write the binary log FILE as an editable listing; `forge asm` turns it back into the same bytes.

    Any file can be listed: what cannot be read stays as bytes. FILE may be - for standard input.

    \b
    Example:
      forge disasm binlog.000001 -o binlog.listing
      forge disasm binlog.000001 --json | head -1
    """
    from forge.binlog.listing import listing_json, listing_text

    refuse_inputs([output], [file])
    with open_log(file, as_it_is=True) as log:
        write_output(output, listing_json(log) if as_json else listing_text(log))
