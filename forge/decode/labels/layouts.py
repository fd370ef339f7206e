"""The layout of a body, declared with construct, laid over its bytes: a label for each part.

The declaration says how the bytes lie; here it is walked with a reader of its own, so that the parts inside fields
(records, names, numbers) have labels too.  Parts of our own label themselves (:class:`forge.events.giving.Part`); a
part that is not known is read as a whole.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from construct import (
    Array,
    BytesInteger,
    Const,
    Construct,
    FormatField,
    GreedyRange,
    Renamed,
    Struct,
    Subconstruct,
)
from construct import Sequence as SequenceOf

from forge.decode.labels.runs import Labels
from forge.errors import ForgeError
from forge.events.columns import bare_columns
from forge.events.derived_parts import Derived
from forge.events.format import FormatContext
from forge.events.plain import FlagTable, flag_names
from forge.events.registry import event_name
from forge.events.table_map import TableMap
from forge.events.taking import Fields, Parameters, taker_of
from forge.values.base import Column

#: What reading bytes by a layout may raise.
UNREADABLE = (ValueError, KeyError, OverflowError, IndexError)


class LayoutLabels:
    """Puts labels on the bytes of ``labels`` from where they are, as a layout says."""

    def __init__(self, labels: Labels, format: FormatContext) -> None:
        self.labels = labels
        #: Where is read; the labels may be behind it.
        self.at = labels.at
        self.context = Fields(_params=Parameters(format))

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
        if hasattr(layout, "labelled"):
            return layout.labelled(self, name, flags)
        if isinstance(layout, SequenceOf):
            return tuple(self.part(part, f"{name}.{number}") for number, part in enumerate(layout.subcons, start=1))
        if isinstance(layout, Array):
            count = layout.count(self.context) if callable(layout.count) else layout.count
            return tuple(self.part(layout.subcon, f"{name}.{number}") for number in range(1, count + 1))
        if isinstance(layout, GreedyRange):
            values: list[Any] = []
            while self.has_more:
                values.append(self.part(layout.subcon, f"{name}.{len(values) + 1}"))
            return tuple(values)
        return self.leaf(layout, name, flags)

    @property
    def has_more(self) -> bool:
        """Whether there are bytes left."""
        return self.at < len(self.labels.data)

    def read(self, layout: Construct, name: str) -> Any:
        """The value of a part, which puts no label."""
        value, self.at = taker_of(layout)(self.labels.data, self.at, self.context)
        return value

    def leaf(self, layout: Construct, name: str, flags: FlagTable | None = None, rule: str | None = None) -> Any:
        """One part with one label, whose value it gives."""
        value = self.read(layout, name)
        said = value if flags is None else (" ".join(map(str, flag_names(value, flags))) or "none")
        self.labels.put(self.at, name, said, rule or rule_of(layout))
        return value

    #: The name of the type with a number.
    event_name = staticmethod(event_name)

    def columns(self, metadata: bytes) -> Sequence[Column]:
        """The columns of the TABLE_MAP with that metadata, as far as they are known."""
        types = self.context["types"]
        nullable = bytes((len(types) + 7) // 8)
        body = TableMap(table_id=0, database="", table="", types=types, metadata=metadata, nullable=nullable)
        try:
            return bare_columns(body)
        except ForgeError:
            return ()

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

    # Blocks that have a layout of their own.

    def inside(self, data: bytes) -> LayoutLabels:
        """Labels on a block, whose first byte is the first one here that has none."""
        return LayoutLabels(Labels(data, self.labels.base + self.labels.at), self.context["_params"].format)

    def whole(self, layout: Construct, name: str, *, keep: bool = False) -> bool:
        """Label a part from the first byte without a label on; False if it cannot be read: labels that it has put until
        then go, unless it is to ``keep`` them."""
        place, runs = self.labels.at, len(self.labels.runs)
        self.at = place
        try:
            self.part(layout, name)
        except UNREADABLE:
            if not keep:
                del self.labels.runs[runs:]
                self.labels.at = self.at = place
            return False
        return True

    def adopt(self, inside: LayoutLabels, end: int) -> None:
        """Take the labels of a block that ends there."""
        self.labels.runs += inside.labels.runs
        self.labels.at = end


def rule_of(layout: Construct) -> str | None:
    """How a part is written, in words."""
    if isinstance(layout, FormatField):
        sign = "i" if layout.fmtstr[-1].islower() else "u"
        return f"{sign}{8 * layout.length}" + ("" if layout.length == 1 else ", little-endian")
    if isinstance(layout, BytesInteger):
        return f"u{8 * layout.length}, little-endian" if isinstance(layout.length, int) else "integer, little-endian"
    if isinstance(layout, Const):
        return f"always {layout.value.hex(' ')}"
    if (rule := getattr(layout, "rule", None)) is not None:
        return rule or None
    words = type(layout).__doc__ if type(layout).__module__.startswith("forge.") else None
    if words:
        return words.strip().splitlines()[0].rstrip(".").replace("``", "")
    return rule_of(layout.subcon) if isinstance(layout, Subconstruct) else None
