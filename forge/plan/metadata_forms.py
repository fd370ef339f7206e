"""Optional metadata otherwise than the server writes it: what a scenario may force, and what a reader does with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from forge.errors import ScenarioError, Verdict, nearest
from forge.events.layout import pack_int
from forge.events.optional_metadata import METADATA_CODES, OPTIONAL_METADATA, MetadataRecord, build_value
from forge.events.plain import to_bytes
from forge.plan.metadata_faults import FAULTS, Described
from forge.values.base import Column

RecordName = Literal[
    "signedness", "default_charset", "column_charset", "column_name", "set_members", "enum_members", "geometry_type",
    "simple_primary_key", "prefix_primary_key", "enum_set_default_charset", "enum_set_column_charset", "visibility",
    "vector_dimensions",
]  # fmt: skip
#: Bytes of a packed integer.
PackedSize = Literal[1, 3, 4, 9]
_SCALES: dict[str, int] = {"accept": 0, "may": 1, "reject": 2}


class AddedRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A record of any type, as bytes."""

    #: Number of the type: servers use 1 to 13.
    type: Annotated[int, Meta(ge=0, le=255)]
    #: The value.
    hex: str = ""
    #: Place among the table's records, from 0; by default the end.
    at: Annotated[int, Meta(ge=0)] | None = None


class PackedSizes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Bytes of packed integers that could be shorter, by what they stand for."""

    #: Lengths of records.
    record: PackedSize | None = None
    #: Numbers of members.
    count: PackedSize | None = None
    #: Lengths of names and members.
    text: PackedSize | None = None
    #: Collation ids, column indexes, prefixes, geometry types and dimensions.
    value: PackedSize | None = None


class MetadataForms(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """The optional metadata of TABLE_MAP, where it is not to be as the server writes it."""

    #: The tables that are meant, as ``database.table``; by default all.
    tables: list[str] = []
    #: Form of both kinds of character-set records: a default with exceptions, one by one, or both forms at once.
    charset: Literal["server", "default", "column", "both"] = "server"
    #: Exceptions of the default form: from the last column to the first, or for columns of the default too.
    pairs: Literal["server", "descending", "redundant"] = "server"
    #: Form of the key's record.
    primary_key: Literal["server", "simple", "prefix", "both"] = "server"
    #: Records that are left out.
    omit: list[RecordName] = []
    #: Packed integers that are not the shortest.
    lengths: PackedSizes = PackedSizes()
    #: Records that are written twice.
    repeat: list[RecordName] = []
    #: ``reversed``, or the records that come first; the others follow in the server's order.
    order: Literal["server", "reversed"] | list[RecordName] = "server"
    #: Records of unknown or vendors' types.
    add: list[AddedRecord] = []
    #: Values in hexadecimal in the place of a record's own.
    replace: dict[RecordName, str] = {}
    #: Bytes in hexadecimal at the end of the event.
    append: str | None = None
    #: Something that no server writes, by its name in docs/metadata.md.
    fault: Annotated[str, Meta(extra_json_schema={"enum": list(FAULTS)})] | None = None

    def __post_init__(self) -> None:
        if self.fault is not None and self.fault not in FAULTS:
            near = nearest(self.fault, FAULTS)
            hint = f"did you mean {near!r}?" if near else f"one of {', '.join(FAULTS)}"
            raise ValueError(f"unknown fault of metadata {self.fault!r}; {hint}")
        for text in (*self.replace.values(), *(one.hex for one in self.add), self.append or ""):
            try:
                bytes.fromhex(text)
            except ValueError:
                raise ValueError(f"{text!r} in metadata is not hexadecimal") from None

    def of(self, table: str) -> MetadataForms:
        """The forms of the table of that full name."""
        return self if not self.tables or table in self.tables else MetadataForms()

    def check(self, mapped: Collection[str]) -> None:
        """Raises ScenarioError if nothing is forced, because no rows of the tables meant are logged (``mapped``)."""
        for name in self.tables:
            if name not in mapped:
                raise ScenarioError(
                    f"session.metadata is of table {name!r}, no rows of which are logged",
                    expected=f"one of {', '.join(sorted(mapped))}" if mapped else "a table whose rows change",
                    suggestion=nearest(name, mapped),
                )
        if self != MetadataForms() and not mapped:
            raise ScenarioError("session.metadata has no table map to force", expected="a table whose rows change")

    @property
    def verdict(self) -> Verdict | None:
        """What a correct reader does with these forms (docs/metadata.md); None where only their author can know."""
        if self.replace or self.append is not None or any(one.type in OPTIONAL_METADATA for one in self.add):
            return None
        told: list[Verdict] = ["accept"]
        if self.fault is not None:
            told.append(FAULTS[self.fault].verdict)
        twice = self.repeat or "both" in (self.charset, self.primary_key)
        if twice or self.pairs == "descending" or any(one.type == 0 for one in self.add):
            told.append("may")
        return max(told, key=lambda one: _SCALES[one])

    def forced(
        self, records: Sequence[MetadataRecord], columns: Sequence[Column], *, mariadb: bool
    ) -> tuple[tuple[MetadataRecord, ...], bytes | None]:
        """The server's records in these forms, and bytes behind them that are no record.

        Raises ScenarioError for a fault that the table's records cannot have.
        """
        made = Described([item for item in records if item.type_name not in self.omit], columns, mariadb)
        for name, value in self.replace.items():
            made.put(name, bytes.fromhex(value))
        if self.fault is not None:
            try:
                FAULTS[self.fault].apply(made)
            except ScenarioError as error:
                problem = f"the metadata fault {self.fault} cannot be made: {error.problem}"
                expected = "session.metadata.tables with tables that have it"
                raise ScenarioError(problem, expected=expected) from None
        made.records = [self._sized(item) for item in self._ordered(made.records)]
        made.records = [item for one in made.records for item in [one] * (1 + (one.type_name in self.repeat))]
        for one in self.add:
            place = len(made.records) if one.at is None else one.at
            made.records.insert(place, MetadataRecord(one.type, bytes.fromhex(one.hex), self.lengths.record))
        if self.append is not None:
            made.tail = (made.tail or b"") + bytes.fromhex(self.append)
        return tuple(made.records), made.tail

    def _ordered(self, records: list[MetadataRecord]) -> list[MetadataRecord]:
        if self.order == "server":
            return records
        if self.order == "reversed":
            return records[::-1]
        first: list[str] = list(self.order)
        return sorted(records, key=lambda item: first.index(item.type_name) if item.type_name in first else len(first))

    def _sized(self, item: MetadataRecord) -> MetadataRecord:
        lengths = self.lengths
        value = item.value
        if (lengths.count or lengths.text or lengths.value) and not isinstance(value, (bytes, str)):
            value = _packed(item.type_code, value, lengths)
        size = lengths.record
        if size is not None and len(pack_int(len(build_value(item)))) > size:
            raise ScenarioError(f"the {item.type_name} record needs more than {size} bytes for its length")
        return MetadataRecord(item.type_code, value, size)


def _packed(code: int, value: Any, sizes: PackedSizes) -> bytes:
    """The value of a record with packed integers of these sizes; a size that is too small is not taken."""

    def number(one: int, size: int | None) -> bytes:
        return pack_int(one, max(size or 0, len(pack_int(one))))

    def text(one: bytes) -> bytes:
        return number(len(one), sizes.text) + one

    if code == METADATA_CODES["column_name"]:
        return b"".join(text(to_bytes(name)) for name in value)
    if code in (METADATA_CODES["set_members"], METADATA_CODES["enum_members"]):
        return b"".join(number(len(each), sizes.count) + b"".join(map(text, each)) for each in value)
    return b"".join(number(one, sizes.value) for one in _flat(value))


def _flat(value: Any) -> list[int]:
    return [value] if isinstance(value, int) else [number for item in value for number in _flat(item)]
