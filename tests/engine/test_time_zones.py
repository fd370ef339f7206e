"""Sessions in time zones: TIMESTAMP is read and written in the session's, stored in UTC; clocks are the session's.

Recorded on MySQL 9.7, MariaDB 10.11 and 11.8 (tests/record/recordings/zone-*).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import ForgeError
from forge.plan.statements import RowsStatement
from forge.plan.time_zones import offset_of
from forge.plan.transactions import Transaction
from forge.scenario import Scenario, Session, change_session, insert, plan, update
from forge.scenario.matrix import base_scenario
from forge.servers import server_line
from forge.testing import values as strategies
from forge.values.base import Column
from forge.values.registry import codec_for


def rows_of(*statements: Any, table: str, session: Session, server: str = "mysql-9.7") -> list[tuple[Any, ...]]:
    """The rows behind the changes of statements, each in a transaction."""
    scenario = Scenario("x", server=server, session=session, tables=[table])
    for statement in statements:
        scenario = scenario.transaction(statement)
    groups = [group for group in plan(scenario).groups if isinstance(group, Transaction)]
    changed = [one for group in groups for one in group.statements if isinstance(one, RowsStatement)]
    return [change.after for one in changed for change in one.changes if change.after is not None]


@given(
    column=strategies.temporal_columns().filter(lambda column: codec_for(column).type_name(column) == "TIMESTAMP"),
    offset=st.integers(-839, 840),
    data=st.data(),
)
def test_a_timestamp_is_stored_again_from_what_a_session_reads(column: Column, offset: int, data: Any) -> None:
    there = replace(column, dialect=msgspec.structs.replace(column.dialect, utc_offset=offset))
    codec = codec_for(column)
    value = data.draw(strategies.values_for(column))
    if value is None:
        return
    assert codec.accept(there, codec.written(there, value)) == value  # type: ignore[attr-defined]


def test_values_literals_and_clocks_are_those_of_the_session() -> None:
    table = "CREATE TABLE d.t (ts TIMESTAMP NULL DEFAULT '2020-01-01 00:00:00', at DATETIME DEFAULT CURRENT_TIMESTAMP)"
    rows = rows_of(
        insert("d.t", {"ts": "2024-02-29 01:00:00", "at": "2024-02-29 01:00:00"}),
        insert("d.t", {}),
        change_session(time_zone="-08:00"),
        update("d.t", where={"ts": "2024-02-28 15:00:00"}, set={"ts": "2024-02-29 01:00:00"}),
        insert("d.t", {}),
        table=table,
        session=Session(time_zone="+02:00", timestamp="2024-03-01 12:00:00"),
    )
    assert rows == [
        ("2024-02-28 23:00:00", "2024-02-29 01:00:00"),
        ("2019-12-31 22:00:00", "2024-03-01 14:00:00"),
        ("2024-02-29 09:00:00", "2024-02-29 01:00:00"),
        ("2019-12-31 22:00:00", "2024-03-01 04:00:00"),
    ]


def test_a_literal_with_an_offset_is_the_same_moment_in_every_zone() -> None:
    table = "CREATE TABLE d.t (ts TIMESTAMP NULL, at DATETIME)"
    literal = "2024-02-29 10:00:00+05:00"
    rows = rows_of(insert("d.t", {"ts": literal, "at": literal}), table=table, session=Session(time_zone="+02:00"))
    assert rows == [("2024-02-29 05:00:00", "2024-02-29 07:00:00")]


@pytest.mark.parametrize(
    ("text", "line", "minutes"),
    [
        ("SYSTEM", "mysql-9.7", 0),
        ("+00:00", "mysql-9.7", 0),
        ("+14:00", "mysql-9.7", 840),
        ("-13:59", "mysql-9.7", -839),
        ("+13:00", "mariadb-11.8", 780),
        ("-12:59", "mysql-5.7", -779),
    ],
)
def test_offsets_are_minutes(text: str, line: str, minutes: int) -> None:
    assert offset_of(text, server_line(line)) == minutes


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("+14:01", "mysql-9.7", "mysql-9.7 has no time zone '.14:01'; expected -13:59 to .14:00"),
        ("-14:00", "mysql-9.7", "mysql-9.7 has no time zone"),
        ("+13:01", "mariadb-10.11", "expected -12:59 to .13:00"),
        ("-13:00", "mysql-5.7", "mysql-5.7 has no time zone"),
        ("-00:00", "mysql-9.7", "and .00:00 for UTC"),
        ("+2:00", "mysql-9.7", "an offset such as .02:00"),
        ("Europe/Berlin", "mysql-9.7", "named zones need tables that a new server does not have"),
    ],
)
def test_other_zones_are_refused(text: str, line: str, sentence: str) -> None:
    with pytest.raises(ForgeError, match=sentence):
        offset_of(text, server_line(line))


@pytest.mark.parametrize(
    ("table", "statements"),
    [
        ("ts TIMESTAMP NULL, y INT AS (YEAR(ts))", "- insert: {into: d.t, rows: [{id: 1}]}"),
        ("ts TIMESTAMP AS ('2024-01-01') STORED", "- insert: {into: d.t, rows: [{id: 1}]}"),
        ("ts TIMESTAMP NULL, CHECK (ts > '2024-01-01')", "- insert: {into: d.t, rows: [{id: 1}]}"),
        ("ts TIMESTAMP NULL, KEY ((YEAR(ts)))", "- insert: {into: d.t, rows: [{id: 1}]}"),
        ("ts TIMESTAMP NULL DEFAULT (CONCAT('2024-01-0', 1))", "- insert: {into: d.t, rows: [{id: 1}]}"),
        (
            "ts TIMESTAMP NULL, v VARCHAR(30)",
            "- insert: {into: d.t, rows: [{id: 1}]}\n    - update: {table: d.t, set: {v: {sql: 'CONCAT(ts)'}}}",
        ),
        (
            "ts TIMESTAMP NULL, j JSON",
            "- insert: {into: d.t, rows: [{id: 1, j: {}}]}\n"
            "    - update: {table: d.t, set: {j: {json_set: {$.a: !column ts}}}}",
        ),
        (
            "ts TIMESTAMP NULL, at DATETIME",
            "- insert: {into: d.t, rows: [{id: 1, ts: 2024-01-01}]}\n"
            "    - insert: {into: d.t, rows: [{id: 1, ts: 2024-01-01}], on_duplicate_key_update: {at: {values: ts}}}",
        ),
        (
            "ts TIMESTAMP NULL",
            "- insert: {into: d.t, rows: [{id: 1, ts: 2024-01-01}]}\n  - - ddl: ALTER TABLE d.t MODIFY ts DATETIME",
        ),
        (
            "at DATETIME",
            "- insert: {into: d.t, rows: [{id: 1, at: 2024-01-01}]}\n"
            "  - - ddl: ALTER TABLE d.t MODIFY at TIMESTAMP NULL",
        ),
    ],
)
def test_what_is_computed_from_a_timestamp_is_refused_by_name_and_taken_in_utc(table: str, statements: str) -> None:
    text = (
        "scenario: x\nsession: {time_zone: '+02:00'}\ntables:\n  - CREATE TABLE d.t (id INT PRIMARY KEY, "
        f"{table})\ntransactions:\n  - {statements}\n"
    )
    with pytest.raises(ForgeError, match="in a time zone other than UTC is not supported yet"):
        plan(base_scenario(text, file="f.yaml"))
    plan(base_scenario(text.replace("+02:00", "+00:00"), file="f.yaml"))


def test_a_default_that_is_printed_is_refused() -> None:
    session = Session(time_zone="+02:00", generate_invisible_primary_key=True)
    scenario = Scenario("x", session=session, tables=["CREATE TABLE d.t (ts TIMESTAMP DEFAULT '2024-01-01 00:00:00')"])
    with pytest.raises(ForgeError, match="printing the default of TIMESTAMP column 'ts' in a time zone"):
        plan(scenario)
