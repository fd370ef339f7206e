"""``forge encrypt``."""

from __future__ import annotations

from typing import Any

import click

from forge.cli.inputs import errors_in, open_log, shown
from forge.cli.output import refuse_inputs, write_output
from forge.cli.parameters import FILE, Keys, keys_options, output_option
from forge.errors import ScenarioError


@click.command()
@click.argument("file", type=FILE)
@output_option()
@keys_options
@click.option("--key-id", metavar="NAME", help="Name of the key, for a file as MySQL encrypts it.")
@click.option("--key-number", type=click.IntRange(min=1), default=1, show_default=True, help="MariaDB's key.")
@click.option(
    "--cipher", type=click.Choice(["cbc", "ctr", "percona"]), default="cbc", show_default=True,
    help="MariaDB's cipher, or that of Percona Server 5.7.",
)  # fmt: skip
def command(file: str, output: str, keys: Keys, key_id: str | None, key_number: int, cipher: Any) -> None:
    """Encrypt the binary log FILE with a key of a keyring.

    As MySQL does it with --key-id: the whole file behind a header. As MariaDB does it without: the events behind the
    log's START_ENCRYPTION. The result is the same every time: it is test data, and keeps nothing secret.

    \b
    Example:
      forge encrypt binlog.000001 -o encrypted.000001 --keys keyring.json --key-id MySQLReplicationKey_a_1
      forge encrypt mariadb.000001 -o encrypted.000001 --keys keys.txt
    """
    from forge.binlog.encryption.seal import MariadbSeal, Seal, new_seal, seal

    refuse_inputs([output], [file, *keys.files])
    keyring = keys.keyring()
    if keyring is None:
        raise ScenarioError(f"{shown(file)} cannot be encrypted without a key", expected="--keys or --key")
    with open_log(file, as_it_is=True) as log:
        plain = log.rest(0)
    with errors_in(file):
        wanted: Seal = MariadbSeal(key_number, cipher)
        if key_id is not None:
            wanted = new_seal(key_id, keyring, plain)
        write_output(output, seal(plain, wanted, keyring))
