"""A dictionary for fuzzers: words of the format, in the syntax that libFuzzer, AFL and Jazzer share."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from forge.binlog.reader import MAGIC
from forge.events.registry import EVENT_NAMES
from forge.values.wire_types import WireType

#: Numbers at a border, in the sizes that lengths and counts have.
_BORDERS = {"b": (-128, 127, -1), "h": (-32768, 32767), "i": (-(2**31), 2**31 - 1, -1), "q": (-(2**63), 2**63 - 1)}


def tokens() -> Iterator[tuple[str, bytes]]:
    """Words with their names: the magic number, event types in a header, column types, borders of lengths."""
    yield "magic", MAGIC
    for code, name in sorted(EVENT_NAMES.items()):
        yield f"event_{name}", struct.pack("<BI", code, 1)  # The type, and the server id that is behind it.
    for wire in WireType:
        yield f"column_{wire.name}", bytes([wire])
    for size in (251, 252, 253, 254, 255):
        yield f"length_{size}", bytes([size])
    for layout, numbers in _BORDERS.items():
        for number in numbers:
            yield f"number_{8 * struct.calcsize(layout)}_{number}", struct.pack(f"<{layout}", number)
    for size in (0, 18, 19, 20, 23):
        yield f"event_size_{size}", struct.pack("<I", size)
    for record in range(14):
        yield f"record_{record}", bytes([record, 1, 0])


def dictionary() -> str:
    """The file: a line a word, each once."""
    lines: dict[bytes, str] = {}
    for name, word in tokens():
        escaped = "".join(f"\\x{byte:02x}" for byte in word)
        lines.setdefault(word, f'{re.sub("[^A-Za-z0-9_]", "m", name)}="{escaped}"\n')
    return "".join(lines.values())
