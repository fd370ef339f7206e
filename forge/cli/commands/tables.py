"""``forge tables``."""

from __future__ import annotations

import json
from typing import Any

import click

from forge.cli.inputs import file_paths
from forge.cli.output import STDOUT, write_output
from forge.cli.parameters import FILE, keyring_of, keys_options
from forge.cli.progress import progress_to


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=FILE)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per table.")
@keys_options
def command(files: tuple[str, ...], as_json: bool, keys: str | None, key: str | None) -> None:
    """List the tables that the binary logs FILE... map, with rows, events and bytes by operation.

    Every event's checksum is verified and every row is split. Bytes are those of row events, headers and checksums
    included; events out of compressed transactions count with their unpacked size. Needs the extra `rows`.

    \b
    Example:
      forge tables binlog.000001
      forge tables binlog.000001 binlog.000002 --json
      forge tables encrypted.000001 --keys keyring.json
    """
    from forge.bulk.reading.counts import TableCounts, count_tables

    paths, keyring = file_paths(files), keyring_of(keys, key)
    total = sum(path.stat().st_size for path in paths)
    with progress_to("bytes") as show:
        tables = count_tables(paths, keyring=keyring, progress=lambda read: show(read, total))

    def shown(name: str, counts: TableCounts) -> str:
        operations = {
            word: {"rows": count.rows, "events": count.events, "bytes": count.bytes}
            for word, count in counts.by_operation.items()
        }
        return json.dumps({"table": name, **operations}, ensure_ascii=False)

    if as_json:
        write_output(STDOUT, "".join(shown(name, counts) + "\n" for name, counts in tables.items()))
    else:
        write_output(STDOUT, _text(tables))


def _text(tables: dict[str, Any]) -> str:
    from forge.events.plain import printable

    lines = [("table", "operation", "rows", "events", "bytes")]
    for name, counts in tables.items():
        name = printable(name)
        done = [(word, count) for word, count in counts.by_operation.items() if count.events]
        for word, count in done:
            lines.append((name, word, f"{count.rows:,}", f"{count.events:,}", f"{count.bytes:,}"))
        if not done:
            lines.append((name, "-", "0", "0", "0"))
    widths = [max(len(line[place]) for line in lines) for place in range(5)]
    return "".join(
        "  ".join(
            [line[0].ljust(widths[0]), line[1].ljust(widths[1])]
            + [text.rjust(width) for text, width in zip(line[2:], widths[2:], strict=True)]
        ).rstrip()
        + "\n"
        for line in lines
    )
