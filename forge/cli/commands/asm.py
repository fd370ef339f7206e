"""``forge asm``."""

from __future__ import annotations

import click

from forge.cli.inputs import read_text, shown
from forge.cli.output import refuse_inputs, write_output
from forge.cli.parameters import FILE, keyring_of, keys_options


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
@keys_options
def command(listing: str, output: str, keys: str | None, key: str | None) -> None:
    """Assemble the binary log that LISTING (YAML or JSON lines, - for standard input) describes.

    Positions, lengths and checksums that the listing leaves out are computed. The listing of an encrypted log needs the
    keys with which it was made.

    \b
    Example:
      forge disasm binlog.000001 -o binlog.listing
      forge asm binlog.listing -o again.000001
    """
    from forge.binlog.listing.sealed import assemble_sealed

    refuse_inputs([output], [listing])
    keyring = keyring_of(keys, key)
    write_output(output, assemble_sealed(read_text(listing), keyring, file=shown(listing)))
