"""``forge asm``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from forge.cli.inputs import read_text, shown
from forge.cli.output import refuse_inputs, write_output
from forge.cli.parameters import FILE, keyring_options, output_option

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring


@click.command()
@click.argument("listing", type=FILE)
@output_option()
@keyring_options
def command(listing: str, output: str, keyring: Keyring | None) -> None:
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
    write_output(output, assemble_sealed(read_text(listing), keyring, file=shown(listing)))
