"""MySQL's ``mysqlbinlog``: its pseudo-SQL of rows, read back (rows.md 6.4 - 6.6, recorded on 9.7.4).

Every function here says what the reader prints for a correct cell, quirks included; where it prints something else
for such a cell that is a difference.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import ClassVar

from forge.binlog.reader import frames
from forge.check.canonical.cells import Cell, MappedTable
from forge.check.decoders.cli_reader import Printed, find_program, program_version, run_on_file, servers_home
from forge.check.decoders.pseudo_sql import TextReader, escape, unescape
from forge.check.decoders.table import NOT_SHOWN, Decoder, DecodingEnded, Expected, ExpectedKey, Form, Item, Warned
from forge.check.decoders.vendor_columns import Flavour, column_texts, primary_key_text
from forge.events.column_kinds import is_enum, is_set
from forge.events.layout import to_bytes, to_text
from forge.events.registry import event_name
from forge.values.base import Column
from forge.values.wire_types import WireType

_INTEGERS = frozenset((WireType.TINY, WireType.SHORT, WireType.INT24, WireType.LONG, WireType.LONGLONG))
_UNREAD = re.compile(r"Could not read entry at offset (\d+)")
_OPTIONS = ("-vv", "--base64-output=DECODE-ROWS", "--verify-binlog-checksum", "--print-table-metadata")


class CommandLineReader(Decoder):
    """What both vendors' readers share."""

    program: ClassVar[str]
    #: Event types that only the other vendor's servers write.
    foreign_types: ClassVar[frozenset[int]]

    def __init__(self, name: str, build: str, flavour: Flavour) -> None:
        self.name = name
        self.build = build
        self.flavour: Flavour = flavour

    def command(self) -> tuple[str, ...] | None:
        return find_program(self.program, self.build)

    def available(self) -> str | None:
        if self.command() is None:
            return f"no {self.build}.run in {servers_home()}, and no {self.program} on PATH"
        return None

    def version(self) -> str:
        command = self.command()
        try:
            return program_version(command) if command else "unknown"
        except DecodingEnded:
            return "unknown"

    def decode(self, data: bytes) -> Iterator[Item]:
        command = self.command()
        if command is None:
            raise DecodingEnded("refused", str(self.available()))
        printed = run_on_file([*command, "--no-defaults", *_OPTIONS], data)
        reader = TextReader(self.read_value, frozenset(frame.offset for frame in frames(data)))
        yield from reader.read(printed.out)
        for line in self.error_lines(printed):
            if not line.startswith("ERROR"):
                yield Warned(line)
        if printed.code:
            raise self.ending(printed, reader, data)

    def error_lines(self, printed: Printed) -> list[str]:
        """The lines of standard error, without bells and without the folder that the program lies in."""
        text = to_text(printed.err).replace("\a", "")
        text = re.sub(rf"\S*/{self.program}\b", self.program, text)
        return [line.strip() for line in text.splitlines() if line.strip()]

    def ending(self, printed: Printed, reader: TextReader, data: bytes) -> DecodingEnded:
        """Why the program ended with a code other than 0."""
        errors = [line for line in self.error_lines(printed) if line.startswith("ERROR")]
        if not errors and reader.invalid_type is not None:
            what = f"column type {reader.invalid_type}: it ends with code {printed.code}, without a message"
            return DecodingEnded("unsupported", what)
        message = "; ".join(errors) or "no message"
        unread = _UNREAD.search(message)
        if unread is not None and (code := _type_at(data, int(unread[1]))) in self.foreign_types:
            return DecodingEnded("unsupported", f"{event_name(code)} events: {message}")
        return DecodingEnded("refused", f"code {printed.code} after the event at {reader.announced[0]}: {message}")

    def read_value(self, type_name: str, printed: bytes) -> Form:
        """A printed value: bytes for the string types, text for all others, None for NULL."""
        if printed == b"NULL":
            return None
        quoted = len(printed) >= 2 and printed[:1] == b"'" and printed[-1:] == b"'"
        if not quoted:
            return to_text(printed.strip())
        value = self.unquote(printed[1:-1])
        textual = type_name.partition("(")[0] in ("TIME", "DATE", "DATETIME", "TIMESTAMP", "JSON")
        return to_text(value) if textual else value

    def unquote(self, text: bytes) -> bytes:
        return unescape(text)

    def quote(self, value: bytes) -> bytes:
        """What :meth:`unquote` should give for a value."""
        return value

    def normalise(self, cell: Cell) -> Expected:
        if cell.raw is None:
            return None
        if cell.partial:
            return self.printed_diffs(cell)
        return self.printed(cell.column, cell.raw, cell)

    def printed(self, column: Column, raw: bytes, cell: Cell) -> Expected:
        code = column.type_code
        if code in _INTEGERS:
            return _signed(raw)
        if code == WireType.FLOAT:
            return f"{struct.unpack('<f', raw)[0]:g}"
        if code == WireType.DOUBLE:
            return f"{struct.unpack('<d', raw)[0]:.20g}"
        if code == WireType.YEAR:
            return str(1900 + raw[0])
        if code == WireType.BIT:
            return _bits(column, raw)
        if code in (WireType.TIMESTAMP, WireType.TIMESTAMP2):
            return _seconds(column, raw)
        if code in (WireType.DATE, WireType.NEWDATE):
            return str(cell.text()).replace("-", ":")
        if is_enum(column):
            return str(int.from_bytes(raw, "little"))
        if is_set(column):
            return "b'" + "".join(f"{byte:08b}" for byte in raw) + "'"
        if code in (WireType.VARCHAR, WireType.VAR_STRING, WireType.STRING, WireType.BLOB):
            return self.quote(payload(column, raw))
        return self.printed_rarely(column, raw, cell)

    def printed_diffs(self, cell: Cell) -> Expected:
        """The diffs of a partial JSON update."""
        return NOT_SHOWN

    def printed_rarely(self, column: Column, raw: bytes, cell: Cell) -> Expected:
        """The types that the two vendors treat differently."""
        text = cell.text()
        return text if isinstance(text, str) else NOT_SHOWN

    def columns(self, mapped: MappedTable) -> tuple[str | None, ...] | None:
        return column_texts(mapped, self.flavour)

    def primary_key(self, mapped: MappedTable) -> ExpectedKey:
        return primary_key_text(mapped, self.flavour)


class Mysqlbinlog(CommandLineReader):
    program = "mysqlbinlog"
    foreign_types = frozenset(range(160, 256))
    capabilities = (
        "FLOAT has 6 significant digits",
        "ENUM is shown as its number, SET as its bits",
        "YEAR 0000 is shown as 1900",
        "BINARY(n) is shown without its trailing zero bytes",
        "integers are shown signed, with the unsigned reading behind negative ones",
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


def _type_at(data: bytes, offset: int) -> int:
    return data[offset + 4] if offset + 4 < len(data) else 0


def payload(column: Column, raw: bytes) -> bytes:
    """The bytes of a length-prefixed cell behind its prefix."""
    if column.type_code in (WireType.BLOB, WireType.BLOB_COMPRESSED, WireType.GEOMETRY):
        return raw[column.metadata[0] :]
    if column.type_code == WireType.STRING:
        longest = column.metadata[1] | ((column.metadata[0] & 0x30) ^ 0x30) << 4
    else:
        longest = int.from_bytes(column.metadata[:2], "little")
    return raw[2:] if longest > 255 else raw[1:]


def _signed(raw: bytes) -> str:
    signed = int.from_bytes(raw, "little", signed=True)
    return f"{signed} ({int.from_bytes(raw, 'little')})" if signed < 0 else str(signed)


def _bits(column: Column, raw: bytes) -> str:
    count = 8 * column.metadata[1] + column.metadata[0]
    value = int.from_bytes(raw, "big") & ((1 << count) - 1)
    return f"b'{value:0{count}b}'"


def _seconds(column: Column, raw: bytes) -> str:
    if column.type_code == WireType.TIMESTAMP:
        return str(int.from_bytes(raw, "little"))
    fsp = column.metadata[0]
    seconds, fraction = int.from_bytes(raw[:4], "big"), int.from_bytes(raw[4:], "big")
    if not fsp:
        return str(seconds)
    return f"{seconds}.{fraction:0{2 * len(raw[4:])}d}"[: len(str(seconds)) + 1 + fsp]
