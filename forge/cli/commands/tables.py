"""``forge tables``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from forge.cli.inputs import errors_in, file_paths, open_log, pays_in_bulk
from forge.cli.output import print_lines
from forge.cli.parameters import FILE, json_option, keyring_options
from forge.cli.progress import progress_to
from forge.errors import ForgeError
from forge.resources import missing_for_rows

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring
    from forge.binlog.row_counts import RowCounts


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=FILE)
@json_option("One JSON object per table.")
@keyring_options
def command(files: tuple[str, ...], as_json: bool, keyring: Keyring | None) -> None:
    """List the tables that the binary logs FILE... map, with rows, events and bytes by operation.

    Every event's checksum is verified and every row is split. Bytes are those of row events, headers and checksums
    included; events out of compressed transactions count with their unpacked size. The extra `rows` makes it
    quick for large logs.

    \b
    Example:
      forge tables binlog.000001
      forge tables binlog.000001 binlog.000002 --json
      forge tables encrypted.000001 --keys keyring.json
    """
    tables = _few(files, keyring)
    if tables is None:
        tables = _many(files, keyring)
    print_lines(map(_object, tables.items()) if as_json else _table(tables))


def _few(files: tuple[str, ...], keyring: Keyring | None) -> Mapping[str, RowCounts] | None:
    """The tables of small logs by the reference path, which starts sooner; None where it does not count them."""
    if pays_in_bulk(*files):
        return None
    from forge.binlog.row_counts import count_rows

    tables: dict[str, RowCounts] = {}
    file_paths(files)
    try:
        for file in files:
            with errors_in(file), open_log(file, keyring=keyring) as log:
                count_rows(log, tables)
    except ForgeError:
        if missing_for_rows():
            raise
        # What is wrong is said in bulk.
        return None
    return tables


def _many(files: tuple[str, ...], keyring: Keyring | None) -> Mapping[str, RowCounts]:
    from forge.bulk.reading.counts import count_tables

    paths = file_paths(files)
    total = sum(path.stat().st_size for path in paths)
    with progress_to("bytes") as show:
        return count_tables(paths, keyring=keyring, progress=lambda read: show(read, total))


def _object(named: tuple[str, RowCounts]) -> str:
    table, counts = named
    operations = {
        word: {"rows": count.rows, "events": count.events, "bytes": count.bytes}
        for word, count in counts.by_operation.items()
    }
    return json.dumps({"table": table, **operations}, ensure_ascii=False)


def _table(tables: Mapping[str, RowCounts]) -> list[str]:
    from forge.events.plain import printable
    from forge.render.aligned import aligned

    lines = [("table", "operation", "rows", "events", "bytes")]
    for name, counts in tables.items():
        name = printable(name)
        done = [(word, count) for word, count in counts.by_operation.items() if count.events]
        for word, count in done:
            lines.append((name, word, f"{count.rows:,}", f"{count.events:,}", f"{count.bytes:,}"))
        if not done:
            lines.append((name, "-", "0", "0", "0"))
    return aligned(lines, numbers_from=2)
