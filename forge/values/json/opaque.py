"""Opaque values inside JSON documents: SQL types that JSON lacks, with their packings and their text.

==============  ====  ==================================================================================
SQL source      code  data
==============  ====  ==================================================================================
DECIMAL         246   precision, scale, packed decimal
TIMESTAMP       7     8 bytes LE, packed as DATETIME (local time of the session that wrote it)
DATE            10    8 bytes LE, packed as DATETIME with a time of zero
TIME            11    8 bytes LE signed: (hour << 12 | minute << 6 | second) << 24 | microseconds
DATETIME        12    8 bytes LE: ((year * 13 + month) << 5 | day) << 17 before hour .. microseconds
BIT             16    the bits, most significant byte first
VARBINARY ...   15    the bytes; x'..' and b'..' literals and most functions give this one
BINARY          254   the bytes, padded with 00
BLOB ...        252   the bytes; TINYBLOB 249, MEDIUMBLOB 250, LONGBLOB 251
ucs2, utf16 ..  253   the bytes of text columns whose characters have at least two (recorded on MySQL 9.7)
==============  ====  ==================================================================================

Unlike DATETIME2 and TIME2 columns the packed numbers carry no offset.  Source: ``sql-common/json_binary.cc``,
``sql-common/json_dom.cc``; recorded on MySQL 9.7.
"""

from __future__ import annotations

import base64
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final

from forge.errors import ScenarioError
from forge.values.json.binary import Opaque
from forge.values.numeric.decimals import MAX_PRECISION, MAX_SCALE, pack, unpack
from forge.values.wire_types import WireType

_BASE64_LINE: Final = 76


def opaque_decimal(value: Decimal, whole_digits: int | None = None) -> Opaque:
    """The opaque DECIMAL that an SQL literal with these digits gives: 0.50 has precision 3 and scale 2.

    ``whole_digits`` are those counted before the point, which a CAST rounds up to a multiple of nine.  Raises
    ScenarioError for a number that is not finite, has more than 65 digits or 30 decimals, or does not fit.
    """
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise ScenarioError(f"{value} is not a DECIMAL")
    scale = max(-exponent, 0)
    needed = max(len(digits) + exponent, 0) if any(digits) else 0
    whole = max(needed, 1) if whole_digits is None else whole_digits
    if needed > whole or not 1 <= whole + scale <= MAX_PRECISION or scale > MAX_SCALE:
        raise ScenarioError(f"DECIMAL({whole + scale},{scale}) cannot hold {value}")
    return Opaque(WireType.NEWDECIMAL, bytes((whole + scale, scale)) + pack(value, whole + scale, scale))


def opaque_date(value: date) -> Opaque:
    """The opaque DATE of a day."""
    return Opaque(WireType.DATE, _pack_datetime(value.year, value.month, value.day))


def opaque_datetime(value: datetime, field_type: int = WireType.DATETIME) -> Opaque:
    """The opaque DATETIME (or with ``field_type`` 7 TIMESTAMP) of a moment without time zone."""
    packed = _pack_datetime(
        value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond
    )
    return Opaque(field_type, packed)


def opaque_time(value: timedelta) -> Opaque:
    """The opaque TIME of a duration.  Raises ScenarioError beyond 838:59:59."""
    microseconds = abs(value) // timedelta(microseconds=1)
    seconds, fraction = divmod(microseconds, 1_000_000)
    if microseconds > 3_020_399_000_000:
        raise ScenarioError(f"TIME ends at 838:59:59, before {value}")
    packed = (seconds // 3600 << 12 | seconds // 60 % 60 << 6 | seconds % 60) << 24 | fraction
    return Opaque(WireType.TIME, (-packed if value < timedelta(0) else packed).to_bytes(8, "little", signed=True))


def _pack_datetime(
    year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0, microsecond: int = 0
) -> bytes:
    days = (year * 13 + month) << 5 | day
    return ((days << 17 | hour << 12 | minute << 6 | second) << 24 | microsecond).to_bytes(8, "little", signed=True)


def opaque_text(value: Opaque) -> tuple[str, bool]:
    """The text of an opaque value in JSON, and whether it is a JSON string (all but DECIMAL are).

    The data are what the type demands (:func:`forge.values.json.binary.check_opaque`), as those of a document are.
    """
    if value.field_type == WireType.NEWDECIMAL:
        return f"{opaque_number(value):f}", False
    if value.field_type in (WireType.DATE, WireType.TIME, WireType.DATETIME, WireType.TIMESTAMP):
        return temporal_text(value), True
    if value.field_type == WireType.VAR_STRING:
        # Printed as if it were text; where it is not even UTF-8, so is what the server sends.
        with suppress(UnicodeDecodeError):
            return value.data.decode(), True
    # The server's base64 breaks lines, also inside a JSON string.
    encoded = base64.b64encode(value.data).decode("ascii")
    lines = "\n".join(encoded[start : start + _BASE64_LINE] for start in range(0, len(encoded), _BASE64_LINE))
    return f"base64:type{value.field_type}:{lines}", True


def temporal_text(value: Opaque) -> str:
    """The text of an opaque DATE, TIME, DATETIME or TIMESTAMP; times have six digits behind the point."""
    packed = int.from_bytes(value.data, "little", signed=True)
    sign, packed = ("-", -packed) if packed < 0 else ("", packed)
    microsecond, clock = packed & 0xFFFFFF, packed >> 24
    if value.field_type == WireType.TIME:
        return f"{sign}{clock >> 12 & 0x3FF:02d}:{clock >> 6 & 0x3F:02d}:{clock & 0x3F:02d}.{microsecond:06d}"
    days = clock >> 17
    year, month = divmod(days >> 5, 13)
    text = f"{sign}{year:04d}-{month:02d}-{days & 0x1F:02d}"
    if value.field_type != WireType.DATE:
        text += f" {clock >> 12 & 0x1F:02d}:{clock >> 6 & 0x3F:02d}:{clock & 0x3F:02d}.{microsecond:06d}"
    return text


def opaque_number(value: Opaque) -> Decimal:
    """The number of an opaque DECIMAL.  Raises FormatError for a group with too many digits."""
    return unpack(value.data[2:], value.data[0], value.data[1])
