"""MariaDB's types that travel as others: what a declaration says of them <-> the values of the wire type.

- UUID, INET4, INET6 are BINARY(16), BINARY(4), BINARY(16) of collation 63 in the order of their text (a UUID is not
  rearranged, although InnoDB stores it so); trailing 00 bytes are stripped as of any BINARY.
- JSON is LONGTEXT of utf8mb4_bin, kept as it was written.
- VECTOR(n) is VARBINARY(4n) of exactly n 32-bit floats.

The wire does not tell them apart, so only a declared column knows.  Recorded on MariaDB 10.11 and 11.8.
"""

from __future__ import annotations

import ipaddress
import json
import math
import re
import struct
import uuid
from itertools import accumulate, groupby
from typing import Any

from forge.errors import ScenarioError
from forge.values.base import Column
from forge.values.literals import hex_mapping, refuse
from forge.values.numeric.floats import to_float32
from forge.values.vector import VECTOR
from forge.values.wire_types import WireType

#: Levels of a document that JSON_VALID accepts (recorded; JSON_DEPTH_LIMIT of include/json_lib.h is 32).
MAX_JSON_DEPTH = 31
#: Type name -> bytes.
NETWORK_SIZES = {"UUID": 16, "INET4": 4, "INET6": 16}
_CHARACTERS = re.compile(r"[0-9a-f.:-]+", re.IGNORECASE | re.ASCII)
_SHORT_PARTS = re.compile(r"\d{1,3}(\.\d{1,3}){3}", re.ASCII)
_FLOAT_SIZE = 4


def accept_as_wire_type(column: Column, declared: Any) -> Any:
    """``declared`` as a value of the column's wire type, if its SQL type is one of these; else as it is.

    Raises ScenarioError for what the SQL type cannot hold.
    """
    name = column.declared.name if column.declared is not None else ""
    if name in NETWORK_SIZES:
        data = hex_mapping(declared)
        if name == "INET6" and isinstance(declared, str) and ":" not in declared and column.dialect.maps_inet4:
            return bytes(10) + b"\xff\xff" + network_bytes("INET4", declared)
        return network_bytes(name, declared if data is None else data)
    if name == "JSON":
        return json_text(declared)
    if name == "VECTOR":
        return vector_bytes(column, declared)
    return declared


def network_bytes(name: str, declared: Any) -> bytes:
    """The bytes of a declared UUID or address: text, its object of ``uuid`` or ``ipaddress``, or the bytes."""
    if isinstance(declared, (bytes, bytearray)):
        data = bytes(declared)
        if len(data) != NETWORK_SIZES[name]:
            raise refuse(name, declared, "cannot hold this value", f"{NETWORK_SIZES[name]} bytes")
        return data
    if not isinstance(declared, (str, uuid.UUID, ipaddress.IPv4Address, ipaddress.IPv6Address)):
        raise refuse(name, declared, "cannot hold this value", "its usual text")
    text = str(declared)
    try:
        # Python also reads {...}, urn:uuid:... and fe80::1%eth0; servers do not.
        if not _CHARACTERS.fullmatch(text):
            raise ValueError
        if name == "UUID":
            return uuid.UUID(text).bytes
        if name == "INET4" and _SHORT_PARTS.fullmatch(text):
            # Zeros in front of a number count for nothing.
            text = ".".join(part.lstrip("0") or "0" for part in text.split("."))
        address = ipaddress.IPv4Address(text) if name == "INET4" else ipaddress.IPv6Address(text)
        return address.packed
    except ValueError:
        raise refuse(name, declared, "cannot hold this value", "its usual text") from None


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
    words = [int.from_bytes(data[at : at + 2], "big") for at in range(0, 16, 2)]
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


def json_text(declared: Any) -> str:
    """The text that a JSON column holds: a document's, or as declared if that is JSON."""
    if not isinstance(declared, str):
        try:
            declared = json.dumps(declared, ensure_ascii=False, allow_nan=False, default=float)
        except (TypeError, ValueError, RecursionError):
            raise refuse("JSON", declared, "cannot hold this value", "a document, or its text") from None
    try:
        document = json.loads(declared, parse_constant=_no_number)
        json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise refuse("JSON", declared, "cannot hold this text", "a JSON document") from None
    if _depth(document) > MAX_JSON_DEPTH:
        raise refuse("JSON", declared, "cannot hold this text", f"at most {MAX_JSON_DEPTH} levels")
    return str(declared)


def _no_number(word: str) -> None:
    raise ValueError(word)


def _depth(document: Any) -> int:
    """Levels of arrays and objects."""
    depth, level = 0, [document]
    while level := [item for item in level if isinstance(item, (dict, list))]:
        depth += 1
        level = [child for item in level for child in (item.values() if isinstance(item, dict) else item)]
    return depth


def vector_bytes(column: Column, declared: Any) -> bytes:
    """The floats of a vector with as many dimensions as its column: a list, its text, or bytes."""
    limit = int.from_bytes(column.metadata, "little")
    data = VECTOR.accept(Column(WireType.VECTOR, b"\x04", dimensions=limit // _FLOAT_SIZE), declared)
    if len(data) != limit:
        count = len(data) // _FLOAT_SIZE
        raise ScenarioError(f"a VECTOR({limit // _FLOAT_SIZE}) column of MariaDB cannot hold {count} numbers")
    # Field_vector::store refuses a vector whose square is beyond FLOAT (recorded on 11.8).
    square = 0.0
    for (item,) in struct.iter_unpack("<f", data):
        square = to_float32(square + to_float32(item * item))
    if math.isinf(square):
        raise ScenarioError("a VECTOR column of MariaDB cannot hold so long a vector", expected="below 1.8e19")
    return data
