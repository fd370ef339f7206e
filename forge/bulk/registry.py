"""The plans of column types: one line a wire type, which names the module of ``forge.bulk.families``.

A module has a function ``plan(column) -> ColumnPlan``; it is imported when the first column of its types is met, so
that a table without JSON compiles no JSON kernels.
"""

from __future__ import annotations

from importlib import import_module

from forge.bulk.plan import ColumnPlan
from forge.values.base import Column
from forge.values.wire_types import WireType

#: Each module's wire types.
_FAMILIES: dict[str, tuple[WireType, ...]] = {
    "integers": (WireType.TINY, WireType.SHORT, WireType.INT24, WireType.LONG, WireType.LONGLONG),
    "floats": (WireType.FLOAT, WireType.DOUBLE),
    "years": (WireType.YEAR,),
    "bits": (WireType.BIT,),
    "decimals": (WireType.NEWDECIMAL,),
    "temporals": (WireType.DATE, WireType.NEWDATE, WireType.TIME2, WireType.DATETIME2, WireType.TIMESTAMP2),
    "old_temporals": (WireType.TIME, WireType.DATETIME, WireType.TIMESTAMP),
    "strings": (WireType.VARCHAR, WireType.VAR_STRING, WireType.BLOB, WireType.STRING),
    "compressed": (WireType.VARCHAR_COMPRESSED, WireType.BLOB_COMPRESSED),
    "geometries": (WireType.GEOMETRY,),
    "vectors": (WireType.VECTOR,),
    "documents": (WireType.JSON, WireType.TYPED_ARRAY),
}
_MODULES: dict[int, str] = {code: module for module, codes in _FAMILIES.items() for code in codes}
#: Types that travel as another, where a declaration tells: by the name of the declared type.
_DECLARED = {"INET4": "networks", "INET6": "networks", "UUID": "networks", "JSON": "documents", "VECTOR": "vectors"}


def column_plan(column: Column) -> ColumnPlan | None:
    """The plan of a column; None where no kernel knows its type, and the reference path must serve the table.

    Raises FormatError for metadata that no such type has.
    """
    name = _MODULES.get(column.type_code)
    # What a STRING column is, its metadata says.
    if column.type_code == WireType.STRING and column.metadata[:1] in (bytes([WireType.ENUM]), bytes([WireType.SET])):
        name = "members"
    if column.declared is not None:
        name = _DECLARED.get(column.declared.name, name)
    if name is None:
        return None
    made: ColumnPlan = import_module(f"forge.bulk.families.{name}").plan(column)
    return made
