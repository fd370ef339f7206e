"""Functions of numbers and bits, and what makes numbers of bytes: hashes, addresses, UUIDs."""

from __future__ import annotations

import hashlib
import ipaddress
import math
import uuid
import zlib
from collections.abc import Callable
from decimal import ROUND_DOWN, Decimal
from typing import Any

from forge.errors import ScenarioError, UnsupportedError
from forge.sql.ast.expressions import Node
from forge.sql.expressions.evaluation import (
    FUNCTIONS,
    Function,
    Row,
    evaluate,
    number_of,
    surroundings,
    text_of,
)
from forge.sql.expressions.operands import (
    Operand,
    Rounded,
    Unsigned,
)
from forge.sql.expressions.strings import of_bytes
from forge.values.literals import EXACT, rounded

_64_BITS = 1 << 64


def _places(number: Any, digits: Operand, cut: Callable[[Decimal, int], Decimal]) -> Operand:
    """A number with so many digits behind its point; a negative number of them makes zeros before it."""
    places = int(number_of(digits))
    exact = Decimal(number)
    scale = max(-int(exact.as_tuple().exponent), 0)
    if isinstance(number, int) and places >= 0:
        return number
    found = cut(exact, min(places, scale))
    return int(found) if isinstance(number, int) else found


def _round(row: Row, node: Node, digits_node: Node | None = None) -> Operand:
    value, digits = evaluate(node, row), 0 if digits_node is None else evaluate(digits_node, row)
    if value is None or digits is None:
        return None
    number, places = number_of(value), int(number_of(digits))
    around = surroundings(row)
    pads = around is not None and around.keeps_quotients
    if isinstance(number, float):
        # As rint: the nearest even number.
        power = 10.0 ** abs(places)
        found = round(number * power) / power if places >= 0 else round(number / power) * power
        return Rounded(found, places) if pads and places > 0 else float(found)

    def cut(exact: Decimal, places: int) -> Decimal:
        if places >= 0:
            return rounded(exact, places)
        return rounded(exact.scaleb(places, EXACT), 0).scaleb(-places, EXACT)

    if pads and isinstance(number, Decimal) and places > 0:
        return rounded(number, places)
    whole = _places(number, digits, cut)
    return Unsigned(whole) if isinstance(value, Unsigned) and isinstance(whole, int) else whole


def _truncate(value: Operand, digits: Operand) -> Operand:
    number = number_of(value)
    if isinstance(number, float):
        raise UnsupportedError("TRUNCATE of floating-point numbers is not supported yet")

    def cut(exact: Decimal, places: int) -> Decimal:
        return exact.scaleb(places, EXACT).to_integral_value(ROUND_DOWN).scaleb(-places, EXACT)

    return _places(number, digits, cut)


def _real(compute: Callable[..., float], least: int = 1, most: int = 1) -> Function:
    """A function of DOUBLEs, whose result is NULL where there is none."""

    def computed(*values: Operand) -> Operand:
        try:
            number = compute(*(float(number_of(value)) for value in values))
        except (ValueError, ZeroDivisionError):
            return None
        except OverflowError:
            raise ScenarioError("the expression gives a number beyond DOUBLE (error 1690)") from None
        return number

    return Function(computed, least, most)


def _log(first: float, second: float | None = None) -> float:
    return math.log(first) if second is None else math.log(second) / math.log(first)


def _sign(value: Operand) -> int:
    number = number_of(value)
    return int(number > 0) - int(number < 0)


def _bits(value: Operand) -> int:
    if isinstance(value, bytes):
        raise UnsupportedError("operators of bits on bytes are not supported yet")
    number = number_of(value)
    whole = int(rounded(Decimal(number), 0))
    if not -(1 << 63) <= whole < _64_BITS:
        raise UnsupportedError(f"bits of {whole} are not supported yet")
    return whole % _64_BITS


def _of_bits(compute: Callable[[int, int], int]) -> Function:
    return Function(lambda left, right: Unsigned(compute(_bits(left), _bits(right)) % _64_BITS), 2, 2)


def _sha2(data: bytes, length: Operand) -> str | None:
    name = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}.get(int(number_of(length)))
    return None if name is None else hashlib.new(name, data).hexdigest()


def _address(value: Operand) -> int | None:
    parts = text_of(value).split(".")
    if not all(part.isascii() and part.isdigit() and int(part) < 256 for part in parts) or len(parts) != 4:
        if len(parts) == 4:
            return None
        raise UnsupportedError(f"INET_ATON({text_of(value)!r}) is not supported yet")
    return int(ipaddress.IPv4Address(".".join(str(int(part)) for part in parts)))


def _packed_address(value: Operand) -> bytes | None:
    try:
        return ipaddress.ip_address(text_of(value)).packed
    except ValueError:
        return None


def _shown_address(value: Operand) -> str | None:
    if not isinstance(value, bytes) or len(value) not in (4, 16):
        return None
    return str(ipaddress.ip_address(value))


def _ip_text(value: Operand) -> str | None:
    number = int(number_of(value))
    return str(ipaddress.IPv4Address(number)) if 0 <= number < 1 << 32 else None


def _uuid_to_bin(value: Operand, swaps: Operand = 0) -> bytes:
    try:
        data = uuid.UUID(text_of(value)).bytes
    except ValueError:
        raise ScenarioError(f"{text_of(value)!r} is no UUID (error 1411)", expected="UUID's text") from None
    return data[6:8] + data[4:6] + data[:4] + data[8:] if number_of(swaps) else data


def _bin_to_uuid(value: Operand, swaps: Operand = 0) -> str:
    if not isinstance(value, bytes) or len(value) != 16:
        raise ScenarioError("BIN_TO_UUID needs 16 bytes (error 1411)", expected="what UUID_TO_BIN gives")
    data = value[4:8] + value[2:4] + value[:2] + value[8:] if number_of(swaps) else value
    return str(uuid.UUID(bytes=data))


def _is_uuid(value: Operand) -> int:
    text = text_of(value)
    try:
        uuid.UUID(text)
    except ValueError:
        return 0
    return int(len(text) in (32, 36) or (len(text) == 38 and text.startswith("{")))


FUNCTIONS |= {
    "ROUND": Function(_round, 1, 2, "nodes"),
    "TRUNCATE": Function(_truncate, 2, 2),
    "SIGN": Function(_sign),
    "SQRT": _real(math.sqrt),
    **dict.fromkeys(("POW", "POWER"), _real(math.pow, 2, 2)),
    "EXP": _real(math.exp),
    "LN": _real(math.log),
    "LOG": _real(_log, 1, 2),
    "LOG2": _real(math.log2),
    "LOG10": _real(math.log10),
    "PI": Function(lambda: Rounded(math.pi, 6), 0, 0),
    **{
        name: _real(getattr(math, name.lower())) for name in ("SIN", "COS", "TAN", "ASIN", "ACOS", "DEGREES", "RADIANS")
    },
    "ATAN": _real(lambda y, x=None: math.atan(y) if x is None else math.atan2(y, x), 1, 2),
    "ATAN2": _real(math.atan2, 2, 2),
    "&": _of_bits(lambda left, right: left & right),
    "|": _of_bits(lambda left, right: left | right),
    "^": _of_bits(lambda left, right: left ^ right),
    "<<": _of_bits(lambda left, right: left << right if right < 64 else 0),
    ">>": _of_bits(lambda left, right: left >> right),
    "~": Function(lambda value: Unsigned(~_bits(value) % _64_BITS)),
    "BIT_COUNT": Function(lambda value: _bits(value).bit_count()),
    "CRC32": of_bytes(zlib.crc32),
    "MD5": of_bytes(lambda data: hashlib.md5(data, usedforsecurity=False).hexdigest()),
    **dict.fromkeys(("SHA", "SHA1"), of_bytes(lambda data: hashlib.sha1(data, usedforsecurity=False).hexdigest())),
    "SHA2": of_bytes(_sha2, 2, 2),
    "INET_ATON": Function(_address),
    "INET_NTOA": Function(_ip_text),
    "INET6_ATON": Function(_packed_address),
    "INET6_NTOA": Function(_shown_address),
    "UUID_TO_BIN": Function(_uuid_to_bin, 1, 2),
    "BIN_TO_UUID": Function(_bin_to_uuid, 1, 2),
    "IS_UUID": Function(_is_uuid),
}
