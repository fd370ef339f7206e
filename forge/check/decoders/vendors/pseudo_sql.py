"""Reading back what mysqlbinlog and mariadb-binlog print.

The options are ``-vv --base64-output=DECODE-ROWS --print-table-metadata``.  Rows are pseudo-SQL in ``###`` lines, one
line a cell (line breaks inside values are escaped), table maps are ``# Columns(`` blocks, one line a column.  Output
is bytes: values are in the columns' character sets.

Both readers hold the rows of a statement back until its last row event; MariaDB's holds back the headers of those
events as well, so ``# at`` lines may run ahead of the headers that they belong to.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from forge.check.decoder import (
    DecodedRow,
    DecodedStatement,
    DecodedTable,
    DecodingEnded,
    Deferred,
    Form,
    Gap,
    Item,
    Warned,
)
from forge.check.decoders.vendors.statements import STATEMENT_HEADERS, printed_statement
from forge.decode.cells import Kind
from forge.decode.reference import Place
from forge.events.plain import to_text

_AT = re.compile(rb"# at (\d+)\Z")
#: INCIDENT is named on the next line, behind ``# Incident:``.
_HEADER = re.compile(
    rb"#\d{6} +\d+:\d\d:\d\d server id \d+ +end_log_pos (?P<end>\d+) "
    rb"(?:.*?\t(?P<name>\w+)(?P<rest>.*)|[^\t\n]*)\Z",
    re.DOTALL,
)
_TABLE_MAP = re.compile(rb": (.*) mapped to number \d+(?: \(.*\))?\Z", re.DOTALL)
_WHOLE_TABLE_MAP = re.compile(rb".* mapped to number \d+(?: \(.*\))?\Z", re.DOTALL)
_ROWS = re.compile(rb"(?:Write|Update|Delete)_(?:compressed_)?rows", re.IGNORECASE)
_ROW = re.compile(rb"### (INSERT INTO|UPDATE|DELETE FROM) `((?:[^`]|``)*)`\.`((?:[^`]|``)*)`( VALUES \(\))?\Z")
_ROW_STARTS = (b"### INSERT INTO `", b"### UPDATE `", b"### DELETE FROM `")
_CELL = re.compile(rb"###   @(\d+)=(.*) /\* ([A-Z].*) meta=\d+ nullable=[01] is_null=[01] \*/\Z", re.DOTALL)
#: MariaDB's client says so of an image without columns.
_IMAGE = re.compile(rb"### (SET|WHERE)(?: /\* no columns \*/)?\Z")
_CELL_START = b"###   @"
_CELL_MORE = b"###      "
_UNKNOWN_COLUMN = re.compile(rb"!! Don't know how to handle column type=(\d+) meta=")
_INVALID_TYPE = re.compile(rb"INVALID_TYPE\((\d+)\)")
_WARNINGS = (b"# Warning:", b"# WARNING", b"WARNING:")
_PAYLOAD_END = b"# End of compressed events."
#: What lines begin with that say something outside of table maps and statements.
_TELLING = (b"###", _PAYLOAD_END, *_WARNINGS)
_COLUMNS, _MORE_COLUMNS, _KEY = b"# Columns(", b"#         ", b"# Primary Key("
_KINDS: dict[bytes, Kind] = {b"INSERT INTO": "insert", b"UPDATE": "update", b"DELETE FROM": "delete"}
#: Lines that one header or row start may take: names may hold line breaks, which are printed as they are.
_MOST_LINES = 64

#: (the type that the comment names, the printed value) -> form.
ReadValue = Callable[[str, bytes], Form]


class _Lines:
    """The lines of the output, with those joined that a name or a value breaks."""

    def __init__(self, printed: bytes) -> None:
        self.lines = printed.split(b"\n")
        self.number = 0

    def __iter__(self) -> Iterator[bytes]:
        while self.number < len(self.lines):
            self.number += 1
            yield self.lines[self.number - 1]

    def joined(self, pattern: re.Pattern[bytes], more: bytes = b"") -> bytes:
        """The current line and those after it, up to where they match; the line alone if they never do.

        Lines that continue it start with ``more``.
        """
        line = self.lines[self.number - 1]
        for end in range(self.number, min(self.number + _MOST_LINES, len(self.lines)) + 1):
            if pattern.match(line):
                self.number = end
                return line
            if end == len(self.lines) or not self.lines[end].startswith(more):
                break
            line += b"\n" + self.lines[end]
        return self.lines[self.number - 1]


@dataclass(slots=True)
class _Row:
    database: str
    table: str
    kind: Kind
    before: dict[int, Form] | None = None
    after: dict[int, Form] | None = None
    #: The image that cells belong to, after ``### SET`` or ``### WHERE``.
    image: dict[int, Form] | None = None


@dataclass
class TextReader:
    """The items of a reader's output; ``offsets`` are those of the file's events.

    Afterwards ``announced`` is the last event that the reader began with.
    """

    read_value: ReadValue
    offsets: frozenset[int]
    announced: Place = (-1, 0)
    #: The last column type of the current table map that the reader does not know.
    invalid_type: str | None = None
    _place: Place = (-1, 0)
    #: Places announced by ``# at`` lines whose headers have not been printed yet.
    _waiting: deque[Place] = field(default_factory=deque)
    #: Offset of the payload whose events are being printed.
    _payload: int | None = None
    _table: DecodedTable | None = None
    _columns: list[str] = field(default_factory=list)
    _in_columns: bool = False
    _row: _Row | None = None
    #: Header's name and end of an event of statements, and the lines after it.
    _statement: tuple[bytes, bytes] | None = None
    _printed: list[bytes] = field(default_factory=list)
    _in_rows: bool = False
    #: Row events whose rows are held back.
    _held: list[Place] = field(default_factory=list)

    @cached_property
    def _starts(self) -> dict[int, int]:
        """Where the event begins that ends at an offset."""
        ordered = sorted(self.offsets)
        return dict(zip(ordered[1:], ordered, strict=False))

    def read(self, printed: bytes) -> Iterator[Item]:
        """Raises DecodingEnded for output that is not understood or tells of corruption."""
        lines = _Lines(printed)
        for line in lines:
            if line.startswith(b"# at ") and self._announce(line):
                continue
            if self._waiting and (header := _HEADER.match(line)):
                if header["name"] == b"Table_map":
                    header = _HEADER.match(lines.joined(_WHOLE_TABLE_MAP)) or header
                yield from self._close()
                yield from self._open(header)
                continue
            if self._in_rows and line.startswith(_ROW_STARTS):
                line = lines.joined(_ROW)
            elif self._in_rows and line.startswith(_CELL_START):
                cell = _CELL.match(line)
                if cell is None:
                    line = lines.joined(_CELL, _CELL_MORE)
                elif self._row is not None and self._row.image is not None:
                    # Nearly all lines are of this kind.
                    self._take_cell(self._row.image, cell)
                    continue
            elif self._statement is None and self._table is None and not line.startswith(_TELLING):
                # What the reader says of other events.
                continue
            yield from self._line(line)
        yield from self._close()
        for place in self._held:
            yield Gap(place, "rows of a statement that does not end")

    def _announce(self, line: bytes) -> bool:
        offset = _AT.match(line)
        if offset is None:
            return False
        if self._payload is not None:
            self.announced = (self._payload, self.announced[1] + 1)
        elif int(offset[1]) in self.offsets and int(offset[1]) > self.announced[0]:
            self.announced = (int(offset[1]), 0)
        else:
            return False
        self._waiting.append(self.announced)
        return True

    def _open(self, header: re.Match[bytes]) -> Iterator[Item]:
        start = self._starts.get(int(header["end"])) if self._payload is None else None
        # Some events of LOAD DATA have no headers, so that the next ones seem to belong to them.
        self._place = self._waiting.popleft()
        name, rest = header["name"] or b"", header["rest"] or b""
        self._in_rows = _ROWS.match(name) is not None
        if self._in_rows and b" STMT_END_F" in rest:
            yield from map(Deferred, self._held)
            self._held = []
        elif self._in_rows:
            self._held.append(self._place)
        elif name == b"Table_map" and (named := _TABLE_MAP.match(rest)):
            self._table = DecodedTable(self._place, to_text(named[1]))
            self.invalid_type = None
        elif name in STATEMENT_HEADERS and start == self._place[0]:
            self._statement = (name, rest)
        elif name == b"Transaction_Payload":
            self._payload = self._place[0]

    def _close(self) -> Iterator[Item]:
        yield from self._end_row()
        if self._table is not None:
            columns = tuple(self._columns) or None
            yield DecodedTable(self._table.place, self._table.name, columns, self._table.primary_key)
        self._table, self._columns, self._in_columns, self._in_rows = None, [], False, False
        if self._statement is not None:
            text = printed_statement(*self._statement, self._printed)
            if text is not None:
                yield DecodedStatement(self._place, text)
        self._statement, self._printed = None, []

    def _end_row(self) -> Iterator[Item]:
        row, self._row = self._row, None
        if row is not None:
            yield DecodedRow(self._place, row.database, row.table, row.kind, row.before, row.after)

    def _line(self, line: bytes) -> Iterator[Item]:
        if self._statement is not None:
            self._printed.append(line)
        if self._table is not None:
            self._table_line(self._table, line)
        elif self._in_rows and line.startswith(b"###"):
            yield from self._row_line(line)
        elif line.startswith(_WARNINGS):
            yield Warned(to_text(line.lstrip(b"# ")))
        elif line == _PAYLOAD_END:
            self._payload = None

    def _table_line(self, table: DecodedTable, line: bytes) -> None:
        if line.startswith(_COLUMNS):
            self._in_columns = True
            line = line[len(_COLUMNS) :]
        elif line.startswith(_KEY):
            self._table = DecodedTable(table.place, table.name, None, to_text(line[len(_KEY) :].removesuffix(b")")))
            return
        elif self._in_columns and line.startswith(_MORE_COLUMNS):
            line = line[len(_MORE_COLUMNS) :]
        else:
            self._in_columns = False
            return
        if invalid := _INVALID_TYPE.search(line):
            self.invalid_type = invalid[1].decode()
        self._in_columns = line.endswith(b",")
        self._columns.append(to_text(line[:-1]))

    def _row_line(self, line: bytes) -> Iterator[Item]:
        if line.startswith(_CELL_START):
            yield from self._cell_line(line)
        elif head := _ROW.match(line):
            yield from self._end_row()
            database, table = (to_text(name.replace(b"``", b"`")) for name in (head[2], head[3]))
            self._row = _Row(database, table, _KINDS[head[1]])
            if head[4]:
                self._row.after = {}
        elif self._row is not None and (image := _IMAGE.match(line)):
            self._row.image = {}
            if image[1] == b"SET":
                self._row.after = self._row.image
            else:
                self._row.before = self._row.image
        elif line.startswith(b"### Row event for unknown table"):
            raise DecodingEnded("refused", to_text(line[4:]))

    def _take_cell(self, image: dict[int, Form], cell: re.Match[bytes]) -> None:
        value = cell[2].replace(b"\n" + _CELL_MORE, b"")
        image[int(cell[1])] = self.read_value(cell[3].decode("ascii", "replace"), value)

    def _cell_line(self, line: bytes) -> Iterator[Item]:
        if self._row is None:
            return
        cell = _CELL.match(line)
        if cell is not None and self._row.image is not None:
            self._take_cell(self._row.image, cell)
            return
        # The rest of the event is lost: the row that this cell is part of is not a row.
        self._row, self._in_rows = None, False
        unknown = _UNKNOWN_COLUMN.search(line)
        if unknown is not None:
            yield Gap(self._place, f"column type {unknown[1].decode()}")
            return
        raise DecodingEnded("refused", f"at {self._place[0]} it prints {to_text(line)[:200]!r}")
