"""Values at the limits of their types, too large to keep as recordings: recorded and compared on the spot."""

from __future__ import annotations

import msgspec
import pytest

from forge.binlog import write_binlog
from forge.compile import compile_plan
from forge.record.facts import facts_of
from forge.record.server import is_unpacked
from forge.record.session import BUILD_OF_LINE, record_plan
from forge.scenario import Scenario, insert, plan, update

pytestmark = pytest.mark.servers


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
def test_values_at_the_limits_are_compiled_as_recorded(server: str) -> None:
    if not is_unpacked(BUILD_OF_LINE[server]):
        pytest.skip(f"{server} is not on this machine")
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
    recorded = record_plan(plan(scenario)).binlog
    session = msgspec.structs.replace(scenario.session, facts=facts_of(recorded))
    assert write_binlog(compile_plan(plan(msgspec.structs.replace(scenario, session=session)))) == recorded
