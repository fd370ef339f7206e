"""``forge charsets``."""

from __future__ import annotations

from pathlib import Path

import click

from forge.cli.parameters import FILE_OR_FOLDER
from forge.errors import CheckFailed


@click.group()
def command() -> None:
    """Compare character-set codecs with a real server.

    \b
    Example:
      forge charsets measure --server ~/.cache/real-servers/mysql97.run --charset latin1
    """


@command.command(short_help="Compare the codecs with a server for every sequence of bytes.")
@click.option(
    "--server",
    required=True,
    type=FILE_OR_FOLDER,
    help="A server that `make servers` unpacked: NAME.run or its folder.",
)
@click.option("--charset", "names", multiple=True, metavar="NAME", help="Only this set. Repeatable.")
def measure(server: Path, names: tuple[str, ...]) -> None:
    """Compare binlog-forge's codecs with a real server for every sequence of bytes that can matter.

    Lists each difference; exit code 1 if there is one.

    \b
    Example:
      forge charsets measure --server ~/.cache/real-servers/mysql97.run --charset latin1
    """
    from forge.charsets.measure import main

    if main(["--server", str(server), *(f"--charset={name}" for name in names)]):
        raise CheckFailed("the character sets of binlog-forge differ from the server's")
