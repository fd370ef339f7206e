"""Diffs of partial updates: what MySQL 9.7 logged with binlog_row_value_options=PARTIAL_JSON, and malformed ones."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forge.errors import FormatError, ScenarioError
from forge.values.json.binary import decode_document, encode_document
from forge.values.json.diff import Diff, Operation, apply_diffs, build_diffs, format_diffs, parse_diffs
from forge.values.json.path import Cell, Leg, Member, format_path, parse_path
from forge.values.json.text import format_json, parse_json

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "json_diffs_recorded.json").read_text())


@pytest.mark.parametrize(("before", "diffs", "after"), RECORDED["applied"])
def test_recorded_diffs_lead_from_the_before_image_to_the_row_of_the_server(
    before: str, diffs: str, after: str
) -> None:
    parsed = parse_diffs(bytes.fromhex(diffs))
    assert build_diffs(parsed).hex() == diffs
    assert format_json(decode_document(apply_diffs(bytes.fromhex(before), parsed))) == after


#: SQL of an UPDATE, the diffs that it logged.
LOGGED = [
    ("JSON_REPLACE(@, '$.a', 2)", "0003242e6103050200"),
    ("JSON_INSERT(@, '$.new', 'v')", "0105242e6e6577030c0176"),
    ("JSON_REMOVE(@, '$.b[0]')", "0206242e625b305d"),
    ("JSON_ARRAY_INSERT(@, '$.b[9]', 7)", "0106242e625b395d03050700"),
    ("JSON_REPLACE(@, '$.a', 5, '$.b', 6)", "0003242e61030505000003242e6203050600"),
    ("""JSON_REMOVE(JSON_REPLACE(@, '$."k y"', 7), '$.a')""", "0007242e226b2079220305070002" + "03242e61"),
    ("JSON_REPLACE(@, '$.a[last]', 2)", "0009242e615b6c6173745d03050200"),
    ("JSON_REPLACE(@, '$.a', CAST('[1, 2]' AS JSON))", "0003242e610b0202000a00050100050200"),
]


@pytest.mark.parametrize(("text", "diffs"), LOGGED)
def test_diffs_read_as_the_functions_that_made_them(text: str, diffs: str) -> None:
    parsed = parse_diffs(bytes.fromhex(diffs))
    assert format_diffs(parsed) == text
    assert build_diffs(parsed).hex() == diffs


def test_nested_diffs_are_laid_out_as_mysqlbinlog_lays_them_out() -> None:
    diffs = [
        Diff(Operation.REPLACE, "$.a", bytes.fromhex("0ff60403028132")),
        Diff(Operation.INSERT, "$.d", bytes.fromhex("0f0a08000000000042b219")),
        Diff(Operation.INSERT, "$.x", bytes.fromhex("0f0f01ff")),
        Diff(Operation.INSERT, "$.b[5]", encode_document(None)),
        Diff(Operation.REMOVE, "$.c"),
        Diff(Operation.REMOVE, "$.b[0]"),
        Diff(Operation.REPLACE, "$.b[0]", encode_document("it's")),
    ]
    assert parse_diffs(build_diffs(diffs)) == tuple(diffs)
    assert format_diffs(diffs, "@2", "\n###      ").splitlines() == [
        "JSON_REPLACE(",
        "###      JSON_REMOVE(",
        "###      JSON_ARRAY_INSERT(",
        "###      JSON_INSERT(",
        "###      JSON_REPLACE(@2, '$.a', 1.50),",
        "###      '$.d', '2024-01-01',",
        "###      '$.x', 'base64:type15:/w=='),",
        "###      '$.b[5]', null),",
        "###      '$.c',",
        "###      '$.b[0]'),",
        r"###      '$.b[0]', 'it\'s')",
    ]


def test_no_diffs_leave_the_value_as_it_is() -> None:
    assert parse_diffs(b"") == ()
    assert build_diffs(()) == b""
    assert format_diffs(()) == "@"
    assert apply_diffs(encode_document([1]), ()) == encode_document([1])


def _diff(operation: str, path: str, value: Any = ...) -> Diff:
    return Diff(Operation[operation], path, None if value is ... else encode_document(value))


@pytest.mark.parametrize(
    ("before", "diff", "after"),
    [
        ("[1, 2]", _diff("INSERT", "$[0]", 0), "[0, 1, 2]"),
        ("[1, 2]", _diff("INSERT", "$[9]", 3), "[1, 2, 3]"),
        ("[1, 2]", _diff("INSERT", "$[last]", 0), "[1, 0, 2]"),
        ("[1, 2]", _diff("REMOVE", "$[last-1]"), "[2]"),
        ('{"a": {"b c": [1]}}', _diff("REPLACE", '$.a."b c"[0]', 2), '{"a": {"b c": [2]}}'),
        ('{"a": 1}', _diff("REPLACE", "$", [1]), "[1]"),
        ('{"b": 1}', _diff("INSERT", "$.a", None), '{"a": null, "b": 1}'),
    ],
)
def test_a_diff_changes_the_place_of_its_path(before: str, diff: Diff, after: str) -> None:
    document = apply_diffs(encode_document(parse_json(before)), [diff])
    assert format_json(decode_document(document)) == after


@pytest.mark.parametrize(
    ("before", "diff"),
    [
        ('{"a": 1}', _diff("INSERT", "$.a", 2)),
        ('{"a": 1}', _diff("REPLACE", "$.b", 2)),
        ('{"a": 1}', _diff("REMOVE", "$.b")),
        ('{"a": 1}', _diff("REMOVE", "$")),
        ('{"a": 1}', _diff("INSERT", "$", 1)),
        ('{"a": 1}', _diff("REPLACE", "$.a[0]", 1)),
        ('{"a": 1}', _diff("INSERT", "$.a.b", 1)),
        ("[1]", _diff("REPLACE", "$[1]", 1)),
        ("[1]", _diff("REMOVE", "$[last-1]")),
        ("[1]", _diff("INSERT", "$.a", 1)),
        ("[1]", _diff("REPLACE", "$[0][0]", 1)),
    ],
)
def test_a_diff_that_finds_no_place_is_refused_as_a_replica_refuses_it(before: str, diff: Diff) -> None:
    with pytest.raises(FormatError, match="no place"):
        apply_diffs(encode_document(parse_json(before)), [diff])


def test_diffs_cannot_nest_a_document_deeper_than_a_hundred_levels() -> None:
    deep = encode_document(parse_json("[" * 60 + "1" + "]" * 60))
    with pytest.raises(FormatError, match="deeper than 100"):
        apply_diffs(deep, [Diff(Operation.REPLACE, "$" + "[0]" * 60, deep)])


@pytest.mark.parametrize(
    "diffs",
    [
        pytest.param("0303242e61", id="unknown operation"),
        pytest.param("00", id="no path"),
        pytest.param("0009242e61", id="path past the end"),
        pytest.param("00fb", id="NULL as a length"),
        pytest.param("00fc01", id="half a length"),
        pytest.param("00feffffffffffffffff", id="huge length"),
        pytest.param("0203612e62", id="path without dollar"),
        pytest.param("0203242e2a", id="wildcard"),
        pytest.param("0204242a2a61", id="ellipsis"),
        pytest.param("020a245b3020746f20315d20", id="range"),
        pytest.param("0203242e31", id="name that needs quotes"),
        pytest.param("0203242e" + "ff", id="path that is not utf8"),
        pytest.param("0003242e61", id="no value"),
        pytest.param("0003242e6100", id="empty value"),
        pytest.param("0003242e6103050200ff", id="bytes behind the last diff"),
        pytest.param("0003242e61020502", id="broken value"),
    ],
)
def test_malformed_diffs_are_refused(diffs: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_diffs(bytes.fromhex(diffs))
    assert caught.value.phase == "value"


@given(st.binary(max_size=60))
def test_arbitrary_bytes_parse_or_raise_a_format_error(data: bytes) -> None:
    for start in (b"", b"\x02\x03$.a", b"\x00\x03$.a"):
        with suppress(FormatError):  # and nothing else
            apply_diffs(b"\x00\x00\x00\x04\x00", parse_diffs(start + data))


def test_a_diff_has_a_value_unless_it_removes() -> None:
    with pytest.raises(ScenarioError, match="REMOVE has no value"):
        Diff(Operation.REMOVE, "$.a", b"\x04\x00")
    with pytest.raises(ScenarioError, match="INSERT has a value"):
        Diff(Operation.INSERT, "$.a")


LEGS = st.one_of(
    st.builds(Member, st.text(max_size=6)),
    st.builds(Cell, st.integers(0, 2**32 - 1), st.booleans()),
)


@given(st.lists(LEGS, max_size=5).map(tuple))
@example((Member("\x850"), Member("A\xa0"), Member("\u1680")))
def test_the_text_of_a_path_parses_to_its_legs(legs: tuple[Leg, ...]) -> None:
    assert parse_path(format_path(legs)) == legs


@pytest.mark.parametrize(
    ("text", "legs"),
    [
        ("$", ()),
        ("$.é", (Member("é"),)),
        ("$._x$", (Member("_x$"),)),
        (r'$."q\"q"', (Member('q"q'),)),
        (r'$."\n"."\\"', (Member("\n"), Member("\\"))),
        ("$.\x85\t.\xa0", (Member("\x85"), Member("\xa0"))),
        (' $ . a [ 0 ] [ last - 2 ] ."" ', (Member("a"), Cell(0), Cell(2, True), Member(""))),
    ],
)
def test_paths_are_read_as_servers_read_them(text: str, legs: tuple[Leg, ...]) -> None:
    assert parse_path(text) == legs


@pytest.mark.parametrize(
    "text",
    ["", "a", "$.", "$a", "$..a", "$[", "$[]", "$[-1]", "$[1", "$[4294967296]", "$[*]", "$.*", "$**.a", "$[0 to 1]",
     "$.1a", "$.a-b", '$."a', '$."\\x"', "$.a]", "$[last+1]", "$[٣]"],
)  # fmt: skip
def test_malformed_paths_and_wildcards_are_refused(text: str) -> None:
    with pytest.raises(FormatError):
        parse_path(text)
