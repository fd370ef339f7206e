"""Rows of ``forge.read_rows`` as a read of Spark has them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


def as_spark_has(batch: pa.RecordBatch | pa.Table) -> list[dict[str, Any]]:
    """The rows, with null for the bitmaps of images that have all columns."""
    names = batch.schema.names
    columns = batch.schema.field("after").type.num_fields if names[0] == "before" else names.index("_operation")
    full = ((1 << columns) - 1).to_bytes((columns + 7) // 8, "little")
    return [
        {name: None if name.startswith("_present") and cell == full else cell for name, cell in row.items()}
        for row in batch.to_pylist()
    ]
