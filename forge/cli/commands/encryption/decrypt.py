"""``forge decrypt``."""

from __future__ import annotations

import click

from forge.cli.inputs import errors_in, open_log, shown
from forge.cli.output import refuse_inputs, write_output
from forge.cli.parameters import FILE, Keys, keys_options, output_option
from forge.errors import ScenarioError

#: Bytes that are decrypted at a time.
_PIECE = 1 << 20


@click.command()
@click.argument("file", type=FILE)
@output_option()
@keys_options
@click.option("--key-number", type=click.IntRange(min=1), default=1, show_default=True, help="MariaDB's key.")
def command(file: str, output: str, keys: Keys, key_number: int) -> None:
    """Decrypt the binary log FILE, which MySQL encrypted whole or MariaDB event by event.

    \b
    Example:
      forge decrypt encrypted.000001 -o plain.000001 --keys keyring.json
      forge decrypt encrypted.000001 -o plain.000001 --key 00112233445566778899aabbccddeeff
    """
    from forge.binlog.encryption.stream import plain_stream

    refuse_inputs([output], [file, *keys.files])
    keyring = keys.keyring()
    if keyring is None:
        raise ScenarioError(f"{shown(file)} cannot be decrypted without a key", expected="--keys or --key")
    with errors_in(file), open_log(file, as_it_is=True) as log:
        assert log.file is not None
        plain = plain_stream(log.file, keyring, key=key_number, plain_too=False)
        write_output(output, iter(lambda: plain.read(_PIECE), b""))
