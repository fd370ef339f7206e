"""Optional metadata that no server writes: each fault, what a reader does with it, and how it is made.

The verdict follows from forge.events.metadata_rules: what can be read in one way only *may* be read, what cannot has to
be refused.  docs/metadata.md has the same table with what real readers do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from forge.errors import ScenarioError, Verdict
from forge.events.column_kinds import has_prefixes, is_character, is_enum, is_set, longest_value
from forge.events.layout import pack_int
from forge.events.optional_metadata import METADATA_CODES, MetadataRecord, build_record, build_value, record
from forge.values.base import Column


class Described:
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


@dataclass(frozen=True, slots=True)
class Fault:
    """``apply`` raises ScenarioError for a table whose records cannot have the fault."""

    verdict: Verdict
    what: str
    apply: Callable[[Described], None]


_CHARSETS = ("default_charset", "column_charset")
_MEMBER_CHARSETS = ("enum_set_default_charset", "enum_set_column_charset")
_KEYS = ("simple_primary_key", "prefix_primary_key")
#: Collation id that no server has.
_UNKNOWN_COLLATION = 9999


def _drop_last(name: str) -> Callable[[Described], None]:
    def apply(made: Described) -> None:
        made.put(name, made.value(name)[:-1])

    return apply


def _one_more(name: str, item: Any) -> Callable[[Described], None]:
    def apply(made: Described) -> None:
        made.put(name, (*made.value(name), item))

    return apply


def _last_byte_off(name: str) -> Callable[[Described], None]:
    def apply(made: Described) -> None:
        made.put(name, made.bytes_of(name)[:-1])

    return apply


def _extra_byte(name: str) -> Callable[[Described], None]:
    def apply(made: Described) -> None:
        made.put(name, made.bytes_of(name) + b"\0")

    return apply


def _padding(name: str) -> Callable[[Described], None]:
    def apply(made: Described) -> None:
        bits = made.value(name)
        if len(bits) % 8 == 0:
            raise ScenarioError(f"the {name} record of this table has no padding bits")
        made.put(name, bits.ljust(-(-len(bits) // 8) * 8, "1"))

    return apply


def _counts_one_more(name: str) -> Callable[[Described], None]:
    """The number of members is one more than there are."""

    def apply(made: Described) -> None:
        *others, last = made.value(name)
        members = b"".join(pack_int(len(member)) + member for member in last)
        before = build_value(record(name, tuple(others)))
        made.put(name, before + pack_int(len(last) + 1) + members)

    return apply


def _without_last_member(name: str) -> Callable[[Described], None]:
    def apply(made: Described) -> None:
        *others, last = made.value(name)
        made.put(name, (*others, last[:-1]))

    return apply


def _text_beyond(name: str) -> Callable[[Described], None]:
    """The last text of the record claims more bytes than the record has."""

    def apply(made: Described) -> None:
        data = made.bytes_of(name)
        value = made.value(name)
        last = value[-1] if name == "column_name" else value[-1][-1]
        size = len(last.encode("utf-8", "surrogateescape") if isinstance(last, str) else last)
        made.put(name, data[: len(data) - size - len(pack_int(size))] + pack_int(size + 9) + data[len(data) - size :])

    return apply


def _bits(name: str, bit: str) -> Callable[[Described], None]:
    def apply(made: Described) -> None:
        made.put(name, bit * len(made.value(name)))

    return apply


def _key(parts: Callable[[Described], tuple[tuple[int, int], ...]]) -> Callable[[Described], None]:
    def apply(made: Described) -> None:
        made.put_either(_KEYS, "prefix_primary_key", parts(made))

    return apply


def _simple_key(parts: Callable[[Described], tuple[int, ...]]) -> Callable[[Described], None]:
    def apply(made: Described) -> None:
        made.put_either(_KEYS, "simple_primary_key", parts(made))

    return apply


def _first(made: Described, chosen: Callable[[Column], bool], what: str) -> int:
    for index, column in enumerate(made.columns):
        if chosen(column):
            return index
    raise ScenarioError(f"this table has no {what}")


def _long_prefix(made: Described) -> tuple[tuple[int, int], ...]:
    index = _first(made, lambda column: (longest_value(column) or 1 << 16) < 1 << 16, "CHAR or VARCHAR column")
    return ((index, (longest_value(made.columns[index]) or 0) + 1),)


def _number_prefix(made: Described) -> tuple[tuple[int, int], ...]:
    return ((_first(made, lambda column: not has_prefixes(column), "column without prefixes"), 1),)


def _other_key(made: Described) -> None:
    parts = made.value("simple_primary_key")
    other = _first(made, lambda column: made.columns.index(column) not in parts, "column outside the key")
    made.put_behind("simple_primary_key", record("prefix_primary_key", ((other, 0),)))


def _key_cut(made: Described) -> None:
    made.put_either(_KEYS, "prefix_primary_key", b"\0")


def _charset(value: Callable[[tuple[int, ...]], Any], name: str = "column_charset") -> Callable[[Described], None]:
    """The charset record in the form ``name`` with a value made of the collations of the character columns."""

    def apply(made: Described) -> None:
        made.put_either(_CHARSETS, name, value(made.collations(lambda column: is_character(column, made.mariadb))))

    return apply


def _member_charset(value: Callable[[tuple[int, ...]], Any], name: str) -> Callable[[Described], None]:
    def apply(made: Described) -> None:
        counted = made.collations(lambda column: is_enum(column) or is_set(column))
        made.put_either(_MEMBER_CHARSETS, name, value(counted))

    return apply


def _charsets_differ(made: Described) -> None:
    counted = made.collations(lambda column: is_character(column, made.mariadb))
    made.put_either(_CHARSETS, "default_charset", (_other(counted[0]), ()))
    made.put_behind("default_charset", record("column_charset", counted))


def _other(collation: int) -> int:
    return 8 if collation != 8 else 11


def _pair_cut(counted: tuple[int, ...]) -> bytes:
    return pack_int(counted[0]) + b"\0"


def _repeated(made: Described) -> None:
    name = made.records[0].type_name if made.records else ""
    if name != "signedness":
        raise ScenarioError("this table has no signedness record")
    bits = made.value(name)
    made.put_behind(name, record(name, "".join("01"[bit == "0"] for bit in bits)))


def _tail(cut: Callable[[bytes, MetadataRecord], bytes]) -> Callable[[Described], None]:
    """The last record, or what is left of it, becomes bytes that are no record."""

    def apply(made: Described) -> None:
        last = made.last()
        made.tail = cut(build_record(last), last)

    return apply


def _longer(whole: bytes, last: MetadataRecord) -> bytes:
    value = build_value(last)
    return bytes([last.type_code]) + pack_int(len(value) + 1) + value


def _ends_with(more: bytes) -> Callable[[Described], None]:
    def apply(made: Described) -> None:
        made.tail = more

    return apply


def _type_zero(value: bytes) -> Callable[[Described], None]:
    def apply(made: Described) -> None:
        made.records.append(MetadataRecord(0, value))

    return apply


def _without_columns(made: Described) -> None:
    if any(item.type_name == "geometry_type" for item in made.records):
        raise ScenarioError("this table has geometry columns")
    made.records.append(record("geometry_type", (1,)))


_SIGNEDNESS = bytes([METADATA_CODES["signedness"]])

FAULTS: dict[str, Fault] = {
    # The frame.
    "record_cut": Fault("reject", "the last byte of the event is missing", _tail(lambda whole, _: whole[:-1])),
    "record_beyond_event": Fault("reject", "the last record is one byte longer than the event", _tail(_longer)),
    "record_length_ff": Fault("reject", "a length byte ff", _ends_with(_SIGNEDNESS + b"\xff\x01\0")),
    "record_length_fb": Fault("reject", "a length byte fb, NULL", _ends_with(_SIGNEDNESS + b"\xfb\x01\0")),
    "record_length_huge": Fault("reject", "a length of 2^64 - 1", _ends_with(_SIGNEDNESS + b"\xfe" + b"\xff" * 8)),
    "record_type_only": Fault("reject", "a type at the end without length", _ends_with(_SIGNEDNESS)),
    "record_type_zero": Fault("may", "a record of type 0 with two bytes", _type_zero(b"\x01\0")),
    "record_type_zero_empty": Fault("may", "an empty record of type 0: two zero bytes at the end", _type_zero(b"")),
    "record_contradicted": Fault("reject", "a second SIGNEDNESS with the opposite signs", _repeated),
    "record_without_columns": Fault("may", "a GEOMETRY_TYPE in a table without geometry columns", _without_columns),
    # SIGNEDNESS, VISIBILITY.
    "signedness_short": Fault("reject", "one byte of signs is missing", _last_byte_off("signedness")),
    "signedness_long": Fault("may", "one byte more than there are signs", _extra_byte("signedness")),
    "signedness_padding": Fault("may", "padding bits are 1", _padding("signedness")),
    "visibility_short": Fault("reject", "one byte of columns is missing", _last_byte_off("visibility")),
    "visibility_long": Fault("may", "one byte more than there are columns", _extra_byte("visibility")),
    "visibility_padding": Fault("may", "padding bits are 1", _padding("visibility")),
    "visibility_none": Fault("may", "no column is visible", _bits("visibility", "0")),
    # Character sets.
    "charset_list_short": Fault("reject", "a collation is missing", _charset(lambda counted: counted[:-1])),
    "charset_list_long": Fault("may", "a collation more than columns", _charset(lambda counted: (*counted, 8))),
    "charset_unknown": Fault(
        "may", "a collation that no server knows", _charset(lambda counted: (_UNKNOWN_COLLATION, *counted[1:]))
    ),
    "charset_item_cut": Fault(
        "reject",
        "the last collation id lacks its bytes",
        _charset(lambda counted: b"".join(map(pack_int, counted[:-1])) + b"\xfc"),
    ),
    "charset_empty": Fault("reject", "the default form without a default", _charset(lambda _: b"", "default_charset")),
    "charset_default_zero": Fault(
        "may",
        "the default is 0, every column has a pair",
        _charset(lambda counted: (0, tuple(enumerate(counted))), "default_charset"),
    ),
    "charset_index_beyond": Fault(
        "reject",
        "a pair for a column that is not there",
        _charset(lambda counted: (counted[0], ((len(counted), 8),)), "default_charset"),
    ),
    "charset_index_twice": Fault(
        "reject",
        "two pairs give a column two collations",
        _charset(lambda counted: (counted[0], ((0, 8), (0, 11))), "default_charset"),
    ),
    "charset_pair_cut": Fault("reject", "an index without its collation", _charset(_pair_cut, "default_charset")),
    "charset_forms_differ": Fault("reject", "both forms, which differ", _charsets_differ),
    "member_charset_short": Fault(
        "reject",
        "the collation of an ENUM or SET is missing",
        _member_charset(lambda counted: counted[:-1], "enum_set_column_charset"),
    ),
    "member_charset_long": Fault(
        "may",
        "a collation more than ENUM and SET columns",
        _member_charset(lambda counted: (*counted, 8), "enum_set_column_charset"),
    ),
    "member_charset_index_beyond": Fault(
        "reject",
        "a pair for an ENUM or SET that is not there",
        _member_charset(lambda counted: (counted[0], ((len(counted), 8),)), "enum_set_default_charset"),
    ),
    # Names and members.
    "name_missing": Fault("reject", "a name fewer than columns", _drop_last("column_name")),
    "name_added": Fault("may", "a name more than columns", _one_more("column_name", "more")),
    "name_beyond_record": Fault("reject", "the last name ends beyond its record", _text_beyond("column_name")),
    "name_empty": Fault("may", "all names are empty", lambda made: made.put("column_name", ("",) * len(made.columns))),
    "name_repeated": Fault(
        "may", "all columns have one name", lambda made: made.put("column_name", ("same",) * len(made.columns))
    ),
    "enum_list_missing": Fault("reject", "an ENUM column without members", _drop_last("enum_members")),
    "enum_list_added": Fault("may", "members for one ENUM column more", _one_more("enum_members", (b"x", b"y"))),
    "enum_member_missing": Fault("may", "the last member of an ENUM is not told", _without_last_member("enum_members")),
    "enum_count_wrong": Fault("reject", "the last ENUM counts one member more", _counts_one_more("enum_members")),
    "enum_member_beyond_record": Fault("reject", "a member ends beyond the record", _text_beyond("enum_members")),
    "set_list_missing": Fault("reject", "a SET column without members", _drop_last("set_members")),
    "set_list_added": Fault("may", "members for one SET column more", _one_more("set_members", (b"x", b"y"))),
    "set_member_missing": Fault("may", "the last member of a SET is not told", _without_last_member("set_members")),
    "set_count_wrong": Fault("reject", "the last SET counts one member more", _counts_one_more("set_members")),
    "set_member_beyond_record": Fault("reject", "a member ends beyond the record", _text_beyond("set_members")),
    # Geometry and vectors.
    "geometry_missing": Fault("reject", "a geometry column without its type", _drop_last("geometry_type")),
    "geometry_added": Fault("may", "one geometry type more than columns", _one_more("geometry_type", 1)),
    "geometry_unknown": Fault(
        "may", "geometry type 99", lambda made: made.put("geometry_type", (99,) * len(made.value("geometry_type")))
    ),
    "dimensions_missing": Fault("reject", "a VECTOR column without dimensions", _drop_last("vector_dimensions")),
    "dimensions_added": Fault("may", "one dimension more than columns", _one_more("vector_dimensions", 3)),
    "dimensions_wrong": Fault(
        "may",
        "all vectors of one dimension, whatever their values have",
        lambda made: made.put("vector_dimensions", (1,) * len(made.value("vector_dimensions"))),
    ),
    # The key.
    "key_index_beyond": Fault(
        "reject", "a column that the table does not have", _simple_key(lambda made: (len(made.columns),))
    ),
    "key_column_twice": Fault("reject", "one column twice", _simple_key(lambda made: (0, 0))),
    "key_empty": Fault("may", "a key without columns", _simple_key(lambda made: ())),
    "key_prefix_too_long": Fault("reject", "a prefix longer than the column", _key(_long_prefix)),
    "key_prefix_of_number": Fault("reject", "a prefix of a column that has none", _key(_number_prefix)),
    "key_pair_cut": Fault("reject", "an index without its prefix", _key_cut),
    "key_forms_differ": Fault("reject", "both forms, with other columns", _other_key),
}
