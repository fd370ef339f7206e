"""ENUM and SET, which travel as STRING: metadata f7 n or f8 n, n bytes a value, little-endian (Field_enum and
Field_set of sql/field.cc; corpora/recordings/values/enums and sets).

ENUM: the 1-based index of the member in 1 or 2 bytes; 0 is the error value, which SELECT shows as ''.
SET: a bitmap, bit i for member i, in 1, 2, 3, 4 or 8 bytes.

The members' text comes from the optional metadata (FULL mode), in the column's character set; without it the text
of a value is its number.  A member is found by its text, as the collation compares; a number as text is taken
as the index or the bitmap if no member has that text, as a server takes it.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Any, ClassVar, TypeVar

from construct import BytesInteger, Construct

from forge.charsets import compare_key
from forge.errors import ScenarioError, nearest
from forge.values.base import Column, TypedValue
from forge.values.cells import IntegerCellCodec, bad_metadata
from forge.values.clipping import leading_number
from forge.values.literals import hex_mapping, number, quoted, refuse, shortened, shown
from forge.values.text.clipping import member_text
from forge.values.text.column_charset import BINARY_COLLATION, charset_of, charset_of_collation, decoded
from forge.values.wire_types import WireType

#: Columns whose members are kept as text.
_COLUMNS_KEPT = 512
#: SET members: at most this many fit the number of bytes.
SET_SIZES = {8: 1, 16: 2, 24: 3, 32: 4, 64: 8}
_LONGEST_MEMBER = 255
_WORD = 1 << 64
#: Texts that a server takes for numbers where they name no member.
_NUMBER = re.compile(r"\s*(?:\+?\d{1,20}|-0{1,20})", re.ASCII)
_BITMAP = re.compile(r"\s*[+-]?\d{1,20}", re.ASCII)
#: Texts of a column that its quick reader keeps.
_KEPT_TEXTS = 1024


@lru_cache(maxsize=8)
def layout(size: int) -> Construct[int, int]:
    return BytesInteger(size, swapped=True)


Members = tuple[bytes, ...]
_Made = TypeVar("_Made")


def _kept(make: Callable[[Members, int | None], _Made]) -> Callable[[Members, int | None], _Made]:
    """Keeps what is made of members, found again by the very tuple: a hash of ten thousand takes longer than a cell."""
    made: dict[tuple[int, int | None], tuple[Members, _Made]] = {}

    def of(members: Members, collation: int | None) -> _Made:
        known = made.get((id(members), collation))
        if known is None:
            if len(made) >= _COLUMNS_KEPT:
                made.clear()
            known = made[id(members), collation] = members, make(members, collation)
        return known[1]

    return of


@_kept
def member_texts(members: tuple[bytes, ...], collation: int | None) -> tuple[str | bytes, ...]:
    """The members as text; one that its character set does not decode stays bytes."""
    character_set = charset_of_collation(collation) if collation else None
    if character_set is None:
        # CHARACTER SET binary, or no record of it: utf8mb4 is a reading, not a fact.
        return tuple(_utf8(member) for member in members)
    return tuple(decoded(character_set, member) for member in members)


def _utf8(member: bytes) -> str | bytes:
    try:
        return member.decode()
    except UnicodeDecodeError:
        return member


@_kept
def _by_text(members: tuple[bytes, ...], collation: int | None) -> dict[str, int]:
    """Places of the members by text; the first of equal ones counts."""
    found: dict[str, int] = {}
    for place, text in enumerate(member_texts(members, collation)):
        if isinstance(text, str):
            found.setdefault(text, place)
    return found


@_kept
def _by_key(members: tuple[bytes, ...], collation: int | None) -> dict[str, int]:
    """Places of the members by what the collation compares; the first of equal ones counts."""
    found: dict[str, int] = {}
    for text, place in _by_text(members, collation).items():
        found.setdefault(_key(collation, text), place)
    return found


def _key(collation: int | None, text: str) -> str:
    if not collation:
        return text
    try:
        return compare_key(collation, text)
    except ScenarioError:
        return text


def find_member(column: Column, text: str) -> int | None:
    """The 0-based place of the member with this text; None if there is none, or the members are not known."""
    members = column.members or ()
    by_text = _by_text(members, column.collation)
    place = by_text.get(text)
    if place is None and column.collation != BINARY_COLLATION:
        # Spaces at the end never count: CREATE TABLE drops those of members, INSERT those of values.
        text = text.rstrip(" ")
        place = by_text.get(text)
    if place is not None:
        return place
    return _by_key(members, column.collation).get(_key(column.collation, text))


def find_members(column: Column, text: str) -> list[int | None]:
    """The places of the members named in a SET's text; none has a space at its end, but for the text's own."""
    *others, last = text.split(",")
    places = [None if part.endswith(" ") else find_member(column, part) for part in others]
    return [*places, find_member(column, last)]


def _plain(column: Column, declared: Any) -> Any:
    """A declared literal as an integer, text or a list: fractions are cut, bytes are text in the column's set."""
    if isinstance(declared, (bool, float, Decimal)):
        return int(number(MemberCodec.name, declared))
    data = declared if isinstance(declared, (bytes, bytearray)) else hex_mapping(declared)
    if data is None:
        return declared
    text = data.decode("utf-8", "replace") if charset_of(column) is None else decoded(charset_of(column), bytes(data))
    return text if isinstance(text, str) else declared


class MemberCodec(IntegerCellCodec):
    """What ENUM and SET share."""

    type_codes = ()
    metadata_size = 2
    name: ClassVar[str] = "ENUM or SET"
    real_type: ClassVar[int]
    sizes: ClassVar[tuple[int, ...]]

    def layout(self, column: Column) -> Construct[int, int]:
        metadata = column.metadata
        if len(metadata) != 2 or metadata[0] != self.real_type or metadata[1] not in self.sizes:
            raise bad_metadata(f"no server has the {self.name} metadata {metadata.hex(' ')}")
        return layout(metadata[1])

    def bounds(self, column: Column) -> tuple[int, int]:
        return 0, self.largest(column)

    def stored_bounds(self, column: Column) -> tuple[int, int]:
        return 0, (1 << 8 * self.size(column)) - 1

    def shown(self, column: Column) -> Callable[[int], str]:
        # The text of a number is always the same, and few numbers occur.
        return lru_cache(maxsize=_KEPT_TEXTS)(lambda value: self.text(column, value))

    def accept(self, column: Column, declared: Any) -> int:
        value = self.number_of(column, _plain(column, declared))
        if not 0 <= value <= self.largest(column):
            raise refuse(self.name, declared, "cannot hold this number", f"0 to {self.largest(column)}")
        return value

    def text(self, column: Column, value: int) -> str:
        text = self.members_text(column, value)
        if text is not None:
            try:
                if self.number_of(column, text) == value:
                    return text
            except ScenarioError:
                pass
        return str(value)

    def sql(self, column: Column, value: int) -> str:
        text = self.text(column, value)
        return str(value) if text == str(value) or not value else quoted(text)

    def type_name(self, column: Column) -> str:
        if column.members is None:
            return self.name
        texts = member_texts(column.members, column.collation)
        shown = ",".join(quoted(text) if isinstance(text, str) else f"x'{text.hex()}'" for text in texts)
        return f"{self.name}({shown})"

    def typed(self, column: Column, value: int) -> TypedValue:
        """The number, and the bytes of its members in the column's character set where the log names them."""
        return {self.name.lower(): {"number": str(value), "members": self.chosen(column, value)}}

    @abstractmethod
    def chosen(self, column: Column, value: int) -> list[str] | None:
        """The members of the value as hex; None if the log does not have them."""

    def unknown(self, column: Column, text: str) -> ScenarioError:
        texts = [member for member in member_texts(column.members or (), column.collation) if isinstance(member, str)]
        suggestion = nearest(text, texts) if len(text) <= _LONGEST_MEMBER else None
        expected = f"one of {shortened(', '.join(map(repr, texts)))}" if texts and suggestion is None else None
        problem = f"{self.name} has no member {shortened(repr(text))}"
        return ScenarioError(problem, expected=expected, suggestion=suggestion)

    @abstractmethod
    def largest(self, column: Column) -> int:
        """The largest number that a declaration may give."""

    @abstractmethod
    def number_of(self, column: Column, declared: Any) -> int:
        """The number of declared text or members.  Raises ScenarioError."""

    @abstractmethod
    def members_text(self, column: Column, value: int) -> str | None:
        """The members of the value as a server prints them; None if they are not known or not text."""


class EnumCodec(MemberCodec):
    name = "ENUM"
    real_type = WireType.ENUM
    metadata_space = "enum"
    sizes = (1, 2)

    def largest(self, column: Column) -> int:
        return len(column.members) if column.members else (1 << 8 * self.size(column)) - 1

    def number_of(self, column: Column, declared: Any) -> int:
        if isinstance(declared, int):
            return declared
        if not isinstance(declared, str):
            raise refuse(self.name, declared, "cannot hold this value", "a member's text, or its index")
        place = find_member(column, declared)
        if place is not None:
            return place + 1
        if declared == "":
            return 0
        if _NUMBER.fullmatch(declared.rstrip(" ")):
            return int(declared)
        raise self.unknown(column, declared)

    def chosen(self, column: Column, value: int) -> list[str] | None:
        if column.members is None or value > len(column.members):
            return None
        return [column.members[value - 1].hex()] if value else []

    def members_text(self, column: Column, value: int) -> str | None:
        if column.members is None or value > len(column.members):
            return None
        text = member_texts(column.members, column.collation)[value - 1] if value else ""
        return text if isinstance(text, str) else None

    def nearest(self, column: Column, declared: Any) -> int | None:
        count = len(column.members or ())
        if isinstance(declared, (int, float, Decimal)):
            index = int(leading_number(declared) or 0)
            return index if 0 <= index <= count else 0
        text = member_text(column, declared)
        if text is None:
            return None
        place = find_member(column, text)
        return 0 if place is None else place + 1

    def examples(self, column: Column) -> tuple[int, ...]:
        return (0, 1, len(column.members or ()))


class SetCodec(MemberCodec):
    name = "SET"
    real_type = WireType.SET
    metadata_space = "set"
    sizes = tuple(SET_SIZES.values())

    def largest(self, column: Column) -> int:
        bits = len(column.members) if column.members else 8 * self.size(column)
        return (1 << bits) - 1

    def number_of(self, column: Column, declared: Any) -> int:
        if isinstance(declared, int):
            # In a SET of 64 members -1 is all of them, as to servers.
            return declared % _WORD if len(column.members or ()) == 64 and -_WORD // 2 <= declared < 0 else declared
        if isinstance(declared, str):
            if declared == "":
                return 0
            parts: Iterable[Any] = declared.split(",")
            places = find_members(column, declared)
        elif isinstance(declared, (list, tuple, set, frozenset)):
            parts = declared
            places = [find_member(column, part) if isinstance(part, str) else None for part in declared]
        else:
            raise refuse(self.name, declared, "cannot hold this value", "members as a list or 'a,b', or the bitmap")
        bits = 0
        for part, place in zip(parts, places, strict=True):
            if place is None:
                if isinstance(declared, str) and _NUMBER.fullmatch(declared):
                    return int(declared)
                raise self.unknown(column, part if isinstance(part, str) else shown(part))
            bits |= 1 << place
        return bits

    def chosen(self, column: Column, value: int) -> list[str] | None:
        members = column.members
        if members is None or value >> len(members):
            return None
        return [member.hex() for place, member in enumerate(members) if value >> place & 1]

    def members_text(self, column: Column, value: int) -> str | None:
        if column.members is None or value >> len(column.members):
            return None
        texts = member_texts(column.members, column.collation)
        chosen = [text for place, text in enumerate(texts) if value >> place & 1]
        readable = [text for text in chosen if isinstance(text, str)]
        return ",".join(readable) if len(readable) == len(chosen) else None

    def nearest(self, column: Column, declared: Any) -> int | None:
        mask = (1 << len(column.members or ())) - 1
        if isinstance(declared, (int, float, Decimal)):
            bitmap = int(leading_number(declared) or 0)
            # A number that is not an integer of 64 bits is made one.
            last = _WORD // 2 if isinstance(declared, float) else _WORD
            if bitmap >= last:
                bitmap = _WORD // 2 if column.dialect.wraps_large_doubles else _WORD // 2 - 1
            return max(bitmap, -_WORD // 2) & mask
        if isinstance(declared, (list, tuple, set, frozenset)):
            declared = ",".join(map(str, declared))
        text = member_text(column, declared)
        if text is None:
            return None
        places = find_members(column, text)
        if places == [None] and _BITMAP.fullmatch(text):
            # MySQL takes no number that has other bits; MariaDB drops these.
            bitmap = int(text)
            drops = column.dialect.set_drops_high_bits and -_WORD // 2 <= bitmap < _WORD
            return bitmap & mask if drops else 0
        bits = 0
        for place in places:
            bits |= 0 if place is None else 1 << place
        return bits

    def examples(self, column: Column) -> tuple[int, ...]:
        every = (1 << len(column.members or ())) - 1
        return (0, every & 1, every, every ^ every >> 1)


CODECS = (EnumCodec(), SetCodec())
