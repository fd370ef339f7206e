"""Bodies that are taken field by field, held against construct."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import FormatError
from forge.events import layout
from forge.events.format import FormatContext
from forge.events.layout import Body
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
