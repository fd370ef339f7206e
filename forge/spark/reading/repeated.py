"""Columns whose rows all have one value, such as the name of the file: made once, and cut from batch to batch."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


class Repeated:
    """The last such array of each column."""

    def __init__(self) -> None:
        self._arrays: dict[str, pa.Array] = {}

    def array(self, field: pa.Field, column: pa.DictionaryArray) -> pa.Array | None:
        """The column as ``field``'s type, that of its texts; None if its rows differ."""
        if column.null_count or not len(column) or column.type.value_type != field.type:
            return None
        ends = pc.min_max(column.indices)
        if ends["min"] != ends["max"]:
            return None
        value = column.dictionary[ends["min"].as_py()]
        kept = self._arrays.get(field.name)
        if kept is None or len(kept) < len(column) or kept[0] != value:
            kept = self._arrays[field.name] = pa.repeat(value, len(column))
        return kept.slice(0, len(column))
