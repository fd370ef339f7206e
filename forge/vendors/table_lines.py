"""What ``--print-table-metadata`` adds to a TABLE_MAP, with the defects of each program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forge.charsets import collation
from forge.decode.cells import MappedTable
from forge.errors import ScenarioError
from forge.events.column_kinds import is_numeric
from forge.events.plain import to_bytes
from forge.values.base import Column
from forge.values.wire_types import WireType
from forge.vendors.column_forms import Flavour, column_name, column_text, key_text
from forge.vendors.print_options import PrintOptions
from forge.vendors.quoting import in_backticks

#: Types that the programs do not know here, though servers wrote them.
_OLD_TIMES = frozenset((WireType.TIMESTAMP, WireType.TIME, WireType.DATETIME))
_INVALID = {
    "mysql": _OLD_TIMES,
    "mariadb": _OLD_TIMES
    | frozenset((WireType.VARCHAR_COMPRESSED, WireType.BLOB_COMPRESSED, WireType.JSON, WireType.VECTOR)),
}
_GENERATED_KEY, _HAS_TRIGGERS = 0x0004, 0x4000
_SEPARATOR = ",\n#         "


def table_texts(
    mapped: MappedTable, options: PrintOptions, flavour: Flavour, *, tells_key: bool
) -> tuple[bytes, bytes]:
    """What is said of a table before and behind its number; of generated keys with ``tells_key``."""
    body = mapped.body
    names = (to_bytes(body.database), to_bytes(body.table))
    if flavour == "mysql":
        shown, behind = b"`%s`.`%s`" % names, b"\n"
        if tells_key:
            behind += b"# has_generated_invisible_primary_key=%d\n" % bool(body.table_flags & _GENERATED_KEY)
    else:
        shown = b".".join(map(in_backticks, names))
        behind = (b" (has triggers)" if body.table_flags & _HAS_TRIGGERS else b"") + b"\n"
    if options.print_table_metadata:
        behind += table_lines(mapped, flavour)
    return b"\tTable_map: " + shown + b" mapped to number ", behind


def table_lines(mapped: MappedTable, flavour: Flavour) -> bytes:
    """The columns of a table, and its primary key."""
    columns = mapped.columns
    if not columns:
        return b""
    invalid = _INVALID["mysql" if flavour == "mysql" else "mariadb"]
    if flavour != "mysql":
        columns = _with_moved_signs(columns)
    columns = _with_moved_metadata(columns, invalid)
    text = ""
    for index, column in enumerate(columns):
        if column.type_code in invalid:
            # Neither a comma nor a line break follows.
            text += column_name(column, flavour) + f"INVALID_TYPE({column.type_code})"
        else:
            told = column_text(mapped, index, _without_unknown_collation(column, flavour), flavour)
            text += (told or "") + (_SEPARATOR if index < len(columns) - 1 else "")
    key = key_text(mapped, flavour)
    return to_bytes(f"# Columns({text})\n" + (f"# Primary Key({key})\n" if key else ""))


def _without_unknown_collation(column: Column, flavour: Flavour) -> Column:
    if column.collation is not None:
        try:
            collation(column.collation, flavour)
        except ScenarioError:
            return replace(column, collation=None)
    return column


def _with_moved_metadata(columns: Sequence[Column], invalid: frozenset[int]) -> tuple[Column, ...]:
    """The columns as the programs take them: they do not pass the metadata of a type that they do not know."""
    stream, at, moved = b"".join(column.metadata for column in columns), 0, []
    for column in columns:
        if column.type_code not in invalid:
            size = len(column.metadata)
            column = replace(column, metadata=stream[at : at + size])
            at += size
        moved.append(column)
    return tuple(moved)


def _with_moved_signs(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns as mariadb-binlog takes them: it does not count YEAR among those that may be UNSIGNED, and servers
    do, so that columns behind one have the sign of their predecessor.
    """
    signs = iter([column.unsigned for column in columns if is_numeric(column)])
    return tuple(
        replace(column, unsigned=next(signs)) if is_numeric(column) and column.type_code != WireType.YEAR else column
        for column in columns
    )
