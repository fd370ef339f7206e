"""What the canonical decode shows of the events that statement format writes beside QUERY."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from forge.binlog import write_binlog
from forge.binlog.reader import read_events
from forge.decode.decode import canonical_events
from forge.decode.printed import render_text
from forge.events.event import Event
from forge.events.format_description import FormatDescription
from forge.events.intvar import Intvar
from forge.events.layout import Body
from forge.events.load_statement import CreateFile, Load, NewLoad
from forge.events.user_var import UserVar
from forge.resources import corpora_dir

RECORDINGS = Path(corpora_dir()) / "recordings"
STATEMENTS = RECORDINGS / "statements"


def decoded(body: Body, lengths: dict[int, int] | None = None) -> tuple[dict[str, Any], str]:
    """The fields and the line of an event; ``lengths`` are post-header lengths of older servers."""
    first = next(iter(read_events((RECORDINGS / "first-day" / "binlog.000001").read_bytes()))).event
    assert isinstance(first.body, FormatDescription)
    changed = bytearray(first.body.post_header_lengths)
    for code, length in (lengths or {}).items():
        changed[code - 1] = length
    first = first.replace(body=first.body.replace(post_header_lengths=bytes(changed)))
    shown = list(canonical_events(write_binlog([first, Event(body=body)])))[1]
    return shown["fields"], render_text(shown).partition("server 0")[2].strip()


@pytest.mark.parametrize(
    ("value", "flags", "shown", "line"),
    [
        (None, None, None, "@v = NULL"),
        ((2, 255, struct.pack("<q", -5)), 0, {"type": "INTEGER", "value": "-5"}, "@v = -5"),
        ((2, 255, b"\xff" * 8), 1, {"type": "INTEGER", "value": str((1 << 64) - 1)}, f"@v = {(1 << 64) - 1}"),
        ((1, 255, struct.pack("<d", 0.1)), None, {"type": "REAL", "value": "0.1"}, "@v = 0.1"),
        ((4, 255, bytes.fromhex("0302810c")), None, {"type": "DECIMAL", "value": "1.12"}, "@v = 1.12"),
        ((0, 255, "é'".encode()), None, {"type": "STRING", "value": "é'"}, "@v = 'é\\'' (utf8mb4_0900_ai_ci)"),
        ((0, 8, b"\xe9"), None, {"type": "STRING", "value": "é"}, "@v = 'é' (latin1_swedish_ci)"),
        ((0, 63, b"\x00\xff"), None, {"type": "STRING", "hex": "00ff"}, "@v = 0x00ff"),
        ((0, 255, b"\xff"), None, {"type": "STRING", "hex": "ff"}, "@v = 0xff"),
        ((0, 9999, b"a"), None, {"type": "STRING", "hex": "61"}, "@v = 0x61"),
        ((2, 255, b"\x01"), None, {"type": "INTEGER", "hex": "01"}, "@v = 0x01"),
        ((1, 255, b"\xff" * 8), None, {"type": "REAL", "hex": "ff" * 8}, f"@v = 0x{'ff' * 8}"),
        ((4, 255, b"\x63\x09\x80"), None, {"type": "DECIMAL", "hex": "630980"}, "@v = 0x630980"),
    ],
)
def test_a_user_variable_is_shown_as_its_value(
    value: tuple[int, int, bytes] | None, flags: int | None, shown: dict[str, str] | None, line: str
) -> None:
    fields, text = decoded(UserVar(name="v", value=value, value_flags=flags))
    found = fields["value"]
    assert (found if found is None else {name: found[name] for name in found if name != "collation"}) == shown
    assert text == line


def test_what_statements_of_a_recording_read_is_shown_as_values() -> None:
    data = (STATEMENTS / "statement-reads-statement" / "mysql-9.7" / "binlog.000001").read_bytes()
    events = [event for event in canonical_events(data) if event["type"] in ("USER_VAR", "INTVAR")]
    values = [event["fields"]["value"] for event in events if event["type"] == "USER_VAR"]
    assert {value["type"] for value in values if value is not None} >= {"STRING", "INTEGER"}
    assert {event["fields"]["variable"] for event in events if event["type"] == "INTVAR"} <= {
        "INSERT_ID",
        "LAST_INSERT_ID",
    }


def test_an_intvar_names_its_variable() -> None:
    assert decoded(Intvar(variable=2, value=7)) == ({"variable": "INSERT_ID", "value": 7}, "INSERT_ID = 7")
    assert decoded(Intvar(variable=9, value=7)) == ({"variable": 9, "value": 7}, "9 = 7")


@pytest.mark.parametrize("kind", [Load, NewLoad, CreateFile])
def test_an_old_load_shows_its_statement(kind: type[Load | NewLoad]) -> None:
    of_its_kind: dict[str, Any] = {"file_id": 3, "block": b"1\t2\n"} if kind is CreateFile else {}
    if kind is Load:
        of_its_kind = {"empty": 0b01010}
    body = kind(table="t", database="d", file_name="x.txt", columns=("a", "b"), options=4, **of_its_kind)
    fields, line = decoded(body, {6: 18, 8: 4, 12: 18})
    assert fields["separators"] == {
        "fields_terminated_by": "\t", "enclosed_by": "", "lines_terminated_by": "\n", "lines_starting_by": "",
        "escaped_by": "\\",
    }  # fmt: skip
    assert fields["options"] == ["REPLACE"]
    assert line == "LOAD DATA x.txt INTO d.t (a, b)  REPLACE" + ("  file 3, 4 bytes" if kind is CreateFile else "")
