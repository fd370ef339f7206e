"""Payloads: every form that readers take gives the same bytes, and heads that tell something else are refused."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.binlog.listing import assemble, disassemble, listing_text
from forge.binlog.payload import LEVELS, Content, PayloadForm, compress_bytes, likely_levels, payload_bytes
from forge.binlog.writer import write_binlog
from forge.compile import compile_plan
from forge.errors import FormatError
from forge.events.format import FormatContext
from forge.events.packed import pack_int
from forge.events.transaction_payload import NONE, TransactionPayload
from forge.scenario import Scenario, Session, insert, plan

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
        flushed=st.booleans(),
    )


#: Of unknown size, the highest levels take a second each for tables that fit any.
FORMS = forms(st.integers(1, 12), st.booleans()) | forms(st.integers(1, 22), st.just(True))


@given(st.binary(max_size=3000), FORMS)
def test_every_form_gives_the_bytes_back(data: bytes, form: PayloadForm) -> None:
    body = compress_bytes(data, form)
    assert payload_bytes(body) == data
    parsed = TransactionPayload.parse(body.build(FormatContext()), FormatContext())
    assert payload_bytes(parsed) == data


@given(
    st.binary(max_size=400),
    FORMS.filter(lambda form: form.compression != NONE),
    st.integers(1, 150),
    st.integers(-3, 3),
)
def test_content_comes_in_pieces_of_any_size_and_the_last_one_only_where_the_whole_is_as_long_as_was_said(
    data: bytes, form: PayloadForm, piece: int, more: int
) -> None:
    said = max(len(data) + more, 0)
    content = Content(compress_bytes(data, form).payload, said, 1 << 10)
    room, found = bytearray(piece), b""
    try:
        while got := content.readinto(memoryview(room)):
            found += room[:got]
            assert got == piece or len(found) == len(data)
    except FormatError as error:
        assert said != len(data)
        assert f"the header announces {said} bytes" in error.rule
        assert data.startswith(found)
        assert len(found) < max(len(data), 1)
    else:
        assert (said, found) == (len(data), data)


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


@pytest.mark.parametrize(("server", "flushed"), [("mysql-8.0.23", True), ("mysql-8.0", True), ("mysql-8.4", False)])
def test_servers_of_8_0_tell_no_size_and_flush_their_frames(server: str, flushed: bool) -> None:
    """As in public logs of 8.0.31 and 8.0.32; the listing has the events inside, and can be edited."""
    scenario = Scenario("x", server=server, session=Session(compression=True), tables=["CREATE TABLE d.t (id INT)"])
    scenario = msgspec.structs.replace(scenario, transactions=[[insert("d.t", {"id": 7})]])
    data = write_binlog(compile_plan(plan(scenario)))
    (listed,) = (each for each in disassemble(data) if each["event"] == "TRANSACTION_PAYLOAD")
    assert listed.get("flushed", False) is flushed
    assert [inner["event"] for inner in listed["events"]] == ["QUERY", "TABLE_MAP", "WRITE_ROWS", "XID"]
    text = "".join(listing_text(data))
    assert assemble(text) == data
    edited = assemble(text.replace("'@1': 7", "'@1': 70000"))
    (again,) = (each for each in disassemble(edited) if each["event"] == "TRANSACTION_PAYLOAD")
    assert again.get("flushed", False) is flushed
    assert again["events"][2]["rows"] == [{"@1": 70000}]


@pytest.mark.parametrize("level", [1, 2, 3, 7, 12, 16, 19])
def test_a_frame_of_unknown_size_says_by_its_window_at_which_levels_it_may_have_been_made(level: int) -> None:
    made = compress_bytes(DATA, PayloadForm(level, content_size=False, flushed=True)).payload
    found = likely_levels(made, LEVELS)
    assert level in found
    assert len(found) <= 8
    assert likely_levels(BODY.payload, LEVELS) == []


def test_no_level_is_tried_whose_tables_take_hundreds_of_megabytes_for_any_content() -> None:
    largest_windows = (b"\x28\xb5\x2f\xfd\0" + bytes([window - 10 << 3]) for window in (25, 26, 27))
    assert [likely_levels(frame, LEVELS) for frame in largest_windows] == [[], [], []]
