"""Columns taken out of a table: out of its TABLE_MAP with all that describes them, and out of its row images."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import Any

from forge.conform.shrink.nodes import Node
from forge.errors import FormatError
from forge.events.column_kinds import is_character, is_enum, is_numeric, is_set
from forge.events.optional_metadata import MetadataRecord, read_value
from forge.events.row_image import ChangedRow, Image, bitmap_of, full_padding, images_of, present_columns
from forge.events.rows import ROWS_BODIES, RowsBody, UpdateRows, UpdateRowsV1
from forge.events.table_map import TableMap
from forge.values.base import Column
from forge.values.wire_types import WireType


def without_columns(node: Node, dropped: Set[int], *, mariadb: bool) -> Node:
    """A TABLE_MAP, or a row event of its table, without the columns with these indexes."""
    kept = tuple(column for index, column in enumerate(node.columns) if index not in dropped)
    event = node.event
    assert event is not None
    if isinstance(event.body, TableMap):
        body = _table_map(event.body, node.columns, dropped, mariadb)
        return replace(node, event=event.replace(body=body), columns=kept)
    assert isinstance(event.body, ROWS_BODIES)
    before, after = images_of(event.body)
    rows = tuple(
        ChangedRow(_image(row.before, before, node.columns, dropped), _image(row.after, after, node.columns, dropped))
        for row in node.rows or ()
    )
    return replace(node, event=event.replace(body=_rows_body(event.body, dropped)), rows=rows, columns=kept)


def _table_map(body: TableMap, columns: Sequence[Column], dropped: Set[int], mariadb: bool) -> TableMap:
    kept = [index for index in range(len(columns)) if index not in dropped]
    records = (_record(record, columns, dropped, mariadb) for record in body.optional_metadata)
    return body.replace(
        types=bytes(body.types[index] for index in kept),
        metadata=b"".join(columns[index].metadata for index in kept),
        nullable=_bitmap(body.nullable, len(columns), dropped),
        optional_metadata=tuple(record for record in records if record is not None),
    )


def _bitmap(bitmap: bytes, width: int, dropped: Set[int]) -> bytes:
    """The bits of the columns that stay; all unused bits are set if all were, clear otherwise."""
    kept = [index for index in range(width) if index not in dropped]
    number = int.from_bytes(bitmap, "little")
    unused = number >> width
    padding = bool(width % 8) and unused == full_padding(width)
    return bitmap_of([place for place, i in enumerate(kept) if number >> i & 1], len(kept), padding=padding)


def _rows_body(body: RowsBody, dropped: Set[int]) -> RowsBody:
    width = body.width - sum(index < body.width for index in dropped)
    changes: dict[str, Any] = {"width": width, "present": _bitmap(body.present, body.width, dropped)}
    if isinstance(body, (UpdateRows, UpdateRowsV1)):
        changes["present_after"] = _bitmap(body.present_after, body.width, dropped)
    return body.replace(**changes)


def _image(image: Image | None, bitmap: bytes | None, columns: Sequence[Column], dropped: Set[int]) -> Image | None:
    if image is None or bitmap is None:
        return None
    present = present_columns(bitmap, len(columns))
    cells = tuple(cell for index, cell in zip(present, image.cells, strict=True) if index not in dropped)
    padded = image.padding and image.padding == full_padding(len(image.cells))
    json_columns = [index for index, column in enumerate(columns) if column.type_code == WireType.JSON]
    bits = image.partial_bits
    if bits:
        kept = [index for index in json_columns if index not in dropped]
        places = [kept.index(i) for n, i in enumerate(json_columns) if bits[n >> 3] >> (n & 7) & 1 and i in kept]
        bits = bitmap_of(places, len(kept), padding=False)
    return Image(cells, full_padding(len(cells)) if padded else 0, image.value_options, bits)


def _record(
    record: MetadataRecord, columns: Sequence[Column], dropped: Set[int], mariadb: bool
) -> MetadataRecord | None:
    """What is left of a record; None if that is nothing."""
    try:
        value = read_value(record)
    except FormatError:
        return record
    name = record.type_name
    counted = _counted(name, columns, mariadb)
    if name in ("simple_primary_key", "prefix_primary_key"):
        new: Any = _key_without(name, value, dropped)
    elif counted is None:
        return record
    elif name in ("default_charset", "enum_set_default_charset"):
        places = [place for place, index in enumerate(counted) if index not in dropped]
        usual, special = value
        new = (usual, tuple((places.index(at), one) for at, one in special if at in places)) if places else ()
    else:
        items = [item for index, item in zip(counted, value, strict=False) if index not in dropped]
        new = "".join(items) if isinstance(value, str) else tuple(items)
    return MetadataRecord(record.type_code, new) if new else None


def _key_without(name: str, value: Any, dropped: Set[int]) -> tuple[Any, ...]:
    def moved(index: int) -> int:
        return index - sum(other < index for other in dropped)

    if name == "simple_primary_key":
        return tuple(moved(index) for index in value if index not in dropped)
    return tuple((moved(index), prefix) for index, prefix in value if index not in dropped)


def _counted(name: str, columns: Sequence[Column], mariadb: bool) -> list[int] | None:
    """The columns that a record has an item for; None for a record that counts none."""
    kinds: dict[str, Callable[[Column], bool]] = {
        "signedness": is_numeric,
        "default_charset": lambda column: is_character(column, mariadb),
        "column_charset": lambda column: is_character(column, mariadb),
        "enum_set_default_charset": lambda column: is_enum(column) or is_set(column),
        "enum_set_column_charset": lambda column: is_enum(column) or is_set(column),
        "set_members": is_set,
        "enum_members": is_enum,
        "column_name": lambda column: True,
        "visibility": lambda column: True,
        "geometry_type": lambda column: column.type_code == WireType.GEOMETRY,
        "vector_dimensions": lambda column: column.type_code == WireType.VECTOR,
    }
    kind = kinds.get(name)
    return None if kind is None else [index for index, column in enumerate(columns) if kind(column)]
