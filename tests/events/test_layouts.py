"""Every event body: bytes -> body -> bytes, derived fields, and bytes that are not as they should be."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import FormatError, ScenarioError
from forge.events.event import Event, decode_event, encode_event
from forge.events.format import FormatContext
from forge.events.giving import NOT_GIVEN
from forge.events.layout import Body
from forge.events.optional_metadata import build_record, record
from forge.events.query import Query
from forge.events.registry import EVENT_TYPES
from forge.events.rows_query import RowsQuery
from forge.events.serialization import svarint, uvarint
from forge.events.start_v3 import StartV3
from forge.events.status_vars import parse_status_variables
from forge.events.table_map import TableMap
from forge.testing.events import bodies_of, events

KINDS: list[type[Body]] = list(EVENT_TYPES.values())
FORMAT = FormatContext(server_version="9.7.4", checksum=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=[kind.type_name for kind in KINDS])
def test_a_body_reads_back_as_it_was_written(kind: type[Body]) -> None:
    @given(bodies_of(kind))
    def reads_back(body: Body) -> None:
        data = body.build(FORMAT)
        again = kind.parse(data, FORMAT)
        assert again.build(FORMAT) == data
        assert again == body

    reads_back()


@given(events(), st.integers(0, 1 << 33), st.booleans())
def test_an_event_reads_back_at_any_offset_with_and_without_checksum(event: Event, offset: int, checksum: bool) -> None:
    if isinstance(event.body, StartV3) and event.body.binlog_version == 1:
        event = replace(event, flags=0)  # The header before 4.0 has none.
    format = FormatContext(checksum=checksum)
    raw = encode_event(event, offset, format)
    assert decode_event(raw, offset, format) == event


def test_a_pinned_length_is_obeyed_and_an_equal_one_is_dropped() -> None:
    wrong = Query(query="BEGIN", database="shop", database_length=3)
    assert wrong.build(FORMAT)[8] == 3
    right = Query.parse(Query(query="BEGIN", database="shop", database_length=4).build(FORMAT), FORMAT)
    assert right.database_length is None


def test_a_value_too_large_for_its_field_is_a_scenario_error_naming_the_event() -> None:
    with pytest.raises(ScenarioError, match="ROWS_QUERY event"):
        RowsQuery(unused_length=256, query="").build(FORMAT)


def test_an_unknown_status_variable_keeps_the_rest_of_the_block() -> None:
    block = bytes.fromhex("00000000007f0102030405")
    assert parse_status_variables(block) == (("flags2", 0), ("unread", bytes.fromhex("7f0102030405")))


def test_a_length_past_the_end_of_the_event_is_a_format_error_with_its_offset() -> None:
    with pytest.raises(FormatError, match="0xff does not start a packed integer") as caught:
        TableMap.parse(bytes.fromhex("6a00000000000100ff"), FORMAT)
    assert caught.value.offset == 9
    with pytest.raises(FormatError, match="200 bytes announced"):
        TableMap.parse(bytes.fromhex("6a00000000000100c86161"), FORMAT)


def test_the_serialization_librarys_integers_are_those_of_recorded_events() -> None:
    assert uvarint(7) == bytes.fromhex("0e")
    assert uvarint(170) == bytes.fromhex("a902")
    assert uvarint(90704) == bytes.fromhex("83120b")
    assert svarint(-65535) == bytes.fromhex("ebff0f")
    assert uvarint((1 << 64) - 1) == b"\xff" * 9


@pytest.mark.parametrize("kind", KINDS, ids=[kind.type_name for kind in KINDS])
def test_the_layout_says_how_derived_fields_are_derived(kind: type[Body]) -> None:
    assert {name for name, _ in kind.derivations()} == set(kind.derived_names())


@pytest.mark.parametrize("kind", KINDS, ids=[kind.type_name for kind in KINDS])
def test_damaged_bytes_are_a_body_that_says_them_or_an_error_inside_of_them(kind: type[Body]) -> None:
    @given(body=bodies_of(kind), place=st.integers(0, 1 << 16), there=st.binary(max_size=9), over=st.integers(0, 9))
    def holds(body: Body, place: int, there: bytes, over: int) -> None:
        data = body.build(FORMAT)
        place %= len(data) + 1
        for broken in (data[:place], data[:place] + there + data[place + over :], data + there):
            try:
                assert isinstance(kind.parse(broken, FORMAT).build(FORMAT), bytes)
            except FormatError as error:
                assert error.phase == "body"
                assert 0 <= (error.offset or 0) <= len(broken)

    holds()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("column_charset", (-1,)), ("column_name", (7,)), ("prefix_primary_key", ((1,),)), ("default_charset", 5)],
)
def test_a_record_of_optional_metadata_refuses_a_value_of_another_form(name: str, wrong: object) -> None:
    with pytest.raises(NOT_GIVEN):
        build_record(record(name, wrong))
