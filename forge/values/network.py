"""MariaDB's UUID, INET4 and INET6, which travel as BINARY(16), BINARY(4) and BINARY(16).

The bytes are in the order of the text (a UUID is not rearranged, although InnoDB stores it so); trailing 00 bytes are
stripped as of any BINARY.  The wire does not tell them from BINARY, so only a declared column knows.  Source:
plugin/type_uuid and plugin/type_inet; corpora/recordings/values/network (10.11 and 11.8).
"""

from __future__ import annotations

import ipaddress
import re
import uuid
from decimal import Decimal
from itertools import accumulate, groupby
from typing import Any

from forge.errors import ScenarioError, UnsupportedError
from forge.servers.facts.values import Dialect
from forge.values.base import Column
from forge.values.clipping import Clipped
from forge.values.declaration.column_type import ColumnType, Family, Temporals
from forge.values.declaration.facts import TypeFacts
from forge.values.declaration.sqltype import SqlType
from forge.values.literals import hex_mapping, literal_sql, quoted, refuse
from forge.values.text.column_charset import BINARY_COLLATION
from forge.values.text.strings import CharCodec, Text, folded_metadata
from forge.values.wire_types import WireType

_SIZES = {"UUID": 16, "INET4": 4, "INET6": 16}
_CHARACTERS = re.compile(r"[0-9a-f.:-]+", re.IGNORECASE | re.ASCII)
_PARTS = re.compile(r"(?<![0-9.])\d{1,3}(\.\d{1,3}){3}\Z", re.ASCII)
#: InnoDB could not tell them from those whose bytes it rearranges: refused (recorded, 10.11 and 11.8).
_ODD_VERSION, _ODD_VARIANT = 0x80, 0x80
_MAPPED = bytes(10) + b"\xff\xff"


class NetworkCodec(CharCodec):
    """A BINARY column that was declared as one of these types."""

    def __init__(self, name: str) -> None:
        self.declared_as: str = name

    def accept(self, column: Column, declared: Any) -> Text:
        name, data = self.declared_as, hex_mapping(declared)
        if name == "INET6" and isinstance(declared, str) and ":" not in declared and column.dialect.maps_inet4:
            return _MAPPED + network_bytes("INET4", declared)
        return network_bytes(name, declared if data is None else data)

    def sql(self, column: Column, value: Text) -> str:
        return quoted(self.address(value)) if isinstance(value, bytes) else super().sql(column, value)

    def address(self, value: bytes) -> str:
        """The text of a value, as MariaDB takes and prints it."""
        return network_text(self.declared_as, value)

    def clip(self, column: Column, declared: Any) -> Clipped:
        """A number in place of an address becomes zeros, other things NULL if the column may be NULL."""
        try:
            value = self.accept(column, declared)
        except UnsupportedError:
            raise
        except ScenarioError:
            zeros = bytes(_SIZES[self.declared_as])
            if isinstance(declared, (int, float, Decimal)):
                return Clipped(zeros, literal_sql(declared))
            if not isinstance(declared, (str, bytes, bytearray)) and hex_mapping(declared) is None:
                raise
            return Clipped(None if column.nullable else zeros, literal_sql(declared))
        return Clipped(value, self.sql(column, value))


def network_bytes(name: str, declared: Any) -> bytes:
    """The bytes of a declared UUID or address: text, its object of ``uuid`` or ``ipaddress``, or the bytes."""
    if isinstance(declared, (bytes, bytearray)):
        data = bytes(declared)
        if len(data) != _SIZES[name]:
            raise refuse(name, declared, "cannot hold this value", f"{_SIZES[name]} bytes")
        if _is_odd(name, data):
            # Servers read them as the rearranged bytes of another one (recorded).
            raise UnsupportedError("bytes of a UUID of a version from 8 on and the variant 0 are not supported")
        return data
    if not isinstance(declared, (str, uuid.UUID, ipaddress.IPv4Address, ipaddress.IPv6Address)):
        raise refuse(name, declared, "cannot hold this value", "its usual text")
    text = str(declared)
    try:
        # Python also reads {...}, urn:uuid:... and fe80::1%eth0; servers do not.
        if not _CHARACTERS.fullmatch(text):
            raise ValueError
        if name == "UUID":
            data = uuid.UUID(text).bytes
            if _is_odd(name, data) and data[8]:
                raise refuse(name, declared, "cannot hold a version from 8 on of the variant 0")
            return data
        if name != "UUID" and (match := _PARTS.search(text)):
            # Zeros in front of a number count for nothing, at the end of an INET6 too.
            text = text[: match.start()] + ".".join(part.lstrip("0") or "0" for part in match[0].split("."))
        address = ipaddress.IPv4Address(text) if name == "INET4" else ipaddress.IPv6Address(text)
        return address.packed
    except ValueError:
        raise refuse(name, declared, "cannot hold this value", "its usual text") from None


def _is_odd(name: str, data: bytes) -> bool:
    """Whether no column holds the bytes: the text of such a UUID is refused, but one of a byte of 0."""
    return name == "UUID" and data[6] >= _ODD_VERSION and data[8] <= _ODD_VARIANT


def network_text(name: str, data: bytes) -> str:
    """The text of the type's bytes, as MariaDB takes and prints it."""
    if name == "UUID":
        return str(uuid.UUID(bytes=data))
    if name == "INET4":
        return str(ipaddress.IPv4Address(data))
    return _inet6_text(data)


def _inet6_text(data: bytes) -> str:
    """As sql/sql_type_inet.cc prints it: the longest run of zero words is ``::``; behind six of them at
    the start, or five and ffff, an IPv4 address stands."""
    words = [int.from_bytes(data[start : start + 2], "big") for start in range(0, 16, 2)]
    runs = [(len(list(group)), zero) for zero, group in groupby(words, lambda word: word == 0)]
    starts = list(accumulate((count for count, _ in runs), initial=0))
    gaps = [(count, -start) for (count, zero), start in zip(runs, starts, strict=False) if zero]
    length, start = max(gaps, default=(0, 0))
    start = -start
    if not length:
        return ":".join(f"{word:x}" for word in words)
    if start == 0 and (length == 6 or (length == 5 and words[5] == 0xFFFF)):
        return "::" + ("ffff:" if length == 5 else "") + str(ipaddress.IPv4Address(data[12:]))
    before, after = words[:start], words[start + length :]
    return ":".join(f"{word:x}" for word in before) + "::" + ":".join(f"{word:x}" for word in after)


def _declare(sql_type: SqlType, dialect: Dialect, temporals: Temporals) -> Column:
    return Column(WireType.STRING, folded_metadata(_SIZES[sql_type.name]), collation=BINARY_COLLATION)


def _network(name: str, size: int) -> ColumnType:
    def disguised(column: Column) -> str | None:
        is_binary = column.type_code == WireType.STRING and column.collation in (None, BINARY_COLLATION)
        return name if is_binary and column.metadata == folded_metadata(size) else None

    return ColumnType(
        name=name,
        facts=TypeFacts(
            kind="network", feature=name.lower(), implicit_default=bytes(_SIZES[name]), refuses_null_always=True
        ),
        declare=_declare,
        examples=(SqlType(name),),
        disguised=disguised,
    )


FAMILY = Family(
    codecs=tuple(NetworkCodec(name) for name in _SIZES),
    column_types=tuple(_network(name, size) for name, size in _SIZES.items()),
)
