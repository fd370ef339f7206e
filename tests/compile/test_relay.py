"""The relay log of a replica, without a server: what it has of its own and what it has of the source."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.binlog import read_events, write_binlog
from forge.compile import compile_files, file_names, index_of_plan, write_files
from forge.errors import UnsupportedError
from forge.events.rotate import Rotate
from forge.plan.session import RelayLog, Session
from forge.record.facts import facts_of
from forge.scenario import Scenario, flush_binary_logs, insert, plan, restart

OWN = ("FORMAT_DESCRIPTION", "PREVIOUS_GTIDS", "ROTATE", "STOP")


def scenario(server: str, flushes: int, relay: RelayLog | None) -> Scenario:
    made = Scenario(
        "relay",
        server=server,
        session=Session(gtid=True, relay_log=relay, ends_with="stop" if relay else "nothing"),
        tables=["CREATE TABLE d.t (a INT)"],
    )
    for number in range(flushes + 1):
        made = made.transaction(flush_binary_logs()) if number else made
        made = made.transaction(insert("d.t", {"a": number}))
    return made


def files_of(server: str, flushes: int, relay: RelayLog | None) -> list[bytes]:
    return [write_binlog(events) for events in compile_files(plan(scenario(server, flushes, relay)))]


@pytest.mark.parametrize("server", ["mysql-5.7", "mysql-9.7", "mariadb-11.8"])
@given(flushes=st.integers(0, 3))
def test_the_sources_events_stand_in_order_and_with_their_positions(server: str, flushes: int) -> None:
    source = files_of(server, flushes, None)
    relay = files_of(server, flushes, RelayLog())
    assert len(relay) == 1 + 2 * len(source) - 1

    def of_source(files: list[bytes]) -> list[bytes]:
        events = [placed for data in files for placed in read_events(data)]
        return [placed.raw for placed in events if placed.event.type_name not in OWN]

    assert of_source(relay) == of_source(source)
    kept = [
        placed.raw
        for data in relay
        for placed in read_events(data)
        if isinstance(placed.event.body, Rotate) and not placed.event.flags and placed.event.server_id == 1
    ]
    assert kept == [list(read_events(data))[-1].raw for data in source[:-1]]


def test_names_and_index_are_those_of_the_relay_log() -> None:
    planned = plan(scenario("mysql-9.7", 1, RelayLog(name="r")))
    assert file_names(planned, 2) == ["r.000001", "r.000002"]
    assert index_of_plan(planned, 2) == b"./r.000001\n./r.000002\n"


def test_its_facts_are_told_apart_from_those_of_the_source() -> None:
    found = facts_of(*files_of("mysql-9.7", 1, RelayLog(server_id=9)))
    assert len(found.relay) == 4
    assert [file.noted is not None for file in found.relay] == [False, True, False, True]
    assert len(found.later_files) == 1
    assert found.first_gno == 1


@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
@given(limit=st.sampled_from([None, 4096, 8192]), sizes=st.lists(st.integers(0, 3000), min_size=1, max_size=6))
@settings(max_examples=20, deadline=None)
@pytest.mark.slow
def test_a_relay_log_has_the_events_of_a_source_that_is_started_again_and_again(
    server: str, limit: int | None, sizes: list[int]
) -> None:
    def made(relay: RelayLog | None) -> list[bytes]:
        session = Session(gtid=True, relay_log=relay, ends_with="stop" if relay else "nothing")
        grown = Scenario("relay", server=server, session=session, tables=["CREATE TABLE d.t (a TEXT)"])
        for number, size in enumerate(sizes):
            grown = grown.transaction(restart(crash=bool(size % 2))) if number % 2 else grown
            grown = grown.transaction(insert("d.t", {"a": "x" * size}))
        return write_files(plan(grown), compile_files(plan(grown)))

    source, relay = made(None), made(RelayLog(max_size=limit))

    def of_source(files: list[bytes]) -> list[bytes]:
        events = [placed for data in files for placed in read_events(data)]
        return [placed.raw for placed in events if placed.event.type_name not in OWN]

    assert of_source(relay) == of_source(source)
    assert len(facts_of(*relay).later_files) == len(source) - 1
    assert all(list(read_events(data))[-1].event.type_name == "ROTATE" for data in relay[:-1])
    # Full by its last event, or by the last group, at most.
    assert limit is None or all(len(data) < limit + 4096 for data in relay)


def test_relay_logs_rotated_by_size_are_not_known_of_old_servers() -> None:
    with pytest.raises(UnsupportedError, match=r"mysql-5\.6 that are rotated by size"):
        files_of("mysql-5.6", 0, RelayLog(max_size=4096))


def test_mariadb_receives_compressed_events_and_stores_them_uncompressed() -> None:
    made = Scenario(
        "relay",
        server="mariadb-11.8",
        session=Session(relay_log=RelayLog(), log_bin_compress=True, log_bin_compress_min_len=10),
        tables=["CREATE TABLE d.t (a INT, b TEXT)"],
    ).transaction(insert("d.t", {"a": 1, "b": "x" * 500}))
    relay = [write_binlog(events) for events in compile_files(plan(made))]
    events = [placed.event for placed in read_events(relay[-1])]
    assert not any("COMPRESSED" in event.type_name for event in events)
    created, commit = (next(e for e in events if e.type_name == name) for name in ("QUERY", "XID"))
    assert created.log_pos is not None
    assert commit.log_pos is not None
    assert commit.log_pos - created.log_pos < 500
