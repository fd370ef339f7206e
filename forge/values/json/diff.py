"""Partial updates of JSON columns in PARTIAL_UPDATE_ROWS events: parse, build, apply and print diffs.

The value of a column whose partial bit is set is ``u32 length``, then until the length is used up

=========  ====================================================================================
operation  1 byte: 0 REPLACE, 1 INSERT, 2 REMOVE
path       packed length, then the text of a path to one place
value      packed length, then a binary JSON document; REMOVE has none
=========  ====================================================================================

An INSERT whose path ends in an index shifts the elements behind it (or appends); one that ends in a name adds a
member.  Diffs apply in order to the before image's document.  No diffs at all mean an unchanged column.
Source: ``sql/json_diff.cc``; recorded on MySQL 9.7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from typing import Final

from forge.errors import FormatError, ScenarioError
from forge.values.json.binary import Json, Opaque, decode_document, encode_document
from forge.values.json.opaque import opaque_text
from forge.values.json.path import Cell, Leg, Member, parse_path
from forge.values.json.text import format_json
from forge.values.literals import quoted


class Operation(IntEnum):
    """What a diff does at its path."""

    REPLACE = 0
    INSERT = 1
    REMOVE = 2


@dataclass(frozen=True, slots=True)
class Diff:
    """One change of a document; ``value`` is a binary document, None for REMOVE."""

    operation: Operation
    path: str
    value: bytes | None = None

    def __post_init__(self) -> None:
        if (self.value is None) != (self.operation is Operation.REMOVE):
            raise ScenarioError(f"a JSON {self.operation.name} has {'a' if self.value is None else 'no'} value")


def parse_diffs(data: bytes) -> tuple[Diff, ...]:
    """The diffs of a partial value (without its u32 length).

    Raises FormatError for what the server calls a corrupted diff: an unknown operation, a length past the end, a
    malformed path or one with wildcards, or a value that is not a document.
    """
    diffs = []
    offset = 0
    while offset < len(data):
        if data[offset] > Operation.REMOVE:
            raise FormatError(f"{data[offset]} is not an operation of a JSON diff", phase="value", offset=offset)
        operation = Operation(data[offset])
        start, behind = _bounded(data, offset + 1)
        path = _path(data[start:behind], start)
        value = None
        if operation is not Operation.REMOVE:
            start, behind = _bounded(data, behind)
            value = bytes(data[start:behind])
            _check_document(value, start)
        diffs.append(Diff(operation, path, value))
        offset = behind
    return tuple(diffs)


def _path(data: bytes, offset: int) -> str:
    try:
        text = str(data, "utf-8")
        parse_path(text)
    except UnicodeDecodeError as error:
        raise FormatError("a JSON path must be valid utf8mb4", phase="value", offset=offset + error.start) from None
    except FormatError as error:
        raise error.within(base=offset) from None
    return text


def _check_document(document: bytes, offset: int) -> None:
    if not document:
        raise FormatError("the value of a JSON diff must have at least one byte", phase="value", offset=offset)
    try:
        decode_document(document)
    except FormatError as error:
        raise error.within(base=offset) from None


_PACKED_SIZES: Final = {0xFC: 2, 0xFD: 3, 0xFE: 8}


def _bounded(data: bytes, offset: int) -> tuple[int, int]:
    """Start and end of the bytes whose packed length is at ``at``."""
    first = data[offset] if offset < len(data) else 0xFF
    size = _PACKED_SIZES.get(first, 0)
    start = offset + 1 + size
    if first in (0xFB, 0xFF) or start > len(data):
        raise FormatError("a part of a JSON diff must start with a packed length", phase="value", offset=offset)
    length = int.from_bytes(data[offset + 1 : start], "little") if size else first
    if length > len(data) - start:
        raise FormatError(f"{length} bytes run past the end of the JSON diffs", phase="value", offset=offset)
    return start, start + length


def _packed(length: int) -> bytes:
    if length < 0xFB:
        return bytes((length,))
    first = next(first for first, size in _PACKED_SIZES.items() if length < 1 << (8 * size))
    return bytes((first,)) + length.to_bytes(_PACKED_SIZES[first], "little")


def build_diffs(diffs: Iterable[Diff]) -> bytes:
    """The bytes of diffs, without the u32 length in front."""
    parts = bytearray()
    for diff in diffs:
        path = diff.path.encode()
        parts += bytes((diff.operation,)) + _packed(len(path)) + path
        if diff.value is not None:
            parts += _packed(len(diff.value)) + diff.value
    return bytes(parts)


def apply_diffs(document: bytes, diffs: Iterable[Diff]) -> bytes:
    """The document after all diffs, encoded anew.

    A server that patches the stored document in place keeps stale bytes that this result does not have; the value
    is the same.  Raises FormatError where a replica stops: a path that leads nowhere, a member that exists already.
    """
    root = [decode_document(document)]
    for diff in diffs:
        _apply(root, diff)
    try:
        return encode_document(root[0])
    except ScenarioError as error:
        raise FormatError(f"the JSON document after its diffs: {error.problem}", phase="value") from None


def _apply(root: list[Json], diff: Diff) -> None:
    legs = parse_path(diff.path)
    value = None if diff.value is None else decode_document(diff.value)
    if not legs:
        if diff.operation is not Operation.REPLACE:
            raise _rejected(diff)
        root[0] = value
        return
    parent: Json = root[0]
    for leg in legs[:-1]:
        parent = parent[_existing(parent, leg, diff)]
    if diff.operation is Operation.INSERT:
        _insert(parent, legs[-1], value, diff)
    elif diff.operation is Operation.REPLACE:
        parent[_existing(parent, legs[-1], diff)] = value
    else:
        del parent[_existing(parent, legs[-1], diff)]


def _existing(parent: Json, leg: Leg, diff: Diff) -> str | int:
    """The key or index of the place that ``leg`` names in ``parent``."""
    if isinstance(leg, Member) and isinstance(parent, dict) and leg.name in parent:
        return leg.name
    if isinstance(leg, Cell) and isinstance(parent, list) and 0 <= leg.position(len(parent)) < len(parent):
        return leg.position(len(parent))
    raise _rejected(diff)


def _insert(parent: Json, leg: Leg, value: Json, diff: Diff) -> None:
    if isinstance(leg, Member) and isinstance(parent, dict) and leg.name not in parent:
        parent[leg.name] = value
    elif isinstance(leg, Cell) and isinstance(parent, list):
        parent.insert(max(leg.position(len(parent)), 0), value)
    else:
        raise _rejected(diff)


def _rejected(diff: Diff) -> FormatError:
    return FormatError(f"the JSON document has no place for {diff.operation.name} at {diff.path}", phase="value")


def format_diffs(
    diffs: Iterable[Diff], target: str = "@", line_break: str = " ", quote: Callable[[str], str] = quoted
) -> str:
    """Diffs as the JSON functions that make them, ``target`` itself if there are none.

    With ``target="@2"``, ``line_break="\\n###      "`` and its way to ``quote`` this is what mysqlbinlog prints: diffs
    of one function share a call, and calls nest inside the later ones.
    """
    text = target
    for name, group in groupby(diffs, function_of):
        arguments = f",{line_break}".join(_arguments(diff, quote) for diff in group)
        if text is target:
            text = f"{name}({text}, {arguments})"
        else:
            text = f"{name}({line_break.lstrip(' ')}{text},{line_break}{arguments})"
    return text


def function_of(diff: Diff) -> str:
    """The JSON function that makes the change."""
    if diff.operation is Operation.INSERT and diff.path.endswith("]"):
        return "JSON_ARRAY_INSERT"
    return f"JSON_{diff.operation.name}"


def _arguments(diff: Diff, quote: Callable[[str], str]) -> str:
    path = quote(diff.path)
    return path if diff.value is None else f"{path}, {_argument(decode_document(diff.value), quote)}"


def _argument(value: Json, quote: Callable[[str], str]) -> str:
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict | list):
        return f"CAST({quote(format_json(value))} AS JSON)"
    if isinstance(value, Opaque):
        text, is_string = opaque_text(value)
        return quote(text) if is_string else text
    return format_json(value)
