"""What ``-H`` adds to the header lines of each family."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from forge.events.format import HEADER_SIZE

_LINE = 16
_PLACES = (0, 4, 5, 9, 13, 17, 19)


def hexdump(raw: bytes, position: int, family: str) -> bytes:
    """The bytes of an event at ``position``, between its header line and what stands behind its tab."""
    fields = [raw[start:end].hex(" ").encode() for start, end in pairwise(_PLACES)]
    if family == "mysql":
        head = b"# Position  Timestamp   Type   Source ID        Size      Source Pos    Flags \n"
        head += b"# %08x " % position + b"   ".join(fields) + b"\n"
        return head + b"".join(b"# %08x %s|%s|\n" % line for line in _lines(raw, position, _WORDS)) + b"# "
    head = b"# Position\n#           |Timestamp   |Type |Master ID   |Size        |Master Pos  |Flags\n"
    fields[1] += b"  "
    head += b"# %8x  |" % position + b" |".join(fields) + b"\n#\n"
    lines = b"".join(b"# %8x  %s |%s|\n" % line for line in _lines(raw, position, _PRINTED))
    return head + lines + (b"#\n" if lines else b"") + b"# Event: "


def _lines(raw: bytes, position: int, shows: frozenset[int]) -> Iterator[tuple[int, bytes, bytes]]:
    for at in range(HEADER_SIZE, len(raw), _LINE):
        part = raw[at : at + _LINE]
        digits = [b"%02x " % byte for byte in part]
        shown = bytes(byte if byte in shows else 0x2E for byte in part)
        yield position + at, (b"".join(digits[:8]) + b" " + b"".join(digits[8:])).ljust(3 * _LINE + 1), shown


_WORDS = frozenset(byte for byte in range(128) if chr(byte).isalnum())
_PRINTED = frozenset(range(0x20, 0x7F))
