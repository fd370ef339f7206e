"""The plans of column types: one line a wire type, which names the module of ``forge.bulk.families``.

A module has a function ``plan(column) -> ColumnPlan``; it is imported when the first column of its types is met, so
that a table without JSON compiles no JSON kernels.
"""

from __future__ import annotations

from importlib import import_module

from forge.bulk.plan import ColumnPlan
from forge.values.base import Column
from forge.values.wire_types import WireType

_MODULES: dict[int, str] = {
    WireType.TINY: "integers",
    WireType.SHORT: "integers",
    WireType.INT24: "integers",
    WireType.LONG: "integers",
    WireType.LONGLONG: "integers",
    WireType.FLOAT: "floats",
    WireType.DOUBLE: "floats",
    WireType.YEAR: "years",
    WireType.BIT: "bits",
    WireType.NEWDECIMAL: "decimals",
    WireType.DATE: "temporals",
    WireType.NEWDATE: "temporals",
    WireType.TIME2: "temporals",
    WireType.DATETIME2: "temporals",
    WireType.TIMESTAMP2: "temporals",
    WireType.TIME: "old_temporals",
    WireType.DATETIME: "old_temporals",
    WireType.TIMESTAMP: "old_temporals",
    WireType.VARCHAR: "strings",
    WireType.VAR_STRING: "strings",
    WireType.BLOB: "strings",
    WireType.STRING: "strings",
    WireType.VARCHAR_COMPRESSED: "compressed",
    WireType.BLOB_COMPRESSED: "compressed",
    WireType.GEOMETRY: "geometries",
    WireType.VECTOR: "vectors",
    WireType.JSON: "documents",
    WireType.TYPED_ARRAY: "documents",
}
#: What a STRING column is, by its first metadata byte, where it is not CHAR or BINARY.
_REAL_TYPES: dict[int, str] = {WireType.ENUM: "members", WireType.SET: "members"}
#: Types that travel as another, where a declaration tells: by the name of the declared type.
_DECLARED: dict[str, str] = {
    "INET4": "networks",
    "INET6": "networks",
    "JSON": "documents",
    "UUID": "networks",
    "VECTOR": "vectors",
}


def column_plan(column: Column) -> ColumnPlan | None:
    """The plan of a column; None where no kernel knows its type, and the reference path must serve the table.

    Raises FormatError for metadata that no such type has.
    """
    name = _MODULES.get(column.type_code)
    if column.type_code == WireType.STRING and column.metadata:
        name = _REAL_TYPES.get(column.metadata[0], name)
    if column.declared is not None:
        name = _DECLARED.get(column.declared.name, name)
    if name is None:
        return None
    made: ColumnPlan = import_module(f"forge.bulk.families.{name}").plan(column)
    return made
