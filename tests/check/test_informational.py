"""What the readers at hand do with informational events (docs/servers/informational.md), findings among it."""

from __future__ import annotations

import pytest

from forge.binlog import write_binlog
from forge.check.compare.compare import check
from forge.check.compat.report import compatibility
from forge.check.decoders.table import decoder
from forge.compile import compile_plan
from forge.scenario import Scenario, Statement, event, insert, plan

MYSQL, MARIADB = "mysqlbinlog", "mariadb-binlog-11.8"
LINES = {MYSQL: "mysql-9.7", MARIADB: "mariadb-11.8"}


def scenario(server: str, *placed: Statement) -> Scenario:
    return Scenario(
        scenario="informational",
        server=server,
        tables=["CREATE TABLE t.a (id INT NOT NULL PRIMARY KEY)"],
        transactions=[[insert("t.a", {"id": 1})], [*placed, insert("t.a", {"id": 2})]],
    )


def outcome(reader: str, placed: Statement, server: str = "mysql-9.7") -> str:
    """``agree``, or how the reader ends."""
    one = decoder(reader)
    if one.available() is not None:
        pytest.skip(f"{reader} is not here")
    (verdict,) = check(write_binlog(compile_plan(plan(scenario(server, placed)))), [one])
    return verdict.outcome


@pytest.mark.parametrize("reader", [MYSQL, MARIADB])
@pytest.mark.parametrize(
    ("placed", "expected"),
    [
        (event(100, ignorable=True, post_header_length=0), "agree"),
        (event(127, hex="00" * 300, ignorable=True, post_header_length=255), "agree"),
        (event(28, text="x"), "agree"),
        (event(28, text="x", ignorable=False), "refused"),
        (event("HEARTBEAT", text="binlog.000001"), "refused"),
        (event("HEARTBEAT", text="binlog.000001", ignorable=True), "agree"),
        (event("INCIDENT", text="lost"), "agree"),
        # Not what WL#4033 asks for: the type is beyond the list of FORMAT_DESCRIPTION.
        (event(200, ignorable=True), "refused"),
    ],
)
def test_real_readers_do_as_they_were_measured_to(reader: str, placed: Statement, expected: str) -> None:
    found = outcome(reader, placed)
    # A reader names the types of the other family that it does not know, which is no defect of it.
    assert found == expected or (found == "unsupported" and expected == "refused")


def test_mysql_takes_the_type_for_a_signed_byte() -> None:
    placed = event(128, ignorable=True, post_header_length=0)
    assert outcome(MYSQL, placed) == "refused"
    assert outcome(MARIADB, placed) == "agree"


def test_mariadb_passes_over_malformed_events_with_the_flag() -> None:
    placed = event("INCIDENT", hex="01", ignorable=True)
    made = write_binlog(compile_plan(plan(scenario("mariadb-11.8", placed))))
    one = decoder(MARIADB)
    if one.available() is not None:
        pytest.skip(f"{MARIADB} is not here")
    assert sum(1 for _ in one.decode(made)) > 0


@pytest.mark.parametrize("reader", [MYSQL, MARIADB])
@pytest.mark.parametrize("code", [28, 60, 100, 127, 128, 160, 254])
@pytest.mark.parametrize("ignorable", [True, False])
def test_forge_compat_says_whether_a_real_reader_stops(reader: str, code: int, *, ignorable: bool) -> None:
    placed = event(code, hex="ff" * 40, ignorable=ignorable, post_header_length=0)
    server = "mysql-9.7" if reader == MYSQL else "mariadb-11.8"
    made = plan(scenario(server, placed))
    report = compatibility(made, [write_binlog(compile_plan(made))], LINES[reader])
    assert (outcome(reader, placed, server) == "agree") == (report.reader_stops is None)
