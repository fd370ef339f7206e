"""``forge tables``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from forge.cli.inputs import file_paths
from forge.cli.output import print_lines
from forge.cli.parameters import FILE, json_option, keyring_options
from forge.cli.progress import progress_to

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring
    from forge.bulk.reading.counts import TableCounts


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=FILE)
@json_option("One JSON object per table.")
@keyring_options
def command(files: tuple[str, ...], as_json: bool, keyring: Keyring | None) -> None:
    """List the tables that the binary logs FILE... map, with rows, events and bytes by operation.

    Every event's checksum is verified and every row is split. Bytes are those of row events, headers and checksums
    included; events out of compressed transactions count with their unpacked size. Needs the extra `rows`.

    \b
    Example:
      forge tables binlog.000001
      forge tables binlog.000001 binlog.000002 --json
      forge tables encrypted.000001 --keys keyring.json
    """
    from forge.bulk.reading.counts import count_tables

    paths = file_paths(files)
    total = sum(path.stat().st_size for path in paths)
    with progress_to("bytes") as show:
        tables = count_tables(paths, keyring=keyring, progress=lambda read: show(read, total))

    print_lines(map(_object, tables.items()) if as_json else _table(tables))


def _object(named: tuple[str, TableCounts]) -> str:
    table, counts = named
    operations = {
        word: {"rows": count.rows, "events": count.events, "bytes": count.bytes}
        for word, count in counts.by_operation.items()
    }
    return json.dumps({"table": table, **operations}, ensure_ascii=False)


def _table(tables: dict[str, TableCounts]) -> list[str]:
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
