"""What real servers did with declared values in strict mode: the cell, SELECT's text, or a refusal.

``recorded/*.jsonl``: a line a type, with the wire type and metadata of its TABLE_MAP and one
[declared, cell in hex or null if refused, SELECT's text] a value.  Recorded with utf8mb4 as the default character set
and the time zone +00:00.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from forge import values
from forge.binlog.reader import read_events
from forge.errors import ScenarioError
from forge.events.columns import columns_of
from forge.events.row_image import parse_rows
from forge.events.rows import RowsBody
from forge.events.table_map import TableMap
from forge.record.server import RealServer
from forge.values.base import Column
from forge.values.registry import codec_for

RECORDED = Path(__file__).parent / "recorded"
SERVERS = ("mysql-9.7", "mariadb-10.11", "mariadb-11.8")
#: Wire types whose SELECT text is not the text here: FLOAT has 6 digits there, BIT is bytes.
OTHER_TEXT = (4, 16)
BUILDS = {"mysql97": "mysql-9.7", "maria1011": "mariadb-10.11", "maria118": "mariadb-11.8"}
#: Zero and partial dates are stored under this sql_mode.
LAX = "ALLOW_INVALID_DATES"


@dataclass(frozen=True)
class Difference:
    """Where we differ on purpose: the type, the declared value, as ``str`` shows it, and why."""

    type: str
    declared: str
    reason: str

    def covers(self, case: Case) -> bool:
        return bool(re.fullmatch(self.type, case.type) and re.fullmatch(self.declared, str(case.declared), re.DOTALL))


@dataclass(frozen=True)
class Case:
    server: str
    type: str
    declared: Any
    cell: bytes | None
    text: str | None


DIFFERENCES = (
    Difference("float", r"3\.4028235E\+38", "the shortest text of the largest FLOAT is a little above it"),
    Difference(r"double\(.*\)", ".*", "SELECT pads to the D of DOUBLE(M,D), which the event does not tell"),
    Difference(r"time\(\d\)", r"838:59:59\.(4|000001)", "MariaDB stores it, MySQL does not"),
    Difference(r"time\([1-6]\)", r"838:59:59\.5", "MariaDB stores it, MySQL does not"),
    Difference(r"time\(\d\)", "- 10:00:00", "a space behind the sign"),
    Difference(r"timestamp\(0\)", r"0000-00-00 00:00:00\.4", "MariaDB refuses zero with a fraction that it cuts"),
    Difference(".*char.*|.*text.*", r"\{'hex': '(ff|c3a9|202020|6162|61622020)'\}", "bytes are stored as declared"),
    Difference(r".*(char|binary)\(.*", r"1E\+3", "the server shortens a float to the column's width"),
    Difference("enum.*", "|0", "index 0 can be declared, whatever the sql_mode"),
    Difference("(enum|set).*''.*", "0|,", "the text '' belongs to the member ''"),
    Difference("enum.* ucs2", "[012]", "a server finds no number in two-byte text"),
    Difference(r"set.*'m63'\)", "18446744073709551616", "MySQL takes 2**64 for 2**63 - 1"),
)


def literal(declared: Any) -> Any:
    return Decimal(declared["decimal"]) if isinstance(declared, dict) and "decimal" in declared else declared


def recorded_lines(server: str) -> list[dict[str, Any]]:
    lines = (RECORDED / f"{server}.jsonl").read_text(encoding="ascii").splitlines()
    return [json.loads(line) for line in lines[1:]]


def cases(server: str) -> Iterator[Case]:
    for line in recorded_lines(server):
        for declared, cell, text in line["rows"]:
            cell_bytes = None if cell is None else bytes.fromhex(cell)
            yield Case(server, line["type"], literal(declared), cell_bytes, text)


def made(case: Case) -> bytes | None:
    try:
        return values.encode(case.type, case.declared, server=case.server)
    except ScenarioError:
        return None


def shown(case: Case) -> str | None:
    column = values.column(case.type, server=case.server)
    codec = codec_for(column)
    assert case.cell is not None
    return codec.text(column, codec.decode(column, case.cell))


@pytest.mark.parametrize("server", SERVERS)
def test_cells_and_refusals_are_those_of_the_server(server: str) -> None:
    different = [case for case in cases(server) if made(case) != case.cell]
    assert [case for case in different if not any(known.covers(case) for known in DIFFERENCES)] == []


@pytest.mark.parametrize("server", SERVERS)
def test_texts_are_those_that_select_prints(server: str) -> None:
    different = []
    for case in cases(server):
        column = values.column(case.type, server=server)
        if case.cell is not None and case.text is not None and column.type_code not in OTHER_TEXT:
            text = shown(case)
            if text is not None and text != case.text and not any(known.covers(case) for known in DIFFERENCES):
                different.append((case, text))
    assert different == []


@pytest.mark.parametrize("server", SERVERS)
def test_every_recorded_cell_is_decoded_and_made_again(server: str) -> None:
    for case in cases(server):
        if case.cell is not None:
            column = values.column(case.type, server=server)
            codec = codec_for(column)
            assert codec.encode(column, codec.decode(column, case.cell)) == case.cell, case
            assert codec.width(column, case.cell + b"\0", 0) == len(case.cell)


@pytest.mark.parametrize("server", SERVERS)
def test_types_become_the_recorded_wire_types(server: str) -> None:
    for line in recorded_lines(server):
        column = values.column(line["type"], server=server)
        assert (column.type_code, column.metadata.hex()) == (line["wire"], line["metadata"]), line["type"]


def test_every_known_difference_is_one() -> None:
    everything = [case for server in SERVERS for case in cases(server)]
    different = [case for case in everything if made(case) != case.cell or (case.cell and shown(case) != case.text)]
    idle = [known.reason for known in DIFFERENCES if not any(known.covers(case) for case in different)]
    assert idle == []


def literals(server: str) -> Iterator[tuple[str, str, bytes]]:
    """(type, SQL literal, cell) of every recorded value that can be declared."""
    for case in cases(server):
        column = values.column(case.type, server=server)
        codec = codec_for(column)
        try:
            value = codec.accept(column, case.declared)
        except ScenarioError:
            continue
        is_foreign = isinstance(value, bytes) and column.collation not in (None, 63)
        is_beyond = column.type_code == 19 and str(value).startswith("838:59:59.") and server.startswith("mysql")
        if not is_foreign and not is_beyond:
            yield case.type, codec.sql(column, value), codec.encode(column, value)


@pytest.mark.servers
@pytest.mark.parametrize("build", BUILDS)
def test_literals_store_exactly_their_cells(build: str) -> None:
    server = BUILDS[build]
    expected = list(literals(server))
    tables = {type_text: f"t{number}" for number, type_text in enumerate(dict.fromkeys(row[0] for row in expected))}
    script = ["CREATE DATABASE v DEFAULT CHARACTER SET utf8mb4;", "USE v;", f"SET sql_mode = '{LAX}';"]
    script += ["SET time_zone = '+00:00';"]
    script += [f"CREATE TABLE {name} (v {type_text} NULL);" for type_text, name in tables.items()]
    script += [f"INSERT INTO {tables[type_text]} VALUES ({literal});" for type_text, literal, _ in expected]
    with RealServer(name=build, options=["--binlog-row-metadata=FULL", "--binlog-format=ROW"]) as running:
        running.run_sql("\n".join(script))
        running.stop()
        log = (running.folder / "data" / "binlog.000001").read_bytes()
    stored = list(stored_cells(log))
    wrong = [
        (wanted, None if got is None else got.hex())
        for wanted, got in zip(expected, stored, strict=True)
        if wanted[2] != got
    ]
    assert wrong == []


def stored_cells(log: bytes) -> Iterator[bytes | None]:
    columns: tuple[Column, ...] = ()
    for placed in read_events(log):
        body = placed.event.body
        if isinstance(body, TableMap):
            columns = columns_of(body)
        elif isinstance(body, RowsBody):
            for row in parse_rows(body, columns):
                assert row.after is not None
                yield row.after.cells[0]
