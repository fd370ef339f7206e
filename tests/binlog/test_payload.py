"""Payloads: every form that readers take gives the same bytes, and heads that tell something else are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.binlog.payload import PayloadForm, compress_bytes, payload_bytes
from forge.errors import FormatError
from forge.events.format import FormatContext
from forge.events.packed import pack_int
from forge.events.transaction_payload import NONE, TransactionPayload

DATA = b"some bytes, " * 50
BODY = compress_bytes(DATA)
COMPRESSION, SIZE, LENGTH = BODY.values


def forms(levels: st.SearchStrategy[int], content_size: st.SearchStrategy[bool]) -> st.SearchStrategy[PayloadForm]:
    return st.builds(
        PayloadForm,
        level=levels,
        compression=st.sampled_from([0, NONE]),
        frames=st.integers(1, 5),
        content_size=content_size,
        frame_checksum=st.booleans(),
    )


#: Of unknown size, the highest levels take a second each for tables that fit any.
FORMS = forms(st.integers(1, 12), st.booleans()) | forms(st.integers(1, 22), st.just(True))


@given(st.binary(max_size=3000), FORMS)
def test_every_form_gives_the_bytes_back(data: bytes, form: PayloadForm) -> None:
    body = compress_bytes(data, form)
    assert payload_bytes(body) == data
    parsed = TransactionPayload.parse(body.build(FormatContext()), FormatContext())
    assert payload_bytes(parsed) == data


def test_order_and_unknown_fields_of_the_head_do_not_matter() -> None:
    """As for mysqlbinlog 9.7."""
    assert payload_bytes(BODY.replace(values=tuple(reversed(BODY.values)))) == DATA
    assert payload_bytes(BODY.replace(values=((9, b"abc"), *BODY.values))) == DATA
    assert payload_bytes(BODY.replace(values=(COMPRESSION, LENGTH))) == DATA


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (BODY.replace(values=(SIZE, LENGTH)), "no compression type"),
        (BODY.replace(values=(COMPRESSION, SIZE)), "no payload size"),
        (BODY.replace(values=((2, pack_int(1)), SIZE, LENGTH)), "unknown compression 1"),
        (BODY.replace(payload=BODY.payload + b"x"), "announces a payload of"),
        (BODY.replace(payload=BODY.payload[:-1]), "announces a payload of"),
        (
            BODY.replace(values=(COMPRESSION, (3, pack_int(599)), LENGTH)),
            "announces 599 bytes, but more were decompressed",
        ),
        (BODY.replace(values=(COMPRESSION, (3, pack_int(1 << 31)), LENGTH)), "announces 2147483648 bytes"),
    ],
)
def test_a_head_that_tells_something_else_is_refused(body: TransactionPayload, rule: str) -> None:
    with pytest.raises(FormatError, match=rule):
        payload_bytes(body)
