"""Building blocks for event layouts: what construct does not have, and the way from a layout to a frozen dataclass.

A *derived* field (a length, a count) is computed when it is None and obeyed when it is given, so that the same
class makes correct events and exactly-wrong ones.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self, TypedDict, Unpack

from construct import Subconstruct

from forge.errors import FormatError, ScenarioError
from forge.events.derived_parts import Derived
from forge.events.format import FormatContext
from forge.events.giving import NOT_GIVEN, Give, Part, body_giver, giver_of
from forge.events.plain import Fields, FlagTable, flag_names, plain, to_bytes, to_text, words
from forge.events.shapes import FLAGS, Shape, object_of, shape_of
from forge.events.taking import LayoutError, Take, body_taker, take_bytes, take_number, taker_of
from forge.values.base import Column


class Span(Part):
    """``length(context)`` bytes; building writes what it is given, so that a pinned length may disagree."""

    rule = ""

    def __init__(self, length: Callable[[Any], int]) -> None:
        super().__init__()
        self.length = length

    def take(self, data: bytes, at: int, found: Any) -> tuple[bytes, int]:
        return take_bytes(data, at, self.length(found))

    def give(self, value: bytes, fields: Any) -> bytes:
        return value


class Bitmap(Span):
    """A bit for each of ``count(context)`` columns, lowest first, in whole bytes."""

    rule = "a bit a column, lowest first"

    def __init__(self, count: Callable[[Any], int]) -> None:
        super().__init__(lambda context: (count(context) + 7) // 8)
        self.count = count

    def labelled(self, walk: Any, name: str, flags: Any = None) -> bytes:
        bitmap: bytes = walk.read(self, name)
        bits = range(self.count(walk.context))
        numbers = ", ".join(str(index + 1) for index in bits if bitmap[index // 8] >> (index % 8) & 1)
        walk.labels.put(walk.at, name, f"columns {numbers}" if numbers else "no column", self.rule)
        return bitmap

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.bytes_of(self.length(fields))


class Rest(Part):
    """All bytes to the end of the event."""

    rule = "to the end of the event"

    def take(self, data: bytes, at: int, found: Any) -> tuple[bytes, int]:
        return data[at:], max(at, len(data))

    def give(self, value: bytes, fields: Any) -> bytes:
        return value


class ZeroTerminated(Part):
    """Text up to a NUL."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[str, int]:
        end = data.find(b"\0", at)
        if end < 0:
            raise LayoutError("1 bytes announced, but only 0 left", len(data))
        return to_text(data[at:end]), end + 1

    def give(self, value: str, fields: Any) -> bytes:
        return to_bytes(value) + b"\0"

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.names()


class Text(Subconstruct):  # type: ignore[misc]
    """Bytes as str: UTF-8 with surrogate escapes, so any bytes survive (names, SQL text, versions)."""

    def taker(self) -> Take:
        inner = taker_of(self.subcon)

        def take(data: bytes, at: int, found: Any) -> tuple[str, int]:
            raw, end = inner(data, at, found)
            return to_text(raw), end

        return take

    def giver(self) -> Give:
        inner = giver_of(self.subcon)
        return lambda value, fields: inner(to_bytes(value), fields)

    @property
    def rule(self) -> str:
        return "text" + (", to the end of the event" if isinstance(self.subcon, Rest) else "")

    def labelled(self, walk: Any, name: str, flags: Any = None) -> Any:
        """The length in front of it has a label of its own."""
        has_parts = getattr(self.subcon, "has_parts", False)
        return to_text(walk.part(self.subcon, name)) if has_parts else walk.leaf(self, name)

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.texts()


class ShortText(Part):
    """Text with a one-byte length."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[str, int]:
        size, start = take_number(data, at, 1)
        text, end = take_bytes(data, start, size)
        return to_text(text), end

    def give(self, value: str, fields: Any) -> bytes:
        text = to_bytes(value)
        return bytes([len(text)]) + text

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.texts()


class Counted(Part):
    """Items behind their number."""

    rule = ""

    def __init__(self, count: Any, item: Any) -> None:
        super().__init__()
        self.count, self.item = count, item

    def take(self, data: bytes, at: int, found: Any) -> tuple[tuple[Any, ...], int]:
        count, at = taker_of(self.count)(data, at, found)
        take, items = taker_of(self.item), []
        for _ in range(count):
            item, at = take(data, at, found)
            items.append(item)
        return tuple(items), at

    def give(self, value: Any, fields: Any) -> bytes:
        each = giver_of(self.item)
        return giver_of(self.count)(len(value), fields) + b"".join([each(item, fields) for item in value])

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.tuples_of(draws.strategy_of(self.item, fields))


def as_tuples(value: Any) -> Any:
    """construct's lists as tuples."""
    return tuple(as_tuples(item) for item in value) if isinstance(value, (list, tuple)) else value


def length_of(name: str) -> Callable[[Any], int]:
    """Computes the byte length of the text or bytes field ``name``."""

    def compute(context: Any) -> int:
        value = context[name]
        return len(to_bytes(value) if isinstance(value, str) else value)

    return compute


def field_length(name: str) -> Callable[[Any], int]:
    """Reads the length field ``name`` that was parsed before."""
    return lambda context: int(context[name])


def derived() -> Any:
    """A dataclass field that is computed when left out."""
    return dataclasses.field(default=None, metadata={"derived": True})


def at_boundaries(*values: int) -> Any:
    """A dataclass field that strategies draw from these values alone, at which what depends on it changes."""
    return dataclasses.field(metadata={"boundaries": values})


def flags(table: FlagTable, **options: Any) -> Any:
    """A dataclass field of bits that listings and decodes show by their names."""
    return dataclasses.field(metadata={"flags": table}, **options)


def flag_table(item: dataclasses.Field[Any]) -> FlagTable | None:
    """The names of the bits of a field that :func:`flags` made; None for any other field."""
    table: FlagTable | None = item.metadata.get("flags")
    return table


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the fields of an event mean depends on: the header's server id, the family, the columns of a TABLE_MAP.

    ``columns`` is None, and ``problem`` may say why, where the columns of the event's table are not known.
    """

    server_id: int = 0
    mariadb: bool = False
    columns: tuple[Column, ...] | None = None
    problem: str | None = None

    @property
    def family(self) -> str:
        return "mariadb" if self.mariadb else "mysql"


class _Stated(TypedDict, total=False):
    """What the head of an event's class states."""

    type_code: int
    type_name: str
    #: What a server must have to read the type: names of forge/servers/features.toml.  Types up to 26 may need nothing.
    features: tuple[str, ...]
    #: Carries no change of data (WL#4033): the canonical decode says what readers do with it.
    informational: bool
    #: A vendor's type: it is this one where FORMAT_DESCRIPTION lists the number.
    only_listed: bool


class Body:
    """Base of event bodies: frozen dataclasses whose fields are the named fields of ``layout``.

    The head of a subclass states ``type_code``, ``type_name`` and what else is true of the type; ``layout`` is a
    Struct.  A field of the canonical decode is the dataclass field of that name, unless ``canonical`` and
    ``canonical_shape`` differ; ``summary`` is for ``dump``.
    """

    __slots__ = ()
    type_code: ClassVar[int]
    type_name: ClassVar[str]
    layout: ClassVar[Any]
    #: See forge.events.taking.body_taker.
    kept_from: ClassVar[str | None] = None
    features: ClassVar[tuple[str, ...]] = ()
    informational: ClassVar[bool] = False
    only_listed: ClassVar[bool] = False

    def __init_subclass__(cls, **stated: Unpack[_Stated]) -> None:
        for name, value in stated.items():
            setattr(cls, name, value)

    @classmethod
    def parse(cls, data: bytes, format: FormatContext) -> Self:
        """The body in ``data`` (after the common header, without checksum), which must be consumed exactly.

        Derived fields come back None where they hold what would be derived.  Raises FormatError.
        """
        try:
            fields = body_taker(cls.layout, cls.kept_from)(data, format)
        except LayoutError as error:
            raise FormatError(f"{cls.type_name} body: {error}", phase="body", offset=min(error.at, len(data))) from None
        values = {name: fields[name] for name in cls.field_names()}
        derivations = cls.derivations()
        if fields.has_other_form or any(compute(fields) != fields[name] for name, compute in derivations):
            return cls(**values).without_needless_pins(data, format)
        return cls(**values | dict.fromkeys(name for name, _ in derivations))

    @classmethod
    @cache
    def derivations(cls) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
        """How the layout computes its derived fields from the others, by name."""
        parts = ((part.name, getattr(part, "subcon", None)) for part in cls.layout.subcons)
        return tuple((str(name), derived.compute) for name, derived in parts if isinstance(derived, Derived))

    def build(self, format: FormatContext) -> bytes:
        """The bytes of the body.  Raises ScenarioError for a value that its field cannot hold."""
        values = {name: getattr(self, name) for name in self.field_names()}
        try:
            return body_giver(self.layout)(values, format)
        except NOT_GIVEN as error:
            raise ScenarioError(f"{self.type_name} event: {error}") from None

    @classmethod
    @cache
    def field_names(cls) -> tuple[str, ...]:
        return tuple(f.name for f in dataclasses.fields(cls))  # type: ignore[arg-type]

    @classmethod
    @cache
    def derived_names(cls) -> tuple[str, ...]:
        return tuple(f.name for f in dataclasses.fields(cls) if f.metadata.get("derived"))  # type: ignore[arg-type]

    def replace(self, **changes: Any) -> Self:
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]

    def canonical(self, surroundings: Surroundings) -> Fields:
        """The fields as plain data, in exact values: what every correct parser must read.

        Derived fields are left out where they are what would be derived.  Raises FormatError.
        """
        return self.shown_fields()

    def shown_fields(self, *without: str) -> Fields:
        """The dataclass fields as plain data, but for those named; what is None is left out."""
        shown: Fields = {}
        for name, table in self.named_flags():
            value = getattr(self, name)
            if value is None or name in without:
                continue
            shown[name] = plain(value) if table is None else flag_names(value, table)
        return shown

    @classmethod
    @cache
    def named_flags(cls) -> tuple[tuple[str, FlagTable | None], ...]:
        """The fields' names, each with the names of its bits if it has such."""
        return tuple((item.name, flag_table(item)) for item in dataclasses.fields(cls))  # type: ignore[arg-type]

    @classmethod
    def canonical_shape(cls) -> Shape:
        """The JSON Schema of :meth:`canonical`."""
        return cls.shape_with({})

    @classmethod
    def shape_with(cls, changed: Mapping[str, Shape | None]) -> Shape:
        """The schema of the fields as their layout has them, with others in the place of some; None leaves one out."""
        layouts = {part.name: part.subcon for part in cls.layout.subcons if part.name is not None}
        properties: Shape = {}
        optional = []
        for item in dataclasses.fields(cls):  # type: ignore[arg-type]
            table = flag_table(item)
            properties[item.name] = FLAGS if table is not None else shape_of(layouts[item.name], str(item.type))
            if "None" in str(item.type):
                optional.append(item.name)
        properties |= changed
        return object_of({name: shape for name, shape in properties.items() if shape is not None}, *optional)

    @classmethod
    def summary(cls, fields: Mapping[str, Any]) -> str:
        """The canonical fields on a line; flags of rows stand behind them, with those of the header."""
        return "  ".join(f"{name}={words(value)}" for name, value in fields.items() if name != "row_flags")

    def statement(self, surroundings: Surroundings) -> str | None:
        """What the event says to a session, as one text that decoders are compared on; None if it says nothing.

        That is the text of a statement, a GTID, an XID, or the value of a variable.
        """
        return None

    def without_needless_pins(self, data: bytes, format: FormatContext) -> Self:
        """This body with every derived field dropped that derives to the same bytes."""
        derived_names = self.derived_names()
        if not derived_names:
            return self
        bare = self.replace(**dict.fromkeys(derived_names))
        if bare._builds_to(data, format):
            return bare
        slim = self
        for name in derived_names:
            slimmer = slim.replace(**{name: None})
            if slimmer._builds_to(data, format):
                slim = slimmer
        return slim

    def _builds_to(self, data: bytes, format: FormatContext) -> bool:
        try:
            return self.build(format) == data
        except ScenarioError:
            return False
