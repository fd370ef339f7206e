"""Bodies that are taken field by field, held against construct."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import FormatError
from forge.events import layout, optional_metadata
from forge.events.format import FormatContext
from forge.events.layout import Body
from forge.events.optional_metadata import OPTIONAL_METADATA, MetadataRecord, build_record, parse_value
from forge.events.packed import pack_int
from forge.events.registry import EVENT_TYPES
from forge.events.taking import body_taker
from forge.testing.events import bodies_of

pytestmark = pytest.mark.slow

FORMATS = (FormatContext(), FormatContext("5.1.4", bytes(18) + b"\6"), FormatContext("9.7.0", checksum=True))
TAKEN = sorted(
    {body for body in EVENT_TYPES.values() if body_taker(body.layout) is not None}, key=lambda b: b.type_code
)


def parsed(kind: type[Body], data: bytes, format: FormatContext) -> Any:
    """The body, or what is said of bytes that are none."""
    try:
        return kind.parse(data, format)
    except FormatError as error:
        return str(error), error.phase, error.offset


@pytest.mark.parametrize("kind", TAKEN, ids=lambda kind: kind.type_name)
def test_a_body_is_taken_as_construct_parses_it(kind: type[Body]) -> None:
    @given(
        body=bodies_of(kind),
        format=st.sampled_from(FORMATS),
        place=st.integers(0, 1 << 16),
        bytes_there=st.binary(max_size=9),
        over=st.integers(0, 9),
    )
    def agrees(body: Body, format: FormatContext, place: int, bytes_there: bytes, over: int) -> None:
        data = body.build(FormatContext())
        place %= len(data) + 1
        for broken in (data, data[:place], data[:place] + bytes_there + data[place + over :], data + bytes_there):
            quickly = parsed(kind, broken, format)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(layout, "body_taker", lambda _: None)
                assert quickly == parsed(kind, broken, format)

    agrees()


def test_the_events_of_a_transaction_are_taken() -> None:
    names = {kind.type_name for kind in TAKEN}
    rows = {f"{word}_ROWS{version}" for word in ("WRITE", "UPDATE", "DELETE") for version in ("", "_V1")}
    assert names >= {"GTID", "ANONYMOUS_GTID", "QUERY", "XID", "ROTATE", "ROWS_QUERY", *rows}


@pytest.mark.parametrize("kind", TAKEN, ids=lambda kind: kind.type_name)
def test_the_layout_of_a_taken_body_says_how_its_derived_fields_are_derived(kind: type[Body]) -> None:
    assert {name for name, _ in kind.derivations()} == set(kind.derived_names())


NUMBERS = st.integers(0, 300) | st.sampled_from((1 << 16, 1 << 24, (1 << 64) - 1))
ITEMS = st.one_of(
    st.builds(pack_int, NUMBERS), st.binary(max_size=300).map(lambda name: pack_int(len(name)) + name), st.binary()
)


@given(code=st.sampled_from(sorted(OPTIONAL_METADATA)), items=st.lists(ITEMS, max_size=6))
def test_a_record_of_optional_metadata_is_taken_and_given_as_construct_does_it(code: int, items: list[bytes]) -> None:
    data = b"".join(items)
    value = parse_value(code, data)
    record = MetadataRecord(code, value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optional_metadata, "_TAKERS", {})
        assert value == parse_value(code, data)
        patch.setattr(optional_metadata, "_GIVERS", {})
        by_construct = build_record(record)
    assert build_record(record) == by_construct == bytes([code]) + pack_int(len(data)) + data


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("column_charset", (-1,)), ("column_name", (7,)), ("prefix_primary_key", ((1,),)), ("default_charset", 5)],
)
def test_a_value_of_another_form_is_refused_as_construct_refuses_it(name: str, wrong: Any) -> None:
    record = optional_metadata.record(name, wrong)

    def refusal() -> str:
        with pytest.raises(Exception) as caught:
            build_record(record)
        return repr(caught.value)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optional_metadata, "_GIVERS", {})
        by_construct = refusal()
    assert refusal() == by_construct
