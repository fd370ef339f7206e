"""The optional metadata of TABLE_MAP (WL#4618): one table drives reading and writing.

Records are type, packed length, value, in any order.  Values:

====================  =======================================================================================
signedness            bits, first column first: "0110...", one a numeric column, 1 = UNSIGNED, padded to bytes
default_charset       (default collation, ((index among character columns, collation), ...))
column_charset        (collation, ...), one a character column
column_name           (name, ...)
set_members           ((member bytes, ...), ...), one a SET column;  enum_members likewise
geometry_type         (code, ...), one a geometry column
simple_primary_key    (column index, ...), in key order
prefix_primary_key    ((column index, prefix in characters or 0), ...)
enum_set_default_charset, enum_set_column_charset: as above, counting ENUM and SET columns
visibility            bits, one a column, 1 = visible
vector_dimensions     (dimensions, ...), one a VECTOR column
====================  =======================================================================================

The numbers are those of the servers (sql/log_event.cc), not those of the worklog's text.  What makes a list of records
right or wrong for a table is in ``forge.events.metadata_rules``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from construct import GreedyRange, Sequence

from forge.errors import FormatError
from forge.events.giving import Part, giver_of
from forge.events.layout import Counted, Text
from forge.events.packed import PackedBytes, PackedInt, pack_int, take_packed
from forge.events.taking import Fields, LayoutError, taker_of


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """One record.

    ``value`` is bytes where the type is unknown, or where servers would write the same in other bytes.
    ``length_size`` is the number of bytes of the packed length, if it is not the shortest.
    """

    type_code: int
    value: Any
    length_size: int | None = None

    @property
    def type_name(self) -> str:
        entry = OPTIONAL_METADATA.get(self.type_code)
        return entry[0] if entry else f"type_{self.type_code}"


class _Bits(Part):
    """Bytes as a string of 0 and 1, the highest bit of the first byte first."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[str, int]:
        return "".join(f"{byte:08b}" for byte in data[at:]), max(at, len(data))

    def give(self, value: str, fields: Any) -> bytes:
        if set(value) - {"0", "1"}:
            raise ValueError(f"{value!r} is not a string of 0 and 1")
        padded = value.ljust(-(-len(value) // 8) * 8, "0")
        return bytes(int(padded[i : i + 8], 2) for i in range(0, len(padded), 8))


_Name = Text(PackedBytes())
_Numbers = GreedyRange(PackedInt())
_Pairs = GreedyRange(Sequence(PackedInt(), PackedInt()))
_DefaultCharset = Sequence(PackedInt(), _Pairs)
_Members = GreedyRange(Counted(PackedInt(), PackedBytes()))
_BitString = _Bits()

#: type -> (name, layout of the value).
OPTIONAL_METADATA: dict[int, tuple[str, Any]] = {
    1: ("signedness", _BitString),
    2: ("default_charset", _DefaultCharset),
    3: ("column_charset", _Numbers),
    4: ("column_name", GreedyRange(_Name)),
    5: ("set_members", _Members),
    6: ("enum_members", _Members),
    7: ("geometry_type", _Numbers),
    8: ("simple_primary_key", _Numbers),
    9: ("prefix_primary_key", _Pairs),
    10: ("enum_set_default_charset", _DefaultCharset),
    11: ("enum_set_column_charset", _Numbers),
    12: ("visibility", _BitString),
    13: ("vector_dimensions", _Numbers),
}


#: Bytes of a value that is kept: the tables of a log have many alike.
_KEPT_SIZE = 256
METADATA_CODES = {name: code for code, (name, _) in OPTIONAL_METADATA.items()}


def record(name: str, value: Any) -> MetadataRecord:
    """A record by the name of its type."""
    return MetadataRecord(METADATA_CODES[name], value)


def parse_value(type_code: int, data: bytes) -> Any:
    """The record's value, or ``data`` itself where it does not read back to the same bytes."""
    if type_code not in OPTIONAL_METADATA:
        return data
    try:
        found = Fields()
        value, end = taker_of(OPTIONAL_METADATA[type_code][1])(data, 0, found)
    except LayoutError:
        return data
    return value if end == len(data) and not found.has_other_form else data


def read_value(record: MetadataRecord) -> Any:
    """What the record says, in whatever widths its numbers are packed; bytes if the type is unknown.

    Raises FormatError (offset from the start of the value) if an item ends beyond the value.
    """
    if not isinstance(record.value, bytes) or record.type_code not in OPTIONAL_METADATA:
        return record.value
    try:
        value, end = taker_of(OPTIONAL_METADATA[record.type_code][1])(record.value, 0, Fields())
        if end == len(record.value):
            return value
        problem = LayoutError("an item that ends after its record", end)
    except LayoutError as error:
        problem = error
    offset = min(problem.at, len(record.value))
    raise FormatError(f"the {record.type_name} record has {problem}", phase="metadata", offset=offset)


def key_parts(name: str, value: Any) -> tuple[tuple[int, int], ...]:
    """(column index, prefix or 0) a part, from either form."""
    return value if name == "prefix_primary_key" else tuple((index, 0) for index in value)


def build_value(record: MetadataRecord) -> bytes:
    """The bytes of the record's value.  Raises one of NOT_GIVEN for a value of another form."""
    if isinstance(record.value, bytes):
        return record.value
    return giver_of(OPTIONAL_METADATA[record.type_code][1])(record.value, Fields())


def build_record(record: MetadataRecord) -> bytes:
    value = build_value(record)
    return bytes([record.type_code]) + pack_int(len(value), record.length_size) + value


@lru_cache(maxsize=1024)
def _kept_value(type_code: int, data: bytes) -> Any:
    return parse_value(type_code, data)


class OptionalMetadata(Part):
    """All records up to the end of the event, or to the first that does not end in it."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[tuple[MetadataRecord, ...], int]:
        records = []
        while at < len(data):
            try:
                length, start = take_packed(data, at + 1, Fields())
            except LayoutError:
                break
            end = start + length
            if end > len(data):
                break
            value = data[start:end]
            parse = _kept_value if length <= _KEPT_SIZE else parse_value
            size = start - at - 1
            shortest = size == 1 or size == len(pack_int(length))
            records.append(MetadataRecord(data[at], parse(data[at], value), None if shortest else size))
            at = end
        return tuple(records), at

    def give(self, value: tuple[MetadataRecord, ...], fields: Any) -> bytes:
        return b"".join(map(build_record, value))

    def labelled(self, walk: Any, name: str, flags: Any = None) -> Any:
        records = walk.read(self, name)
        end = walk.at
        labels = walk.labels
        for record in records:
            field = f"{name}.{record.type_name}"
            labels.put(labels.at + 1, f"{field}.type", record.type_code, "type of the record")
            walk.at = labels.at
            length = walk.leaf(PackedInt(), f"{field}.length")
            value_end = labels.at + length
            inside = walk.inside(labels.data[labels.at : value_end])
            if record.type_code not in OPTIONAL_METADATA:
                inside.labels.rest(field, inside.labels.data, "a record of a type that is not known")
            elif not inside.whole(OPTIONAL_METADATA[record.type_code][1], field, keep=True):
                inside.labels.rest(field, rule="an item that ends after its record")
            walk.adopt(inside, value_end)
        walk.at = end
        return records

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.tuples_of(draws.metadata_records())
