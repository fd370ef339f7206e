"""Sizes and counts at which a server writes something else: each limit from both sides."""

from __future__ import annotations

from typing import Any

import pytest

from forge.compile import compile_plan
from forge.errors import FormatError
from forge.events.event import Event
from forge.events.query import Query
from forge.events.rows import PartialUpdateRows
from forge.scenario import plan
from forge.scenario.matrix import base_scenario
from forge.values.base import Column
from forge.values.numeric.bits import BitCodec
from forge.values.wire_types import WireType


def events(text: str, *, server: str = "mysql-9.7", **session: Any) -> list[Event]:
    replaced = {"server": server} | {f"session.{name}": value for name, value in session.items()}
    return compile_plan(plan(base_scenario(text, settings=replaced)))


PARTED = """
scenario: parted
tables: ['CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(250) CHARACTER SET latin1){clause}']
transactions: [[insert: {{into: d.t, rows: [{{id: 1, v: {first}}}, {{id: 2, v: {second}}}]}}]]
"""


@pytest.mark.parametrize(("clause", "extra"), [("", 0), (" PARTITION BY HASH(id) PARTITIONS 1", 3)])
def test_the_size_of_an_event_counts_its_extra_row_info(clause: str, extra: int) -> None:
    # Table id, flags, length of the extra row info, width, one bitmap; of each row null bits, the number, a length.
    room = 256 - (10 + extra + 1 + 1) - 2 * (1 + 4 + 1)
    for over, count in ((0, 1), (1, 2)):
        text = PARTED.format(clause=clause, first="a" * 100, second="b" * (room - 100 + over))
        found = [event for event in events(text, binlog_row_event_max_size=256) if event.type_name == "WRITE_ROWS"]
        assert len(found) == count


PARTIAL = """
scenario: partial
session: {{row_value_options: PARTIAL_JSON}}
tables: ['CREATE TABLE d.t (id INT PRIMARY KEY, j JSON)']
transactions:
  - - insert: {{into: d.t, rows: [{{id: 1, j: {{{key}: xxxx}}}}]}}
  - - update: {{table: d.t, set: {{j: {{json_set: {{{path}: yyyy}}}}}}}}
"""


def test_differences_that_are_as_long_as_the_document_are_not_logged() -> None:
    # A key that is quoted in the path makes both 20 bytes; without quotes the differences are shorter by two.
    for key, path, partial in (("a b", """'$."a b"'""", False), ("abc", "$.abc", True)):
        [update] = [event.body for event in events(PARTIAL.format(key=key, path=path)) if event.type_code == 39]
        assert isinstance(update, PartialUpdateRows)
        assert b"yyyy" in update.rows
        assert update.rows.count(b"$.") == int(partial)


@pytest.mark.parametrize(("count", "listed"), [(16, True), (17, False)])
def test_sixteen_databases_are_listed_and_more_are_254(count: int, listed: bool) -> None:
    tables = "".join(f"\n  - CREATE TABLE d{number}.t (id INT PRIMARY KEY)" for number in range(count))
    names = ", ".join(f"d{number}.t" for number in range(count))
    made = events(f"scenario: many\ntables:{tables}\ntransactions:\n  - - ddl: DROP TABLE {names}\n")
    said = dict([event.body for event in made if isinstance(event.body, Query)][-1].status_variables)
    assert said["updated_databases"] == (
        tuple(sorted((f"d{n}" for n in range(count)), reverse=True)) if listed else 254
    )


def test_bits_beside_whole_bytes_are_seven_at_most() -> None:
    assert BitCodec().bits(Column(WireType.BIT, bytes((7, 1)))) == 15
    for metadata in ((8, 0), (8, 1), (0, 0), (1, 8)):
        with pytest.raises(FormatError, match="no server has a BIT column"):
            BitCodec().bits(Column(WireType.BIT, bytes(metadata)))


@pytest.mark.parametrize(("limit", "compressed"), [(105, False), (106, False), (40, True)])
def test_rows_are_compressed_from_the_limit_on(limit: int, compressed: bool) -> None:
    text = "scenario: c\ntables: [CREATE TABLE d.t (v VARCHAR(200) CHARACTER SET latin1)]\n"
    text += f"transactions: [[insert: {{into: d.t, rows: [{{v: {'a' * 102}}}]}}]]\n"
    size = 1 + 1 + 102
    for at, is_compressed in ((size, True), (size + 1, False), (limit, compressed)):
        settings = {"log_bin_compress": True, "log_bin_compress_min_len": at}
        [rows] = [e for e in events(text, server="mariadb-11.8", **settings) if "WRITE_ROWS" in e.type_name]
        assert rows.type_name.startswith("WRITE_ROWS_COMPRESSED") == is_compressed, at


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
def test_a_given_gtid_is_that_of_one_group_alone(server: str) -> None:
    given = "11111111-2222-3333-4444-555555555555:7" if server == "mysql-9.7" else "5-77-9"
    text = "scenario: given\ntables: [CREATE TABLE d.t (id INT PRIMARY KEY)]\nsession: {gtid: true}\ntransactions:\n"
    text += f"  - {{gtid: '{given}', statements: [insert: {{into: d.t, rows: [{{id: 1}}]}}]}}\n"
    text += "  - - insert: {into: d.t, rows: [{id: 2}]}\n"
    made = events(text, server=server)
    rows = [event.server_id for event in made if "WRITE_ROWS" in event.type_name]
    assert rows == ([1, 1] if server == "mysql-9.7" else [77, 1])
    assert made[-1].server_id == 1
    [second] = [event.body for event in made if event.type_name in ("GTID", "MARIADB_GTID")][-1:]
    if server == "mysql-9.7":
        assert (second.gno, second.uuid.startswith("1111")) == (3, False)  # type: ignore[attr-defined]
    else:
        assert (second.domain_id, second.sequence_number) == (0, 3)  # type: ignore[attr-defined]
