"""Binary logs of a group of three servers (MySQL 9.7, single-primary mode), recorded with SQL of our own.

``primary.000001`` and ``secondary.000001`` are those of two members, ``applier.000002`` is the relay log of the channel
``group_replication_applier`` of the second.  docs/servers/replicas.md says what is in them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.binlog.listing import assemble, listing_text
from forge.binlog.reader import read_events
from forge.events.gtid import Gtid
from forge.record.recording import verify_against

HERE = Path(__file__).parent / "group_replication"


@pytest.mark.parametrize("member", ["primary", "secondary"])
def test_a_scenario_makes_the_binary_log_of_a_member_of_a_group(member: str) -> None:
    log = HERE / f"{member}.000001"
    result = verify_against(HERE / f"{member}.yaml", {log.name: log.read_bytes()})
    assert result.difference is None


def test_the_relay_log_of_the_groups_applier_has_the_transactions_of_the_primary() -> None:
    data = (HERE / "applier.000002").read_bytes()
    listing = "".join(listing_text(data))
    assert assemble(listing) == data
    gtids = [placed.event.body for placed in read_events(data) if isinstance(placed.event.body, Gtid)]
    assert {body.uuid for body in gtids} == {"aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"}
    assert [body.gno for body in gtids] == list(range(1, 9))
