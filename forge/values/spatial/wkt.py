"""Well-known text of geometries to well-known binary, with the rules of ``ST_GeomFromText`` on MySQL 9.7.

Recorded: names in any case, white space anywhere between tokens, ``MULTIPOINT(1 2,3 4)`` as well as
``MULTIPOINT((1 2),(3 4))`` but no mixture, ``GEOMETRYCOLLECTION EMPTY`` and ``GEOMETRYCOLLECTION()`` as the only
empty geometries, lines of at least two points, closed rings of at least four, no Z and no M.
"""

from __future__ import annotations

import math
import re
import struct
from typing import Final

from forge.errors import ScenarioError, nearest
from forge.values.spatial.wkb import GEOMETRYCOLLECTION, LINESTRING, MEMBERS, MULTIPOINT, NAMES, POINT

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?)|(?P<word>[a-z]+)|(?P<mark>[(),]))\s*", re.I
)
_END: Final = "the end of the text"


def parse_wkt(text: str, *, short_lines: bool = False) -> bytes:
    """The WKB of a geometry's text; ``short_lines``: a LINESTRING may have a single point.

    Raises ScenarioError with the position of what is wrong.
    """
    return _Parser(text, 1 if short_lines else 2).geometry()


class _Parser:
    """A cursor over the tokens of a text and the bytes made so far."""

    def __init__(self, text: str, least_points: int) -> None:
        self.text = text
        self.least_points = least_points
        self.position = 0
        self.data = bytearray()

    def geometry(self) -> bytes:
        # Open collections: where their count is to be written, parts so far, type of the parts, bare points.
        around: list[tuple[int, int, int, bool]] = []
        while True:
            member = around[-1][2] if around else 0
            kind = member or self._kind()
            self.data += struct.pack("<BI", 1, kind)
            if kind in MEMBERS:
                if not self._is_empty(kind):
                    bare = kind == MULTIPOINT and self._peek() != "("
                    around.append((len(self.data), 0, MEMBERS[kind], bare))
                    self.data += bytes(4)
                    continue
                self.data += bytes(4)
            elif kind == POINT:
                self._point(bare=bool(around) and around[-1][3])
            elif kind == LINESTRING:
                self._line(self.least_points)
            else:
                self._rings()
            while around:
                count_at, count, member, bare = around.pop()
                if self._more():
                    around.append((count_at, count + 1, member, bare))
                    break
                struct.pack_into("<I", self.data, count_at, count + 1)
            if not around:
                break
        if self.position < len(self.text.rstrip()):
            raise self._wrong(_END)
        return bytes(self.data)

    def _kind(self) -> int:
        start = self.position
        word = (self._take("word", "the name of a geometry type")).upper()
        if word not in NAMES[1:]:
            self.position = start
            raise self._wrong("the name of a geometry type", nearest(word, NAMES[1:]))
        return NAMES.index(word)

    def _is_empty(self, kind: int) -> bool:
        """Passes ``EMPTY`` and ``()`` of a collection, or the parenthesis that opens a filled one."""
        if kind == GEOMETRYCOLLECTION and self._peek().upper() == "EMPTY":
            self._take("word", "EMPTY")
            return True
        self._mark("(")
        if kind == GEOMETRYCOLLECTION and self._peek() == ")":
            self._mark(")")
            return True
        return False

    def _point(self, bare: bool) -> None:
        if not bare:
            self._mark("(")
        self._pair()
        if not bare:
            self._mark(")")

    def _line(self, least: int) -> tuple[bytes, bytes]:
        """A parenthesised list of points; returns the first and the last."""
        start, before = len(self.data), self.position
        self.data += bytes(4)
        self._mark("(")
        self._pair()
        while self._more():
            self._pair()
        count = (len(self.data) - start - 4) // 16
        if count < least:
            self.position = before
            raise self._wrong(f"at least {least} points, not {count}")
        struct.pack_into("<I", self.data, start, count)
        return bytes(self.data[start + 4 : start + 20]), bytes(self.data[-16:])

    def _rings(self) -> None:
        start, count = len(self.data), 0
        self.data += bytes(4)
        self._mark("(")
        while not count or self._more():
            before = self.position
            first, last = self._line(4)
            if first != last:
                self.position = before
                raise self._wrong("a ring that ends where it starts")
            count += 1
        struct.pack_into("<I", self.data, start, count)

    def _pair(self) -> None:
        for _ in range(2):
            start = self.position
            value = float(self._take("number", "a coordinate"))
            if not math.isfinite(value):
                self.position = start
                raise self._wrong("a coordinate that fits a double")
            self.data += struct.pack("<d", value)

    def _more(self) -> bool:
        """Whether a comma follows, which is passed; otherwise passes the closing parenthesis."""
        if self._peek() == ",":
            self._mark(",")
            return True
        self._mark(")", "a comma or )")
        return False

    def _peek(self) -> str:
        match = _TOKEN.match(self.text, self.position)
        return match.group().strip() if match else ""

    def _mark(self, mark: str, expected: str | None = None) -> None:
        if self._peek() != mark:
            raise self._wrong(expected or mark)
        self._take("mark", mark)

    def _take(self, kind: str, expected: str) -> str:
        match = _TOKEN.match(self.text, self.position)
        if match is None or match.group(kind) is None:
            raise self._wrong(expected)
        self.position = match.end()
        return str(match.group(kind))

    def _wrong(self, expected: str, suggestion: str | None = None) -> ScenarioError:
        rest = self.text[self.position : self.position + 20].strip()
        shown = repr(rest) if rest else _END
        return ScenarioError(
            f"invalid WKT at position {self.position}: {shown}", expected=expected, suggestion=suggestion
        )
