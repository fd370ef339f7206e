"""MySQL's ``mysqlbinlog``: its pseudo-SQL of rows, read back (recorded on 9.7.4)."""

from __future__ import annotations

import re
import struct

from forge.check.decoder import NOT_SHOWN, Expected
from forge.check.decoders.vendors.pseudo_sql import escape
from forge.check.decoders.vendors.reader import CommandLineReader
from forge.decode.cells import Cell, MappedTable
from forge.events.plain import to_bytes, to_text
from forge.values.base import Column
from forge.values.wire_types import WireType

_INTEGERS = frozenset((WireType.TINY, WireType.SHORT, WireType.INT24, WireType.LONG, WireType.LONGLONG))
_UNREAD = re.compile(r"Could not read entry at offset (\d+)")
_OPTIONS = ("-vv", "--base64-output=DECODE-ROWS", "--verify-binlog-checksum", "--print-table-metadata")

#: Types of old servers that MySQL 8.4 took out of its readers (its FORMAT_DESCRIPTION gives them no post-header):
#: START_V3, what was LOAD DATA before 5.0, rows from before version 2.
_REMOVED = frozenset((1, 6, 7, 8, 10, 12, *range(20, 26)))


class Mysqlbinlog(CommandLineReader):
    program = "mysqlbinlog"
    unread_types = _REMOVED | frozenset(range(160, 256))
    capabilities = (
        "FLOAT has 6 significant digits",
        "ENUM is shown as its number, SET as its bits",
        "YEAR 0000 is shown as 1900",
        "BINARY(n) is shown without its trailing zero bytes",
        "integers are shown signed, with the unsigned value after negative ones",
        "VECTOR elements have 6 significant digits",
        "GEOMETRY is not shown, nor what follows it in the event",
        "the text of columns is not converted from their character sets",
    )

    def __init__(self) -> None:
        super().__init__("mysqlbinlog", "mysql97", "mysql")

    def printed_diffs(self, cell: Cell) -> Expected:
        from forge.values.json.diff import format_diffs

        return format_diffs(cell.diffs(), f"@{cell.number}", "", _quoted)

    def table_name(self, mapped: MappedTable) -> str:
        # Not escaped, unlike in the rows.
        return f"`{mapped.body.database}`.`{mapped.body.table}`"

    def printed_rarely(self, column: Column, raw: bytes, cell: Cell) -> Expected:
        if column.type_code == WireType.VECTOR:
            floats = struct.iter_unpack("<f", raw[4:])
            return "[" + ",".join(f"{element:.5e}" for (element,) in floats) + "]"
        if column.type_code == WireType.GEOMETRY:
            return NOT_SHOWN
        if column.type_code == WireType.JSON:
            return _json(cell)
        return super().printed_rarely(column, raw, cell)


def _json(cell: Cell) -> Expected:
    """The document's text; what is a string at the top is shown without its quotes and escapes."""
    from forge.values.json.binary import Opaque, decode_document
    from forge.values.json.opaque import opaque_text

    document = decode_document(cell.value())
    if isinstance(document, Opaque):
        return opaque_text(document)[0]
    return document if isinstance(document, str) else cell.text()


def _quoted(text: str) -> str:
    """Text as it is printed inside the JSON functions of a diff."""
    return f"'{to_text(escape(to_bytes(text)))}'"
