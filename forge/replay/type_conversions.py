"""Which columns an applier converts into which, and what becomes of a value (can_convert_field_to, sql/rpl_utility.cc).

A check of definitions comes first: *order* is -1 where the event's column is the narrower one, 1 where it is the wider
one, 0 where nothing is converted.  ALL_NON_LOSSY allows -1, ALL_LOSSY allows 1.  Signs, character sets, members and
names are not looked at.  Recorded: corpora/replays/types.jsonl.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from forge.errors import ScenarioError, UnsupportedError
from forge.replay.converted_cells import (
    bits_cell,
    blob_or_string_cell,
    cut_moment_cell,
    day_cell,
    fewer_members_cell,
    fitting_geometry,
    integer_cell,
    moment_of_day_cell,
    number_cell,
    other_digits_cell,
    recompressed,
    same_value_cell,
    well_formed_text,
    wider_number_cell,
)
from forge.replay.stops import StopError
from forge.replay.wire_forms import (
    FRACTIONAL,
    INTEGER_SIZES,
    OLD_MOMENTS,
    bit_length,
    group,
    is_compressed,
    longest,
    prefix_size,
    real_type,
    source_words,
    target_words,
    uncompressed,
)
from forge.servers.facts.applier import Applier
from forge.values.base import Column
from forge.values.wire_types import WireType

_WORDS: Final = ("ALL_LOSSY", "ALL_NON_LOSSY", "ALL_SIGNED", "ALL_UNSIGNED")
#: Bytes of a fraction of so many digits.
_FRACTION_BYTES = (0, 1, 1, 2, 2, 3, 3)
_MOMENT_BYTES = {WireType.TIMESTAMP2: 4, WireType.DATETIME2: 5, WireType.TIME2: 3}

#: From the cell of an event's column to that of the replica's.
CellConversion = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class TypeConversions:
    """``replica_type_conversions``, and the facts of the line."""

    lossy: bool
    non_lossy: bool
    signed: bool
    unsigned: bool
    applier: Applier

    @staticmethod
    def of(text: str, applier: Applier) -> TypeConversions:
        """Those of a variable's value.  Raises ScenarioError for words that the line does not have."""
        words = {word.strip().upper() for word in text.split(",") if word.strip()}
        known = _WORDS if applier.converts_signs else _WORDS[:2]
        unknown = sorted(words.difference(known))
        if unknown:
            raise ScenarioError(
                f"replica_type_conversions has {unknown[0]!r}", expected=f"some of {', '.join(known)}, with commas"
            )
        lossy, non_lossy, signed, unsigned = (word in words for word in _WORDS)
        return TypeConversions(lossy, non_lossy, signed, unsigned, applier)


@dataclass(frozen=True, slots=True)
class ColumnConversion:
    """How cells of an event's column become cells of the replica's.

    ``convert`` is None where they stay as they are; ``misread`` is the number of bytes that the applier reads of a
    cell that has fewer.
    """

    order: int
    rule: str
    convert: CellConversion | None = None
    misread: int = 0


def column_conversion(
    source: Column, target: Column, settings: TypeConversions, number: int, table: str
) -> ColumnConversion:
    """The conversion of a column, ``number`` from 0.

    Raises StopError where the types stop the applier, UnsupportedError for what has not been measured.
    """
    order, rule = _order(source, target, settings)
    allowed = order is not None and (order == 0 or (order < 0 and settings.non_lossy) or (order > 0 and settings.lossy))
    if order is None or not allowed:
        applier = settings.applier
        place = number + applier.first_column
        counting = " (counting the first column as number 1)" if applier.first_column else ""
        octets = applier.says_octets
        words = f"'{source_words(source, octets=octets)}' to type '{target_words(target, octets=octets)}'"
        text = f"Column {place}{counting} of table '{table}' cannot be converted from type {words}"
        raise StopError(applier.conversion_error, text, rule)
    misread = _misread(source, target)
    if misread:
        words = "unchecked precision: the fraction's bytes are read from what follows"
        return ColumnConversion(order, words, misread=misread)
    return ColumnConversion(order, rule, _converter(source, target, order, settings))


def _order(source: Column, target: Column, settings: TypeConversions) -> tuple[int | None, str]:
    """The order of two columns and its rule; None for types that are never converted."""
    ours, theirs = group(source), group(target)
    special = _special_order(source, target, settings)
    if special is not None:
        return special
    if real_type(source) == real_type(target):
        return _same_type(source, target, ours)
    if OLD_MOMENTS.get(WireType(real_type(source))) == real_type(target) and target.metadata == b"\0":
        return 0, "temporal types of before 5.6: always"
    if OLD_MOMENTS.get(WireType(real_type(target))) == real_type(source) and source.metadata == b"\0":
        return 0, "temporal types of before 5.6: always"
    if ours == theirs == "integer":
        sizes = [INTEGER_SIZES[WireType(real_type(one))] for one in (source, target)]
        return _compared(*sizes), "integers: by width"
    if {ours, theirs} <= {"float", "decimal"}:
        if "decimal" in (ours, theirs):
            return 1, "DECIMAL and floating point: lossy"
        return _compared(real_type(source), real_type(target)), "FLOAT and DOUBLE: by width"
    if {ours, theirs} <= {"string", "blob"}:
        return _compared(longest(source), longest(target)) or -1, "strings: by length in bytes"
    codes = real_type(source), real_type(target)
    if settings.applier.converts_dates and codes == (WireType.DATE, WireType.DATETIME2):
        return -1, "MariaDB: DATE to DATETIME"
    if settings.applier.converts_dates and codes == (WireType.DATETIME2, WireType.DATE):
        return 1, "MariaDB: DATETIME to DATE"
    return None, "types that are never converted"


def _special_order(source: Column, target: Column, settings: TypeConversions) -> tuple[int | None, str] | None:
    """The order of types that are more than their bytes: vectors, compressed columns, addresses of MariaDB."""
    declared = "" if target.declared is None else target.declared.name
    if real_type(source) == real_type(target) == WireType.VECTOR:
        if source.dimensions is None:
            raise UnsupportedError("a VECTOR of unknown dimensions (no optional metadata) is not measured")
        same = source.dimensions == target.dimensions
        return (0, "same type") if same else (None, "VECTOR of other dimensions: never")
    if declared in ("UUID", "INET4", "INET6", "VECTOR") and target.type_code != WireType.VECTOR:
        if source.type_code != target.type_code:
            raise UnsupportedError(f"what becomes of {source_words(source, octets=True)} in {declared} is not measured")
        same = source.metadata == target.metadata
        return (0, "same bytes") if same else (None, f"{declared} of bytes of another length: never")
    if is_compressed(source) or is_compressed(target):
        if is_compressed(source) and is_compressed(target):
            raise UnsupportedError("a COMPRESSED column for a COMPRESSED one is not measured")
        if not (settings.lossy or settings.non_lossy):
            return None, "COMPRESSED columns: never without conversions"
        if not (settings.lossy and settings.non_lossy) or group(uncompressed(source)) != group(uncompressed(target)):
            raise UnsupportedError("COMPRESSED columns with one kind of conversions alone are not measured")
        return 0, "COMPRESSED columns: with all conversions"
    return None


def _same_type(source: Column, target: Column, kind: str) -> tuple[int | None, str]:
    if source.metadata == target.metadata:
        return 0, "same type"
    if kind == "string":
        return _compared(longest(source), longest(target)), "strings: by length in bytes"
    if kind == "decimal":
        order = _compared(source.metadata[0], target.metadata[0])
        return order or _compared(source.metadata[1], target.metadata[1]), "DECIMAL: by precision, then scale"
    if kind == "bit":
        return _compared(bit_length(source), bit_length(target)), "BIT: by length"
    if kind == "time":
        if not source.metadata[0]:
            return 0, "precision 0: no check"
        sizes = [_FRACTION_BYTES[one.metadata[0]] for one in (source, target)]
        return _compared(*sizes), "fractions: by bytes"
    if kind in ("enum", "set"):
        return _compared(source.metadata[1], target.metadata[1]), "ENUM and SET: by size"
    if kind == "blob":
        return _compared(source.metadata[0], target.metadata[0]), "BLOB: by size"
    if real_type(source) == WireType.VECTOR:
        return None, "VECTOR of other dimensions: never"
    return 0, "same type"


def _recompressed(source: Column, target: Column, settings: TypeConversions) -> CellConversion:
    """Of and for a COMPRESSED column: what the value is without it."""
    plain, own = uncompressed(source), uncompressed(target)
    order, _ = _order(plain, own, settings)
    assert order is not None
    inner = _converter(plain, own, order, settings)

    def cell(raw: bytes) -> bytes:
        here = recompressed(raw, source, plain)
        return recompressed(here if inner is None else inner(here), own, target)

    return cell


def _compared(left: int, right: int) -> int:
    return (left > right) - (left < right)


def _misread(source: Column, target: Column) -> int:
    """Bytes that are read of a cell with precision 0 of a column with another one; 0 if nothing is wrong."""
    code = real_type(source)
    if code != real_type(target) or code not in FRACTIONAL or source.metadata == target.metadata:
        return 0
    return 0 if source.metadata[0] else _MOMENT_BYTES[WireType(code)] + _FRACTION_BYTES[target.metadata[0]]


def _converter(source: Column, target: Column, order: int, settings: TypeConversions) -> CellConversion | None:
    """What makes the replica's cell.  Raises UnsupportedError for values that have not been measured."""
    ours, code = group(source), real_type(source)
    if is_compressed(source) or is_compressed(target):
        return _recompressed(source, target, settings)
    if ours == "blob" == group(target) and order == 0:
        return well_formed_text(source, target) if settings.applier.cuts_malformed else None
    if code == WireType.GEOMETRY and settings.applier.checks_geometries:
        return fitting_geometry(source, target)
    if code == real_type(target) and (order == 0 or source.metadata == target.metadata):
        if ours == "string" and prefix_size(source) != prefix_size(target):
            return blob_or_string_cell(source, target, settings.applier, order)
        return None if ours != "time" or source.metadata == target.metadata else other_digits_cell(source, target)
    if ours == "integer":
        if settings.unsigned and settings.signed:
            raise UnsupportedError("ALL_SIGNED and ALL_UNSIGNED together are not measured")
        as_target = settings.applier.takes_sign_of == "target" and bool(target.unsigned)
        return integer_cell(source, target, unsigned=settings.unsigned or as_target)
    if ours in ("float", "decimal"):
        return wider_number_cell(source, target) if ours == "float" == group(target) else number_cell(source, target)
    if ours in ("string", "blob"):
        return blob_or_string_cell(source, target, settings.applier, order)
    if ours == "bit":
        return bits_cell(source, target)
    if ours in ("enum", "set") and order < 0:
        return same_value_cell(source, target)
    if ours == "set" == group(target):
        return fewer_members_cell(source, target)
    if order == 0:
        return other_digits_cell(source, target) if ours == "time" else same_value_cell(source, target)
    if code == WireType.DATE:
        return moment_of_day_cell(source, target)
    if code == WireType.DATETIME2 and real_type(target) == WireType.DATE:
        return day_cell(source, target)
    if ours == "time":
        return cut_moment_cell(source, target, settings.applier)
    words = [source_words(one, octets=settings.applier.says_octets) for one in (source, target)]
    raise UnsupportedError(f"what becomes of {words[0]} in a column of {words[1]} is not measured")
