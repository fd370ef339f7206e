"""The hash of PARTITION BY KEY (Field::hash, hash_sort of the collations; fitted to partition ids recorded on 9.7), and
of MariaDB's long UNIQUE keys (fitted to hashes recorded on 10.11 and 11.8).

Numbers, dates and years are hashed as if their bytes were text in latin1_swedish_ci: letters fold to upper case and
bytes 0x20 at the end do not count.  The temporal types with fractions are hashed by their bytes.
"""

from __future__ import annotations

from forge.charsets import Collation, collation, compare_key, is_exact
from forge.charsets.ordering import hash_weights
from forge.engine.dictionary.columns import ColumnDefinition, stored_bytes_of
from forge.errors import UnsupportedError
from forge.values.base import Value

_MASK = (1 << 64) - 1
_SPACE = b" "
_LATIN1_SWEDISH_CI = 8
#: The default of 8.0 and later.
_UTF8MB4_0900_AI_CI = 255
#: FNV-1a of 64 bits (my_hash_sort_uca_900 in ctype-uca.cc; fitted to partition ids recorded on 9.7).
_FNV_BASIS, _FNV_PRIME = 14695981039346656037, 1099511628211


def key_hash(columns: list[ColumnDefinition], values: list[Value | None], subject: str = "PARTITION BY KEY") -> int:
    """The 32 bits that KEY distributes rows by.

    Raises UnsupportedError for types whose hash is not known here; ``subject`` asks for it.
    """
    try:
        return _key_hash(columns, values)
    except UnsupportedError as error:
        raise UnsupportedError(f"{subject} on {error.problem}") from None


def _key_hash(columns: list[ColumnDefinition], values: list[Value | None]) -> int:
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
        raise UnsupportedError(f"{text!r} in utf8mb4_0900_ai_ci is not supported yet")
    value = first ^ _FNV_BASIS
    for character in folded:
        place = 2 * (ord(character) - ord(" "))
        value = (value ^ int.from_bytes(hash_weights()["utf8mb4_0900"][place : place + 2], "big")) * _FNV_PRIME & _MASK
    return value


def _hashed(column: ColumnDefinition, value: Value) -> bytes:
    """The bytes of a cell as its collation weighs them."""
    name, facts = column.type.name, column.type_facts
    raw = column.codec.encode(column.wire, value)
    if facts.is_number or facts.has_members or facts.kind == "date":
        return raw.rstrip(_SPACE).translate(hash_weights()["latin1_swedish"])
    if facts.has_fraction:
        return raw
    if name == "BINARY":
        return bytes(value).ljust(1 if column.type.length is None else column.type.length, b"\0")
    if name == "VARBINARY":
        return bytes(value)
    if facts.is_lob and facts.is_bytes:
        return bytes(value)
    if facts.is_text and column.type.collation is not None:
        text = str(value)
        return _weights_of(collation(column.type.collation), text, stored_bytes_of(column, text))
    raise UnsupportedError(f"a {name} column is not supported yet")


def _weights_of(rules: Collation, text: str, stored: bytes) -> bytes:
    """The bytes of a text as its collation weighs them."""
    kept = stored.rstrip(_SPACE) if rules.pad_space else stored
    if rules.id == _LATIN1_SWEDISH_CI:
        return kept.translate(hash_weights()["latin1_swedish"])
    if is_exact(rules.id) and rules.charset in ("latin1", "utf8mb4", "utf8mb3", "ascii"):
        return kept
    if rules.name.startswith("ascii_general_"):
        return kept.upper()
    if rules.charset not in ("utf8mb4", "utf8mb3"):
        raise UnsupportedError(f"text in {rules.name} is not supported yet")
    key = compare_key(rules.id, text)
    if rules.name.removesuffix("_ci").removesuffix("_nopad").endswith("_general"):
        return b"".join(_general_weight(character, rules) for character in key)
    table = next((weights for word, weights in hash_weights().items() if f"_{word}_" in rules.name), None)
    folds = rules.name.endswith("_ci") and "_as_" not in rules.name
    if table is None or not all(" " <= character <= "~" for character in (key if folds else text)):
        raise UnsupportedError(f"{text!r} in {rules.name} is not supported yet")
    places = (2 * (ord(character) - ord(" ")) for character in key)
    return b"".join(table[place : place + 2] for place in places)


def _general_weight(character: str, rules: Collation) -> bytes:
    """The weight of a character in general_ci, its low byte first; the key has the first character of that weight."""
    code = min(ord(character), 0xFFFD)
    if character.upper() != character and len(character.upper()) == 1:
        raise UnsupportedError(f"{character!r} in {rules.name} is not supported yet")
    return code.to_bytes(2, "little")
