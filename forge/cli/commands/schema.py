"""``forge schema``."""

from __future__ import annotations

import json
from typing import Any

import click

from forge.cli.output import write_output
from forge.cli.parameters import stdout_option


@click.command()
@click.argument("kind", type=click.Choice(["scenario", "decode", "listing"]), metavar="KIND")
@stdout_option()
def command(kind: str, output: str) -> None:
    """Print a JSON Schema (2020-12).

    KIND is scenario (the files that `forge build` reads), decode (an object of `forge dump --json`) or listing (a
    document of `forge disasm --json`).

    \b
    Example:
      forge schema scenario > scenario.schema.json
      forge schema listing -o listing.schema.json
    """
    write_output(output, json.dumps(_schema(kind), indent=2, ensure_ascii=False) + "\n")


def _schema(kind: str) -> dict[str, Any]:
    if kind == "scenario":
        from forge.scenario.schema import json_schema

        return json_schema()
    if kind == "listing":
        from forge.binlog.listing.schema import listing_schema

        return listing_schema()
    from forge.decode.schema import decode_schema

    return decode_schema()
