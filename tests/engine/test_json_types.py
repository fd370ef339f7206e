"""Values of SQL types inside declared documents, by tags of YAML and from Python."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from forge.errors import ScenarioError
from forge.located import Tagged
from forge.scenario import Scenario, expand, insert, plan
from forge.scenario.planning import plan as planned
from forge.values.json.binary import Opaque, SqlInteger, decode_document
from forge.values.json.opaque import opaque_decimal

TABLE = (
    "CREATE TABLE d.t (id INT PRIMARY KEY, j JSON, n DECIMAL(6,2), s CHAR(5) CHARACTER SET utf16,"
    " b BINARY(3), m BIT(9))"
)


def documents(*transactions: str) -> list[Any]:
    text = f'scenario: one\ntables: ["{TABLE}"]\ntransactions:\n' + "".join(f"  - - {one}\n" for one in transactions)
    (case,) = expand(text, file="one.yaml")
    return [decode_document(row[1] or b"") for row in planned(case.scenario).contents["d.t"]]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("!decimal 1.50", opaque_decimal(Decimal("1.50"))),
        ("!unsigned 5", SqlInteger(5, unsigned=True)),
        ("!signed 5000000000", SqlInteger(5000000000, unsigned=False)),
        ("!decimal 1.50 precision 11", opaque_decimal(Decimal("1.50"), whole_digits=9)),
        ("!opaque 254 0041", Opaque(254, b"\x00A")),
        ("!bit 101", Opaque(16, b"\x05")),
        ("!bit 000000101", Opaque(16, b"\x00\x05")),
        ("!hex 00ff", Opaque(15, b"\x00\xff")),
        ("!!binary AP8=", Opaque(15, b"\x00\xff")),
        ("!blob 00ff", Opaque(251, b"\x00\xff")),
        ("!date 2024-02-29", Opaque(10, bytes.fromhex("0000000000bab219"))),
        ("!time -00:00:00.000001", Opaque(11, b"\xff" * 8)),
    ],
)
def test_a_tag_makes_a_value_of_its_type(written: str, value: Any) -> None:
    assert documents(f"insert: {{into: d.t, rows: [{{id: 1, j: {{a: [{written}]}}}}]}}") == [{"a": [value]}]


@pytest.mark.parametrize(
    "written",
    [
        "!decimal x",
        "!bit 2",
        "!hex 0",
        "!date 2024-13-01",
        "!date 0000-00-00",
        "!column n",
        "!unsigned -1",
        "!signed 1.5",
        "!decimal 1.50 precision 1",
        "!decimal 1.5 digits",
        "!opaque 00ff",
        "!opaque 256 00",
    ],
)
def test_what_is_no_value_of_the_type_is_refused_with_its_line(written: str) -> None:
    with pytest.raises(ScenarioError, match=r"one\.yaml:4"):
        documents(f"insert: {{into: d.t, rows: [{{id: 1, j: {{a: {written}}}}}]}}")


def test_a_tag_outside_of_documents_is_refused() -> None:
    with pytest.raises(ScenarioError, match="inside a JSON document"):
        documents("insert: {into: d.t, rows: [{id: 1, n: !decimal 1.50}]}")
    with pytest.raises(ScenarioError, match="unknown tag !money"):
        documents("insert: {into: d.t, rows: [{id: 1, j: [!money 1.50]}]}")


def test_a_column_is_what_it_holds_when_the_function_runs() -> None:
    (document,) = documents(
        "insert: {into: d.t, rows: [{id: 1, j: {}, n: 1.5, s: é, b: {hex: '61'}, m: 5}]}",
        "update: {table: d.t, set: {n: 2, j: {json_set: {$.n: !column n, $.s: !column S, "
        "$.b: [!column b], $.m: !column m}}}}",
    )
    assert document == {
        "n": opaque_decimal(Decimal("2.00"), whole_digits=4),
        "s": Opaque(253, b"\x00\xe9"),
        "b": [Opaque(254, b"a\0\0")],
        "m": Opaque(16, b"\0\5"),
    }


def test_duplicate_rows_are_changed_by_functions_and_stored_anew() -> None:
    (document,) = documents(
        "insert: {into: d.t, rows: [{id: 1, j: {a: some text, n: 1}, n: 7}]}",
        "insert: {into: d.t, rows: [{id: 1, j: '[]'}], on_duplicate_key_update: {j: {json_set: {$.a: !column n}}}}",
    )
    assert document == {"a": opaque_decimal(Decimal("7.00"), whole_digits=4), "n": 1}


def test_python_scenarios_keep_values_of_sql_types() -> None:
    cell = {"a": opaque_decimal(Decimal("0.50")), "b": SqlInteger(5, unsigned=True), "c": Tagged("bit", "1"), "d": b"x"}
    made = plan(Scenario("one", tables=[TABLE]).transaction(insert("d.t", {"id": 1, "j": cell})))
    assert decode_document(made.contents["d.t"][0][1] or b"") == {**cell, "c": Opaque(16, b"\1"), "d": Opaque(15, b"x")}
