"""What each server line would write is read by the vendors' readers that support it, right and without a warning."""

from __future__ import annotations

import pytest

from forge.check.compare.compare import check_files
from forge.check.decoders.table import available_decoders
from forge.check.decoders.vendors.reader import CommandLineReader
from forge.compile import compile_files, write_files
from forge.decode.reference import read_reference
from forge.scenario import plan
from forge.scenario.matrix import base_scenario
from forge.servers import server_line, server_names

READERS = [reader for reader in available_decoders() if isinstance(reader, CommandLineReader)]
#: MariaDB's readers of 10.x have no collation of MySQL 8.0, say so, and go on.
UNKNOWN_COLLATION = "Character set '#255' is not a compiled character set"
#: Of a line that never clears the flag.
IN_USE = "this binlog is either in use or was not closed properly"
SCENARIO = """
scenario: line
server: {line}
session: {{binlog_format: {format}}}
tables:
  - CREATE TABLE shop.orders (id INT PRIMARY KEY, note TEXT, price DECIMAL(10,2), made {made}, state ENUM('a','b'))
transactions:
  - - insert: {{into: shop.orders, rows: [{{id: 1, note: ü, price: 1.5, made: '2024-02-29 10:00:00', state: a}}]}}
    - insert: {{into: shop.orders, rows: [{{id: 2}}, {{id: 3, note: x}}]}}
  - - update: {{table: shop.orders, where: {{id: 1}}, set: {{note: null, price: -2.25}}}}
    - delete: {{from: shop.orders, where: {{id: 2}}}}
  - - ddl: ALTER TABLE shop.orders ADD COLUMN n INT
"""


def formats(name: str, reader: CommandLineReader) -> list[str]:
    """The formats of a line that a reader says it reads."""
    line = server_line(name)
    of_mariadb, by_mariadb = name.startswith("mariadb"), reader.name.startswith("mariadb")
    if name in ("mysql-3.23", "mysql-4.0", "mysql-4.1") or (of_mariadb and not by_mariadb):
        return []  # Version 3 of the log; GTID events of MariaDB.
    # MySQL 8.4 took row events of version 1 out of its readers.
    return ["row", "statement"] if line.knows("row_events" if by_mariadb else "rows_v2") else ["statement"]


def logs(name: str, format: str) -> list[bytes]:
    """What the line writes of the scenario."""
    line = server_line(name)
    # Current readers have no value for the DATETIME of before 5.6.
    new = line.knows("mysql56_temporal_format" if name.startswith("mariadb") else "new_temporals")
    text = SCENARIO.format(line=name, format=format, made="DATETIME" if new else "VARCHAR(20)")
    planned = plan(base_scenario(text, file="line.yaml"))
    return [bytes(data) for data in write_files(planned, compile_files(planned))]


@pytest.mark.servers
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_vendor_reads_what_each_line_it_supports_would_write(reader: CommandLineReader) -> None:
    if reader.available() is not None:
        pytest.skip(str(reader.available()))
    written = [(name, data) for name in server_names() for kind in formats(name, reader) for data in logs(name, kind)]
    assert len(written) > 50
    files = [data for _, data in written]
    verdicts = check_files([read_reference(data) for data in files], files, reader)
    for (name, _), verdict in zip(written, verdicts, strict=True):
        assert (name, verdict.outcome, verdict.message) == (name, "agree", verdict.message)
        expected = (UNKNOWN_COLLATION, IN_USE) if server_line(name).framing.header_flags else (UNKNOWN_COLLATION,)
        assert [said for said in verdict.warnings if not any(words in said for words in expected)] == [], name
