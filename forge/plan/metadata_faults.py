"""Optional metadata that no server writes: each fault, how it is made, and what a reader does with it.

The vendors' readers and servers pass over nearly all of it, so a reader *may*; one that holds to the worklog stops
where ``forge.events.metadata_rules`` finds no meaning, or more than one.  It has to be refused where a server does.
docs/metadata.md has the same table with what real readers do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from forge.errors import ScenarioError, Verdict
from forge.events.column_kinds import has_prefixes, is_character, is_enum, is_set, longest_value
from forge.events.optional_metadata import METADATA_CODES, MetadataRecord, build_record, build_value, record
from forge.events.packed import pack_int
from forge.values.base import Column


class DescribedTable:
    """The optional metadata of one TABLE_MAP in the making.

    ``records`` in writing order; ``tail`` are bytes behind them that are no record.
    """

    def __init__(self, records: Sequence[MetadataRecord], columns: Sequence[Column], mariadb: bool) -> None:
        self.records = list(records)
        self.columns = columns
        self.mariadb = mariadb
        self.tail: bytes | None = None

    def value(self, name: str) -> Any:
        """What the record says.  Raises ScenarioError if the table has none of that name."""
        return self.records[self._place(name)].value

    def put(self, name: str, value: Any) -> None:
        """Give the record another value; bytes stand for the value's own bytes."""
        self.records[self._place(name)] = record(name, value)

    def put_either(self, names: tuple[str, str], name: str, value: Any) -> None:
        """Write the record ``name`` in the place of whichever of both forms is there."""
        places = [place for place, item in enumerate(self.records) if item.type_name in names]
        if not places:
            raise ScenarioError(f"this table has no {' or '.join(names)} record")
        self.records[places[0] : places[-1] + 1] = [record(name, value)]

    def bytes_of(self, name: str) -> bytes:
        return build_value(self.records[self._place(name)])

    def put_behind(self, name: str, more: MetadataRecord) -> None:
        self.records.insert(self._place(name) + 1, more)

    def last(self) -> MetadataRecord:
        """Take the last record away.  Raises ScenarioError if there is none."""
        if not self.records:
            raise ScenarioError("this table has no optional metadata")
        return self.records.pop()

    def collations(self, chosen: Callable[[Column], bool]) -> tuple[int, ...]:
        return tuple(63 if column.collation is None else column.collation for column in self.columns if chosen(column))

    def _place(self, name: str) -> int:
        for place, item in enumerate(self.records):
            if item.type_name == name:
                return place
        raise ScenarioError(f"this table has no {name} record")


#: Raises ScenarioError for a table whose records cannot have the fault.
Maker = Callable[[DescribedTable], None]


class Fault(Struct, frozen=True):
    """What the fault is, how it is made, and what a correct reader does with it.

    ``strict``: a strict reader stops, as ours does, because any result would be a guess.
    """

    description: str
    make: Maker
    strict: bool = False
    verdict: Verdict = "may"


_CHARSETS = ("default_charset", "column_charset")
_MEMBER_CHARSETS = ("enum_set_default_charset", "enum_set_column_charset")
_KEYS = ("simple_primary_key", "prefix_primary_key")
#: Collation id that no server has.
_UNKNOWN_COLLATION = 9999


def _value(name: str, change: Callable[[Any], Any]) -> Maker:
    """The record's value is changed; bytes that it becomes stand for the value's own."""
    return lambda metadata: metadata.put(name, change(metadata.value(name)))


def _raw(name: str, change: Callable[[bytes], bytes]) -> Maker:
    """The record's bytes are changed."""
    return lambda metadata: metadata.put(name, change(metadata.bytes_of(name)))


def _drop_last(name: str) -> Maker:
    return _value(name, lambda value: value[:-1])


def _one_more(name: str, item: Any) -> Maker:
    return _value(name, lambda value: (*value, item))


def _every(name: str, item: Any) -> Maker:
    return _value(name, lambda value: (item,) * len(value))


def _padding(name: str) -> Maker:
    def padded(bits: str) -> str:
        if len(bits) % 8 == 0:
            raise ScenarioError(f"the {name} record of this table has no padding bits")
        return bits.ljust(-(-len(bits) // 8) * 8, "1")

    return _value(name, padded)


def _counts_one_more(name: str) -> Maker:
    """The number of members is one more than there are."""

    def counted(value: Any) -> bytes:
        *others, last = value
        members = b"".join(pack_int(len(member)) + member for member in last)
        return build_value(record(name, tuple(others))) + pack_int(len(last) + 1) + members

    return _value(name, counted)


def _without_last_member(name: str) -> Maker:
    return _value(name, lambda value: (*value[:-1], value[-1][:-1]))


def _text_beyond(name: str) -> Maker:
    """The last text of the record claims more bytes than the record has."""

    def beyond(value: Any) -> bytes:
        data = build_value(record(name, value))
        last = value[-1] if name == "column_name" else value[-1][-1]
        size = len(last.encode("utf-8", "surrogateescape") if isinstance(last, str) else last)
        return data[: len(data) - size - len(pack_int(size))] + pack_int(size + 9) + data[len(data) - size :]

    return _value(name, beyond)


def _key(parts: Callable[[DescribedTable], tuple[tuple[int, int], ...]]) -> Maker:
    return lambda metadata: metadata.put_either(_KEYS, "prefix_primary_key", parts(metadata))


def _simple_key(parts: Callable[[DescribedTable], tuple[int, ...]]) -> Maker:
    return lambda metadata: metadata.put_either(_KEYS, "simple_primary_key", parts(metadata))


def _first(metadata: DescribedTable, chosen: Callable[[Column], bool], what: str) -> int:
    for index, column in enumerate(metadata.columns):
        if chosen(column):
            return index
    raise ScenarioError(f"this table has no {what}")


def _long_prefix(metadata: DescribedTable) -> tuple[tuple[int, int], ...]:
    index = _first(metadata, lambda column: (longest_value(column) or 1 << 16) < 1 << 16, "CHAR or VARCHAR column")
    return ((index, (longest_value(metadata.columns[index]) or 0) + 1),)


def _number_prefix(metadata: DescribedTable) -> tuple[tuple[int, int], ...]:
    return ((_first(metadata, lambda column: not has_prefixes(column), "column without prefixes"), 1),)


def _other_key(metadata: DescribedTable) -> None:
    parts = metadata.value("simple_primary_key")
    other = _first(metadata, lambda column: metadata.columns.index(column) not in parts, "column outside the key")
    metadata.put_behind("simple_primary_key", record("prefix_primary_key", ((other, 0),)))


def _key_cut(metadata: DescribedTable) -> None:
    metadata.put_either(_KEYS, "prefix_primary_key", b"\0")


def _charset(value: Callable[[tuple[int, ...]], Any], name: str = "column_charset") -> Maker:
    """The charset record in the form ``name`` with a value made of the collations of the character columns."""
    return lambda metadata: metadata.put_either(_CHARSETS, name, value(_character_collations(metadata)))


def _character_collations(metadata: DescribedTable) -> tuple[int, ...]:
    return metadata.collations(lambda column: is_character(column, metadata.mariadb))


def _member_charset(value: Callable[[tuple[int, ...]], Any], name: str) -> Maker:
    def collations(metadata: DescribedTable) -> tuple[int, ...]:
        return metadata.collations(lambda column: is_enum(column) or is_set(column))

    return lambda metadata: metadata.put_either(_MEMBER_CHARSETS, name, value(collations(metadata)))


def _charsets_differ(metadata: DescribedTable) -> None:
    counted = _character_collations(metadata)
    metadata.put_either(_CHARSETS, "default_charset", (_other(counted[0]), ()))
    metadata.put_behind("default_charset", record("column_charset", counted))


def _other(collation: int) -> int:
    return 8 if collation != 8 else 11


def _pair_cut(counted: tuple[int, ...]) -> bytes:
    return pack_int(counted[0]) + b"\0"


def _repeated(metadata: DescribedTable) -> None:
    name = metadata.records[0].type_name if metadata.records else ""
    if name != "signedness":
        raise ScenarioError("this table has no signedness record")
    bits = metadata.value(name)
    metadata.put_behind(name, record(name, "".join("01"[bit == "0"] for bit in bits)))


def _tail(cut: Callable[[bytes, MetadataRecord], bytes]) -> Maker:
    """The last record, or what is left of it, becomes bytes that are no record."""

    def apply(metadata: DescribedTable) -> None:
        last = metadata.last()
        metadata.tail = cut(build_record(last), last)

    return apply


def _longer(whole: bytes, last: MetadataRecord) -> bytes:
    value = build_value(last)
    return bytes([last.type_code]) + pack_int(len(value) + 1) + value


def _ends_with(more: bytes) -> Maker:
    return lambda metadata: setattr(metadata, "tail", more)


def _type_zero(value: bytes) -> Maker:
    return lambda metadata: metadata.records.append(MetadataRecord(0, value))


def _without_columns(metadata: DescribedTable) -> None:
    if any(item.type_name == "geometry_type" for item in metadata.records):
        raise ScenarioError("this fault needs a table without geometry columns")
    metadata.records.append(record("geometry_type", (1,)))


_SIGNEDNESS = bytes([METADATA_CODES["signedness"]])

FAULTS: dict[str, Fault] = {
    # The frame.
    "record_cut": Fault("the last byte of the event is missing", _tail(lambda whole, _: whole[:-1]), strict=True),
    "record_beyond_event": Fault("the last record is one byte longer than the event", _tail(_longer), strict=True),
    "record_length_ff": Fault("a length byte ff", _ends_with(_SIGNEDNESS + b"\xff\x01\0"), strict=True),
    "record_length_fb": Fault("a length byte fb, NULL", _ends_with(_SIGNEDNESS + b"\xfb\x01\0"), strict=True),
    "record_length_huge": Fault("a length of 2^64 - 1", _ends_with(_SIGNEDNESS + b"\xfe" + b"\xff" * 8), strict=True),
    "record_type_only": Fault("a type at the end without length", _ends_with(_SIGNEDNESS), strict=True),
    "record_type_zero": Fault("a record of type 0 with two bytes", _type_zero(b"\x01\0")),
    "record_type_zero_empty": Fault("an empty record of type 0: two zero bytes at the end", _type_zero(b"")),
    "record_contradicted": Fault("a second SIGNEDNESS with the opposite signs", _repeated, strict=True),
    "record_without_columns": Fault("a GEOMETRY_TYPE in a table without geometry columns", _without_columns),
    # SIGNEDNESS, VISIBILITY.
    "signedness_short": Fault("one byte of signs is missing", _raw("signedness", lambda data: data[:-1]), strict=True),
    "signedness_long": Fault("one byte more than there are signs", _raw("signedness", lambda data: data + b"\0")),
    "signedness_padding": Fault("padding bits are 1", _padding("signedness")),
    "visibility_short": Fault(
        "one byte of columns is missing", _raw("visibility", lambda data: data[:-1]), strict=True
    ),
    "visibility_long": Fault("one byte more than there are columns", _raw("visibility", lambda data: data + b"\0")),
    "visibility_padding": Fault("padding bits are 1", _padding("visibility")),
    "visibility_none": Fault("no column is visible", _value("visibility", lambda bits: "0" * len(bits))),
    # Character sets.
    "charset_list_short": Fault("a collation is missing", _charset(lambda counted: counted[:-1]), strict=True),
    "charset_list_long": Fault("a collation more than columns", _charset(lambda counted: (*counted, 8))),
    "charset_unknown": Fault(
        "a collation that no server knows", _charset(lambda counted: (_UNKNOWN_COLLATION, *counted[1:]))
    ),
    "charset_item_cut": Fault(
        "the last collation id lacks its bytes",
        _charset(lambda counted: b"".join(map(pack_int, counted[:-1])) + b"\xfc"),
        strict=True,
    ),
    "charset_empty": Fault(
        "the default form without a default", _charset(lambda _: b"", "default_charset"), strict=True
    ),
    "charset_default_zero": Fault(
        "the default is 0, every column has a pair",
        _charset(lambda counted: (0, tuple(enumerate(counted))), "default_charset"),
    ),
    "charset_index_beyond": Fault(
        "a pair for a column that is not there",
        _charset(lambda counted: (counted[0], ((len(counted), 8),)), "default_charset"),
        strict=True,
    ),
    "charset_index_twice": Fault(
        "two pairs give a column two collations",
        _charset(lambda counted: (counted[0], ((0, 8), (0, 11))), "default_charset"),
        strict=True,
    ),
    "charset_pair_cut": Fault("an index without its collation", _charset(_pair_cut, "default_charset"), strict=True),
    "charset_forms_differ": Fault("both forms, which differ", _charsets_differ, strict=True),
    "member_charset_short": Fault(
        "the collation of an ENUM or SET is missing",
        _member_charset(lambda counted: counted[:-1], "enum_set_column_charset"),
        strict=True,
    ),
    "member_charset_long": Fault(
        "a collation more than ENUM and SET columns",
        _member_charset(lambda counted: (*counted, 8), "enum_set_column_charset"),
    ),
    "member_charset_index_beyond": Fault(
        "a pair for an ENUM or SET that is not there",
        _member_charset(lambda counted: (counted[0], ((len(counted), 8),)), "enum_set_default_charset"),
        strict=True,
    ),
    # Names and members.
    "name_missing": Fault("a name fewer than columns", _drop_last("column_name"), strict=True),
    "name_added": Fault("a name more than columns", _one_more("column_name", "more")),
    "name_beyond_record": Fault("the last name ends beyond its record", _text_beyond("column_name"), strict=True),
    "name_empty": Fault("all names are empty", _every("column_name", "")),
    "name_repeated": Fault("all columns have one name", _every("column_name", "same")),
    "enum_list_missing": Fault("an ENUM column without members", _drop_last("enum_members"), strict=True),
    "enum_list_added": Fault("members for one ENUM column more", _one_more("enum_members", (b"x", b"y"))),
    "enum_member_missing": Fault("the last member of an ENUM is not told", _without_last_member("enum_members")),
    "enum_count_wrong": Fault("the last ENUM counts one member more", _counts_one_more("enum_members"), strict=True),
    "enum_member_beyond_record": Fault("a member ends beyond the record", _text_beyond("enum_members"), strict=True),
    "set_list_missing": Fault("a SET column without members", _drop_last("set_members"), strict=True),
    "set_list_added": Fault("members for one SET column more", _one_more("set_members", (b"x", b"y"))),
    "set_member_missing": Fault("the last member of a SET is not told", _without_last_member("set_members")),
    "set_count_wrong": Fault("the last SET counts one member more", _counts_one_more("set_members"), strict=True),
    "set_member_beyond_record": Fault("a member ends beyond the record", _text_beyond("set_members"), strict=True),
    # Geometry and vectors.
    "geometry_missing": Fault("a geometry column without its type", _drop_last("geometry_type"), strict=True),
    "geometry_added": Fault("one geometry type more than columns", _one_more("geometry_type", 1)),
    "geometry_unknown": Fault("geometry type 99", _every("geometry_type", 99)),
    "dimensions_missing": Fault(
        "a VECTOR column without dimensions", _drop_last("vector_dimensions"), strict=True, verdict="reject"
    ),
    "dimensions_added": Fault("one dimension more than columns", _one_more("vector_dimensions", 3)),
    "dimensions_wrong": Fault(
        "all vectors of one dimension, whatever their values have", _every("vector_dimensions", 1)
    ),
    # The key.
    "key_index_beyond": Fault(
        "a column that the table does not have", _simple_key(lambda metadata: (len(metadata.columns),)), strict=True
    ),
    "key_column_twice": Fault("one column twice", _simple_key(lambda metadata: (0, 0)), strict=True),
    "key_empty": Fault("a key without columns", _simple_key(lambda metadata: ())),
    "key_prefix_too_long": Fault("a prefix longer than the column", _key(_long_prefix), strict=True),
    "key_prefix_of_number": Fault("a prefix of a column that has none", _key(_number_prefix), strict=True),
    "key_pair_cut": Fault("an index without its prefix", _key_cut, strict=True),
    "key_forms_differ": Fault("both forms, with other columns", _other_key, strict=True),
}
