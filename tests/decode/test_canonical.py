"""The canonical decode of recordings, and of bytes that no server wrote."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.binlog.logged import logged_events
from forge.decode.cells import Cell
from forge.decode.decode import canonical_events, canonical_rows
from forge.decode.printed import render_text
from forge.decode.schema import decode_schema
from forge.errors import FormatError, UnsupportedError
from forge.events.plain import printable, text_or_hex, to_text
from forge.values.base import Column

Recording = Callable[[str], bytes]
Broken = Callable[[str, str, Mapping[int, int]], bytes]
Replaced = Callable[[str, bytes, bytes], bytes]


def values(data: bytes, table: str) -> list[dict[str, Any]]:
    """The after images (before images of deletes) of a table's rows, by column name or number."""
    found = []
    for event in canonical_events(data):
        for row in event.get("rows", ()):
            if event["table"] == table:
                cells = row["after"] if row["after"] is not None else row["before"]
                found.append({cell.get("name", cell["column"]): cell.get("value", cell.get("hex")) for cell in cells})
    return found


@pytest.fixture(scope="module")
def validator() -> Any:
    jsonschema = pytest.importorskip("jsonschema")
    schema = decode_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.slow
def test_every_event_of_every_recording_has_the_published_shape(
    any_recording: str, recording: Recording, validator: Any
) -> None:
    for event in canonical_events(recording(any_recording)):
        problems = [f"{list(error.path)}: {error.message}" for error in validator.iter_errors(event)]
        assert (event["index"], problems) == (event["index"], [])


def test_every_event_survives_json_and_prints_on_printable_lines(any_recording: str, recording: Recording) -> None:
    for event in canonical_events(recording(any_recording)):
        assert json.loads(json.dumps(event)) == event
        assert all(line.isprintable() for line in render_text(event).split("\n"))


def test_the_schema_refuses_a_number_as_a_value_and_a_field_that_nobody_knows(
    recording: Recording, validator: Any
) -> None:
    event = next(event for event in canonical_events(recording("year-zero")) if "rows" in event)
    assert validator.is_valid(event)
    event["rows"][0]["after"][0]["value"] = 0
    assert not validator.is_valid(event)
    event["rows"][0]["after"][0]["value"] = "0000"
    assert validator.is_valid(event)
    event["fields"]["surprise"] = 1
    assert not validator.is_valid(event)


def test_an_event_shows_its_header_and_checksum(recording: Recording) -> None:
    data = recording("types-full")
    events = list(canonical_events(data))
    assert [event["index"] for event in events] == list(range(len(events)))
    assert [event["offset"] for event in events[1:]] == [event["log_pos"] for event in events[:-1]]
    assert events[-1]["offset"] + events[-1]["event_size"] == len(data)
    assert events[0]["type"] == "FORMAT_DESCRIPTION"
    assert events[1]["flags"] == ["IGNORABLE"]
    assert {json.dumps(event["checksum"]) for event in events} == {'{"algorithm": "CRC32", "valid": true}'}


def test_without_checksums_only_the_format_description_has_one(recording: Recording) -> None:
    checksums = [event["checksum"] for event in canonical_events(recording("images-no-checksum"))]
    assert checksums[0] == {"algorithm": "CRC32", "valid": True}
    assert {json.dumps(checksum) for checksum in checksums[1:]} == {'{"algorithm": "NONE", "valid": null}'}


@pytest.mark.parametrize("name", ["types-full", "types-minimal"])
def test_integers_keep_their_extremes_with_both_kinds_of_metadata(recording: Recording, name: str) -> None:
    low, high, null, _ = (list(row.values()) for row in values(recording(name), "ints"))
    assert low[:10] == [
        "-128", "255", "-32768", "65535", "-8388608", "16777215", "-2147483648", "4294967295",
        "-9223372036854775808", "18446744073709551615",
    ]  # fmt: skip
    assert low[10:] == ["2155", "1", "257", "18364758544493064720", "200"]
    assert high[10] == "0000"
    assert null == [None] * 15


def test_numbers_lose_no_digit_and_no_zero(recording: Recording) -> None:
    rows = values(recording("types-full"), "reals")
    assert [row["f"] for row in rows] == ["1.5", "0.1", "3.4028235e38", "0", "123456.79", "1e-45"]
    assert [row["d"] for row in rows] == ["-2.25", "0.1", "1.7976931348623157e308", "1e100", "5e-324", "0"]
    assert [row["n"] for row in rows] == ["-1234.5678", "0.5000", "99999.9999", "-0.0001", None, "0.0000"]
    assert rows[0]["m"] == "12345678901234567890123456789012345.123456789012345678901234567890"
    assert rows[1]["m"] == "-0.000000000000000000000000000001"


def test_text_is_text_in_its_own_character_set_and_bytes_are_hex(recording: Recording) -> None:
    plain, empty, odd, null = values(recording("types-full"), "texts")
    assert (plain["d"], plain["e"], plain["g"], plain["j"]) == ("é\x81", " y  ", "grün", "620000")
    assert {value for column, value in empty.items() if column != "j"} == {""}
    assert odd["c"] == "a'b\\c\n\t\r\0\x1az\"%"
    assert (odd["a"], odd["f"], odd["g"]) == ("  é", "𝄞", "ÿ")
    assert (null["c"], null["a"]) == ("nul", None)
    bins = values(recording("types-full"), "bins")
    assert list(bins[0].values()) == [
        "67000000",
        "00ff80",
        "01",
        "27ff0a",
        "e9",
        "c3a9",
        "00112233445566778899aabbccddee00",
    ]


def test_enum_and_set_have_members_with_full_metadata_and_numbers_without(recording: Recording) -> None:
    full, minimal = (values(recording(name), "sets") for name in ("types-full", "types-minimal"))
    assert list(full[0].values()) == ["y", "ß", "a,c", "m1,m9", "ä,ö"]
    assert list(minimal[0].values()) == ["2", "2", "5", "257", "3"]
    assert list(full[2].values()) == ["x", None, None, None, None]
    assert list(full[3].values()) == ["", "", "", "", ""]


def test_temporal_values_keep_zeros_signs_and_every_digit_of_the_fraction(recording: Recording) -> None:
    first, zero, last, null = (list(row.values()) for row in values(recording("types-full"), "times"))
    assert first[2:8] == [
        "12:34:56.8", "12:34:56.79", "12:34:56.789", "12:34:56.7891", "12:34:56.78912", "12:34:56.789123",
    ]  # fmt: skip
    assert zero[:8] == [
        "0000-00-00", "-12:34:56", "-00:00:00.1", "-00:00:00.01", "-12:34:56.789", "-00:00:59.0001",
        "-01:00:00.00001", "-838:59:58.999999",
    ]  # fmt: skip
    assert zero[8:10] == ["0000-00-00 00:00:00", "2024-00-00 00:00:00.0"]
    assert zero[15] == "0000-00-00 00:00:00"
    assert last[15:18] == ["2038-01-19 03:14:07", "1970-01-01 00:00:01.0", "2038-01-19 03:14:07.99"]
    assert null == [None] * 22


def test_json_is_the_text_that_the_server_prints(recording: Recording) -> None:
    documents = {row["id"]: row["j"] for row in values(recording("types-full"), "docs")}
    assert documents["3"] == "null"
    assert documents["10"] is None
    assert documents["7"] == '"a\\"b\\\\c\\u0001\\n é"'
    assert documents["8"] == '{"": 18446744073709551615, "a": 1.0, "bb": [1, 2, {"x": null}], "é": -70000}'
    assert documents["9"] == "[0.1, 1e100, 0.0000001, 1e20, false, 4294967295]"


def test_absent_columns_are_not_listed_and_null_is(recording: Recording) -> None:
    updates = [event for event in canonical_events(recording("images-full")) if event["type"] == "UPDATE_ROWS"]
    first = updates[0]["rows"][0]
    assert [cell["column"] for cell in first["before"]] == [1]
    assert [(cell["column"], cell["value"]) for cell in first["after"]] == [(3, None), (4, "4000000000")]
    inserts = [event for event in canonical_events(recording("no-columns")) if event["type"] == "WRITE_ROWS"]
    assert inserts[0]["rows"] == [{"before": None, "after": []}]


def test_a_table_map_tells_all_that_its_metadata_tells(recording: Recording) -> None:
    tables = {
        event["fields"]["table"]: event["fields"]
        for name in ("types-full", "invisible", "prefix-key")
        for event in canonical_events(recording(name))
        if event["type"] == "TABLE_MAP"
    }
    assert tables["ints"]["columns"][1]["unsigned"] is True
    german = tables["sets"]["columns"][1]
    assert german["members"] == ["grün", "ß"]
    assert german["collation"] == {"id": 8, "name": "latin1_swedish_ci", "charset": "latin1"}
    assert tables["texts"]["primary_key"] == [{"column": 3, "prefix": 3}]


def test_invisible_columns_and_key_prefixes_are_told(recording: Recording) -> None:
    shown = next(e["fields"] for e in canonical_events(recording("invisible")) if e["type"] == "TABLE_MAP")
    assert [column["visible"] for column in shown["columns"]] == [False, True, False]
    assert shown["table_flags"] == ["BIT_LEN_EXACT", "GENERATED_INVISIBLE_PK"]
    keyed = next(e["fields"] for e in canonical_events(recording("prefix-key")) if e["type"] == "TABLE_MAP")
    assert keyed["primary_key"] == [{"column": 2}, {"column": 1, "prefix": 3}]


def test_events_inside_a_compressed_transaction_follow_it_with_their_own_numbers(recording: Recording) -> None:
    events = list(canonical_events(recording("compressed")))
    outer = next(event for event in events if event["type"] == "TRANSACTION_PAYLOAD")
    inner = [event for event in events if "inner" in event]
    assert [(event["inner"], event["type"]) for event in inner] == [
        (1, "QUERY"), (2, "TABLE_MAP"), (3, "WRITE_ROWS"), (4, "XID"),
    ]  # fmt: skip
    assert {(event["index"], event["offset"]) for event in inner} == {(outer["index"], outer["offset"])}
    assert len(list(canonical_rows(recording("compressed")))) == 2


def test_partial_json_shows_what_to_do_to_the_old_document(recording: Recording) -> None:
    updates = [e for e in canonical_events(recording("partial-json")) if e["type"] == "PARTIAL_UPDATE_ROWS"]
    assert [row["after"][-1]["diffs"] for event in updates for row in event["rows"]] == [
        [
            {"operation": "REPLACE", "path": "$.s", "value": '"X\'Y"'},
            {"operation": "REPLACE", "path": "$.n", "value": "1"},
        ],
        [{"operation": "REMOVE", "path": "$.b[0]"}],
    ]


def test_statement_events_show_their_parts(recording: Recording) -> None:
    by_type = {event["type"]: event["fields"] for event in canonical_events(recording("statement"))}
    assert by_type["USER_VAR"] == {
        "name": "x",
        "value": {
            "type": "STRING",
            "collation": {"id": 255, "name": "utf8mb4_0900_ai_ci", "charset": "utf8mb4"},
            "value": "é",
        },
    }
    assert by_type["QUERY"]["status_variables"][0] == {"name": "flags2", "value": 0}


def test_gtids_are_written_as_servers_write_them(recording: Recording) -> None:
    tagged = [e["fields"] for e in canonical_events(recording("gtid-tagged")) if e["type"] == "GTID_TAGGED"]
    uuid = tagged[0]["uuid"]
    assert tagged[0]["gtid"] == f"{uuid}:blue:1"
    sets = [e["fields"] for e in canonical_events(recording("previous-gtids-tagged")) if e["type"] == "PREVIOUS_GTIDS"]
    assert sets[0]["tagged"] is True
    assert sets[0]["gtid_set"].startswith(f"{uuid}:")
    assert ":blue:1-2" in sets[0]["gtid_set"]


@pytest.mark.parametrize(("flags", "rule"), [(0x00, "stop"), (0x80, "skip")])
def test_an_unknown_event_is_raw_with_the_rule_for_it(broken: Broken, flags: int, rule: str) -> None:
    data = broken("images-full", "ROWS_QUERY", {4: 200, 17: flags})
    event = next(event for event in canonical_events(data) if "raw" in event["fields"])
    assert (event["type"], event["type_code"]) == ("200", 200)
    assert event["readers"] == {"old": "stop", "new": rule}
    assert bytes.fromhex(event["fields"]["raw"])[1:].startswith(b"INSERT INTO img")
    assert "200" in render_text(event)
    if rule == "stop":
        with pytest.raises(UnsupportedError, match="200"):
            list(canonical_rows(data))
    else:
        assert len(list(canonical_rows(data))) == 12


def test_a_cell_without_value_is_hex_with_a_note(replaced: Replaced) -> None:
    # The DATE 2024-02-29 with the month 15, for which there is room in the bits; the null bitmap is before it.
    data = replaced("types-full", bytes.fromhex("000000 5dd00f"), bytes.fromhex("000000 fdd10f"))
    rows = [row for event in canonical_events(data) for row in event.get("rows", ()) if event["table"] == "times"]
    cell = rows[0]["after"][0]
    assert cell["hex"] == "fdd10f"
    assert cell["note"].startswith("the cell as it is: DATE cannot be")


def test_a_wrong_checksum_is_shown_and_then_refused(recording: Recording) -> None:
    data = bytearray(recording("types-full"))
    data[-1] ^= 1
    events = list(canonical_events(recording("types-full")))
    shown: list[dict[str, Any]] = []
    with pytest.raises(FormatError, match="checksum") as caught:
        shown.extend(canonical_events(bytes(data)))
    assert caught.value.offset == len(data) - 4
    assert caught.value.event_index == events[-1]["index"]
    assert shown[-1]["checksum"] == {"algorithm": "CRC32", "valid": False}
    assert "CHECKSUM WRONG" in render_text(shown[-1])
    assert shown[:-1] == events[:-1]


def test_a_torn_tail_is_refused_after_everything_before_it(recording: Recording) -> None:
    data = recording("year-zero")
    whole = list(canonical_events(data))
    shown: list[dict[str, Any]] = []
    with pytest.raises(FormatError) as caught:
        shown.extend(canonical_events(data[:-1]))
    assert shown == whole[:-1]
    assert (caught.value.phase, caught.value.offset) == ("framing", whole[-1]["offset"])


def test_rows_that_no_table_map_explains_are_refused(broken: Broken) -> None:
    data = broken("year-zero", "WRITE_ROWS", {19: 0x77})
    with pytest.raises(FormatError, match="no TABLE_MAP"):
        list(canonical_events(data))


def test_rows_that_do_not_fit_their_columns_are_refused_at_their_place(recording: Recording, broken: Broken) -> None:
    # The null bitmap says that the only cell is NULL: its byte is then the null bitmap of a row without its cell.
    row_event = next(event for event in canonical_events(recording("year-zero")) if "rows" in event)
    with pytest.raises(FormatError, match="YEAR needs 1 bytes, 0 are left") as caught:
        list(canonical_events(broken("year-zero", "WRITE_ROWS", {31: 0x01})))
    assert caught.value.event_index == row_event["index"]
    assert caught.value.offset == row_event["offset"] + 33


def test_the_first_event_comes_before_the_rest_is_looked_at(recording: Recording) -> None:
    data = recording("types-full")
    broken_later = data[:200] + bytes(len(data) - 200)
    assert next(canonical_events(broken_later)) == next(canonical_events(data))


def test_text_shows_a_row_a_line(recording: Recording) -> None:
    lines = [render_text(event) for event in canonical_events(recording("images-full"))]
    updates = [text.split("\n")[1:] for text in lines if "UPDATE_ROWS" in text]
    assert updates[0] == [" " * 22 + "< id=1", " " * 22 + "> b=NULL c=4000000000"]
    deletes = [text.split("\n")[1:] for text in lines if "DELETE_ROWS" in text]
    assert deletes[0] == [" " * 22 + "- id=2"]
    assert any(text.endswith("+ (no columns)") for text in lines)


@given(st.text())
def test_printable_text_drives_no_terminal(text: str) -> None:
    assert printable(text).isprintable()


@given(st.binary())
def test_text_or_hex_loses_no_byte(data: bytes) -> None:
    shown = text_or_hex(to_text(data))
    back = shown.encode() if isinstance(shown, str) else bytes.fromhex(shown["hex"])
    assert back == data
    json.dumps(shown)


@given(st.data())
def test_any_changed_file_is_decoded_or_refused_with_a_place(recording: Recording, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["types-minimal", "images-full", "partial-json", "compressed", "mariadb-types"]))
    changed = bytearray(recording(name))
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(4, len(changed) - 1))] = data.draw(st.integers(0, 255))
    changed = changed[: data.draw(st.integers(0, len(changed)))] if data.draw(st.booleans()) else changed
    if data.draw(st.booleans()):
        changed = _resummed(changed)
    try:
        for event in canonical_events(bytes(changed)):
            assert render_text(event)
    except FormatError as error:
        assert error.offset is not None
        assert 0 <= error.offset <= len(changed)


def _resummed(data: bytearray) -> bytearray:
    at = 4
    while at + 23 <= len(data):
        size = int.from_bytes(data[at + 9 : at + 13], "little")
        if size < 23 or at + size > len(data):
            break
        data[at + size - 4 : at + size] = zlib.crc32(data[at : at + size - 4]).to_bytes(4, "little")
        at += size
    return data


def test_a_broken_file_breaks_in_the_same_place_whenever_it_is_read(recording: Recording) -> None:
    torn, said = recording("year-zero")[:-3], []
    for _ in range(3):
        events: list[object] = []
        with pytest.raises(FormatError) as caught:
            events.extend(logged_events(torn))
        said.append((len(events), str(caught.value), caught.value.offset))
    assert said[0] == said[1] == said[2]
    assert said[0][0] > 2


def test_the_type_of_a_choice_is_said_without_its_members() -> None:
    for wire_type, name in ((0xF7, "ENUM"), (0xF8, "SET")):
        column = Column(254, bytes([wire_type, 2]), members=tuple(b"m%d" % number for number in range(16)))
        assert Cell(1, column, None).type_name == name
