"""Optional metadata that no server writes: each fault, and what a reader does with it.

The verdict follows from forge.events.metadata_rules: what can be read in one way only *may* be read, what cannot has to
be refused.  docs/metadata.md has the same table with what real readers do; ``forge.compile.rows`` makes the faults.
"""

from __future__ import annotations

from dataclasses import dataclass

from forge.errors import Verdict


@dataclass(frozen=True, slots=True)
class Fault:
    """What a correct reader does with the fault, and what it is."""

    verdict: Verdict
    description: str


FAULTS: dict[str, Fault] = {
    # The frame.
    "record_cut": Fault("reject", "the last byte of the event is missing"),
    "record_beyond_event": Fault("reject", "the last record is one byte longer than the event"),
    "record_length_ff": Fault("reject", "a length byte ff"),
    "record_length_fb": Fault("reject", "a length byte fb, NULL"),
    "record_length_huge": Fault("reject", "a length of 2^64 - 1"),
    "record_type_only": Fault("reject", "a type at the end without length"),
    "record_type_zero": Fault("may", "a record of type 0 with two bytes"),
    "record_type_zero_empty": Fault("may", "an empty record of type 0: two zero bytes at the end"),
    "record_contradicted": Fault("reject", "a second SIGNEDNESS with the opposite signs"),
    "record_without_columns": Fault("may", "a GEOMETRY_TYPE in a table without geometry columns"),
    # SIGNEDNESS, VISIBILITY.
    "signedness_short": Fault("reject", "one byte of signs is missing"),
    "signedness_long": Fault("may", "one byte more than there are signs"),
    "signedness_padding": Fault("may", "padding bits are 1"),
    "visibility_short": Fault("reject", "one byte of columns is missing"),
    "visibility_long": Fault("may", "one byte more than there are columns"),
    "visibility_padding": Fault("may", "padding bits are 1"),
    "visibility_none": Fault("may", "no column is visible"),
    # Character sets.
    "charset_list_short": Fault("reject", "a collation is missing"),
    "charset_list_long": Fault("may", "a collation more than columns"),
    "charset_unknown": Fault("may", "a collation that no server knows"),
    "charset_item_cut": Fault("reject", "the last collation id lacks its bytes"),
    "charset_empty": Fault("reject", "the default form without a default"),
    "charset_default_zero": Fault("may", "the default is 0, every column has a pair"),
    "charset_index_beyond": Fault("reject", "a pair for a column that is not there"),
    "charset_index_twice": Fault("reject", "two pairs give a column two collations"),
    "charset_pair_cut": Fault("reject", "an index without its collation"),
    "charset_forms_differ": Fault("reject", "both forms, which differ"),
    "member_charset_short": Fault("reject", "the collation of an ENUM or SET is missing"),
    "member_charset_long": Fault("may", "a collation more than ENUM and SET columns"),
    "member_charset_index_beyond": Fault("reject", "a pair for an ENUM or SET that is not there"),
    # Names and members.
    "name_missing": Fault("reject", "a name fewer than columns"),
    "name_added": Fault("may", "a name more than columns"),
    "name_beyond_record": Fault("reject", "the last name ends beyond its record"),
    "name_empty": Fault("may", "all names are empty"),
    "name_repeated": Fault("may", "all columns have one name"),
    "enum_list_missing": Fault("reject", "an ENUM column without members"),
    "enum_list_added": Fault("may", "members for one ENUM column more"),
    "enum_member_missing": Fault("may", "the last member of an ENUM is not told"),
    "enum_count_wrong": Fault("reject", "the last ENUM counts one member more"),
    "enum_member_beyond_record": Fault("reject", "a member ends beyond the record"),
    "set_list_missing": Fault("reject", "a SET column without members"),
    "set_list_added": Fault("may", "members for one SET column more"),
    "set_member_missing": Fault("may", "the last member of a SET is not told"),
    "set_count_wrong": Fault("reject", "the last SET counts one member more"),
    "set_member_beyond_record": Fault("reject", "a member ends beyond the record"),
    # Geometry and vectors.
    "geometry_missing": Fault("reject", "a geometry column without its type"),
    "geometry_added": Fault("may", "one geometry type more than columns"),
    "geometry_unknown": Fault("may", "geometry type 99"),
    "dimensions_missing": Fault("reject", "a VECTOR column without dimensions"),
    "dimensions_added": Fault("may", "one dimension more than columns"),
    "dimensions_wrong": Fault("may", "all vectors of one dimension, whatever their values have"),
    # The key.
    "key_index_beyond": Fault("reject", "a column that the table does not have"),
    "key_column_twice": Fault("reject", "one column twice"),
    "key_empty": Fault("may", "a key without columns"),
    "key_prefix_too_long": Fault("reject", "a prefix longer than the column"),
    "key_prefix_of_number": Fault("reject", "a prefix of a column that has none"),
    "key_pair_cut": Fault("reject", "an index without its prefix"),
    "key_forms_differ": Fault("reject", "both forms, with other columns"),
}
