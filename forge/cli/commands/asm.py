"""``forge asm``."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import click

from forge.cli.inputs import listing_text, read_bytes, shown
from forge.cli.output import STDOUT, echo, refuse_inputs, write_binlogs, write_output
from forge.cli.parameters import FILE, json_option, keyring_options, output_option
from forge.errors import counted

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring
    from forge.vendors.assembling.text_assembly import AssembledLog, NotInText

#: What is not in a text, of each kind, that is told one by one.
_TOLD = 5


@click.command()
@click.argument("listing", type=FILE)
@output_option()
@keyring_options
@json_option("One JSON object per file, of a vendor's text: how many events it has, and what was not in the text.")
def command(listing: str, output: str, keyring: Keyring | None, as_json: bool) -> None:
    """Assemble the binary log that LISTING (YAML or JSON lines, - for standard input) describes.

    Positions, lengths and checksums that the listing leaves out are computed. The listing of an encrypted log needs the
    keys with which it was made.

    LISTING may also be what mysqlbinlog or mariadb-binlog printed, with its BINLOG statements: the file again. What the
    text does not hold is told on standard error. Text of several files makes several: name the first one, or a folder.

    \b
    Example:
      forge disasm binlog.000001 -o binlog.listing
      forge asm binlog.listing -o again.000001
      mysqlbinlog -vv binlog.000001 > dump.txt
      forge asm dump.txt -o again.000001
    """
    from forge.vendors.assembling.text_scanner import is_vendor_text

    refuse_inputs([output], [listing])
    data = read_bytes(listing)
    if is_vendor_text(data):
        _assemble_text(data, listing, output, as_json)
        return
    if as_json:
        raise click.UsageError("--json tells what is not in a vendor's text, and this is a listing")
    from forge.binlog.listing.sealed import assemble_sealed

    write_output(output, assemble_sealed(listing_text(data, listing), keyring, file=shown(listing)))


def _assemble_text(data: bytes, listing: str, output: str, as_json: bool) -> None:
    from forge.vendors.assembling.text_assembly import assemble_text

    if as_json and output == STDOUT:
        raise click.UsageError("--json goes to standard output, as -o - does")
    logs = assemble_text(data, file=shown(listing))
    paths = [output]
    if len(logs) == 1:
        write_output(output, logs[0].data)
    else:
        files = [(f"binlog.{number:06d}", log.data) for number, log in enumerate(logs, 1)]
        paths = write_binlogs(output, files, inputs=[listing])
    for path, log in zip(paths, logs, strict=True):
        if as_json:
            echo(json.dumps(_fields(path, log)))
        else:
            _tell(path, log)


def _fields(path: str, log: AssembledLog) -> dict[str, object]:
    missing = [
        {
            "position": one.position, "size": one.size, "type": one.type, "line": one.line, "written": one.written,
            "reason": one.reason,
        }
        for one in log.not_in_text
    ]  # fmt: skip
    return {"path": path, "events": log.events, "by_checksum": log.by_checksum, "not_in_text": missing}


def _tell(path: str, log: AssembledLog) -> None:
    if not log.by_checksum:
        echo(f"{path}: the log has no checksums, so that nothing but the size says that an event is the same", err=True)
    if not log.not_in_text:
        return
    left_out = sum(not one.written for one in log.not_in_text)
    made = len(log.not_in_text) - left_out
    echo(f"{path}: not in the text: {counted(left_out, 'event')} left out, {made} made of what it says", err=True)
    told: Counter[tuple[str | None, str]] = Counter()
    for one in log.not_in_text:
        kind = (one.type, one.reason)
        told[kind] += 1
        if told[kind] <= _TOLD:
            echo(f"  {_place(one)}: {one.reason}", err=True)
    for (name, reason), count in told.items():
        if count > _TOLD:
            echo(f"  {count - _TOLD} more{f' {name}' if name else ''}: {reason}", err=True)


def _place(one: NotInText) -> str:
    size = "" if one.size is None else f", {one.size} bytes"
    name = "" if one.type is None else f", {one.type}"
    line = "" if one.line is None else f", line {one.line} of the text"
    return f"at {one.position}{size}{name}{line}"
