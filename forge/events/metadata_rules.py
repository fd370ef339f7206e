"""What makes the optional metadata of a TABLE_MAP right for its table: one list of rules, which every reading uses.

A reader **must refuse**, because any result would be a guess:

* bytes that cannot be parsed: a record that ends beyond the event, an item that ends after its record;
* a record with fewer items than there are columns that it describes (a sign, a collation or a name would be missing);
* statements that contradict each other or the table: a record repeated with another value, both forms of character sets
  that differ, an index that no column has, a key that names a column twice or has a prefix that cannot be.

What is left over (more items than columns, padding bits, a record for columns that are not there, a record repeated as
it was) has one meaning all the same, and is passed over here, as MySQL's own reader does; others may refuse it.
Unknown types are passed over by their length, which is what it is for.  docs/metadata.md has the table of cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from forge.errors import FormatError
from forge.events.column_kinds import (
    has_prefixes,
    is_character,
    is_enum,
    is_numeric,
    is_set,
    longest_value,
)
from forge.events.optional_metadata import OPTIONAL_METADATA, build_record, build_value, key_parts, read_value
from forge.events.table_map import TableMap
from forge.values.base import Column
from forge.values.wire_types import WireType

#: What a record may say: by name, the value of forge.events.optional_metadata.
Records = dict[str, Any]


def checked_records(table_map: TableMap, columns: Sequence[Column], *, mariadb: bool = False) -> Records:
    """What the records say of the columns, by name.

    Raises FormatError (phase "metadata", offset from the start of the types' metadata) for what a reader must refuse.
    """
    return _Check(table_map, columns, mariadb).run()


class _Check:
    def __init__(self, table_map: TableMap, columns: Sequence[Column], mariadb: bool) -> None:
        self.table_map = table_map
        self.columns = columns
        self.mariadb = mariadb
        self.records: Records = {}
        #: Where the value of each record starts.
        self.places: dict[str, int] = {}

    def run(self) -> Records:
        self._take_apart()
        for name, (counted, what) in _COUNTED.items():
            if name in self.records:
                self._enough(name, len(self.records[name]), self._count(counted), what)
        self._charsets("default_charset", "column_charset", self._count(_character))
        self._charsets("enum_set_default_charset", "enum_set_column_charset", self._count(_enum_or_set))
        for name in ("simple_primary_key", "prefix_primary_key"):
            if name in self.records:
                self._key(name)
        self._same_key()
        return self.records

    def _take_apart(self) -> None:
        offset = len(self.table_map.metadata) + len(self.table_map.nullable)
        for record in self.table_map.optional_metadata:
            following = offset + len(build_record(record))
            name, start = record.type_name, following - len(build_value(record))
            try:
                value = read_value(record)
            except FormatError as error:
                raise error.within(base=start) from None
            if self.records.setdefault(name, value) != value and record.type_code in OPTIONAL_METADATA:
                self._refuse(f"a second {name} record says something else than the first", start)
            self.places.setdefault(name, start)
            offset = following
        if self.table_map.metadata_tail is not None:
            self._refuse("the last record of the optional metadata ends beyond the event", offset)

    def _count(self, counted: Callable[[Column, bool], bool]) -> int:
        return sum(counted(column, self.mariadb) for column in self.columns)

    def _enough(self, name: str, items: int, wanted: int, columns: str) -> None:
        if items < wanted:
            self._refuse(f"the {name} record has {items} items for {wanted} {columns}", self.places[name])

    def _charsets(self, default: str, each: str, count: int) -> None:
        if default in self.records:
            seen: dict[int, int] = {}
            for index, collation in self.records[default][1]:
                if index >= count:
                    self._refuse(f"the {default} record names column {index} of {count}", self.places[default])
                if seen.setdefault(index, collation) != collation:
                    self._refuse(f"the {default} record names column {index} twice", self.places[default])
        if default in self.records and each in self.records:
            by_default = list(collations(self.records, default, each, count))
            if by_default != list(self.records[each][:count]):
                self._refuse(f"the {default} and {each} records differ", self.places[each])

    def _key(self, name: str) -> None:
        seen: set[int] = set()
        for index, prefix in key_parts(name, self.records[name]):
            if index >= len(self.columns):
                self._refuse(f"the {name} record names column {index} of {len(self.columns)}", self.places[name])
            if index in seen:
                self._refuse(f"the {name} record names column {index} twice", self.places[name])
            seen.add(index)
            column = self.columns[index]
            if prefix and not has_prefixes(column):
                self._refuse(f"column {index} cannot have a prefix in the key", self.places[name])
            longest = longest_value(column)
            if prefix and longest is not None and prefix > longest:
                self._refuse(f"column {index} is shorter than its prefix in the key, {prefix}", self.places[name])

    def _same_key(self) -> None:
        simple, prefixed = self.records.get("simple_primary_key"), self.records.get("prefix_primary_key")
        if simple is not None and prefixed is not None and simple != tuple(index for index, _ in prefixed):
            self._refuse("the two primary key records name other columns", self.places["prefix_primary_key"])

    def _refuse(self, rule: str, offset: int) -> NoReturn:
        raise FormatError(rule, phase="metadata", offset=offset)


def collations(records: Records, default: str, each: str, count: int) -> Iterator[int]:
    """The collation of each of ``count`` columns, from whichever form is there (the default form first)."""
    if default in records:
        usual, exceptions = records[default]
        special = dict(exceptions)
        yield from (special.get(place, usual) for place in range(count))
    else:
        yield from records.get(each, ())[:count]


def _character(column: Column, mariadb: bool) -> bool:
    return is_character(column, mariadb)


def _enum_or_set(column: Column, mariadb: bool) -> bool:
    return is_enum(column) or is_set(column)


_Counted = tuple[Callable[[Column, bool], bool], str]
_COUNTED: dict[str, _Counted] = {
    "signedness": (lambda column, _: is_numeric(column), "numeric columns"),
    "column_charset": (_character, "character columns"),
    "enum_set_column_charset": (_enum_or_set, "ENUM and SET columns"),
    "column_name": (lambda column, _: True, "columns"),
    "set_members": (lambda column, _: is_set(column), "SET columns"),
    "enum_members": (lambda column, _: is_enum(column), "ENUM columns"),
    "geometry_type": (lambda column, _: column.type_code == WireType.GEOMETRY, "geometry columns"),
    "visibility": (lambda column, _: True, "columns"),
    "vector_dimensions": (lambda column, _: column.type_code == WireType.VECTOR, "VECTOR columns"),
}
