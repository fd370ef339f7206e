"""``forge dump``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import msgspec

from forge.cli.inputs import errors_in, open_log
from forge.cli.output import STDOUT, write_output
from forge.cli.parameters import FILE


@click.command()
@click.argument("file", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per event (`forge schema decode` describes it).")
@click.option("--rows", "rows_only", is_flag=True, help="Only changed rows; with --json, one object per row.")
def command(file: str, as_json: bool, rows_only: bool) -> None:
    """Show what every correct reader must see in the binary log FILE (- for standard input).

    Values are exact: nothing is rounded, no zero is lost, bytes are hex. At bytes that break a rule of the format the
    output ends with an error and exit code 3.

    \b
    Example:
      forge dump binlog.000001
      forge dump binlog.000001 --rows --json
    """
    from forge.check.canonical.decode import canonical_events

    with errors_in(file), open_log(file) as log:
        events = canonical_events(log)
        write_output(STDOUT, _json_lines(events, rows_only) if as_json else _text_lines(events, rows_only))


def _json_lines(events: Iterator[dict[str, Any]], rows_only: bool) -> Iterator[bytes]:
    encode = msgspec.json.Encoder().encode
    for event in events:
        for shown in _rows_of(event) if rows_only else [event]:
            yield msgspec.json.format(encode(shown), indent=0) + b"\n"


def _text_lines(events: Iterator[dict[str, Any]], rows_only: bool) -> Iterator[str]:
    from forge.check.canonical.printed import render_text

    for event in events:
        if not rows_only or "rows" in event:
            yield render_text(event) + "\n"


def _rows_of(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    place = {"event": event["index"], "offset": event["offset"], "type": event["type"]}
    table = {name: event[name] for name in ("database", "table") if name in event}
    for number, row in enumerate(event.get("rows", ()), start=1):
        yield place | table | {"row": number} | row
