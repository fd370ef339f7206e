"""What events say beside rows: statements' texts, what they read, GTIDs and XIDs; one text an event, to be compared.

Decoders are compared where they show such a text; what they leave out is nobody's mistake.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from forge.check.canonical.statement_fields import INTVARS, number_text
from forge.events.event import Event
from forge.events.gtid import Gtid
from forge.events.intvar import Intvar
from forge.events.layout import to_text
from forge.events.mariadb_gtid import MariadbGtid
from forge.events.query import Query
from forge.events.rand import Rand
from forge.events.user_var import REAL, UserVar
from forge.events.xid import Xid


def statement_of(event: Event) -> str | None:
    """What the event says; None if it is of another kind."""
    match event.body:
        case Query(query=text):
            return text
        case Xid(xid=number):
            return f"XID {number}"
        case Gtid(uuid=uuid, gno=gno):
            return f"GTID {uuid}:{gno}"
        case MariadbGtid() as gtid:
            return f"GTID {gtid.domain_id}-{event.server_id}-{gtid.sequence_number}"
        case Intvar(variable=variable, value=value) if variable in INTVARS:
            return f"{INTVARS[variable]} {value}"
        case Rand(seed1=one, seed2=two):
            return f"RAND {one} {two}"
        case UserVar(name=name, value=None):
            return f"@{name} NULL"
        case UserVar(name=name, value=(kind, _, raw), value_flags=flags):
            shown = _value(kind, raw, unsigned=bool(flags))
            return None if shown is None else f"@{name} {shown}"
    return None


def _value(kind: int, raw: bytes, *, unsigned: bool) -> str | None:
    if kind == REAL:
        # The readers print fewer digits than it has.
        return None
    return number_text(kind, raw, unsigned=unsigned) or f"0x{raw.hex()}"


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
        found = re.search(rb"GTID_NEXT= '([^']*)'", b"\n".join(lines)) or re.match(rb"\s*(\d+-\d+-\d+)", rest)
        text = to_text(found[1]) if found else "ANONYMOUS"
        return None if text == "ANONYMOUS" else f"GTID {text}"
    for piece in pieces:
        if found := re.match(rb"SET ((?:LAST_)?INSERT_ID)=(\d+)", piece):
            return f"{to_text(found[1])} {to_text(found[2])}"
        if found := re.match(rb"SET @@RAND_SEED1=(\d+), @@RAND_SEED2=(\d+)", piece):
            return f"RAND {to_text(found[1])} {to_text(found[2])}"
        if found := _VARIABLE.match(piece):
            shown = f"0x{to_text(found[3]).lower()}" if found[3] is not None else to_text(found[2])
            return f"@{to_text(found[1].replace(b'``', b'`'))} {shown}"
    return None
