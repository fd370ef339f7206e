"""Arguments and options that several commands have, and what a shell completes them to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

#: A file, or ``-``; and a folder.  A missing one is told where it is opened.
FILE = click.Path(allow_dash=True, readable=False)
FOLDER = click.Path(file_okay=False, readable=False, path_type=Path)
#: What may be a file or a folder.
FILE_OR_FOLDER = click.Path(readable=False, path_type=Path)

parameters_option = click.option(
    "--set", "parameters", multiple=True, metavar="KEY=VALUE",
    help="Set a parameter of the template, or replace a field of the scenario (session.row_image=minimal). Repeatable.",
)  # fmt: skip


def complete_servers(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """The server lines that begin with what was typed."""
    from forge.servers import server_names

    return _beginning(typed, server_names())


def complete_decoders(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """The decoders that begin with what was typed."""
    from forge.check.decoders.table import available_decoders

    return _beginning(typed, (decoder.name for decoder in available_decoders()))


def _beginning(typed: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(typed)]
