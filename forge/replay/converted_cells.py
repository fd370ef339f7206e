"""Cells of one type as cells of another: what Field::store makes of a value that an applier copies."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal

from forge.charsets import charset, collation
from forge.errors import UnsupportedError
from forge.replay.stops import StopError
from forge.replay.wire_forms import INTEGER_SIZES, bit_length, group, longest, prefix_size, real_type
from forge.servers.facts.applier import Applier
from forge.values.base import Column
from forge.values.registry import codec_for
from forge.values.text.strings import without_pad
from forge.values.wire_types import WireType

_EXACT = Context(prec=200, rounding=ROUND_HALF_UP)
_FORMS = {WireType.FLOAT: "<f", WireType.DOUBLE: "<d"}
_LARGEST_FLOAT = 3.4028234663852886e38
BINARY = 63
_COLLECTION = 7


def integer_cell(source: Column, target: Column, *, unsigned: bool) -> Callable[[bytes], bytes]:
    """An integer of another width: extended as if signed (or not), and the nearest number that the column has."""
    size = INTEGER_SIZES[WireType(real_type(target))]
    positive = bool(target.unsigned)
    low, high = (0, (1 << 8 * size) - 1) if positive else (-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1)

    def cell(raw: bytes) -> bytes:
        value = int.from_bytes(raw, "little", signed=not unsigned)
        return min(max(value, low), high).to_bytes(size, "little", signed=not positive)

    return cell


def wider_number_cell(source: Column, target: Column) -> Callable[[bytes], bytes]:
    """FLOAT and DOUBLE: the number itself, or the nearest one."""
    read, write = (struct.Struct(_FORMS[WireType(real_type(one))]) for one in (source, target))

    def cell(raw: bytes) -> bytes:
        value = read.unpack(raw)[0]
        if write.size == 4:
            value = math.copysign(min(abs(value), _LARGEST_FLOAT), value)
        return write.pack(value)

    return cell


def number_cell(source: Column, target: Column) -> Callable[[bytes], bytes]:
    """DECIMAL to and from DECIMAL and floating point: rounded half up, and the largest number where it is too large."""
    codec, own = codec_for(source), codec_for(target)

    def cell(raw: bytes) -> bytes:
        value = (
            Decimal(repr(struct.unpack(_FORMS[WireType(real_type(source))], raw)[0]))
            if group(source) == "float"
            else Decimal(str(codec.decode(source, raw)))
        )
        if group(target) == "float":
            form = _FORMS[WireType(real_type(target))]
            return struct.pack(form, float(value))
        precision, scale = target.metadata
        rounded = value.quantize(Decimal(1).scaleb(-scale), context=_EXACT)
        most = Decimal(10**precision - 1).scaleb(-scale, context=_EXACT)
        stored = min(max(rounded, -most), most)
        if target.unsigned and stored < 0:
            stored = Decimal(0).scaleb(-scale)
        return own.encode(target, stored or abs(stored))

    return cell


def bits_cell(source: Column, target: Column) -> Callable[[bytes], bytes]:
    """BIT of another length: all ones where the value is too large."""
    length = bit_length(target)
    size = (length + 7) // 8

    def cell(raw: bytes) -> bytes:
        return min(int.from_bytes(raw, "big"), (1 << length) - 1).to_bytes(size, "big")

    return cell


def same_value_cell(source: Column, target: Column) -> Callable[[bytes], bytes]:
    """The same value in another layout."""
    codec, own = codec_for(source), codec_for(target)
    return lambda raw: own.encode(target, codec.decode(source, raw))


def moment_of_day_cell(source: Column, target: Column) -> Callable[[bytes], bytes]:
    """DATE as DATETIME: midnight."""
    codec, own = codec_for(source), codec_for(target)
    digits = target.metadata[0]
    tail = " 00:00:00" + ("." + "0" * digits if digits else "")
    return lambda raw: own.encode(target, f"{codec.decode(source, raw)}{tail}")


def day_cell(source: Column, target: Column) -> Callable[[bytes], bytes]:
    """DATETIME as DATE: without its time."""
    codec, own = codec_for(source), codec_for(target)
    return lambda raw: own.encode(target, str(codec.decode(source, raw)).partition(" ")[0])


def cut_moment_cell(source: Column, target: Column, applier: Applier) -> Callable[[bytes], bytes]:
    """Another number of fraction digits: cut or filled, or an error where the server allows and cannot."""
    if applier.dropped_fraction == "error":

        def refuse(raw: bytes) -> bytes:
            rule = "conversion of a fraction: allowed, but the server cannot read it"
            raise StopError(1610, "Corrupted replication event was detected", rule, "none")

        return refuse
    codec, own, digits = codec_for(source), codec_for(target), target.metadata[0]

    def cell(raw: bytes) -> bytes:
        whole, _, fraction = str(codec.decode(source, raw)).partition(".")
        return own.encode(target, whole + (f".{fraction[:digits].ljust(digits, '0')}" if digits else ""))

    return cell


def other_digits_cell(source: Column, target: Column) -> Callable[[bytes], bytes]:
    """A fraction of as many bytes, with another number of digits."""
    codec, own, digits = codec_for(source), codec_for(target), target.metadata[0]

    def cell(raw: bytes) -> bytes:
        whole, _, fraction = str(codec.decode(source, raw)).partition(".")
        if fraction[digits:].strip("0"):
            raise UnsupportedError("a digit of a fraction that the column does not show is not measured")
        return own.encode(target, whole + (f".{fraction[:digits].ljust(digits, '0')}" if digits else ""))

    return cell


def fewer_members_cell(source: Column, target: Column) -> Callable[[bytes], bytes]:
    """A SET of fewer bytes: the members that the column has."""
    mask = (1 << len(target.members or ())) - 1
    return lambda raw: (int.from_bytes(raw, "little") & mask).to_bytes(target.metadata[1], "little")


def fitting_geometry(source: Column, target: Column) -> Callable[[bytes], bytes] | None:
    """A geometry of another type than the column has becomes empty (Field_geom::store)."""
    wanted = target.geometry_type
    if not wanted or source.geometry_type == wanted:
        return None
    size = target.metadata[0]

    def cell(raw: bytes) -> bytes:
        data = raw[size:]
        if len(data) < 9:
            return raw
        found = int.from_bytes(data[5:9], "little" if data[4] else "big")
        if found != wanted and wanted == _COLLECTION:
            raise UnsupportedError("a geometry for a GEOMETRYCOLLECTION column is not measured")
        return raw if found == wanted else bytes(size)

    return cell


def recompressed(raw: bytes, source: Column, target: Column) -> bytes:
    """The same value with and without COMPRESSED."""
    codec, own = codec_for(source), codec_for(target)
    return own.encode(target, codec.decode(source, raw))


def well_formed_text(source: Column, target: Column) -> Callable[[bytes], bytes] | None:
    """TEXT of another character set: what of its bytes is well-formed (Field_blob::unpack, which stores a value)."""
    if target.collation in (None, BINARY):
        return None
    own = charset(collation(target.collation or 0).charset)
    same = source.collation is not None and collation(source.collation).charset == own.name
    if same or own.max_length == 1:
        return None
    size = target.metadata[0]

    def cell(raw: bytes) -> bytes:
        data = raw[size:]
        data = data[: own.well_formed_length(data, target.dialect.well_formed)]
        return len(data).to_bytes(size, "little") + data

    return cell


def blob_or_string_cell(source: Column, target: Column, applier: Applier, order: int) -> Callable[[bytes], bytes]:
    """Strings and BLOBs among each other: the bytes, as many as the column has room for, never in another set."""
    prefix, own_prefix, room = prefix_size(source), prefix_size(target), longest(target)
    name = None if target.collation in (None, BINARY) else collation(target.collation or 0).charset
    own = None if name is None else charset(name)
    from_char, to_char = (one.type_code == WireType.STRING for one in (source, target))
    # A BINARY has all its bytes in the event's record; what is stored of it has no NULs at the end.
    filled = longest(source) if from_char and own is None and not to_char else 0
    as_is = from_char and to_char

    def cell(raw: bytes) -> bytes:
        data = raw[prefix:].ljust(filled, b"\0") if filled else raw[prefix:]
        if own is None:
            data = data[:room]
            data = data.rstrip(b"\0") if to_char else data
        else:
            data = _fitting(data)
            data = without_pad(data, own.encode(" ")) if to_char else data
        return len(data).to_bytes(own_prefix, "little") + data

    def _fitting(data: bytes) -> bytes:
        assert own is not None
        if own.max_length == 1 or (target.type_code == WireType.BLOB and _formed(data) and len(data) <= room):
            return data[:room]
        if _formed(data):
            characters = list(own.characters(data, target.dialect.well_formed))
            if target.type_code != WireType.BLOB:
                return b"".join(characters[: room // own.max_length])
            if data[:room].isascii():
                return data[:room]
            raise UnsupportedError("a TEXT that is cut where characters have several bytes is not measured")
        both_varchar = real_type(source) == real_type(target) == WireType.VARCHAR and prefix == own_prefix
        if both_varchar and order > 0:
            # do_varstring2_mb: as many well-formed characters as there is room for.
            good = data[: own.well_formed_length(data, target.dialect.well_formed)]
            return b"".join(list(own.characters(good, target.dialect.well_formed))[: room // own.max_length])
        if len(data) > room or (own.max_length > 1 and len(data) > room // own.max_length):
            raise UnsupportedError(f"a text that is not well-formed {name} and is cut is not measured")
        if as_is or (both_varchar and not applier.cuts_malformed):
            return data
        if both_varchar:
            return data[: own.well_formed_length(data, target.dialect.well_formed)]
        raise UnsupportedError(f"bytes that are not well-formed {name}, between these types, are not measured")

    def _formed(data: bytes) -> bool:
        assert own is not None
        return own.well_formed(data, target.dialect.well_formed)

    return cell
