"""``forge warm-up``."""

from __future__ import annotations

import re
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import click

from forge.cli.output import print_lines
from forge.cli.progress import progress
from forge.resources import volumes_dir

#: Character sets that have kernels.
_CHARSETS = ("utf8mb4", "utf8mb3", "ascii")
_MYSQL = (
    "w.numbers (a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d INT, e BIGINT UNSIGNED, f DECIMAL(12,2),"
    " g DECIMAL(30,2), h DECIMAL(65,30), i FLOAT, j DOUBLE, k BIT(9), l YEAR)",
    "w.times (a DATE, b TIME, c TIME(6), d DATETIME, e DATETIME(6), f TIMESTAMP NULL, g TIMESTAMP(6) NULL)",
    "w.texts (" + ", ".join(f"{name} VARCHAR(9) CHARACTER SET {name}" for name in _CHARSETS) + ")",
    "w.bytes (a CHAR(9), b BINARY(3), c VARBINARY(9), d BLOB, e MEDIUMTEXT, f ENUM('x','y'), g SET('x','y'))",
    "w.documents (a JSON)",
    "w.others (a GEOMETRY, b VECTOR(2))",
)
_MARIADB = ("w.numbers (a INT, b VARCHAR(9) COMPRESSED, c TEXT COMPRESSED, d UUID, e INET6, f INET4, g JSON)",)
#: Text of ASCII alone is read by other kernels than any other.
_TEXTS = dict.fromkeys(_CHARSETS, "あ") | {"ascii": "1"}
_VALUES = {
    "DATE": "2024-02-29", "TIME": "12:34:56", "DATETIME": "2024-02-29 12:34:56", "TIMESTAMP": "2024-02-29 12:34:56",
    "YEAR": 2024, "JSON": '{"a": [1, 2.5, "b", null, true]}', "GEOMETRY": "POINT(1 2)", "VECTOR": [1.5, 2.5],
    "UUID": "123e4567-e89b-12d3-a456-426655440000", "INET6": "::1", "INET4": "127.0.0.1",
}  # fmt: skip


@click.command()
def command() -> None:
    """Compile the kernels that read, write and generate rows in bulk, ahead of their first use.

    They are compiled for this machine once, and kept in the user's cache folder; NUMBA_CACHE_DIR names another. Without
    this command each is compiled when it is first needed. Needs the extra `rows`.

    \b
    Example:
      forge warm-up
    """
    from forge.binlog.selection import ALL
    from forge.bulk.generating.generate import generate
    from forge.bulk.kept_kernels import kernels_folder
    from forge.bulk.lines.cell_texts import Unsaid
    from forge.bulk.lines.record_lines import AskedLines, record_lines
    from forge.bulk.printing.object_code import kernel
    from forge.bulk.reading.counts import count_tables
    from forge.bulk.reading.rows import read_rows
    from forge.bulk.writing.write import write_rows
    from forge.scenario import load_scenario

    begin = time.monotonic()
    steps = [("mysql-9.7", table) for table in _MYSQL] + [("mariadb-11.8", table) for table in _MARIADB]
    with tempfile.TemporaryDirectory() as folder:
        for server, table in progress(steps, total=len(steps), label="tables"):
            path = Path(folder) / "log"
            path.write_bytes(_log(server, table))
            for images in ("after", "both"):
                for _ in read_rows(path, images=images):
                    pass
            count_tables(path)
            asked = AskedLines({path: "log"}, "csv", None, None, "after", ALL, None, lambda read: None)
            with suppress(Unsaid):
                for _ in record_lines(asked):
                    pass
            for rows_each in (None, 1):
                changes = read_rows(path, table=table.partition(" ")[0], images="both")
                again = Path(folder) / "again"
                definition = f"CREATE TABLE {table}"
                write_rows(
                    changes, definition, again, server=server, operation="operation", rows_per_transaction=rows_each,
                    sync=False,
                )  # fmt: skip
        generate(load_scenario(volumes_dir() / "shop.yaml"), Path(folder) / "volume", rows=200)
    kernel()
    seconds = time.monotonic() - begin
    print_lines([f"compiled in {seconds:.0f} s, kept in {kernels_folder()}"])


def _log(server: str, definition: str) -> bytes:
    """A log of a table with one row, which is inserted, updated and deleted."""
    from forge.compile import compile_files, write_files
    from forge.scenario import Scenario, Session, delete, insert, plan, update

    table = definition.partition(" ")[0]
    columns = re.findall(r"(\w+) ([A-Z]+[46]?)", definition.partition("(")[2])
    row = {name: _TEXTS.get(name, _VALUES.get(kind, "1")) for name, kind in columns if name not in ("CHARACTER", "SET")}
    row = {name: "x" if kind in ("ENUM", "SET") else row[name] for name, kind in columns if name in row}
    scenario = (
        Scenario("warm-up", server=server, session=Session(row_metadata="full"), tables=[f"CREATE TABLE {definition}"])
        .transaction(insert(table, row, dict.fromkeys(row)))
        .transaction(update(table, set={next(iter(row)): None}))
        .transaction(delete(table))
    )
    planned = plan(scenario)
    [log] = write_files(planned, compile_files(planned))
    return log
