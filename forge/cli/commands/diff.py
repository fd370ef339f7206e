"""``forge diff``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

import click

from forge.cli.inputs import open_log
from forge.cli.output import STDOUT, write_output
from forge.cli.parameters import FILE
from forge.errors import CheckFailed


@click.command()
@click.argument("left", type=FILE)
@click.argument("right", type=FILE)
@click.option("--all", "show_all", is_flag=True, help="Every difference, not only the first.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per difference.")
def command(left: str, right: str, show_all: bool, as_json: bool) -> None:
    """Show where the binary logs LEFT and RIGHT differ: event, field, row and cell, both values.

    Sizes, positions, transaction lengths and checksums follow from the rest, and count only where the bytes of a file
    contradict them. Any bytes can be compared, broken ones too. Exit code 1 if there is a difference.

    \b
    Example:
      forge diff before.000001 after.000001
      forge diff before.000001 after.000001 --all --json
    """
    from forge.binlog.difference import Difference, differences

    def lines(first: Difference) -> Iterator[str]:
        for difference in [first, *found] if show_all else [first]:
            yield (json.dumps(asdict(difference), ensure_ascii=False) if as_json else str(difference)) + "\n"

    with open_log(left) as ours, open_log(right) as theirs:
        found = differences(ours, theirs)
        first = next(found, None)
        if first is None:
            return
        write_output(STDOUT, lines(first))
    raise CheckFailed(f"{left} and {right} differ")
