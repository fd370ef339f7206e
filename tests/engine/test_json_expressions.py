"""JSON_ARRAY and JSON_OBJECT in expressions keep the SQL types of what they are given."""

from __future__ import annotations

from decimal import Decimal

import pytest

from forge.errors import ScenarioError, UnsupportedError
from forge.scenario import Scenario, insert, plan
from forge.values.json.binary import Opaque, SqlInteger, decode_document
from forge.values.json.opaque import opaque_decimal


def made(expression: str, **cells: object) -> object:
    table = f"CREATE TABLE d.t (id INT, d DECIMAL(5,2), u BIGINT UNSIGNED, day DATE, g JSON AS ({expression}) STORED)"
    planned = plan(Scenario("one", tables=[table]).transaction(insert("d.t", {"id": 1, **cells})))
    return decode_document(planned.contents["d.t"][0][-1] or b"")


def test_columns_and_literals_keep_their_types() -> None:
    found = made("JSON_ARRAY(d, u, day, 1.50, -0.5, 5000000000, TRUE)", d="1.5", u=7, day="2024-02-29")
    assert found == [
        opaque_decimal(Decimal("1.50"), whole_digits=3),
        SqlInteger(7, unsigned=True),
        Opaque(10, bytes.fromhex("0000000000bab219")),
        opaque_decimal(Decimal("1.50")),
        opaque_decimal(Decimal("-0.5")),
        SqlInteger(5_000_000_000, unsigned=False),
        True,
    ]


@pytest.mark.parametrize("expression", ["JSON_ARRAY(id > 1)", "JSON_ARRAY(DATE(day))", "JSON_OBJECT('a', d + 1)"])
def test_what_is_of_another_type_there_is_refused_by_name(expression: str) -> None:
    with pytest.raises(UnsupportedError, match="inside JSON_ARRAY or JSON_OBJECT"):
        made(expression, d="1.5", day="2024-02-29")


@pytest.mark.parametrize(
    ("cast", "document", "accepted"),
    [
        ("TIME ARRAY", '["10:11:12", "-838:59:59"]', True),
        ("TIME ARRAY", '["noon"]', False),
        ("DATETIME(3) ARRAY", '["2024-01-01 10:11:12.1235"]', True),
        ("BINARY(3) ARRAY", '["abc", "é"]', True),
        ("BINARY(3) ARRAY", '["abcd"]', False),
    ],
)
def test_elements_of_multi_valued_keys_are_cast(cast: str, document: str, accepted: bool) -> None:
    table = f"CREATE TABLE d.t (id INT, j JSON, KEY ((CAST(j->'$.a' AS {cast}))))"
    scenario = Scenario("one", tables=[table]).transaction(insert("d.t", {"id": 1, "j": f'{{"a": {document}}}'}))
    if accepted:
        assert plan(scenario).contents
    else:
        with pytest.raises(ScenarioError):
            plan(scenario)


def test_points_are_made_by_defaults() -> None:
    columns = "p POINT DEFAULT (POINT(1, -2.5)), g GEOMETRY DEFAULT (ST_GeomFromText('POINT(3 4)'))"
    table = f"CREATE TABLE d.t (id INT, {columns})"
    ((_, point, other),) = plan(Scenario("one", tables=[table]).transaction(insert("d.t", {"id": 1}))).contents["d.t"]
    assert point == bytes.fromhex("000000000101000000000000000000f03f00000000000004c0")
    assert other == bytes.fromhex("00000000010100000000000000000008400000000000001040")
