"""Optional metadata that no server writes: each fault, and what a reader does with it.

The vendors' readers and servers pass over nearly all of it, so a reader *may*; one that holds to the worklog stops
where ``forge.events.metadata_rules`` finds no meaning, or more than one.  It has to be refused where a server does.
docs/metadata.md has the same table with what real readers do; ``forge.compile.rows`` makes the faults.
"""

from __future__ import annotations

from dataclasses import dataclass

from forge.errors import Verdict


@dataclass(frozen=True, slots=True)
class Fault:
    """What a correct reader does with the fault, and what it is.

    ``strict``: a strict reader stops, as ours does, because any result would be a guess.
    """

    verdict: Verdict
    description: str
    strict: bool = False


FAULTS: dict[str, Fault] = {
    # The frame.
    "record_cut": Fault("may", "the last byte of the event is missing", strict=True),
    "record_beyond_event": Fault("may", "the last record is one byte longer than the event", strict=True),
    "record_length_ff": Fault("may", "a length byte ff", strict=True),
    "record_length_fb": Fault("may", "a length byte fb, NULL", strict=True),
    "record_length_huge": Fault("may", "a length of 2^64 - 1", strict=True),
    "record_type_only": Fault("may", "a type at the end without length", strict=True),
    "record_type_zero": Fault("may", "a record of type 0 with two bytes"),
    "record_type_zero_empty": Fault("may", "an empty record of type 0: two zero bytes at the end"),
    "record_contradicted": Fault("may", "a second SIGNEDNESS with the opposite signs", strict=True),
    "record_without_columns": Fault("may", "a GEOMETRY_TYPE in a table without geometry columns"),
    # SIGNEDNESS, VISIBILITY.
    "signedness_short": Fault("may", "one byte of signs is missing", strict=True),
    "signedness_long": Fault("may", "one byte more than there are signs"),
    "signedness_padding": Fault("may", "padding bits are 1"),
    "visibility_short": Fault("may", "one byte of columns is missing", strict=True),
    "visibility_long": Fault("may", "one byte more than there are columns"),
    "visibility_padding": Fault("may", "padding bits are 1"),
    "visibility_none": Fault("may", "no column is visible"),
    # Character sets.
    "charset_list_short": Fault("may", "a collation is missing", strict=True),
    "charset_list_long": Fault("may", "a collation more than columns"),
    "charset_unknown": Fault("may", "a collation that no server knows"),
    "charset_item_cut": Fault("may", "the last collation id lacks its bytes", strict=True),
    "charset_empty": Fault("may", "the default form without a default", strict=True),
    "charset_default_zero": Fault("may", "the default is 0, every column has a pair"),
    "charset_index_beyond": Fault("may", "a pair for a column that is not there", strict=True),
    "charset_index_twice": Fault("may", "two pairs give a column two collations", strict=True),
    "charset_pair_cut": Fault("may", "an index without its collation", strict=True),
    "charset_forms_differ": Fault("may", "both forms, which differ", strict=True),
    "member_charset_short": Fault("may", "the collation of an ENUM or SET is missing", strict=True),
    "member_charset_long": Fault("may", "a collation more than ENUM and SET columns"),
    "member_charset_index_beyond": Fault("may", "a pair for an ENUM or SET that is not there", strict=True),
    # Names and members.
    "name_missing": Fault("may", "a name fewer than columns", strict=True),
    "name_added": Fault("may", "a name more than columns"),
    "name_beyond_record": Fault("may", "the last name ends beyond its record", strict=True),
    "name_empty": Fault("may", "all names are empty"),
    "name_repeated": Fault("may", "all columns have one name"),
    "enum_list_missing": Fault("may", "an ENUM column without members", strict=True),
    "enum_list_added": Fault("may", "members for one ENUM column more"),
    "enum_member_missing": Fault("may", "the last member of an ENUM is not told"),
    "enum_count_wrong": Fault("may", "the last ENUM counts one member more", strict=True),
    "enum_member_beyond_record": Fault("may", "a member ends beyond the record", strict=True),
    "set_list_missing": Fault("may", "a SET column without members", strict=True),
    "set_list_added": Fault("may", "members for one SET column more"),
    "set_member_missing": Fault("may", "the last member of a SET is not told"),
    "set_count_wrong": Fault("may", "the last SET counts one member more", strict=True),
    "set_member_beyond_record": Fault("may", "a member ends beyond the record", strict=True),
    # Geometry and vectors.
    "geometry_missing": Fault("may", "a geometry column without its type", strict=True),
    "geometry_added": Fault("may", "one geometry type more than columns"),
    "geometry_unknown": Fault("may", "geometry type 99"),
    "dimensions_missing": Fault("reject", "a VECTOR column without dimensions", strict=True),
    "dimensions_added": Fault("may", "one dimension more than columns"),
    "dimensions_wrong": Fault("may", "all vectors of one dimension, whatever their values have"),
    # The key.
    "key_index_beyond": Fault("may", "a column that the table does not have", strict=True),
    "key_column_twice": Fault("may", "one column twice", strict=True),
    "key_empty": Fault("may", "a key without columns"),
    "key_prefix_too_long": Fault("may", "a prefix longer than the column", strict=True),
    "key_prefix_of_number": Fault("may", "a prefix of a column that has none", strict=True),
    "key_pair_cut": Fault("may", "an index without its prefix", strict=True),
    "key_forms_differ": Fault("may", "both forms, with other columns", strict=True),
}
