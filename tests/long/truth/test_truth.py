"""Cases on real servers, and the reasons for what differs there."""

from __future__ import annotations

from itertools import pairwise

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("pymysql")

from forge.binlog.writer import write_binlog
from forge.compile import compile_plan
from forge.plan.plan import Plan
from forge.scenario import Scenario, insert, plan
from tests.counted_runs import counted
from tests.long.truth.__main__ import _RUNS, read_reasons
from tests.long.truth.replaying import builds_for, found, replayed
from tests.long.vendors.applier import Applier


def planned(value: int) -> Plan:
    rows = [{"id": 1, "v": value}, {"id": 2}]
    scenario = Scenario("truth", server="mariadb-11.8", tables=["CREATE TABLE d.t (id INT PRIMARY KEY, v INT)"])
    return plan(scenario.transaction(insert("d.t", *rows)))


def test_every_difference_of_a_class_is_explained_by_it_and_no_other() -> None:
    reasons = read_reasons()
    assert len({reason.name for reason in reasons}) == len(reasons)
    said = [reason.name for reason in reasons if reason.explains("a", "maria118", "applier: 1298 Unknown time zone")]
    assert said == ["time zones"]
    assert not any(one.explains("values/a", "mysql97", "rows: SELECT gives '1', the decode '2'") for one in reasons)


def test_the_counted_runs_of_a_seed_do_not_overlap() -> None:
    runs = sorted((run for run in counted(_RUNS) if run["seed"] == 1), key=lambda run: run["first"])
    assert all(run["first"] + run["count"] <= later["first"] for run, later in pairwise(runs))


def test_a_log_goes_to_the_servers_that_still_read_it() -> None:
    assert builds_for("mysql-8.0") == ("mysql97",)
    assert builds_for("mysql-5.5") == builds_for("mariadb-10.6") == ("maria1011", "maria118")


def test_the_tables_of_a_finding_are_there_before_its_file() -> None:
    of_finding = found(write_binlog(compile_plan(planned(7))))
    assert (of_finding.server, list(of_finding.tables)) == ("mariadb-11.8", ["d.t"])
    assert of_finding.existing


@pytest.mark.servers
def test_a_server_tells_a_right_case_from_a_wrong_one(servers: object) -> None:
    log = write_binlog(compile_plan(planned(7)))
    with Applier("maria118") as applier:
        right = replayed(planned(7), [log], applier)
        assert (right.tables, right.cells, right.differences) == (1, 4, [])
        assert replayed(planned(8), [log], applier).differences == [
            "rows: table d.t, row 1, column v: SELECT gives '7', the decode '8'"
        ]
        assert replayed(planned(7), [log[:-20]], applier).differences[0].startswith("applier: ")
