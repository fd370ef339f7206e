"""Event bodies built part by part, as their layouts declare them, without construct's containers and contexts.

The counterpart of ``forge.events.taking``: a layout that is declared in this room has a method ``giver``, which gives a
function (value, fields) -> bytes; it raises one of ``NOT_GIVEN`` for a value that it does not have.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from construct import Array, Bytes, BytesInteger, Const, Construct, FormatField, GreedyRange, Renamed, Sequence, Struct

from forge.events.format import FormatContext
from forge.events.taking import Fields, Parameters, Take
from forge.layouts import NotFixedError, fixed_layout

Give = Callable[[Any, Fields], bytes]
GiveBody = Callable[[Mapping[str, Any], FormatContext], bytes]
#: What is raised for a value that a part does not have, whatever it is.
NOT_GIVEN = (ValueError, ArithmeticError, LookupError, TypeError, AttributeError, StopIteration, struct.error)


class Part(Construct):  # type: ignore[misc]
    """A part of a layout that is no struct of others, and all that interprets it: the methods of its class.

    ``take`` reads its bytes, ``give`` makes them, ``labelled`` puts labels on them, ``drawn`` gives values to tests.
    """

    #: How it is written, in words, where the first line of the docstring does not say it; empty to say nothing.
    rule: str | None = None
    #: Whether labels are put on parts of it, not on the whole.
    has_parts = False

    def take(self, data: bytes, at: int, found: Any) -> tuple[Any, int]:
        """The value at a place, and the place behind it; ``found`` has the fields before it.  Raises LayoutError."""
        raise NotImplementedError

    def taker(self) -> Take:
        return self.take

    def give(self, value: Any, fields: Any) -> bytes:
        """The bytes of a value; ``fields`` has the others of the event."""
        raise NotImplementedError

    def giver(self) -> Give:
        return self.give

    def labelled(self, walk: Any, name: str, flags: Any = None) -> Any:
        """Label its bytes with ``walk`` (forge.decode.labels.layouts), and give its value."""
        return walk.leaf(self, name, flags)

    def drawn(self, draws: Any, fields: Any) -> Any:
        """A Hypothesis strategy of its values, for tests, made with ``draws`` (forge/testing/fields.py)."""
        return draws.blocks()


@lru_cache(maxsize=512)
def giver_of(layout: Construct[Any, Any]) -> Give:
    """How a value of the layout is built.  Raises NotFixedError for one that is not known."""
    if hasattr(layout, "giver"):
        own: Give = layout.giver()
        return own
    if isinstance(layout, Renamed):
        return giver_of(layout.subcon)
    if isinstance(layout, Const):
        constant: bytes = layout.value
        return lambda value, fields: constant
    if isinstance(layout, Sequence):
        return _sequence([giver_of(part) for part in layout.subcons])
    if isinstance(layout, GreedyRange):
        each = giver_of(layout.subcon)
        return lambda value, fields: b"".join([each(item, fields) for item in value])
    if isinstance(layout, Array):
        return _sequence([giver_of(layout.subcon)] * layout.count)
    if isinstance(layout, BytesInteger) and callable(layout.length) and layout.swapped and not layout.signed:
        length = layout.length
        return lambda value, fields: _whole(value).to_bytes(length(fields), "little")
    if isinstance(layout, Bytes) and isinstance(layout.length, int):
        return _number_of_bytes(layout.length)
    if isinstance(layout, (FormatField, BytesInteger)):
        write = fixed_layout(layout).write
        return lambda value, fields: write((_whole(value),))
    raise NotFixedError(repr(layout))


@lru_cache(maxsize=128)
def body_giver(layout: Struct) -> GiveBody:
    """The bytes of a whole body, of its fields by name.  It raises one of NOT_GIVEN, which names the field."""
    parts = [
        (part.name, giver_of(part), getattr(part.subcon if isinstance(part, Renamed) else part, "compute", None))
        for part in layout.subcons
    ]

    def give(values: Mapping[str, Any], format: FormatContext) -> bytes:
        fields = Fields(values, _params=Parameters(format))
        pieces = []
        for name, part, compute in parts:
            value = fields.get(name)
            try:
                if value is None and compute is not None:
                    value = fields[name] = compute(fields)
                pieces.append(part(value, fields))
            except NOT_GIVEN as error:
                raise ValueError(f"{name} cannot be {value!r:.80}: {error}") from None
        return b"".join(pieces)

    return give


def _whole(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError("it is no whole number")
    return value


def _sequence(parts: list[Give]) -> Give:
    def give(value: Any, fields: Fields) -> bytes:
        return b"".join([part(item, fields) for part, item in zip(parts, value, strict=True)])

    return give


def _number_of_bytes(size: int) -> Give:
    def give(value: bytes, fields: Fields) -> bytes:
        if len(value) != size:
            raise ValueError(f"it has {size} bytes")
        return value

    return give
