"""``forge encrypt``."""

from __future__ import annotations

import click

from forge.cli.inputs import errors_in, open_log, shown
from forge.cli.output import refuse_inputs, write_output
from forge.cli.parameters import FILE, keyring_of, keys_options
from forge.errors import ScenarioError


@click.command()
@click.argument("file", type=FILE)
@click.option("-o", "--output", required=True, type=FILE, metavar="FILE", help="Output file (- for standard output).")
@keys_options
@click.option("--key-id", metavar="NAME", help="Name of the key, for a file as MySQL encrypts it.")
@click.option("--key-number", type=click.IntRange(min=1), default=1, show_default=True, help="MariaDB's key.")
@click.option(
    "--cipher",
    type=click.Choice(["cbc", "ctr", "percona"]),
    default="cbc",
    show_default=True,
    help="MariaDB's cipher, or that of Percona Server 5.7.",
)
def command(
    file: str, output: str, keys: str | None, key: str | None, key_id: str | None, key_number: int, cipher: str
) -> None:
    """Encrypt the binary log FILE with a key of a keyring.

    As MySQL does it with --key-id: the whole file behind a header. As MariaDB does it without: the events behind the
    log's START_ENCRYPTION. The result is the same every time: it is test data, and keeps nothing secret.

    \b
    Example:
      forge encrypt binlog.000001 -o encrypted.000001 --keys keyring.json --key-id MySQLReplicationKey_a_1
      forge encrypt mariadb.000001 -o encrypted.000001 --keys keys.txt
    """
    from forge.binlog.encryption.seal import CIPHERS, MariadbSeal, Seal, new_seal, seal

    refuse_inputs([output], [file, *([] if keys is None else [keys])])
    keyring = keyring_of(keys, key)
    if keyring is None:
        raise ScenarioError(f"{shown(file)} cannot be encrypted without a key", expected="--keys or --key")
    with open_log(file, as_it_is=True) as log:
        plain = log.rest(0)
    with errors_in(file):
        wanted: Seal = MariadbSeal(key_number, next(one for one in CIPHERS if one == cipher))
        if key_id is not None:
            wanted = new_seal(key_id, keyring, plain)
        write_output(output, seal(plain, wanted, keyring))
