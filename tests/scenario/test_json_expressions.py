"""JSON_ARRAY and JSON_OBJECT in expressions keep the SQL types of what they are given."""

from __future__ import annotations

from decimal import Decimal

import pytest

from forge import Scenario, insert, plan
from forge.errors import UnsupportedError
from forge.values.json_binary import Opaque, SqlInteger, decode_document
from forge.values.json_opaque import opaque_decimal


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
