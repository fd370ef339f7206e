"""A vendor's text, from which lines and statements are taken one after the other."""

from __future__ import annotations

import base64
import binascii
import re

from forge.binlog.reader import announced_size
from forge.errors import ScenarioError
from forge.events.format import HEADER_SIZE
from forge.vendors.session_lines import DELIMITER

_AT = re.compile(rb"# at (\d+)\n")
#: The beginnings of what stands behind a statement.
_AFTER = (
    b"# at ", b"#", b"DELIMITER ", b"ROLLBACK /* added", b"COMMIT /* added", b"BEGIN /*added",
    b"SET @@SESSION.GTID_NEXT=",
    b"use `", b"/*!50521 SET skip_replication", b"/*!50616 SET @@SESSION.GTID_NEXT", b"WARNING: ", b"ERROR: ",
)  # fmt: skip
#: How the texts begin, which no listing does.
_BEGINNINGS = re.compile(
    rb"(?:[^\n]*\n){0,40}?(?:DELIMITER /\*!|/\*!50530 SET @@SESSION\.PSEUDO_SLAVE_MODE|/\*!40019 SET @@session\.max_"
    rb"|# at \d+\n#\d{6} )"
)


def is_vendor_text(data: bytes) -> bool:
    """Whether a text is one that a vendor's program printed."""
    return not data.startswith((b"event:", b"---", b"{")) and _BEGINNINGS.match(data) is not None


class Scanner:
    """The text, and where its reader stands."""

    def __init__(self, data: bytes, file: str | None) -> None:
        self.data = data if data.endswith(b"\n") else data + b"\n"
        self.file = file
        self.at = 0
        self.delimiter = DELIMITER
        #: Where lines were counted, and how many there are before.
        self._counted = (0, 1)

    @property
    def ended(self) -> bool:
        return self.at >= len(self.data)

    def line_number(self, at: int) -> int:
        """The number of the line at an offset of the text."""
        place, number = self._counted if self._counted[0] <= at else (0, 1)
        number += self.data.count(b"\n", place, at)
        self._counted = (at, number)
        return number

    def error(self, problem: str, *, expected: str | None = None, at: int | None = None) -> ScenarioError:
        """What is wrong with the text at the reader's place, or at another."""
        line = self.line_number(self.at if at is None else at)
        return ScenarioError(problem, file=self.file, line=line, expected=expected)

    def looking_at(self, *beginnings: bytes) -> bool:
        return self.data.startswith(beginnings, self.at)

    def line(self) -> bytes:
        """Take a line, without its end."""
        end = self.data.find(b"\n", self.at)
        found = self.data[self.at : end]
        self.at = end + 1
        return found

    def take(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """Take what a pattern matches here."""
        found = pattern.match(self.data, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def position(self) -> int | None:
        """Take the line that says where an event lies in the file."""
        found = self.take(_AT)
        return None if found is None else int(found[1])

    def setting(self) -> bytes | None:
        """Take a statement that is one line; None if the delimiter does not end this one."""
        end = self.data.find(b"\n", self.at)
        if not self.data.endswith(self.delimiter, self.at, end):
            return None
        found = self.data[self.at : end - len(self.delimiter)]
        self.at = end + 1
        return found

    def statement(self) -> bytes:
        """Take a statement whose delimiter is a line of its own.

        A text may hold such a line itself; the one that ends it stands in front of what is no text of a statement.
        """
        start, mark = self.at, b"\n" + self.delimiter + b"\n"
        end = self.data.find(mark, start - 1)
        if end < 0:
            raise self.error(
                "the statement has no end", expected=f"a line {self.delimiter.decode(errors='replace')} behind it"
            )
        first = end
        while end >= 0 and not self._ends(end + len(mark)):
            end = self.data.find(mark, end + 1)
        end = first if end < 0 else end
        self.at = end + len(mark)
        return self.data[start : max(end, start)]

    def _ends(self, at: int) -> bool:
        return at >= len(self.data) or self.data.startswith(_AFTER, at)

    def block(self) -> list[bytes]:
        """Take the base64 of a BINLOG statement and its end: the events in it."""
        events: list[bytes] = []
        data = bytearray()
        while not self.looking_at(b"'"):
            at = self.at
            line = self.line()
            if line.startswith(b"###"):
                # Programs before 5.7 print the rows of each event behind its bytes.
                continue
            try:
                data += base64.b64decode(line, validate=True)
            except binascii.Error:
                raise self.error("this line of a BINLOG statement is not base64", at=at) from None
            if self.ended:
                raise self.error("the BINLOG statement has no end", expected="a line with ' and the delimiter")
            if len(data) >= HEADER_SIZE and len(data) >= announced_size(data):
                if len(data) != announced_size(data):
                    raise self.error(
                        f"the event in this BINLOG statement has {len(data)} bytes",
                        expected=f"{announced_size(data)}, as its header says",
                        at=at,
                    )
                events.append(bytes(data))
                data.clear()
        if not events and not data:
            raise self.error("this BINLOG statement is empty")
        if data:
            raise self.error("the last event of this BINLOG statement is cut off")
        self.line()
        return events
