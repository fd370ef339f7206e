"""Values at the limits of their types, too large to keep as recordings: recorded and compared on the spot."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from forge.binlog import write_binlog
from forge.compile import compile_plan
from forge.plan.session import Session
from forge.record.builds import BUILD_OF_LINE, is_unpacked
from forge.record.facts import facts_of
from forge.record.session import record_plan
from forge.scenario import Scenario, insert, plan, update

pytestmark = pytest.mark.servers


SERVERS = pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])


def assert_compiled_as_recorded(scenario: Scenario) -> None:
    if not is_unpacked(BUILD_OF_LINE[scenario.server]):
        pytest.skip(f"{scenario.server} is not on this machine")
    recorded = record_plan(plan(scenario)).binlog
    session = msgspec.structs.replace(scenario.session, facts=facts_of(recorded))
    # Not a plain assertion, whose message would lay megabytes side by side.
    made = write_binlog(compile_plan(plan(msgspec.structs.replace(scenario, session=session))))
    assert (len(made), made == recorded) == (len(recorded), True)


@SERVERS
def test_values_at_the_limits_are_compiled_as_recorded(server: str) -> None:
    columns = "id INT PRIMARY KEY, a TINYBLOB, b BLOB, c TEXT CHARACTER SET latin1, d MEDIUMBLOB, e LONGTEXT"
    scenario = Scenario(
        "boundaries",
        server=server,
        tables=[f"CREATE TABLE d.t ({columns})"],
    )
    limits = {"a": "00" * 255, "b": "ff" * 65535, "d": "5a" * 65536}
    scenario = scenario.transaction(
        insert("d.t", {"id": 1, **{name: {"hex": digits} for name, digits in limits.items()}, "c": "\u00e9" * 65535}),
        insert("d.t", {"id": 2, "d": {"hex": "00" * (1 << 21)}, "e": "\U0001f600" * 65536}),
    ).transaction(update("d.t", where={"id": 2}, set={"b": {"hex": ""}}))
    assert_compiled_as_recorded(scenario)


@pytest.mark.slow  # 8 to 17 s
@pytest.mark.parametrize("server", ["mysql-9.7", pytest.param("mariadb-11.8", marks=pytest.mark.nightly)])
def test_values_of_16_megabytes_are_compiled_as_recorded(server: str) -> None:
    columns = "id INT PRIMARY KEY, a MEDIUMBLOB, b LONGBLOB, c LONGTEXT CHARACTER SET latin1"
    scenario = Scenario("megabytes", server=server, tables=[f"CREATE TABLE d.t ({columns})"])
    largest: list[dict[str, Any]] = [
        {"a": b"\x5a" * ((1 << 24) - 1)},
        {"b": bytes(1 << 24)},
        {"c": "\u00e9" * (1 << 24)},
    ]
    for number, cells in enumerate(largest):
        scenario = scenario.transaction(insert("d.t", {"id": number, **cells}))
    assert_compiled_as_recorded(scenario)


@pytest.mark.slow  # 10 to 25 s: the server compares each member with all others
@pytest.mark.parametrize(
    ("server", "count"),
    # MariaDB: "Table definition is too large" for more of them.
    [pytest.param("mysql-9.7", 65535, marks=pytest.mark.nightly), ("mariadb-11.8", 10_000)],
)
def test_an_enum_of_very_many_members_is_compiled_as_recorded(server: str, count: int) -> None:
    members = ",".join(f"'{number:x}'" for number in range(1, count + 1))
    table = f"CREATE TABLE d.t (id INT PRIMARY KEY, a ENUM({members}) CHARACTER SET latin1 COLLATE latin1_bin)"
    scenario = Scenario("members", server=server, tables=[table], session=Session(row_metadata="minimal"))
    rows = [{"id": index, "a": f"{index:x}"} for index in (1, 255, 256, count)]
    last = f"{count:x}"
    scenario = scenario.transaction(insert("d.t", *rows)).transaction(update("d.t", where={"a": last}, set={"a": "1"}))
    assert plan(scenario).contents["d.t"] == ((1, 1), (255, 255), (256, 256), (count, 1))
    assert_compiled_as_recorded(scenario)
