"""What is compressed or partial in a file is readable in its listing, and nothing of it is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.binlog import read_events, write_binlog
from forge.binlog.listing import assemble, disassemble, listing_json, listing_text
from forge.binlog.payload import LEVELS, PayloadForm, compress_bytes, inner_events, inner_format, payload_bytes
from forge.cli.app import run
from forge.errors import FormatError, ScenarioError
from forge.events.event import Event, advance, encode_event
from forge.events.format import FormatContext
from forge.events.mariadb_compressed import QueryCompressed, compress_block
from forge.events.stop import Stop
from forge.events.transaction_payload import NONE, TransactionPayload
from forge.resources import corpora_dir

RECORDED = Path(__file__).with_name("recorded")
PARTIAL = RECORDED / "mysql-9.7-partial-json.000001"
COMPRESSED = RECORDED / "mariadb-11.8-compressed-events.000001"
PAYLOADS = corpora_dir() / "recordings" / "compressed" / "binlog.000001"
FILES = [PARTIAL, COMPRESSED, PAYLOADS]


def keeps(data: bytes) -> bool:
    text = "".join(listing_text(data))
    return assemble(text) == data and assemble("".join(listing_json(data))) == data


def nested(levels: int) -> Iterator[bytes]:
    """A file with so many payloads inside each other."""
    first = next(iter(read_events(PAYLOADS.read_bytes())))
    yield b"\xfebin" + first.raw
    context = advance(first.format, first.event)
    data = encode_event(Event(body=Stop(), timestamp=1, server_id=1, log_pos=0), 0, inner_format(context))
    for _ in range(levels - 1):
        body = compress_bytes(data)
        data = encode_event(Event(body=body, timestamp=1, server_id=1, log_pos=0), 0, inner_format(context))
    yield encode_event(Event(body=compress_bytes(data), timestamp=1, server_id=1), 4 + len(first.raw), context)


def documents(path: Path, name: str) -> list[dict[str, Any]]:
    return [document for document in disassemble(path.read_bytes()) if str(document.get("event")).startswith(name)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_recorded_file_comes_back(path: Path) -> None:
    assert keeps(path.read_bytes())


def test_diffs_of_partial_updates_are_listed_one_by_one() -> None:
    rows = [row for document in documents(PARTIAL, "PARTIAL_UPDATE_ROWS") for row in document["rows"]]
    assert rows[0]["after"]["a"] == {"diffs": [["REPLACE", "$.x", "2"]]}
    assert rows[0]["after"]["b"] == {"diffs": []}
    assert rows[1]["after"]["a"] == {"diffs": [["REMOVE", "$.y[0]"]]}
    assert not any({"value_options", "partial_bits"} & set(row) for row in rows)


def test_compressed_rows_and_texts_are_listed_as_plain_ones() -> None:
    (written,) = documents(COMPRESSED, "WRITE_ROWS_COMPRESSED")
    assert written["rows"][0] == {"a": 1, "b": "one one one one one one one"}
    assert [row["after"]["b"] for row in documents(COMPRESSED, "UPDATE_ROWS_COMPRESSED")[0]["rows"]][
        1
    ] == "two " * 3 + ("twotwo two two two")
    assert documents(COMPRESSED, "QUERY_COMPRESSED")[0]["query"].startswith("CREATE TABLE t")


def test_the_events_of_a_payload_are_listed_and_can_be_edited() -> None:
    text = "".join(listing_text(PAYLOADS.read_bytes()))
    edited = assemble(text.replace("the same text again and again}", "another text}"))
    assert len(edited) < len(PAYLOADS.read_bytes())
    inner = [
        event
        for placed in read_events(edited)
        if isinstance(placed.event.body, TransactionPayload)
        for event in inner_events(placed.event.body, FormatContext())
    ]
    assert any(b"another text" in getattr(event.body, "rows", b"") for event in inner)
    assert keeps(edited)


@given(st.sampled_from(FILES), st.data())
@pytest.mark.slow
def test_a_file_cut_anywhere_and_with_a_byte_changed_comes_back(path: Path, data: st.DataObject) -> None:
    changed = bytearray(path.read_bytes())
    changed = changed[: data.draw(st.integers(len(changed) // 2, len(changed)))]
    place = data.draw(st.integers(0, len(changed) - 1))
    changed[place] ^= data.draw(st.integers(0, 255))
    assert assemble("".join(listing_text(bytes(changed)))) == bytes(changed)


def description() -> Event:
    return next(placed.event for placed in read_events(PAYLOADS.read_bytes()))


def with_payload(body: TransactionPayload) -> bytes:
    return write_binlog([description(), Event(body=body)])


def inner_bytes() -> bytes:
    body = next(
        p.event.body for p in read_events(PAYLOADS.read_bytes()) if isinstance(p.event.body, TransactionPayload)
    )
    return payload_bytes(body)


@settings(max_examples=40)
@given(st.sampled_from(LEVELS), st.data())
def test_damaged_events_inside_a_sound_payload_come_back(level: int, data: st.DataObject) -> None:
    changed = bytearray(inner_bytes())
    changed = changed[: data.draw(st.integers(len(changed) - 100, len(changed)))]
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(0, 255))
    file = with_payload(compress_bytes(bytes(changed), PayloadForm(level)))
    listed = list(disassemble(file))[-1]
    assert "events" in listed
    assert keeps(file)


def test_a_payload_without_compression_says_so() -> None:
    file = with_payload(compress_bytes(inner_bytes(), PayloadForm(compression=NONE)))
    listed = list(disassemble(file))[-1]
    assert listed["compression"] == "none"
    assert listed["events"][0]["query"] == "BEGIN"
    assert keeps(file)


def test_a_payload_of_several_frames_is_read_and_kept_as_it_is() -> None:
    data = inner_bytes()
    compressor = zstandard.ZstdCompressor(level=3)
    body = compress_bytes(data)
    frames = compressor.compress(data[:500]) + compressor.compress(data[500:])
    several = TransactionPayload(
        values=(*body.values[:2], (1, bytes([0xFC]) + len(frames).to_bytes(2, "little"))), payload=frames
    )
    assert payload_bytes(several) == data
    file = with_payload(several)
    assert "events" not in list(disassemble(file))[-1]
    assert keeps(file)


def test_a_block_that_zlib_made_otherwise_stays_bytes() -> None:
    import zlib

    text = b"SELECT 1" * 20
    block = compress_block(text)[:2] + zlib.compress(text, 1)
    file = write_binlog([description(), Event(body=QueryCompressed(block=block))])
    assert list(disassemble(file))[-1]["block"] == block.hex()
    assert keeps(file)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"events": 1}, "events is not a list"),
        ({"events": [], "level": 23}, "level is 23; expected 1 to 22"),
        ({"events": [], "compression": "lz4"}, "compression is 'lz4'; expected one of zstd, none"),
        ({"events": [], "payload": "00"}, "payload cannot be combined with events"),
        ({"events": [{"event": "XIDD"}]}, "unknown event type 'XIDD'"),
    ],
)
def test_a_wrong_payload_gets_one_sentence(fields: dict[str, Any], sentence: str) -> None:
    import json

    with pytest.raises(ScenarioError) as caught:
        assemble(json.dumps({"event": "TRANSACTION_PAYLOAD"} | fields))
    assert sentence in str(caught.value)


def test_a_payload_of_a_made_up_size_is_refused_without_being_unpacked() -> None:
    body = compress_bytes(bytes(1000))
    with pytest.raises(FormatError, match="announces 1001 bytes"):
        payload_bytes(body.replace(values=(body.values[0], (3, b"\xfc\xe9\x03"), body.values[2])))


@pytest.mark.parametrize("levels", [1, 4, 5, 120, 2000])
def test_payloads_inside_each_other_are_listed_and_come_back(levels: int) -> None:
    data = b"".join(nested(levels))
    text = "".join(listing_text(data))
    assert assemble(text) == data
    assert text.count("TRANSACTION_PAYLOAD") == min(levels, 5)


@pytest.mark.parametrize(("levels", "code"), [(4, 0), (5, 3), (2000, 3)])
def test_payloads_inside_each_other_are_labelled_down_to_the_fourth(
    levels: int, code: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "binlog.000001"
    path.write_bytes(b"".join(nested(levels)))
    assert run(["bytes", str(path)]) == code
    assert ("more than 4 payloads lie inside each other" in capfd.readouterr().err) == bool(code)


def test_a_listing_with_payloads_too_deep_is_refused() -> None:
    document: dict[str, object] = {"event": "STOP", "timestamp": 1, "server_id": 1}
    for _ in range(6):
        document = {"event": "TRANSACTION_PAYLOAD", "timestamp": 1, "server_id": 1, "events": [document]}
    with pytest.raises(ScenarioError, match="more than 4 payloads lie inside each other"):
        assemble(json.dumps(document))


def test_an_empty_text_is_no_listing() -> None:
    with pytest.raises(ScenarioError, match="the listing is empty"):
        assemble("\n")
    for listing in (listing_text, listing_json):
        assert assemble("".join(listing(b"\xfebin"))) == b"\xfebin"
