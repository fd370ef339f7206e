"""Arguments and options that several commands have, and what a shell completes them to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring


class _NamedPath(click.Path):
    """A path that is not empty: an empty one is mostly a variable of a shell that is not set."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not os.fspath(value):
            self.fail("the name is empty; expected a path", param, ctx)
        return super().convert(value, param, ctx)


#: A file, or ``-``; and a folder.  A missing one is told where it is opened.
FILE = _NamedPath(allow_dash=True, readable=False)
FOLDER = _NamedPath(file_okay=False, readable=False, path_type=Path)
#: What may be a file or a folder.
FILE_OR_FOLDER = _NamedPath(readable=False, path_type=Path)

parameters_option = click.option(
    "--set", "parameters", multiple=True, metavar="KEY=VALUE",
    help="Set a parameter of the template, or replace a field of the scenario (session.row_image=minimal). Repeatable.",
)  # fmt: skip


def keys_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--keys`` and ``--key``, with which a command opens encrypted logs; :func:`keyring_of` reads them."""
    with_file = click.option(
        "--keys", "keys", type=FILE, envvar="FORGE_KEYS", metavar="FILE",
        help="Keyring of encrypted logs: MySQL's component_keyring_file, MariaDB's file_key_management (FORGE_KEYS).",
    )  # fmt: skip
    with_key = click.option("--key", "key", metavar="HEX", help="The key of encrypted logs itself.")
    return with_file(with_key(command))


def keyring_of(keys: str | None, key: str | None) -> Keyring | None:
    """The keyring that the options name; None without them.  Raises OSError and ScenarioError."""
    if keys is None and key is None:
        return None
    from forge.binlog.encryption.keyring import Keyring, key_of_hex, read_keyring
    from forge.cli.inputs import read_bytes

    if key is not None:
        return Keyring(only=key_of_hex(key))
    assert keys is not None
    return read_keyring(read_bytes(keys), file=keys)


_TABLES = click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="DB.TABLE",
    help="Only events of that table; shop.* is all of a database. Repeatable.",
)
_SELECTION = (
    click.option("--type", "types", multiple=True, metavar="NAME", help="Only events of that type. Repeatable."),
    click.option("--gtid", "gtids", multiple=True, metavar="GTID", help="Only that transaction (UUID:1-5: several)."),
    click.option(
        "--start-position", "start", type=click.IntRange(min=0), metavar="N", help="Only events from there on."
    ),
    click.option("--stop-position", "stop", type=click.IntRange(min=0), metavar="N", help="Only events before that."),
    click.option("--since", metavar="TIME", help="Only events from then on (YYYY-MM-DD hh:mm:ss in UTC, or seconds)."),
    click.option("--until", metavar="TIME", help="Only events before that time."),
)


def selection_options(*, tables: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options that choose events, as forge.binlog.selection.selection takes them."""

    def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed((_TABLES, *_SELECTION) if tables else _SELECTION):
            command = option(command)
        return command

    return with_options


def complete_servers(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """The server lines that begin with what was typed."""
    from forge.servers import server_names

    return _beginning(typed, server_names())


def complete_decoders(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """The decoders that begin with what was typed."""
    from forge.check.decoders.table import available_decoders

    return _beginning(typed, (decoder.name for decoder in available_decoders()))


def complete_languages(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """The languages of fixtures that begin with what was typed."""
    from forge.testing.fixtures.languages import LANGUAGES

    return _beginning(typed, LANGUAGES)


def complete_engines(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """The fuzzers that begin with what was typed."""
    from forge.conform.fuzz.export import ENGINES

    return _beginning(typed, ENGINES)


def _beginning(typed: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(typed)]
