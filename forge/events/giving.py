"""Event bodies built part by part, as their layouts declare them, without construct's containers and contexts.

The counterpart of ``forge.events.taking``: a layout that is declared in this room has a method ``giver``, which gives a
function (value, fields) -> bytes; any other part is built by its own construct.  Whatever is not usual raises one of
``NOT_GIVEN``; construct then builds the body again and says what is wrong.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from construct import (
    Bytes,
    BytesInteger,
    Const,
    Construct,
    ConstructError,
    FormatField,
    GreedyRange,
    Renamed,
    Sequence,
    Struct,
    stream_write,
)

from forge.events.format import FormatContext
from forge.events.taking import Fields, Parameters
from forge.layouts import fixed_layout
from forge.values.quick import UNUSUAL, UnusualError

Give = Callable[[Any, Fields], bytes]
GiveBody = Callable[[Mapping[str, Any], FormatContext], bytes]
NOT_GIVEN = (*UNUSUAL, ConstructError, struct.error, OverflowError, TypeError, AttributeError, StopIteration)


class Part(Construct):  # type: ignore[misc]
    """A part of a layout that is no struct of others, and all that interprets it: the methods of its class.

    ``give`` makes its bytes, ``_parse`` reads them, and so does ``taker`` where it has one, without construct;
    ``labelled`` puts labels on them, ``drawn`` gives values to tests.
    """

    #: How it is written, in words, where the first line of the docstring does not say it; empty to say nothing.
    rule: str | None = None
    #: Whether labels are put on parts of it, not on the whole.
    has_parts = False

    def give(self, value: Any, fields: Any) -> bytes:
        """The bytes of a value; ``fields`` has the others of the event."""
        raise NotImplementedError

    def giver(self) -> Give:
        return self.give

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        data = self.give(obj, context)
        stream_write(stream, data, len(data), path)
        return obj

    def labelled(self, walk: Any, name: str, flags: Any = None) -> Any:
        """Label its bytes with ``walk`` (forge.decode.labels.layouts), and give its value."""
        return walk.leaf(self, name, flags)

    def drawn(self, draws: Any, fields: Any) -> Any:
        """A Hypothesis strategy of its values, for tests, made with ``draws`` (forge/testing/fields.py)."""
        return draws.blocks()


@lru_cache(maxsize=512)
def giver_of(layout: Construct[Any, Any]) -> Give:
    """How a value of the layout is built."""
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
    if isinstance(layout, BytesInteger) and callable(layout.length) and layout.swapped and not layout.signed:
        return _integer(layout.length)
    if isinstance(layout, Bytes) and isinstance(layout.length, int):
        return _number_of_bytes(layout.length)
    if isinstance(layout, (FormatField, BytesInteger)):
        return _number(layout)
    return _by_construct(layout)


@lru_cache(maxsize=128)
def body_giver(layout: Struct) -> GiveBody:
    """The bytes of a whole body, of its fields by name."""
    parts = [
        (part.name, giver_of(part), getattr(part.subcon if isinstance(part, Renamed) else part, "compute", None))
        for part in layout.subcons
    ]

    def give(values: Mapping[str, Any], format: FormatContext) -> bytes:
        fields = Fields(values, _params=Parameters(format))
        pieces = []
        for name, part, compute in parts:
            value = fields.get(name)
            if value is None and compute is not None:
                value = fields[name] = compute(fields)
            pieces.append(part(value, fields))
        return b"".join(pieces)

    return give


def _sequence(parts: list[Give]) -> Give:
    def give(value: Any, fields: Fields) -> bytes:
        if len(value) != len(parts):
            raise UnusualError
        return b"".join([part(item, fields) for part, item in zip(parts, value, strict=True)])

    return give


def _number_of_bytes(size: int) -> Give:
    def give(value: bytes, fields: Fields) -> bytes:
        if len(value) != size:
            raise UnusualError
        return value

    return give


def _number(layout: Construct[Any, Any]) -> Give:
    write = fixed_layout(layout).write

    def give(value: Any, fields: Fields) -> bytes:
        if not isinstance(value, int):
            raise UnusualError
        return write((value,))

    return give


def _integer(length: Callable[[Any], int]) -> Give:
    """An unsigned little-endian integer of ``length(fields)`` bytes."""

    def give(value: Any, fields: Fields) -> bytes:
        if not isinstance(value, int):
            raise UnusualError
        return value.to_bytes(length(fields), "little")

    return give


def _by_construct(layout: Construct[Any, Any]) -> Give:
    def give(value: Any, fields: Fields) -> bytes:
        stream = io.BytesIO()
        layout._build(value, stream, fields, "(building)")
        return stream.getvalue()

    return give
