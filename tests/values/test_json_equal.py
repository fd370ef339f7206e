"""Documents that an UPDATE takes for the same."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from forge.values.json.binary import Opaque, SqlInteger, encode_document
from forge.values.json.equal import equal_documents
from forge.values.json.opaque import opaque_datetime, opaque_decimal
from forge.values.json.update import JsonFunction, update_document
from forge.values.wire_types import WireType

MOMENT = datetime(2024, 1, 1)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (1, SqlInteger(1, unsigned=True), True),
        (0.1, opaque_decimal(Decimal("0.100")), True),
        (-0.0, 0, True),
        (2**53 + 1, float(2**53), False),
        (1, True, False),
        (1, "1", False),
        (None, False, False),
        ({"a": [1.0], "b": 2}, {"b": 2, "a": [1]}, True),
        ([1, 2], [2, 1], False),
        (opaque_datetime(MOMENT), opaque_datetime(MOMENT, WireType.TIMESTAMP), True),
        (Opaque(15, b"a"), Opaque(252, b"a"), False),
        (Opaque(15, b"a"), "a", False),
    ],
)
def test_documents_are_equal_as_the_server_compares_them(one: Any, other: Any, equal: bool) -> None:
    assert equal_documents(encode_document(one), encode_document(other)) is equal


def test_stale_bytes_make_no_difference() -> None:
    patched, _ = update_document(encode_document({"a": "text"}), [JsonFunction("json_set", (("$.a", "x"),))])
    assert patched != encode_document({"a": "x"})
    assert equal_documents(patched, encode_document({"a": "x"}))
    assert equal_documents(b"", encode_document(None))
