"""``forge disasm``."""

from __future__ import annotations

import click

from forge.cli.inputs import open_log
from forge.cli.output import STDOUT, refuse_inputs, write_output
from forge.cli.parameters import FILE, keyring_of, keys_options


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
@keys_options
@click.option("--json", "as_json", is_flag=True, help="JSON lines instead of YAML.")
def command(file: str, output: str, as_json: bool, keys: str | None, key: str | None) -> None:
    """Write the binary log FILE as an editable listing; `forge asm` turns it back into the same bytes.

    Any file can be listed: what cannot be read stays as bytes. FILE may be - for standard input. An encrypted log is
    listed as its events with the keys of a keyring; `forge asm` then needs the keys too.

    \b
    Example:
      forge disasm binlog.000001 -o binlog.listing
      forge disasm binlog.000001 --json | head -1
      forge disasm encrypted.000001 --keys keyring.json
    """
    from forge.binlog.listing import listing_json, listing_text

    refuse_inputs([output], [file])
    keyring = keyring_of(keys, key)
    with open_log(file, as_it_is=True) as log:
        if keyring is not None:
            from forge.binlog.listing.sealed import sealed_listing

            write_output(output, sealed_listing(log.rest(0), keyring, as_json=as_json))
            return
        write_output(output, listing_json(log) if as_json else listing_text(log))
