"""The layout of a body, declared with construct, laid over its bytes: a label for each part.

The declaration says how the bytes lie; here it is walked with a reader of its own, so that the parts inside fields
(records, names, numbers) have labels too.  A part that is not known here is read as a whole.
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable
from typing import Any

from construct import Array as _Array
from construct import (
    BytesInteger,
    Const,
    Construct,
    ConstructError,
    Container,
    FormatField,
    GreedyRange,
    Renamed,
    Sequence,
    Struct,
    Subconstruct,
)

from forge.decode.labels.runs import Labels
from forge.events.format import FormatContext
from forge.events.gtid_list import DomainGtids
from forge.events.layout import Bitmap, Derived, Rest, Span, Text, When, WhileMore
from forge.events.mariadb_gtid import XaId
from forge.events.optional_metadata import OPTIONAL_METADATA, OptionalMetadata
from forge.events.packed import PackedBytes, PackedInt
from forge.events.plain import FlagTable, flag_names, to_text
from forge.events.previous_gtids import GtidSet
from forge.events.serialization import read_uvarint
from forge.events.status_vars import STATUS_VARIABLES, StatusBlock, StatusVariables, parse_status_variables
from forge.events.table_map import Bare, UnlessBare
from forge.events.type_length_values import END, TypeLengthValues

#: What reading bytes by a layout may raise.
UNREADABLE = (ConstructError, ValueError, KeyError, OverflowError, IndexError)

#: Takes apart the bytes of one field: (labels, end of the field, fields so far).
Apart = Callable[[Labels, int, Any], None]


class LayoutLabels:
    """Puts labels on the bytes of ``labels`` from where they are, as a layout says."""

    def __init__(self, labels: Labels, format: FormatContext, apart: dict[str, Apart] | None = None) -> None:
        self.labels = labels
        self.stream = io.BytesIO(labels.data)
        self.stream.seek(labels.at)
        self.context = Container(_parsing=True, _building=False, _sizing=False, _params=Container(format=format))
        self.apart = apart or {}

    def body(self, layout: Struct, flags: dict[str, FlagTable | None]) -> Any:
        """The fields of a body, labelled.  Raises one of UNREADABLE where the bytes do not fit; what was read until
        then has its labels.
        """
        for part in layout.subcons:
            name = part.name or "end of name"
            table = flags.get(name)
            value = self.part(part, name, table)
            if part.name:
                self.context[part.name] = value
        for part in layout.subcons:
            if isinstance(part, Renamed) and isinstance(part.subcon, Derived):
                self._hold(part.name, part.subcon)
        return self.context

    def part(self, layout: Construct, name: str, flags: FlagTable | None = None) -> Any:
        """One part, whose value it gives."""
        if isinstance(layout, Renamed):
            return self.part(layout.subcon, name, flags)
        if isinstance(layout, Derived):
            return self.part(layout.subcon, name, flags)
        if isinstance(layout, Bare):
            return layout._parsereport(self.stream, self.context, name)
        if isinstance(layout, UnlessBare):
            return layout.empty if self.context.bare else self.part(layout.subcon, name, flags)
        if isinstance(layout, When):
            return self.part(layout.subcon, name, flags) if layout.condition(self.context) else None
        if isinstance(layout, WhileMore):
            return self.part(layout.subcon, name, flags) if self.stream.tell() < len(self.labels.data) else None
        if isinstance(layout, Text) and isinstance(layout.subcon, PackedBytes):
            return to_text(self.part(layout.subcon, name))
        for kind, walk in _WALKS.items():
            if isinstance(layout, kind):
                return walk(self, layout, name)
        return self._leaf(layout, name, flags)

    def _leaf(self, layout: Construct, name: str, flags: FlagTable | None = None, rule: str | None = None) -> Any:
        value = layout._parsereport(self.stream, self.context, name)
        end = self.stream.tell()
        apart = self.apart.get(name)
        if apart is not None:
            apart(self.labels, end, self.context)
        said = value if flags is None else (" ".join(map(str, flag_names(value, flags))) or "none")
        self.labels.put(end, name, said, rule or rule_of(layout))
        return value

    def _hold(self, name: str, layout: Derived) -> None:
        """Say beside a length or a count if what it counts is another number."""
        said = self.context[name]
        try:
            right = layout.compute(self.context)
        except UNREADABLE:
            return
        if isinstance(said, int) and isinstance(right, int) and said != right:
            runs = self.labels.runs
            place = next(number for number, run in enumerate(runs) if run.field == name)
            runs[place] = dataclasses.replace(runs[place], rule=f"{runs[place].rule}; what it counts is {right}")

    # Parts of several parts.

    def sequence(self, layout: Any, name: str) -> tuple[Any, ...]:
        return tuple(self.part(part, f"{name}.{number}") for number, part in enumerate(layout.subcons, start=1))

    def array(self, layout: Any, name: str) -> tuple[Any, ...]:
        count = layout.count(self.context) if callable(layout.count) else layout.count
        return tuple(self.part(layout.subcon, f"{name}.{number}") for number in range(1, count + 1))

    def as_many(self, layout: Any, name: str) -> tuple[Any, ...]:
        values: list[Any] = []
        while self.stream.tell() < len(self.labels.data):
            values.append(self.part(layout.subcon, f"{name}.{len(values) + 1}"))
        return tuple(values)

    def packed_bytes(self, layout: Any, name: str) -> bytes:
        length = self._leaf(PackedInt(), f"{name}.length")
        return bytes(self._leaf(Span(lambda _: length), name))

    def status_block(self, layout: Any, name: str) -> StatusVariables:
        block: bytes = layout.span._parse(self.stream, self.context, name)
        end = self.stream.tell()
        inside = self._inside(block)
        while inside.labels.at < len(block):
            code = block[inside.labels.at]
            if code not in STATUS_VARIABLES:
                break
            variable, value = STATUS_VARIABLES[code]
            start = len(inside.labels.runs)
            inside.stream.seek(inside.labels.at + 1)
            inside.labels.put(inside.labels.at + 1, f"{name}.{variable}.code", code, "code of the variable")
            try:
                inside.part(value, f"{name}.{variable}")
            except UNREADABLE:
                inside.labels.runs[start + 1 :] = []
                inside.labels.at = inside.stream.seek(_end_of(inside.labels))
                break
        inside.labels.rest(f"{name}.unread", rule="a variable that is not known: nothing says how long it is")
        self._adopt(inside.labels, end)
        return parse_status_variables(block)

    def optional_metadata(self, layout: Any, name: str) -> Any:
        start = self.stream.tell()
        records = layout._parsereport(self.stream, self.context, name)
        end = self.stream.tell()
        self.stream.seek(start)
        for record in records:
            field = f"{name}.{record.type_name}"
            self.labels.put(self.labels.at + 1, f"{field}.type", record.type_code, "type of the record")
            self.stream.seek(self.labels.at)
            length = self._leaf(PackedInt(), f"{field}.length")
            value_end = self.labels.at + length
            self._record(self.labels.data[self.labels.at : value_end], record.type_code, field)
            self.labels.put(value_end, field, rule="not as this record is written")
            self.stream.seek(value_end)
        self.stream.seek(end)
        return records

    def _record(self, data: bytes, type_code: int, field: str) -> None:
        inside = self._inside(data)
        if type_code in OPTIONAL_METADATA:
            try:
                inside.part(OPTIONAL_METADATA[type_code][1], field)
            except UNREADABLE:
                inside.labels.rest(field, rule="an item that ends after its record")
        else:
            inside.labels.rest(field, data, "a record of a type that is not known")
        self._adopt(inside.labels, self.labels.at + len(data))

    def type_length_values(self, layout: Any, name: str) -> tuple[tuple[int, bytes], ...]:
        values = []
        while (kind := self._leaf(PackedInt(), f"{name}.type", rule="type; 0 ends the list")) != END:
            values.append((int(kind), self.packed_bytes(None, f"{name}.{kind}")))
        return tuple(values)

    def gtid_set(self, layout: Any, name: str) -> Any:
        start = self.stream.tell()
        value = layout._parsereport(self.stream, self.context, name)
        end, (tagged, sources) = self.stream.tell(), value
        self.stream.seek(start)
        labels = self.labels
        labels.put(labels.at + 8, f"{name}.count", len(sources), "number of sources" + " (with tags)" * tagged)
        for number, (uuid, tag, intervals) in enumerate(sources, start=1):
            field = f"{name}.source {number}"
            labels.put(labels.at + 16, f"{field}.uuid", uuid, "16 bytes in the order of the text")
            if tagged:
                self.stream.seek(labels.at)
                length = read_uvarint(self.stream)
                labels.put(self.stream.tell(), f"{field}.tag.length", length, "integer of variable length")
                labels.put(labels.at + length, f"{field}.tag", tag)
            labels.put(labels.at + 8, f"{field}.intervals", len(intervals), "number of intervals, u64")
            for first, last in intervals:
                labels.put(labels.at + 8, f"{field}.first", first, "u64")
                labels.put(labels.at + 8, f"{field}.end", last + 1, "u64, one behind the last")
        self.stream.seek(end)
        labels.put(end, name)
        return value

    def domain_gtids(self, layout: Any, name: str) -> Any:
        value = layout._parsereport(self.stream, self.context, name)
        for number, entry in enumerate(value, start=1):
            for size, what, item in zip((4, 4, 8), ("domain", "server", "sequence"), entry, strict=True):
                self.labels.put(self.labels.at + size, f"{name}.{number}.{what}", item, f"u{8 * size}, little-endian")
        return value

    def xa_id(self, layout: Any, name: str) -> Any:
        value = layout._parsereport(self.stream, self.context, name)
        format_id, gtrid, bqual = value
        at = self.labels.at
        self.labels.put(at + 4, f"{name}.format_id", format_id, "u32, little-endian")
        self.labels.put(at + 5, f"{name}.gtrid.length", len(gtrid), "u8")
        self.labels.put(at + 6, f"{name}.bqual.length", len(bqual), "u8")
        self.labels.put(at + 6 + len(gtrid), f"{name}.gtrid", gtrid)
        self.labels.put(self.stream.tell(), f"{name}.bqual", bqual)
        return value

    def _inside(self, data: bytes) -> LayoutLabels:
        return LayoutLabels(Labels(data, self.labels.base + self.labels.at), self.context._params.format)

    def _adopt(self, inside: Labels, end: int) -> None:
        self.labels.runs += inside.runs
        self.labels.at = end


def _end_of(labels: Labels) -> int:
    last = labels.runs[-1] if labels.runs else None
    return 0 if last is None else last.offset - labels.base + len(last.data)


_WALKS: dict[type[Any], Callable[[LayoutLabels, Any, str], Any]] = {
    Sequence: LayoutLabels.sequence,
    _Array: LayoutLabels.array,
    GreedyRange: LayoutLabels.as_many,
    PackedBytes: LayoutLabels.packed_bytes,
    StatusBlock: LayoutLabels.status_block,
    OptionalMetadata: LayoutLabels.optional_metadata,
    TypeLengthValues: LayoutLabels.type_length_values,
    GtidSet: LayoutLabels.gtid_set,
    DomainGtids: LayoutLabels.domain_gtids,
    XaId: LayoutLabels.xa_id,
}


def rule_of(layout: Construct) -> str | None:
    """How a part is written, in words."""
    if isinstance(layout, FormatField):
        sign = "i" if layout.fmtstr[-1].islower() else "u"
        return f"{sign}{8 * layout.length}" + ("" if layout.length == 1 else ", little-endian")
    if isinstance(layout, BytesInteger):
        return f"u{8 * layout.length}, little-endian" if isinstance(layout.length, int) else "integer, little-endian"
    if isinstance(layout, PackedInt):
        return "packed integer"
    if isinstance(layout, Const):
        return f"always {layout.value.hex(' ')}"
    if isinstance(layout, Bitmap):
        return "a bit a column, lowest first"
    if isinstance(layout, Rest):
        return "to the end of the event"
    if isinstance(layout, Span):
        return None
    if isinstance(layout, Text):
        return "text" + (", to the end of the event" if isinstance(layout.subcon, Rest) else "")
    words = type(layout).__doc__ if type(layout).__module__.startswith("forge.") else None
    if words:
        return words.strip().splitlines()[0].rstrip(".").replace("``", "")
    return rule_of(layout.subcon) if isinstance(layout, Subconstruct) else None
