"""Declared values in a session without strict mode: what is stored is what real servers stored.

``recorded/lenient/*.jsonl``: a line a type, with [declared, cell in hex, "NULL", or null if it was an error] a value.
Recorded with sql_mode = '', utf8mb4 and the time zone +00:00.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge import values
from forge.errors import ScenarioError
from forge.values.base import Column
from forge.values.clipping import Clipped, leading_number
from forge.values.literals import literal_sql
from forge.values.registry import codec_for

RECORDED = Path(__file__).parent / "recorded" / "lenient"
SERVERS = ("mysql-9.7", "mariadb-10.11", "mariadb-11.8")
ANYTHING = st.one_of(st.text(max_size=40), st.integers(), st.floats(allow_nan=False), st.binary(max_size=40))
TYPES = (
    "TINYINT", "BIGINT UNSIGNED", "DECIMAL(5,2)", "DECIMAL(65,30) UNSIGNED", "FLOAT", "DOUBLE", "FLOAT(5,2)", "BIT(9)",
    "YEAR", "DATE", "DATETIME(3)", "TIMESTAMP", "TIME(6)", "CHAR(3)", "VARCHAR(3) CHARACTER SET latin1", "TINYTEXT",
    "BINARY(3)", "VARBINARY(3)", "TINYBLOB", "ENUM('a','b')", "SET('a','b')",
)  # fmt: skip


def clip(column: Column, declared: Any) -> Clipped:
    return codec_for(column).clip(column, declared)


@dataclass(frozen=True)
class Case:
    server: str
    type: str
    declared: Any
    cell: str | None


@dataclass(frozen=True)
class Difference:
    type: str
    declared: str
    reason: str

    def covers(self, case: Case) -> bool:
        return bool(re.fullmatch(self.type, case.type) and re.fullmatch(self.declared, str(case.declared), re.DOTALL))


DIFFERENCES = (
    Difference(
        "smallint", r"\{'hex': .*", "hex digits are the number, for MariaDB too: the statement says it in digits"
    ),
    Difference("(date|datetime|timestamp).*", r"24-02-29|2024-02-29 10:00\+05:30", "refused in strict mode too"),
    Difference(r"varchar\(3\)", r"1e\+20|12\.3456", "the server shortens a float to the column's width: refused here"),
    Difference("enum.* ucs2", "[12]", "a server finds no number in two-byte text"),
    Difference("json", "1", "a number is a document here"),
    Difference(r"vector\(2\)", ".*", "10.11 has no such type"),
    Difference("char.* utf32", r"\{'hex': '(61622020|202020)'\}", "not clipped here"),
)


def literal(declared: Any) -> Any:
    return Decimal(declared["decimal"]) if isinstance(declared, dict) and "decimal" in declared else declared


def cases(server: str) -> Iterator[Case]:
    lines = (RECORDED / f"{server}.jsonl").read_text(encoding="ascii").splitlines()
    for line in map(json.loads, lines[1:]):
        for declared, cell in line["rows"]:
            yield Case(server, line["type"], literal(declared), cell)


def made(case: Case) -> str | None:
    column = values.column(case.type, server=case.server)
    try:
        value = clip(column, case.declared).value
        return "NULL" if value is None else codec_for(column).encode(column, value).hex()
    except ScenarioError:
        return None


@pytest.mark.parametrize("server", SERVERS)
def test_cells_are_those_of_a_server_without_strict_mode(server: str) -> None:
    different = [(case, made(case)) for case in cases(server) if made(case) != case.cell]
    assert [found for found in different if not any(known.covers(found[0]) for known in DIFFERENCES)] == []


def test_every_known_difference_is_one() -> None:
    different = [case for server in SERVERS for case in cases(server) if made(case) != case.cell]
    assert [known.reason for known in DIFFERENCES if not any(map(known.covers, different))] == []


@given(st.sampled_from(TYPES), st.sampled_from(SERVERS), ANYTHING)
def test_whatever_is_declared_is_stored_or_refused(type_text: str, server: str, declared: Any) -> None:
    column = values.column(type_text, server=server)
    codec = codec_for(column)
    try:
        value = clip(column, declared).value
    except ScenarioError:
        return
    assert codec.decode(column, codec.encode(column, value)) == value


@given(st.integers(-(10**25), 10**25))
def test_clipped_integers_are_the_nearest_that_the_column_holds(number: int) -> None:
    column = values.column("BIGINT")
    assert clip(column, number).value == max(-(2**63), min(number, 2**63 - 1))


def test_the_sql_of_a_clipped_value_is_what_was_declared() -> None:
    assert clip(values.column("TINYINT"), 1000) == Clipped(127, "1000")
    assert clip(values.column("CHAR(3)"), "abc'd") == Clipped("abc", r"'abc\'d'")
    assert clip(values.column("BINARY(2)"), {"hex": "010203"}) == Clipped(b"\1\2", "x'010203'")
    assert clip(values.column("TINYINT"), 5) == Clipped(5, "5")


@pytest.mark.parametrize(
    ("declared", "sql"),
    [
        (True, "1"),
        (Decimal("1.50"), "1.50"),
        (1e300, "1e+300"),
        (0.5, "0.5e0"),
        (b"\0", "x'00'"),
        (dt.timedelta(hours=-900), "'-900:00:00.000000'"),
        (dt.date(2024, 1, 2), "'2024-01-02'"),
        (["a", "b"], "'a,b'"),
        ({"b", "a"}, "'a,b'"),
    ],
)
def test_literals_are_written_as_declared(declared: Any, sql: str) -> None:
    assert literal_sql(declared) == sql


@pytest.mark.parametrize(
    ("text", "number"),
    [("12abc", "12"), (" -3.5e1x", "-35"), ("abc", "0"), (".5x", "0.5"), ("1e", "1"), ("0x10", "0"), ("1e-99999", "0")],
)
def test_text_counts_as_the_number_it_begins_with(text: str, number: str) -> None:
    assert leading_number(text) == Decimal(number)


@pytest.mark.parametrize("type_text", ["JSON", "POINT", "VECTOR(2)"])
def test_documents_geometries_and_vectors_are_never_clipped(type_text: str) -> None:
    with pytest.raises(ScenarioError):
        clip(values.column(type_text), "{bad")
