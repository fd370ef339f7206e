"""Hidden columns of multi-valued keys in the TABLE_MAP of MySQL 8.0.17 (flink-cdc#2192, #3647: not recorded here)."""

from __future__ import annotations

import pytest

from forge.errors import FormatError
from forge.events.columns import bare_columns
from forge.events.table_map import TableMap


def mapped(types: str, metadata: str) -> TableMap:
    return TableMap(
        table_id=1,
        database="d",
        table="t",
        types=bytes.fromhex(types),
        metadata=bytes.fromhex(metadata),
        nullable=b"\x00",
        optional_metadata=(),
    )


@pytest.mark.parametrize("types", ["0314", "03f4"])
@pytest.mark.parametrize("metadata", ["08", "0f280000", "f60a04", "1303"])
def test_both_codes_of_a_typed_array_are_read(types: str, metadata: str) -> None:
    columns = bare_columns(mapped(types, metadata))
    assert [column.type_code for column in columns] == [3, 20]
    assert columns[1].metadata.hex() == metadata


def test_stray_bytes_are_passed_over_behind_a_typed_array_only() -> None:
    assert len(bare_columns(mapped("03f4", "080000"))) == 2
    with pytest.raises(FormatError, match="2 bytes too many"):
        bare_columns(mapped("0303", "0000"))
