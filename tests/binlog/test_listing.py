"""The listing loses nothing: whole files, torn ones, and files with any byte changed; in YAML and in JSON lines."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forge.binlog import write_binlog
from forge.binlog.listing import assemble, disassemble, listing_json, listing_text
from forge.binlog.window import LogWindow
from forge.binlog.writer import Item
from forge.errors import ScenarioError
from forge.testing.events import files
from tests.recorded import ALL_LOGS, LOGS

SMALL = [path for path in LOGS if path.stat().st_size < 2000]


def name_of(path: Path) -> str:
    return path.parent.name


def keeps(data: bytes) -> bool:
    return assemble("".join(listing_text(data))) == data


@pytest.mark.slow
@pytest.mark.parametrize("path", LOGS, ids=name_of)
def test_a_recording_comes_back_from_yaml_and_from_json(path: Path) -> None:
    data = path.read_bytes()
    assert keeps(data)
    assert assemble("".join(listing_json(data))) == data


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in LOGS if path.name.startswith("binlog.")], ids=name_of)
def test_a_clean_file_has_a_clean_listing(path: Path) -> None:
    pinned = {
        "event_size",
        "checksum",
        "bytes",
        "file",
        "body",
        "database_length",
        "status_length",
        "transaction_length",
    }
    mariadb = b"MariaDB" in path.read_bytes()[:80]
    for document in disassemble(path.read_bytes()):
        assert not pinned & set(document), document
        # MariaDB 11.4 and later write log_pos 0 inside transactions.
        assert "log_pos" not in document or mariadb


@given(st.sampled_from(SMALL), st.data())
def test_a_recording_cut_anywhere_comes_back(path: Path, data: st.DataObject) -> None:
    whole = path.read_bytes()
    assert keeps(whole[: data.draw(st.integers(0, len(whole)))])


@given(st.sampled_from(SMALL), st.data())
@pytest.mark.slow
def test_a_recording_with_a_byte_changed_comes_back(path: Path, data: st.DataObject) -> None:
    changed = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(changed) - 1))
    changed[place] ^= data.draw(st.integers(1, 255))
    assert keeps(bytes(changed))
    assert assemble("".join(listing_json(bytes(changed)))) == bytes(changed)


def test_the_smallest_recording_comes_back_cut_at_every_byte_and_with_every_byte_changed() -> None:
    data = min(LOGS, key=lambda path: path.stat().st_size).read_bytes()
    for place in range(len(data)):
        assert keeps(data[:place]), place
        for mask in (0x01, 0x80):
            assert keeps(data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :]), (place, mask)


@given(files())
def test_any_events_come_back_readable_or_raw(items: list[Item]) -> None:
    data = write_binlog(items)
    assert keeps(data)


@given(st.binary(max_size=80))
@example(b"")
@example(b"\xfebin")
@example(b"\xfebin" + bytes(18))
@example(b"\xfdbin" + bytes(40))
def test_bytes_that_are_no_binlog_come_back(data: bytes) -> None:
    assert keeps(data)
    assert keeps(b"\xfebin" + data)


@pytest.mark.parametrize("end", [None, -1, -20, 700, 130, 20, 5, 4, 3, 0])
def test_a_file_and_a_pipe_that_are_read_in_windows_have_the_same_listing(
    end: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forge.binlog.window.WINDOW", 64)
    recording = next(path for path in ALL_LOGS if path.parent.name == "first-day").read_bytes()
    for data in (recording[:end], b"no log: " + recording[:end]):
        expected = list(listing_text(data))
        assert list(listing_text(LogWindow(io.BytesIO(data)))) == expected
        (tmp_path / "log").write_bytes(data)
        with (tmp_path / "log").open("rb") as file:
            assert list(listing_text(LogWindow(file))) == expected


def test_an_edited_row_is_assembled_with_new_lengths_positions_and_checksums() -> None:
    path = next(path for path in ALL_LOGS if path.parent.name == "first-day")
    text = "".join(listing_text(path.read_bytes()))
    edited = assemble(text.replace("Ann", "Annabel Lee"))
    assert len(edited) > path.stat().st_size
    assert keeps(edited)
    assert "checksum:" not in "".join(listing_text(edited))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "event: QUERZ\n",
            "x.yaml:1: unknown event type 'QUERZ'; expected the name of an event type, or its number (0 to 255);"
            " did you mean 'QUERY'?",
        ),
        ("event: XID\nxid: many\n", "x.yaml:1: xid is 'many'; expected a whole number"),
        ("event: XID\nxids: 3\n", "x.yaml:1: XID has no field 'xids'; expected one of xid; did you mean 'xid'?"),
        ("---\nevent: STOP\n---\nevent: XID\n", "x.yaml:4: XID needs the field 'xid'"),
        ("event: STOP\nflags: [IGNORABEL]\n", "x.yaml:1: unknown flag 'IGNORABEL'"),
        ("event: STOP\nflags: {IGNORABLE: true}\n", "x.yaml:1: unknown flag {'IGNORABLE': True}"),
        ("event: STOP\nflags: [[]]\n", "x.yaml:1: unknown flag []"),
        ("bytes: 0g\n", "x.yaml:1: bytes is not hexadecimal; expected pairs of the digits 0-9 a-f"),
        ("- a list\n", "x.yaml:1: this document is not an event; expected a mapping"),
        ("event: WRITE_ROWS\ntable_id: 9\nrows: []\n", "x.yaml:1: no TABLE_MAP before this event maps table_id 9"),
        (
            "event: TABLE_MAP\ntable_id: 1\ntable: t\ndatabase: d\ncolumns: []\n"
            "optional_metadata: {column_charset: null}\n",
            "x.yaml:1: a record of optional_metadata is [3, None]; expected a value of the form",
        ),
        ("event: QUERY\nquery: ''\nstatus_variables: {charset: [1]}\n", "x.yaml: QUERY event: "),
        (
            "event: 70\nbody: '0102'\nextra: 1\n",
            "x.yaml:1: 70 events are kept as bytes; expected the field body, in hexadecimal",
        ),
    ],
)
def test_a_wrong_listing_gets_one_sentence_with_its_line(text: str, sentence: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        assemble(text, file="x.yaml")
    assert str(caught.value).startswith(sentence)
