"""What vendors' readers print of an event beside rows, as :meth:`forge.events.layout.Body.statement` has it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from forge.events.plain import to_text

#: What headers of the readers' output call such events.
STATEMENT_HEADERS = frozenset((b"Query", b"Xid", b"GTID", b"Intvar", b"Rand", b"User_var"))
_FINISHED = b"/*!*/;"
_SETTING = re.compile(rb"SET |# Ignored \(Unknown charset\)|use |/\*[!M]|DELIMITER ")
_VARIABLE = re.compile(
    rb"SET @`((?:[^`]|``)*)`:=(?:(NULL|-?[0-9.]+(?:e[+-]?\d+)?)|_\w+ (?:0x|X')([0-9A-Fa-f]*)'? COLLATE.*)"
)


def printed_statement(name: bytes, rest: bytes, lines: Sequence[bytes]) -> str | None:
    """What a vendor's reader printed of an event: the header's name and end, and the lines after it."""
    pieces = [piece.strip(b"\n") for piece in b"\n".join(lines).split(_FINISHED)[:-1]]
    if name == b"Query":
        texts = [piece for piece in pieces if piece and not _SETTING.match(piece)]
        return to_text(texts[0]) if texts else None
    if name == b"Xid":
        return f"XID {to_text(rest.rpartition(b'=')[2].strip())}"
    if name == b"GTID":
        match = re.search(rb"GTID_NEXT= '([^']*)'", b"\n".join(lines)) or re.match(rb"\s*(\d+-\d+-\d+)", rest)
        text = to_text(match[1]) if match else "ANONYMOUS"
        return None if text == "ANONYMOUS" else f"GTID {text}"
    for piece in pieces:
        if match := re.match(rb"SET ((?:LAST_)?INSERT_ID)=(\d+)", piece):
            return f"{to_text(match[1])} {to_text(match[2])}"
        if match := re.match(rb"SET @@RAND_SEED1=(\d+), @@RAND_SEED2=(\d+)", piece):
            return f"RAND {to_text(match[1])} {to_text(match[2])}"
        if match := _VARIABLE.match(piece):
            shown = f"0x{to_text(match[3]).lower()}" if match[3] is not None else to_text(match[2])
            return f"@{to_text(match[1].replace(b'``', b'`'))} {shown}"
    return None
