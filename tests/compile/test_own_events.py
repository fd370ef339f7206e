"""Events that a scenario places: where they stand, what they say, and what readers do with them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.binlog import read_events, write_binlog
from forge.binlog.listing import assemble, listing_text
from forge.compile import compile_plan
from forge.decode.decode import canonical_events, canonical_rows
from forge.engine.requests.statements import PlacedEvent
from forge.errors import ScenarioError
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid
from forge.record.session import options_for
from forge.scenario import Scenario, Statement, event, insert, plan, update
from forge.servers import server_line

TABLE = "CREATE TABLE t.a (id INT NOT NULL PRIMARY KEY, v INT)"


def scenario(*transactions: list[Statement], server: str = "mysql-9.7", **session: Any) -> Scenario:
    return Scenario(scenario="own", server=server, session=session, tables=[TABLE], transactions=list(transactions))  # type: ignore[arg-type]


def names(made: Scenario) -> list[str]:
    return [one.event.type_name for one in read_events(write_binlog(compile_plan(plan(made))))]


def test_events_stand_among_the_statements_of_a_transaction() -> None:
    made = scenario(
        [
            event(110, place="begin"),
            event(111),
            event(112, place="rows"),
            insert("t.a", {"id": 1}),
            event(113),
            update("t.a", set={"v": 2}),
            event(114),
        ]
    )
    assert " ".join(names(made)).endswith(
        "ANONYMOUS_GTID 110 QUERY 111 TABLE_MAP 112 WRITE_ROWS 113 TABLE_MAP UPDATE_ROWS 114 XID STOP"
    )


@pytest.mark.parametrize(
    ("place", "neighbours"),
    [("description", ["FORMAT_DESCRIPTION", "PREVIOUS_GTIDS"]), ("head", ["PREVIOUS_GTIDS", "ANONYMOUS_GTID"]),
     ("here", ["XID", "ANONYMOUS_GTID"]), ("end", ["STOP"])],
)  # fmt: skip
def test_events_by_themselves_stand_at_the_places_of_the_file(place: Any, neighbours: list[str]) -> None:
    made = scenario([insert("t.a", {"id": 1})], [event(28, place=place)], [insert("t.a", {"id": 2})])
    found = names(made)
    number = found.index("IGNORABLE")
    assert [found[number - 1], *found[number + 1 : number + 2]] == neighbours


def test_an_event_between_groups_does_not_count_to_the_group_before_it() -> None:
    plain = scenario([insert("t.a", {"id": 1})], [insert("t.a", {"id": 2})])
    marked = scenario([insert("t.a", {"id": 1})], [event(28, text="x")], [insert("t.a", {"id": 2})])

    def lengths(made: Scenario) -> list[Any]:
        bodies = [one.event.body for one in read_events(write_binlog(compile_plan(plan(made))))]
        return [body.transaction_length for body in bodies if isinstance(body, AnonymousGtid)]

    assert lengths(marked) == lengths(plain)


def test_an_event_inside_a_transaction_counts_to_it_and_changes_nothing_else() -> None:
    one = scenario([insert("t.a", {"id": 1})])
    marked = scenario([event(28), insert("t.a", {"id": 1}), event(28)])
    assert [name for name in names(marked) if name != "IGNORABLE"] == names(one)
    assert plan(marked).contents == plan(one).contents
    rows, marked_rows = (list(canonical_rows(write_binlog(compile_plan(plan(made))))) for made in (one, marked))
    assert [change.after for change in rows] == [change.after for change in marked_rows]


def test_a_transaction_that_changes_nothing_logs_no_events_of_its_own() -> None:
    made = scenario([event(28), update("t.a", set={"v": 1}), event(28)])
    assert "IGNORABLE" not in names(made)


def test_events_inside_a_compressed_transaction_travel_in_its_payload() -> None:
    made = scenario([event(28, text="x"), insert("t.a", {"id": 1})], compression=True)
    shown = list(canonical_events(write_binlog(compile_plan(plan(made)))))
    assert [one["inner"] for one in shown if one["type"] == "IGNORABLE"] == [2]


def test_a_type_is_listed_in_format_description_if_asked_for() -> None:
    made = scenario([event(200, post_header_length=7), insert("t.a", {"id": 1})])
    body = next(read_events(write_binlog(compile_plan(plan(made))))).event.body
    assert isinstance(body, FormatDescription)
    own = server_line("mysql-9.7").post_header_bytes
    assert len(body.post_header_lengths) == 200
    assert body.post_header_lengths[199] == 7
    assert body.post_header_lengths[14] == (57 + 200) % 256
    assert body.post_header_lengths[15:42] == own[15:]


def test_the_decode_says_what_old_and_new_readers_do() -> None:
    made = scenario(
        [event(100), event(100, ignorable=True), event(28), event("ROWS_QUERY", text="x"), event("INCIDENT", text="x")]
    )
    shown = [one for one in canonical_events(write_binlog(compile_plan(plan(made)))) if one["type"] != "PREVIOUS_GTIDS"]
    assert [(one["type"], one["readers"]["old"], one["readers"]["new"]) for one in shown if "readers" in one] == [
        ("100", "stop", "stop"),
        ("100", "stop", "skip"),
        ("IGNORABLE", "stop", "skip"),
        ("ROWS_QUERY", "stop", "read"),
        ("INCIDENT", "read", "read"),
    ]


@pytest.mark.parametrize(("server", "first"), [("mysql-5.6", 44), ("mysql-5.7", 44), ("mysql-9.7", 0)])
def test_the_first_byte_of_rows_query_is_that_of_the_line(server: str, first: int) -> None:
    made = scenario([event("ROWS_QUERY", text="é" * 150), insert("t.a", {"id": 1})], server=server)
    raw = next(one for one in read_events(write_binlog(compile_plan(plan(made)))) if one.event.type_code == 29).raw
    # 300 bytes of text: the low byte of the length, though the text is whole.
    assert raw[19] == first
    assert raw[20:-4] == ("é" * 150).encode()


@pytest.mark.parametrize(
    ("placed", "sentence"),
    [
        (PlacedEvent(type="IGNORED"), "unknown event type 'IGNORED'.*did you mean 'IGNORABLE'"),
        (PlacedEvent(type=256), "256 is not an event type"),
        (PlacedEvent(type=15), "FORMAT_DESCRIPTION changes how a file is read"),
        (PlacedEvent(type=28, hex="0"), "'0' is not hex"),
        (PlacedEvent(type=28, flags=["IGNOREABLE"]), "unknown flag 'IGNOREABLE'.*did you mean 'IGNORABLE'"),
        (PlacedEvent(type=0, post_header_length=0), "lists no type 0"),
        (PlacedEvent(type=28, place="rows"), "an event by itself has no place 'rows'"),
    ],
)
def test_what_is_no_event_is_refused(placed: PlacedEvent, sentence: str) -> None:
    with pytest.raises(ScenarioError, match=sentence):
        plan(scenario([Statement(event=placed)]))


def test_places_are_those_of_a_transaction_inside_one() -> None:
    with pytest.raises(ScenarioError, match="inside a transaction has no place 'head'"):
        plan(scenario([event(28, place="head"), insert("t.a", {"id": 1})]))
    with pytest.raises(ScenarioError, match="no rows follow the event"):
        plan(scenario([insert("t.a", {"id": 1}), event(28, place="rows")]))


def test_events_alone_make_no_transaction() -> None:
    made = scenario([insert("t.a", {"id": 1})]).transaction(event(28), explicit=True)
    with pytest.raises(ScenarioError, match="events alone make no transaction"):
        plan(made)


def test_a_scenario_with_events_of_its_own_cannot_be_recorded() -> None:
    with pytest.raises(ScenarioError, match="no server writes the events"):
        options_for(plan(scenario([event(28), insert("t.a", {"id": 1})])))


@given(
    st.lists(
        st.tuples(st.integers(0, 255).filter(lambda code: code not in (15, 40)), st.binary(max_size=40), st.booleans()),
        max_size=4,
    )
)
def test_files_with_any_events_are_listed_and_assembled_again(placed: list[tuple[int, bytes, bool]]) -> None:
    own = [event(code, hex=data.hex(), ignorable=flag) for code, data, flag in placed]
    made = scenario([*own, insert("t.a", {"id": 1})])
    data = write_binlog(compile_plan(plan(made)))
    assert assemble("".join(listing_text(data))) == data
