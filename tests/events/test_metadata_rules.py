"""What the records of optional metadata may say of a table's columns: the last that is right, the first that is not."""

from __future__ import annotations

from typing import Any

import pytest

from forge.errors import FormatError
from forge.events.columns import columns_of
from forge.events.metadata_rules import checked_records
from forge.events.optional_metadata import record
from forge.events.table_map import TableMap
from forge.values.wire_types import WireType


def checked(name: str, value: Any) -> None:
    """The record in a TABLE_MAP of an INT and two columns VARCHAR(4) of a byte a character."""
    types = bytes((WireType.LONG, WireType.VARCHAR, WireType.VARCHAR))
    body = TableMap(
        table_id=1, database="d", table="t", types=types, metadata=b"\4\0\4\0", nullable=b"\0",
        optional_metadata=(record(name, value),),
    )  # fmt: skip
    checked_records(body, columns_of(body))


@pytest.mark.parametrize(
    ("name", "right", "wrong", "rule"),
    [
        ("default_charset", (8, ((1, 9),)), (8, ((2, 9),)), "names column 2 of 2"),
        ("column_charset", (8, 8), (8,), "has 1 items for 2 character columns"),
        ("simple_primary_key", (2,), (3,), "names column 3 of 3"),
        ("prefix_primary_key", ((1, 4),), ((1, 5),), "column 1 is shorter than its prefix in the key, 5"),
        ("prefix_primary_key", ((2, 0),), ((3, 0),), "names column 3 of 3"),
    ],
)
def test_each_bound_holds_its_last_value_and_not_the_next(name: str, right: Any, wrong: Any, rule: str) -> None:
    checked(name, right)
    with pytest.raises(FormatError, match=rule):
        checked(name, wrong)
