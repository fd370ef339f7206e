"""``forge dump``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from forge.cli.inputs import errors_in, open_log, shown
from forge.cli.output import STDOUT, write_output
from forge.cli.parameters import FILE, json_option, keyring_options, selection_options
from forge.cli.schema_files import schema_option

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring
    from forge.binlog.selection import Selection


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@json_option("One JSON object per event (`forge schema decode` describes it).")
@click.option("--rows", "rows_only", is_flag=True, help="Only changed rows; with --json, one object per row.")
@selection_options()
@keyring_options
@schema_option()
def command(files: tuple[str, ...], as_json: bool, rows_only: bool, events: Selection, keyring: Keyring | None) -> None:
    """Show what every correct reader must see in the binary logs FILES (- for standard input).

    Values are exact: nothing is rounded, no zero is lost, bytes are hex. At bytes that break a rule of the format the
    output ends with an error and exit code 3.

    \b
    Example:
      forge dump binlog.000001
      forge dump binlog.000001 --rows --json
      forge dump encrypted.000001 --keys keyring.json
      forge dump binlog.0* --table shop.orders --since '2024-02-29 10:00:00'
    """
    for file in files:
        with errors_in(file), open_log(file, keyring=keyring) as log:
            _dump(log, events, file if len(files) > 1 else None, as_json, rows_only)
    events.check_tables()


def _dump(log: Any, chosen: Selection, file: str | None, as_json: bool, rows_only: bool) -> None:
    from forge.decode.decode import canonical_events

    lines = _json_lines if as_json else _text_lines
    write_output(STDOUT, lines(chosen.of(canonical_events(log, in_pieces=True)), rows_only, file))


def _json_lines(events: Iterator[dict[str, Any]], rows_only: bool, file: str | None) -> Iterator[str]:
    from forge.decode.pieces import LARGE, gathered, json_line

    about: dict[str, Any] = {} if file is None else {"file": shown(file)}
    for event in events:
        if rows_only:
            size = min(event["event_size"], LARGE) if isinstance(event.get("rows", []), list) else 0
            for one in _rows_of(event):
                yield from json_line(about | one, size)
            continue
        yield from gathered(json_line(about | event if about else event, event["event_size"]))


def _text_lines(events: Iterator[dict[str, Any]], rows_only: bool, file: str | None) -> Iterator[str]:
    from forge.decode.pieces import LARGE, gathered
    from forge.decode.printed import render_text, text_pieces

    render: Callable[[dict[str, Any]], str] = render_text
    if file is not None:
        yield f"# {shown(file)}\n"
    for event in events:
        if rows_only and "rows" not in event:
            continue
        if event["event_size"] < LARGE and isinstance(event.get("rows", []), list):
            yield render(event) + "\n"
        else:
            yield from gathered(text_pieces(event))
            yield "\n"


def _rows_of(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    place = {"event": event["index"], "offset": event["offset"], "type": event["type"]}
    table = {name: event[name] for name in ("database", "table") if name in event}
    for number, row in enumerate(event.get("rows", ()), start=1):
        yield place | table | {"row": number} | row
