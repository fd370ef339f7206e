"""A plan run on a real server and the plan compiled with the session's facts are the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from forge.binlog.difference import first_difference
from forge.binlog.writer import write_binlog
from forge.compile import compile_plan
from forge.errors import EnvironmentMissing, ScenarioError
from forge.plan.plan import Plan
from forge.record.facts import facts_of
from forge.record.session import options_for, record_plan

MakePlan = Callable[..., Plan]


@pytest.mark.servers
@pytest.mark.parametrize(
    "session",
    [
        {"gtid": True, "rows_query": True, "row_metadata": "full"},
        {"checksum": "none", "ends_with": "rotate", "server_id": 4_294_967_295},
        {"gtid": True, "ends_with": "nothing", "timestamp": "2023-11-14 22:13:20.5", "foreign_key_checks": False},
    ],
)
def test_the_compiler_gives_the_recorded_bytes(make_plan: MakePlan, session: dict[str, Any]) -> None:
    recorded = record_plan(make_plan(**session), ask="SELECT v FROM shop.t ORDER BY id;")
    assert recorded.answers == "é\n"
    compiled = write_binlog(compile_plan(make_plan(facts_of(recorded.binlog), **session)))
    assert first_difference(recorded.binlog, compiled) is None


def test_the_session_becomes_server_options(make_plan: MakePlan) -> None:
    options = options_for(make_plan(gtid=False, checksum="none", row_metadata="full", server_id=7))
    assert {"--gtid-mode=OFF", "--binlog-checksum=NONE", "--binlog-row-metadata=FULL", "--server-id=7"} <= {*options}


@pytest.mark.parametrize("session", [{"binlog_row_event_max_size": 1000}, {"metadata": {"charset": "column"}}])
def test_a_session_that_no_server_can_have_is_refused(make_plan: MakePlan, session: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError, match="cannot be recorded"):
        options_for(make_plan(**session))


def test_a_line_without_a_real_server_is_refused(make_plan: MakePlan) -> None:
    plan = make_plan()
    other = Plan(plan.name, "mysql-8.4", plan.session, plan.groups)
    with pytest.raises(EnvironmentMissing, match=r"mysql-8\.4"):
        record_plan(other)
