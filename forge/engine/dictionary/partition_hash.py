"""The hash of PARTITION BY KEY (Field::hash, hash_sort of the collations; fitted to partition ids recorded on 9.7).

Numbers, dates and years are hashed as if their bytes were text in latin1_swedish_ci: letters fold to upper case and
bytes 0x20 at the end do not count.  The temporal types with fractions are hashed by their bytes.
"""

from __future__ import annotations

from forge.charsets import collation, compare_key, is_exact
from forge.engine.dictionary.columns import ColumnDefinition
from forge.errors import UnsupportedError
from forge.values.base import Value

_MASK = (1 << 64) - 1
_SPACE = b" "
_LATIN1_SWEDISH_CI = 8
#: Weights of latin1_swedish_ci from 0xC0 on (WEIGHT_STRING on 9.7); those from 0xE0 on are the same but for two.
_UPPER = bytes.fromhex("414141415c5b5c434545454549494949444e4f4f4f4f5dd7d85555555959dedf")
_WEIGHTS = bytes(range(97)) + bytes(range(65, 91)) + bytes(range(123, 192)) + _UPPER
_WEIGHTS += _UPPER[:0x17] + b"\xf7" + _UPPER[0x18:0x1F] + b"\xff"
#: The default of 8.0 and later, and its weights of ASCII's printable characters (WEIGHT_STRING on 9.7).
_UTF8MB4_0900_AI_CI = 255
_WEIGHTS_0900 = bytes.fromhex(
    "02090260030C03981C1203990396030503170318038F06160222020D027703941C3D1C3E1C3F1C401C411C421C431C441C45"
    "1C4602390234061A061B061C0266038E1C471C601C7A1C8F1CAA1CE51CF41D181D321D4C1D651D771DAA1DB91DDD1E0C1E21"
    "1E331E711E951EB51EE31EF51EFF1F0B1F2103190395031A0485020B04821C471C601C7A1C8F1CAA1CE51CF41D181D321D4C"
    "1D651D771DAA1DB91DDD1E0C1E211E331E711E951EB51EE31EF51EFF1F0B1F21031B061E031C0620"
)
#: FNV-1a of 64 bits (my_hash_sort_uca_900 in ctype-uca.cc; fitted to partition ids recorded on 9.7).
_FNV_BASIS, _FNV_PRIME = 14695981039346656037, 1099511628211


def key_hash(columns: list[ColumnDefinition], values: list[Value | None]) -> int:
    """The 32 bits that KEY distributes rows by.  Raises UnsupportedError for types whose hash is not known here."""
    first, second = 1, 4
    for column, value in zip(columns, values, strict=True):
        if value is None:
            first ^= (first << 1 | 1) & _MASK
            continue
        if column.type.collation == _UTF8MB4_0900_AI_CI and isinstance(value, str) and column.type_facts.is_text:
            padded = value
            if column.type.name == "CHAR":
                # The collation does not pad, but the field is padded to its longest in bytes (recorded).
                longest = 4 * (1 if column.type.length is None else column.type.length)
                padded = value + " " * (longest - len(value.encode()))
            first = _hash_0900(padded, first)
            continue
        for weight in _hashed(column, value):
            first ^= (((first & 63) + second) * weight + (first << 8)) & _MASK
            second += 3
    return first & 0xFFFFFFFF


def _hash_0900(text: str, first: int) -> int:
    """One step of the hash for text: what the characters fold to has to be in ASCII, whose weights are known here."""
    folded = compare_key(_UTF8MB4_0900_AI_CI, text)
    if not isinstance(folded, str) or not all(" " <= character <= "~" for character in folded):
        raise UnsupportedError(f"PARTITION BY KEY on {text!r} in utf8mb4_0900_ai_ci is not supported yet")
    value = first ^ _FNV_BASIS
    for character in folded:
        place = 2 * (ord(character) - ord(" "))
        value = (value ^ int.from_bytes(_WEIGHTS_0900[place : place + 2], "big")) * _FNV_PRIME & _MASK
    return value


def _hashed(column: ColumnDefinition, value: Value) -> bytes:
    """The bytes of a cell as its collation weighs them."""
    name, facts = column.type.name, column.type_facts
    raw = column.codec.encode(column.wire, value)
    if facts.is_number or facts.has_members or facts.kind == "date":
        return raw.rstrip(_SPACE).translate(_WEIGHTS)
    if facts.has_fraction:
        return raw
    if name == "BINARY":
        return bytes(value).ljust(1 if column.type.length is None else column.type.length, b"\0")
    if name == "VARBINARY":
        return bytes(value)
    number = column.type.collation
    if facts.is_text and number is not None:
        text = raw[1 if column.wire.metadata[-1] == 0 or name == "CHAR" else 2 :]
        if number == _LATIN1_SWEDISH_CI:
            return text.rstrip(_SPACE).translate(_WEIGHTS)
        weights = collation(number)
        if is_exact(number) and weights.pad_space and weights.charset in ("latin1", "utf8mb4", "utf8mb3", "ascii"):
            return text.rstrip(_SPACE)
        raise UnsupportedError(f"PARTITION BY KEY on text in {weights.name} is not supported yet")
    raise UnsupportedError(f"PARTITION BY KEY on a {name} column is not supported yet")
