"""docs/servers/across-lines.md: what real consumers did with logs of other lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from forge.servers import server_line
from tests.long.compat.table import Measured

PAGE = Path(__file__).resolve().parents[3] / "docs" / "servers" / "across-lines.md"
_HEAD = """# Across lines

What real consumers did with logs of other lines (`corpora/compat/matrix.tsv`, made by `make compat-matrix`): the
vendor's reader of each recorded line read them, and its real server applied them in the place of relay logs.
[`forge compat`](../compat.md) is held to this table.

The logs are small: scenarios about one thing each (`corpora/compat/`), and some recordings of each line. A MySQL
consumer from 5.7 on takes groups with and without GTIDs here (`gtid_mode = ON_PERMISSIVE`); 5.6 has the mode of the
log. At its own defaults a MySQL replica stops at the first group of the other kind: error 1781 (a GTID, and
`gtid_mode = OFF`) or 1782 (none, and `gtid_mode = ON`).
"""
_TOTAL = """
## Replicas

Rows are the writers' lines, columns the consumers'. A cell says how many logs a replica applied of those that it
was given; *misled* counts those that it applied without an error, with other rows than its source has.

{table}

## Readers

How many logs the vendor's reader read to the end. Three servers came without one (-).

{readers}
"""


def _grid(rows: Sequence[Measured], cell: Callable[[list[Measured]], str]) -> str:
    writers, consumers = (
        sorted(lines, key=_order) for lines in ({row.writer for row in rows}, {row.consumer for row in rows})
    )
    table = [f"| from \\ to | {' | '.join(consumers)} |", "|---" * (len(consumers) + 1) + "|"]
    for writer in writers:
        of_writer = [row for row in rows if row.writer == writer]
        cells = [cell([row for row in of_writer if row.consumer == consumer]) for consumer in consumers]
        table.append(f"| {writer} | {' | '.join(cells)} |")
    return "\n".join(table)


def _order(line: str) -> tuple[str, tuple[int, int, int]]:
    return server_line(line).family, server_line(line).release


def _applied(pairs: list[Measured]) -> str:
    misled = sum(row.replica.startswith("misread") for row in pairs)
    ends = sum(row.replica == "end" for row in pairs)
    return f"{ends} of {len(pairs)}" + (f", {misled} misled" if misled else "")


def _read(pairs: list[Measured]) -> str:
    measured = [row.reader == "end" for row in pairs if row.reader not in ("unmeasured", "withheld")]
    return f"{sum(measured)} of {len(measured)}" if measured else "-"


def _subject(title: str, words: str, rows: Sequence[Measured], wanted: Callable[[Measured], bool]) -> str:
    """A table of single pairs: what the replica did."""
    chosen = sorted((row for row in rows if wanted(row)), key=lambda row: (_order(row.consumer), row.log))
    table = ["| log | consumer | reader | replica |", "|---|---|---|---|"]
    table += [
        f"| `{row.log.removeprefix('compat/')}` | {row.consumer} | {_short(row.reader)} | {_short(row.replica)} |"
        for row in chosen
    ]
    return f"\n## {title}\n\n{words}\n\n" + "\n".join(table) + "\n"


def _short(did: str) -> str:
    how, _, rest = did.partition(" ")
    return how if how == "end" else f"{how} {rest.replace('|', '/')[:60]}".strip()


def matrix_page(rows: Iterable[Measured]) -> str:
    """The page."""
    rows = list(rows)
    family = {row.consumer: server_line(row.consumer).family for row in rows}
    mysql = [row for row in rows if row.writer.startswith("mysql") and family[row.consumer] == "mysql"]
    return (
        _HEAD
        + _TOTAL.format(table=_grid(rows, _applied), readers=_grid(rows, _read))
        + _subject(
            "WL#4618: old and new",
            "NF1: a new server applies what old ones write. NF2: optional metadata keeps no old replica from applying\n"
            "a log. The same scenario without metadata and with both kinds, by MySQL's lines; 5.5 stops where it\n"
            "would stop without metadata, at the first event that 5.6 introduced.",
            mysql,
            lambda row: row.log.startswith("compat/metadata["),
        )
        + _subject(
            "WL#4033: masters and slaves with and without it",
            "An old master is 5.5, new ones are the others. Old slaves stop at an event that may be ignored; new ones\n"
            "skip it, but for 5.6.14.",
            mysql,
            lambda row: row.log.startswith(("compat/rows-query[", "compat/ignorable[", "compat/statements[")),
        )
    )
