"""``forge disasm``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from forge.cli.inputs import open_log
from forge.cli.output import refuse_inputs, write_output
from forge.cli.parameters import FILE, json_option, keyring_options, stdout_option
from forge.errors import ScenarioError

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring


@click.command()
@click.argument("file", type=FILE)
@stdout_option(metavar="LISTING")
@keyring_options
@click.option("--annotate", is_flag=True, help="Comments with the offset and the bytes of each field.")
@json_option("JSON lines instead of YAML.")
def command(file: str, output: str, annotate: bool, as_json: bool, keyring: Keyring | None) -> None:
    """Write the binary log FILE as an editable listing; `forge asm` turns it back into the same bytes.

    Any file can be listed: what cannot be read stays as bytes. FILE may be - for standard input. An encrypted log is
    listed as its events with the keys of a keyring; `forge asm` then needs the keys too.

    \b
    Example:
      forge disasm binlog.000001 -o binlog.listing
      forge disasm binlog.000001 --json | head -1
      forge disasm binlog.000001 --annotate
      forge disasm encrypted.000001 --keys keyring.json
    """
    from forge.binlog.listing import listing_json, listing_text

    if annotate and as_json:
        raise ScenarioError("JSON has no comments for --annotate", expected="--annotate or --json")
    refuse_inputs([output], [file])
    with open_log(file, as_it_is=True) as log:
        if keyring is not None:
            from forge.binlog.listing.sealed import sealed_listing

            listing = _annotated if annotate else None
            write_output(output, sealed_listing(log.rest(0), keyring, as_json=as_json, listing=listing))
            return
        if annotate:
            write_output(output, _annotated(log.rest(0)))
            return
        write_output(output, listing_json(log) if as_json else listing_text(log))


def _annotated(data: bytes) -> Iterator[str]:
    from forge.decode.annotated import annotated_listing

    yield from annotated_listing(data)
