"""``forge schema``."""

from __future__ import annotations

import json
from typing import Any

import click


@click.command()
@click.argument("what", type=click.Choice(["scenario", "decode"]))
def command(what: str) -> None:
    """Print the JSON Schema of scenario files or of the canonical decode.

    \b
    Example:
      forge schema scenario > scenario.schema.json
    """
    click.echo(json.dumps(_schema(what), indent=2, ensure_ascii=False))


def _schema(what: str) -> dict[str, Any]:
    if what == "scenario":
        from forge.scenario.schema import published_schema

        return published_schema()
    from forge.check.canonical import decode_schema

    return decode_schema()
