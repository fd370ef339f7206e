"""Reading back what mysqlbinlog and mariadb-binlog print.

The options are ``-vv --base64-output=DECODE-ROWS --print-table-metadata``.
Rows are pseudo-SQL in ``###`` lines, one line a cell (line breaks inside values are escaped), table maps are
``# Columns(`` blocks, one line a column.  Output is bytes: values are in the columns' character sets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from forge.check.cells import Kind
from forge.check.decoders import DecodedRow, DecodedTable, DecodingEnded, Form, Gap, Item, Warned
from forge.events.layout import to_text

_AT = re.compile(rb"# at (\d+)\Z")
_HEADER = re.compile(rb"#\d{6} +\d+:\d\d:\d\d server id \d+ +end_log_pos \d+ .*?\t(\w+)(.*)\Z", re.DOTALL)
_TABLE_MAP = re.compile(rb": (.*) mapped to number \d+(?: \(.*\))?\Z", re.DOTALL)
_ROWS = re.compile(rb"(?:Write|Update|Delete)_(?:compressed_)?rows", re.IGNORECASE)
_ROW = re.compile(rb"### (INSERT INTO|UPDATE|DELETE FROM) `((?:[^`]|``)*)`\.`((?:[^`]|``)*)`( VALUES \(\))?\Z")
_CELL = re.compile(rb"###   @(\d+)=(.*) /\* ([A-Z].*) meta=\d+ nullable=[01] is_null=[01] \*/\Z", re.DOTALL)
_CELL_START = re.compile(rb"###   @(\d+)=(.*)\Z", re.DOTALL)
_UNKNOWN_COLUMN = re.compile(rb"!! Don't know how to handle column type=(\d+) meta=")
_COLUMNS, _MORE_COLUMNS, _KEY = b"# Columns(", b"#         ", b"# Primary Key("
_KINDS: dict[bytes, Kind] = {b"INSERT INTO": "insert", b"UPDATE": "update", b"DELETE FROM": "delete"}
_ESCAPE = re.compile(rb"\\(x[0-9a-f]{2}|.)", re.DOTALL)
_ESCAPES = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}

#: (the type that the comment names, the printed value) -> form.
ReadValue = Callable[[str, bytes], Form]


def unescape(text: bytes) -> bytes:
    """The inverse of mysqlbinlog's quoting (client/mysqlbinlog.cc prints other bytes as they are)."""

    def replaced(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code[1:], 16)]) if len(code) == 3 else _ESCAPES.get(code, code)

    return _ESCAPE.sub(replaced, text)


@dataclass(slots=True)
class _Row:
    database: str
    table: str
    kind: Kind
    before: dict[int, Form] | None = None
    after: dict[int, Form] | None = None
    #: The image that cells belong to, after ``### SET`` or ``### WHERE``.
    image: dict[int, Form] | None = None


@dataclass(slots=True)
class TextReader:
    """The items of a reader's output.  Afterwards ``offset`` is that of the last event that it began to print."""

    read_value: ReadValue
    offset: int = -1
    #: Whether the last table map had a column type that the reader does not know, and which.
    invalid_type: str | None = None
    _table: DecodedTable | None = None
    _columns: list[str] = field(default_factory=list)
    _in_columns: bool = False
    _row: _Row | None = None
    _in_rows: bool = False

    def read(self, printed: bytes) -> Iterator[Item]:
        """Raises DecodingEnded for output that is not understood or tells of corruption."""
        lines = printed.split(b"\n")
        for number, line in enumerate(lines):
            if line.startswith(b"# at ") and (at := _AT.match(line)) and int(at[1]) > self.offset:
                header = _HEADER.match(lines[number + 1]) if number + 1 < len(lines) else None
                if header is not None or number + 2 >= len(lines):
                    yield from self._close()
                    self._open(int(at[1]), header)
                    continue
            yield from self._line(line)
        yield from self._close()

    def _open(self, offset: int, header: re.Match[bytes] | None) -> None:
        self.offset = offset
        self._in_rows = header is not None and _ROWS.match(header[1]) is not None
        if header is not None and header[1] == b"Table_map" and (named := _TABLE_MAP.match(header[2])):
            self._table = DecodedTable(offset, to_text(named[1]))
            self.invalid_type = None

    def _close(self) -> Iterator[Item]:
        yield from self._end_row()
        if self._table is not None:
            columns = tuple(self._columns) or None
            yield DecodedTable(self._table.offset, self._table.name, columns, self._table.primary_key)
        self._table, self._columns, self._in_columns, self._in_rows = None, [], False, False

    def _end_row(self) -> Iterator[Item]:
        row, self._row = self._row, None
        if row is not None:
            yield DecodedRow(self.offset, row.database, row.table, row.kind, row.before, row.after)

    def _line(self, line: bytes) -> Iterator[Item]:
        if self._table is not None:
            self._table_line(self._table, line)
        elif self._in_rows and line.startswith(b"###"):
            yield from self._row_line(line)
        elif line.startswith((b"# Warning:", b"# WARNING", b"WARNING:")):
            yield Warned(to_text(line.lstrip(b"# ")))

    def _table_line(self, table: DecodedTable, line: bytes) -> None:
        if line.startswith(_COLUMNS):
            self._in_columns = True
            line = line[len(_COLUMNS) :]
        elif line.startswith(_KEY):
            self._table = DecodedTable(table.offset, table.name, None, to_text(line[len(_KEY) :].removesuffix(b")")))
            return
        elif self._in_columns and line.startswith(_MORE_COLUMNS):
            line = line[len(_MORE_COLUMNS) :]
        else:
            self._in_columns = False
            return
        if invalid := re.search(rb"INVALID_TYPE\((\d+)\)", line):
            self.invalid_type = invalid[1].decode()
        last = not line.endswith(b",")
        self._columns.append(to_text(line[:-1]))
        self._in_columns = not last

    def _row_line(self, line: bytes) -> Iterator[Item]:
        if line.startswith(b"###   @"):
            yield from self._cell_line(line)
        elif head := _ROW.match(line):
            yield from self._end_row()
            database, table = (to_text(name.replace(b"``", b"`")) for name in (head[2], head[3]))
            self._row = _Row(database, table, _KINDS[head[1]])
            if head[4]:
                self._row.after = {}
        elif line in (b"### SET", b"### WHERE") and self._row is not None:
            self._row.image = {}
            if line == b"### SET":
                self._row.after = self._row.image
            else:
                self._row.before = self._row.image
        elif line.startswith(b"### Row event for unknown table"):
            raise DecodingEnded("refused", to_text(line[4:]))

    def _cell_line(self, line: bytes) -> Iterator[Item]:
        if self._row is None:
            return
        cell = _CELL.match(line)
        if cell is not None and self._row.image is not None:
            self._row.image[int(cell[1])] = self.read_value(cell[3].decode("ascii", "replace"), cell[2])
            return
        # The rest of the event is lost: the row that this cell is part of is not a row.
        self._row, self._in_rows = None, False
        unknown = _UNKNOWN_COLUMN.search(line)
        if unknown is not None:
            yield Gap(self.offset, f"column type {unknown[1].decode()}")
            return
        start = _CELL_START.match(line)
        raise DecodingEnded("refused", f"at {self.offset} it prints {to_text(start[2] if start else line)[:200]!r}")
