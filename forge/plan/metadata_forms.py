"""Optional metadata otherwise than the server writes it: what a scenario may force, and what a reader does with it.

``forge.compile.rows.forced_metadata`` makes it.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from forge.errors import Verdict, nearest
from forge.events.optional_metadata import OPTIONAL_METADATA
from forge.plan.metadata_faults import FAULTS

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
        for text in (*self.replace.values(), *(record.hex for record in self.add), self.append or ""):
            try:
                bytes.fromhex(text)
            except ValueError:
                raise ValueError(f"{text!r} in metadata is not hexadecimal") from None

    def of(self, table: str) -> MetadataForms:
        """The forms of the table of that full name."""
        return self if not self.tables or table in self.tables else MetadataForms()

    @property
    def verdict(self) -> Verdict | None:
        """What a correct reader does with these forms (docs/metadata.md); None where only their author can know."""
        if self.replace or self.append is not None or any(record.type in OPTIONAL_METADATA for record in self.add):
            return None
        verdicts: list[Verdict] = ["accept"]
        if self.fault is not None:
            verdicts.append(FAULTS[self.fault].verdict)
        twice = self.repeat or "both" in (self.charset, self.primary_key)
        if twice or self.pairs == "descending" or any(record.type == 0 for record in self.add):
            verdicts.append("may")
        return max(verdicts, key=lambda verdict: _SCALES[verdict])
