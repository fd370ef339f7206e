"""Every event type, status variable and flag has bytes whose canonical decode is known, field by field.

``data/every_event.json`` has a case a line: bytes of recorded events (docs/servers), of the servers' sources, or of the
format's description, and the fields that they say.  A type, variable or flag without a case fails here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forge.binlog.listing import assemble, disassemble, listing_text
from forge.binlog.writer import write_binlog
from forge.compile import compile_plan
from forge.events.event import EVENT_FLAGS, Event, RawBody, decode_event_strictly, encode_event
from forge.events.format import FormatContext
from forge.events.layout import Surroundings
from forge.events.load_statement import LOAD_OPTIONS
from forge.events.mariadb_gtid import GTID_FLAGS2
from forge.events.plain import flag_names
from forge.events.polardbx import GCN_FLAGS
from forge.events.registry import EVENT_CODES, EVENT_NAMES, EVENT_TYPES, knows_type
from forge.events.rows import ROW_FLAGS
from forge.events.status_vars import STATUS_VARIABLES
from forge.events.table_map import TABLE_FLAGS
from forge.scenario import Scenario, ddl, event, plan
from forge.servers import server_line

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "every_event.json").read_text())
VERSIONS = {"mysql": "9.7.4", "mariadb": "11.8.9-MariaDB"}
#: The types that servers have: of MySQL, and of MariaDB alone.
TYPES = {*range(1, 43), *range(160, 173)}


def title(case: dict[str, Any]) -> str:
    return f"{case['type']} {case['what']}".strip()


def format_of(case: dict[str, Any]) -> FormatContext:
    return FormatContext(server_version=VERSIONS[case["family"]])


@pytest.mark.parametrize("case", CASES, ids=title)
def test_the_bytes_of_an_event_say_these_fields_and_are_built_of_them(case: dict[str, Any]) -> None:
    format, data = format_of(case), bytes.fromhex(case["body"])
    body = EVENT_TYPES[EVENT_CODES[case["type"]]].parse(data, format)
    surroundings = Surroundings(server_id=1, mariadb=case["family"] == "mariadb")
    assert json.loads(json.dumps(body.canonical(surroundings))) == case["fields"]
    assert body.build(format) == data
    assert [name for name in body.derived_names() if getattr(body, name) is not None] == []
    assert isinstance(type(body).summary(body.canonical(surroundings)), str)


@pytest.mark.parametrize("case", CASES, ids=title)
def test_an_event_is_listed_by_its_fields(case: dict[str, Any]) -> None:
    code = EVENT_CODES[case["type"]]
    data = write_binlog([Event(body=RawBody(code, bytes.fromhex(case["body"])), timestamp=9, server_id=1)])
    if code in (1, 15):
        data = b"\xfebin" + encode_event(Event(body=RawBody(code, bytes.fromhex(case["body"]))), 4, FormatContext())
    (document,) = disassemble(data)
    assert document["event"] == case["type"]
    assert not document.keys() & {"body", "bytes"}
    assert assemble("".join(listing_text(data))) == data


def test_every_type_has_a_class_with_words_and_a_case() -> None:
    assert {code for code in TYPES if code not in EVENT_TYPES} == set()
    assert {EVENT_NAMES[code] for code in EVENT_TYPES} - {case["type"] for case in CASES} == set()
    modules = {kind: __import__(kind.__module__, fromlist=["_"]).__doc__ for kind in EVENT_TYPES.values()}
    assert [kind.type_name for kind, words in modules.items() if not words] == []


def test_every_status_variable_has_a_case() -> None:
    shown = {
        variable["name"] for case in CASES for variable in case["fields"].get("status_variables", ()) if case["fields"]
    }
    assert {name for name, _ in STATUS_VARIABLES.values()} - shown == set()
    assert "unread" in shown


@pytest.mark.parametrize(
    ("table", "field"),
    [
        (GCN_FLAGS, "gcn_flags"),
        (ROW_FLAGS, "row_flags"),
        (TABLE_FLAGS, "table_flags"),
        (GTID_FLAGS2, "flags2"),
        (LOAD_OPTIONS, "options"),
    ],
    ids=["GCN", "rows", "table map", "MariaDB's GTID", "LOAD DATA"],
)
def test_every_flag_has_a_case(table: tuple[tuple[int, str], ...], field: str) -> None:
    assert {name for _, name in table} - {word for case in CASES for word in case["fields"].get(field, ())} == set()


@pytest.mark.parametrize(("bit", "name"), EVENT_FLAGS)
def test_every_flag_of_the_header_has_its_name(bit: int, name: str) -> None:
    raw = bytearray(encode_event(Event(body=EVENT_TYPES[3]()), 4, FormatContext()))
    raw[17:19] = bit.to_bytes(2, "little")
    assert flag_names(decode_event_strictly(bytes(raw), 4, FormatContext()).flags, EVENT_FLAGS) == [name]


@pytest.mark.parametrize("code", sorted(TYPES - {15}))
def test_every_type_can_be_declared_between_statements(code: int) -> None:
    case = next(case for case in CASES if EVENT_CODES[case["type"]] == code)
    server = "mariadb-11.8" if case["family"] == "mariadb" else "mysql-9.7"
    scenario = Scenario("declared", server=server, transactions=[
        [ddl("CREATE DATABASE a")],
        # By its number a type needs nothing of the line; one that has no name there has a length for its post-header.
        [event(
            case["type"] if knows_type(server_line(server), code) else code, hex=case["body"],
            post_header_length=0 if code > 42 and server == "mysql-9.7" else None,
        )],
        [ddl("CREATE DATABASE b")],
    ])  # fmt: skip
    names = [document["event"] for document in disassemble(write_binlog(compile_plan(plan(scenario))))]
    creations = [place for place, name in enumerate(names) if name == "QUERY"]
    if case["type"] != "QUERY":
        assert names.index(case["type"], creations[0]) < creations[-1]
