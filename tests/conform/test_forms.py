"""Spellings of values: what agrees, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from forge.conform.forms import FORMS, NOT_COMPARED, Forms
from forge.conform.kit.case_files import KitCase
from forge.conform.kit.protocol import Hello
from forge.conform.reports import summary_lines
from forge.conform.runner import CaseResult
from forge.errors import ScenarioError
from forge.values.text.compressed import compress

CASE = KitCase(
    id="a", title="", case="a", since=None, server="mysql-8.4", flavor="mysql", verdict="accept", phase=None, files=[],
    tags=[], rules=[], thresholds=[], smoke=False, guards=[],
)  # fmt: skip
INTEGER = {"raw": "ffffff", "text": "16777215", "value": {"integer": "16777215"}}
FLOAT = {"raw": "cdcccc3d", "text": "0.1", "value": {"float": "0.1"}}
DATETIME = {
    "raw": "99b2c8b2c7", "text": "2024-02-29 11:11:07.5",
    "value": {
        "datetime": {"year": 2024, "month": 2, "day": 29, "hour": 11, "minute": 11, "second": 7, "microsecond": 500000}
    },
}  # fmt: skip
ZERO = {
    "raw": "000000", "text": "0000-00-00", "value": {"date": {"year": 0, "month": 0, "day": 0}},
}  # fmt: skip
TIME = {
    "raw": "", "text": "-00:00:00.5",
    "value": {"time": {"negative": True, "hour": 0, "minute": 0, "second": 0, "microsecond": 500000}},
}  # fmt: skip
SET = {"raw": "03", "text": "a,b", "value": {"set": {"number": "3", "members": ["61", "62"]}}}
ENUM = {"raw": "01", "text": "é", "value": {"enum": {"number": "1", "members": ["e9"]}}}
BINARY = {"type_code": 254, "raw": "0161", "prefix": 1, "text": "a", "value": {"bytes": "61"}}
NAMELESS = {"raw": "03", "value": {"set": {"number": "3", "members": None}}}
TEXT = {"raw": "01e9", "prefix": 1, "text": "é", "value": {"text": "é"}}
JSON = {"raw": "", "text": '{"a": 1.0}', "value": {"json": {"a": 1.0}}}
LARGE = {"raw": "", "text": "1.8446744073709552e19", "value": {"json": 1.8446744073709552e19}}
JSON_NULL = {"raw": "0100", "text": "null", "value": {"json": None}}
BITS = {"raw": "05", "text": "5", "value": {"bits": "101"}}
STEP = {"operation": "REPLACE", "path": "$.a", "value": '{"b": "c"}'}
DIFFS = {"raw": "", "value": {"diffs": [STEP]}}
NULL = {"raw": None}
#: Of MariaDB's compressed columns: as it is; deflated.
PLAIN = {"type_code": 141, "raw": "03006100", "prefix": 1, "value": {"bytes": "6100"}}
DEFLATED = {
    "type_code": 140, "raw": "0b00" + compress(b"a" * 99 + b"\xe9").hex(), "prefix": 2, "text": "a" * 99 + "é",
    "value": {"text": "a" * 99 + "é"},
}  # fmt: skip
#: A BINARY that the log says to be one, with a zero byte that is not logged.
FILLED = {"type_code": 254, "raw": "0161", "prefix": 1, "value": {"bytes": "6100"}}
YEAR = {"raw": "00", "text": "0000", "value": {"year": "0"}}
WORD = {"raw": "", "text": '"a"', "value": {"json": "a"}}


@pytest.mark.parametrize(
    ("cell", "forms", "answer"),
    [
        (INTEGER, {}, {"integer": "16777215"}),
        (INTEGER, {"integer": "number"}, 16777215),
        (INTEGER, {"integer": "number signed"}, -1),
        (INTEGER, {"integer": "text"}, "16777215"),
        (INTEGER, {"integer": "raw"}, "ffffff"),
        (FLOAT, {"float": "value"}, 0.1),
        (FLOAT, {"float": "value"}, 0.10000000149011612),
        (FLOAT, {"float": "six-digits"}, "0.1"),
        (DATETIME, {"datetime": "text"}, "2024-02-29 11:11:07.5"),
        (DATETIME, {"datetime": "microseconds"}, 1709205067500000),
        (DATETIME, {"datetime": "seconds"}, 1709205067),
        (DATETIME, {"datetime": "value"}, "2024-02-29 11:11:07.500000"),
        (TIME, {"time": "value"}, "-00:00:00.500"),
        (ZERO, {"date": "value"}, "0000-00-00"),
        (ZERO, {"date": "days zero=null"}, None),
        (ZERO, {"date": "text zero=null"}, None),
        (ZERO, {"date": "text"}, "0000-00-00"),
        (TIME, {"time": "microseconds"}, -500000),
        (TIME, {"time": "milliseconds"}, -500),
        (SET, {"set": "text"}, "a,b"),
        (SET, {"set": "members"}, ["a", "b"]),
        (SET, {"set": "texts"}, ["b", "a"]),
        (SET, {"set": "number"}, 3),
        (SET, {"set": "hex"}, "03"),
        (ENUM, {"enum": "member"}, {"hex": "e9"}),
        (ENUM, {"enum": "text"}, "é"),
        (TEXT, {"text": "text-or-hex"}, "é"),
        (TEXT, {"text": "text-or-hex"}, {"hex": "e9"}),
        (BINARY, {"bytes": "text-or-hex"}, "a"),
        (BINARY, {"bytes": "text-or-hex"}, {"hex": "61"}),
        (BINARY, {"bytes": "text-or-hex padded"}, {"hex": "610000"}),
        (TEXT, {"text": "hex"}, "e9"),
        (TEXT, {"text": "utf8"}, {"hex": "e9"}),
        (JSON, {"json": "value"}, {"a": 1}),
        (JSON, {"json": "value"}, '{"a":1}'),
        (LARGE, {"json": "value"}, 18446744073709552000),
        (JSON_NULL, {"json": "value"}, "null"),
        (JSON_NULL, {"json": "value"}, None),
        (JSON_NULL, {}, {"json": None}),
        (DIFFS, {"diffs": "value"}, [STEP | {"value": '{"b":"c"}'}]),
        (DIFFS, {"diffs": "value"}, [STEP | {"value": {"b": "c"}}]),
        (BITS, {"bits": "number"}, 5),
        ({"raw": "ff" * 8, "value": {"bits": "1" * 64}}, {"bits": "number signed"}, -1),
        (NULL, {"integer": "number"}, None),
        (PLAIN, {}, {"bytes": "6100"}),
        (PLAIN, {"bytes": "raw"}, "03006100"),
        (PLAIN, {"bytes": "hex"}, "6100"),
        (PLAIN, {"bytes": "utf8"}, "a\0"),
        (PLAIN, {"bytes": "text-or-hex"}, {"hex": "6100"}),
        (PLAIN, {"bytes": "opaque"}, "6100"),
        (DEFLATED, {"text": "hex"}, "61" * 99 + "e9"),
        (DEFLATED, {"text": "utf8"}, {"hex": "61" * 99 + "e9"}),
        (DEFLATED, {"text": "text-or-hex"}, {"hex": "61" * 99 + "e9"}),
        (DEFLATED, {"text": "text-or-hex"}, "a" * 99 + "é"),
        (FILLED, {"bytes": "hex"}, "6100"),
        (FILLED, {"bytes": "hex"}, "61"),
        (FILLED, {"bytes": "utf8"}, "a\0"),
        (FILLED, {"bytes": "utf8"}, "a"),
        (FILLED, {"bytes": "raw"}, "0161"),
        (FILLED, {"bytes": "text-or-hex"}, {"hex": "6100"}),
        (BINARY, {"bytes": "hex padded"}, "61000000"),
        (BINARY, {"bytes": "utf8 padded"}, "a\0\0"),
        (BINARY, {"bytes": "text-or-hex padded"}, "a\0"),
        (SET, {"set": "text-or-number"}, "a,b"),
        (SET, {"set": "text-or-number"}, 3),
        (NAMELESS, {"set": "text-or-number"}, "3"),
        (SET, {"set": "digits"}, "3"),
        (ENUM, {"enum": "digits"}, "1"),
        (ENUM, {"enum": "text-or-number"}, "é"),
        (ENUM, {"enum": "text-or-number"}, 1),
        (YEAR, {"year": "digits"}, "0"),
        (DATETIME, {"datetime": "microseconds digits"}, "1709205067500000"),
        (TIME, {"time": "microseconds digits"}, "-500000"),
        (ZERO, {"date": "days zero=null digits"}, None),
        (WORD, {"json": "value"}, "a"),
        (WORD, {"json": "value"}, '"a"'),
        (JSON | {"raw": "0100000004", "prefix": 4}, {"json": "opaque"}, "04"),
    ],
)
def test_a_value_in_the_declared_form_agrees(cell: dict[str, Any], forms: dict[str, str], answer: Any) -> None:
    assert Forms(forms).agree(cell, answer)


@pytest.mark.parametrize(
    ("cell", "forms", "answer"),
    [
        (INTEGER, {"integer": "number"}, -1),
        (INTEGER, {"integer": "number"}, "16777215"),
        (INTEGER, {"integer": "number"}, None),
        (INTEGER, {}, {"integer": 16777215}),
        (FLOAT, {"float": "value"}, 0.2),
        (FLOAT, {"float": "value"}, "x"),
        (FLOAT, {"float": "value"}, None),
        (DATETIME, {"datetime": "value"}, "2024-02-29 11:11:07.05"),
        (DATETIME, {"datetime": "value"}, "2024-02-29 11:11:07"),
        (TIME, {"time": "value"}, "00:00:00.5"),
        (LARGE, {"json": "value"}, 18446744073709555000),
        (ZERO, {"date": "days zero=null"}, 0),
        (TIME, {"time": "microseconds"}, 500000),
        (SET, {"set": "members"}, ["b", "a"]),
        (SET, {"set": "texts"}, ["a"]),
        (SET, {"set": "texts"}, ["a", "b", "b"]),
        (ENUM, {"enum": "text"}, {"hex": "e9"}),
        (TEXT, {"text": "text-or-hex"}, "Ã©"),
        (TEXT, {"text": "text-or-hex"}, {"hex": "c3a9"}),
        (TEXT, {"text": "text-or-hex"}, None),
        (BINARY, {"bytes": "text-or-hex"}, {"hex": "62"}),
        (BINARY, {"bytes": "text-or-hex"}, {"hex": "6100"}),
        (BINARY, {"bytes": "text-or-hex padded"}, {"hex": "610001"}),
        (BINARY | {"type_code": 15}, {"bytes": "text-or-hex padded"}, {"hex": "6100"}),
        (JSON, {"json": "value"}, {"a": True}),
        (JSON, {"json": "text"}, '{"a": 1}'),
        (DIFFS, {"diffs": "value"}, [STEP | {"value": '{"b": "d"}'}]),
        (DIFFS, {"diffs": "value"}, [STEP | {"path": "$.b"}]),
        (DIFFS, {"diffs": "value"}, []),
        (DIFFS, {"diffs": "value"}, ""),
        (BITS, {"bits": "number"}, True),
        (NULL, {"integer": "number"}, 0),
        (PLAIN, {"bytes": "hex"}, "61"),
        (PLAIN, {"bytes": "hex"}, "006100"),
        (PLAIN, {"bytes": "utf8 padded"}, "a\0\0"),
        (FILLED, {"bytes": "hex"}, "610000"),
        (FILLED, {"bytes": "utf8"}, "a\0\0"),
        (FILLED, {"bytes": "raw"}, "016100"),
        (FILLED, {}, {"bytes": "61"}),
        (BINARY, {"bytes": "hex"}, "6100"),
        (BINARY, {"bytes": "hex padded"}, "610001"),
        (SET, {"set": "text-or-number"}, "b,a"),
        (SET, {"set": "digits"}, 3),
        (DATETIME, {"datetime": "microseconds digits"}, 1709205067500000),
        (WORD, {"json": "value"}, "b"),
        (JSON, {"json": "value"}, "[" * 100_000),
    ],
)
def test_another_value_does_not(cell: dict[str, Any], forms: dict[str, str], answer: Any) -> None:
    assert not Forms(forms).agree(cell, answer)


def test_what_a_testee_cannot_show_is_not_compared() -> None:
    assert Forms({"date": "text zero=none"}).expected(ZERO) is NOT_COMPARED
    assert Forms({"set": "text"}).expected(NAMELESS) is NOT_COMPARED
    assert Forms({"set": "texts"}).expected(NAMELESS) is NOT_COMPARED
    assert Forms({"set": "none"}).expected(SET) is NOT_COMPARED


@pytest.mark.parametrize(
    ("forms", "said"),
    [
        ({"interger": "number"}, "did you mean 'integer'"),
        ({"integer": "nummer"}, "did you mean 'number'"),
        ({"integer": "number zero=null"}, "has no option 'zero=null'; expected signed"),
        ({"integer": ""}, "form for integer is ''; expected typed, raw, opaque, none, number, text"),
    ],
)
def test_a_form_that_there_is_not_is_refused(forms: dict[str, str], said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        Forms(forms)


def test_values_that_are_handed_out_undecoded_are_not_asked_for_their_validity() -> None:
    broken = {"raw": "00000000", "type_code": 245, "value": {"broken": "no document"}}
    assert Forms({"json": "opaque"}).leaves_open(broken)
    assert not Forms({"json": "opaque"}).leaves_open(broken | {"type_code": 255})
    assert not Forms({"json": "hex"}).leaves_open(broken)


def test_every_form_is_in_the_documentation() -> None:
    from forge.resources import templates_dir

    page = (templates_dir().parent / "docs" / "conform.md").read_text()
    for kind, forms in FORMS.items():
        for word in forms:
            assert f"`{word}`" in page, f"{kind}: {word}"


def test_an_answer_in_another_form_is_told() -> None:
    cell = {"column": 1, "type_code": 252, "raw": "0178", "prefix": 1, "value": {"bytes": "78"}}
    words = ["", "utf8", "utf8 padded", "text-or-hex", "text-or-hex padded"]
    assert Forms({}).fitting(cell, "x") == [("bytes", word) for word in words]
    assert Forms({}).fitting(cell, "y") == [("bytes", "")]
    assert Forms({}).fitting({"column": 1, "type_code": 3, "raw": None}, 1) == []


def test_a_summary_says_which_form_the_values_of_a_kind_have() -> None:
    def lines(fitting: dict[tuple[str, str], int]) -> list[str]:
        return list(summary_lines(Hello(name="r", version="1"), [CaseResult(CASE, "disagree", fitting=fitting)], {}))

    said = '18 of 20 differing values of bytes are right as "bytes": "utf8" in the hello\'s forms'
    assert said in lines({("bytes", ""): 20, ("bytes", "utf8"): 18, ("bytes", "hex"): 1})
    for few in ({("bytes", ""): 9, ("bytes", "utf8"): 9}, {("bytes", ""): 40, ("bytes", "utf8"): 18}):
        assert not any("differing values" in line for line in lines(few))
