"""``forge dump``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forge.cli.inputs import errors_in, open_log, pays_in_bulk, shown
from forge.cli.output import STDOUT, Utf8, write_output
from forge.cli.parameters import FILE, json_option, keyring_options, selection_options
from forge.cli.schema_files import schema_option
from forge.errors import ForgeError

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring
    from forge.binlog.selection import Selection
    from forge.binlog.window import LogWindow
    from forge.vendors.column_forms import Flavour


#: What ``--as`` takes, and whose program that is.
_PROGRAMS: dict[str, Flavour] = {
    "mysqlbinlog": "mysql", "mariadb-binlog": "mariadb-11.8", "mariadb-binlog-10.11": "mariadb-10.11",
}  # fmt: skip


class _WithVendorOptions(click.Command):
    """What stands behind ``--`` are options of the program that ``--as`` names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = any(argument == "--as" or argument.startswith("--as=") for argument in args)
        if named and "--" in args:
            at = args.index("--")
            args, ctx.meta[__name__] = args[:at], args[at + 1 :]
        return super().parse_args(ctx, args)


@click.command(cls=_WithVendorOptions)
@click.argument("files", nargs=-1, required=True, type=FILE)
@json_option("One JSON object per event (`forge schema decode` describes it).")
@click.option("--rows", "rows_only", is_flag=True, help="Only changed rows; with --json, one object per row.")
@click.option(
    "--as",
    "program",
    type=click.Choice([*_PROGRAMS, "show-binlog-events"]),
    help="The text of a vendor's program, whose options follow behind --.",
)
@click.option("--safe", is_flag=True, help="With --as: another delimiter where a text holds the program's.")
@selection_options()
@keyring_options
@schema_option()
@click.pass_context
def command(
    ctx: click.Context, files: tuple[str, ...], as_json: bool, rows_only: bool, program: str | None, safe: bool,
    events: Selection, keyring: Keyring | None,
) -> None:  # fmt: skip
    """Show what every correct reader must see in the binary logs FILES (- for standard input).

    Values are exact: nothing is rounded, no zero is lost, bytes are hex. At bytes that break a rule of the format the
    output ends with an error and exit code 3.

    \b
    Example:
      forge dump binlog.000001
      forge dump binlog.000001 --rows --json
      forge dump encrypted.000001 --keys keyring.json
      forge dump binlog.0* --table shop.orders --since '2024-02-29 10:00:00'
      forge dump binlog.000001 --as mysqlbinlog -- -vv --base64-output=decode-rows
    """
    if program is not None:
        ctx.exit(_as_program(program, files, ctx.meta.get(__name__, []), safe, keyring))
    for file in files:
        with errors_in(file), open_log(file, keyring=keyring) as log:
            if not as_json:
                write_output(STDOUT, _text(log, file, events, keyring, rows_only, is_named=len(files) > 1))
                continue
            chosen = _chosen(log, events)
            write_output(STDOUT, _json_lines(chosen, rows_only, file if len(files) > 1 else None))
    events.check_tables()


def _as_program(program: str, files: tuple[str, ...], options: list[str], safe: bool, keyring: Keyring | None) -> int:
    """Print as a vendor's program does: its exit code."""
    if program not in _PROGRAMS:
        for file in files:
            with errors_in(file), open_log(file, keyring=keyring) as log:
                _show_events(log, file)
        return 0
    from forge.events.plain import to_text
    from forge.vendors.call import Call

    call = Call(_PROGRAMS[program], options, safe=safe, keyring=keyring, complain=sys.stderr.buffer.write)
    # What would drive a terminal is escaped there.
    write_output(STDOUT, map(to_text, call.text(files)) if sys.stdout.isatty() else call.text(files))
    return call.code


def _show_events(log: LogWindow, file: str) -> None:
    from forge.events.plain import to_bytes, to_text
    from forge.vendors.show_events import HEAD, binlog_events

    lines = chain((HEAD,), binlog_events(log, to_bytes(shown(file).rpartition("/")[2])))
    write_output(STDOUT, map(to_text, lines) if sys.stdout.isatty() else lines)


def _chosen(log: LogWindow, events: Selection, behind: int = -1) -> Iterator[dict[str, Any]]:
    from forge.decode.decode import canonical_events

    return events.of(canonical_events(log, in_pieces=True, behind=behind))


def _text(
    log: LogWindow, file: str, events: Selection, keyring: Keyring | None, rows_only: bool, *, is_named: bool
) -> Iterator[str | Utf8]:
    """In bulk as far as that goes, and the rest by the reference path."""
    if is_named:
        yield f"# {shown(file)}\n"
    done = -1
    if events.is_all and pays_in_bulk(file):
        from forge.bulk.lines.cell_texts import Unsaid
        from forge.decode.in_bulk.file_text import FileText

        text = FileText(Path(file), keyring, rows_only=rows_only)
        try:
            yield from map(Utf8, text.read())
        except (ForgeError, Unsaid):
            done = text.done
        else:
            return
    yield from _text_lines(_chosen(log, events, done), rows_only)


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


def _text_lines(events: Iterator[dict[str, Any]], rows_only: bool) -> Iterator[str]:
    from forge.decode.pieces import LARGE, gathered
    from forge.decode.printed import render_text, text_pieces

    render: Callable[[dict[str, Any]], str] = render_text
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
