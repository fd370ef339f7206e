"""Columns of every family of types, for the tests that hold of all of them."""

from __future__ import annotations

import pytest

from forge.testing import values as strategies

_FAMILIES = {
    "integers": strategies.integer_columns(),
    "floats": strategies.float_columns(),
    "decimals": strategies.decimal_columns(),
    "bits": strategies.bit_columns(),
    "temporals": strategies.temporal_columns(),
    "old temporals": strategies.old_temporal_columns(),
    "strings": strategies.string_columns(),
    "blobs": strategies.blob_columns(),
    "compressed": strategies.compressed_columns(),
    "members": strategies.member_columns(),
}
family = pytest.mark.parametrize("columns", _FAMILIES.values(), ids=_FAMILIES.keys())
