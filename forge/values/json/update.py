"""JSON_SET, JSON_REPLACE and JSON_REMOVE of a stored document, as ``UPDATE t SET j = JSON_SET(j, ...)`` runs them.

MySQL 8.0 on patches the document in place as long as that is possible, and from the first change on for which it is
not, works with the value and stores it anew; either way it notes the changes as diffs.  A leg ``[0]`` or ``[last]``
that follows something else than an array means that thing itself.

Source: ``sql/item_json_func.cc``, ``sql-common/json_dom.cc``; held against MySQL 9.7 by random statements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from forge.errors import FormatError, ScenarioError
from forge.values.json.binary import Json, decode_document, encode_document
from forge.values.json.diff import Diff, Operation
from forge.values.json.in_place import remove_in_place, replace_in_place
from forge.values.json.path import Cell, Leg, Member, format_path, parse_path
from forge.values.json.sql import json_argument, string_literal

FunctionName = Literal["json_set", "json_replace", "json_remove"]
FUNCTIONS: Final[tuple[FunctionName, ...]] = ("json_set", "json_replace", "json_remove")


@dataclass(frozen=True, slots=True)
class JsonFunction:
    """One call: (path, value) pairs; of JSON_REMOVE the values mean nothing."""

    name: FunctionName
    changes: tuple[tuple[str, Json], ...]

    def sql(self, target: str) -> str:
        """The call on ``target``."""
        parts = [target]
        for path, value in self.changes:
            parts.append(string_literal(format_path(_legs(path))))
            if self.name != "json_remove":
                parts.append(json_argument(value))
        return f"{self.name.upper()}({', '.join(parts)})"


def update_document(
    document: bytes, functions: Sequence[JsonFunction], *, in_place: bool = True
) -> tuple[bytes, tuple[Diff, ...] | None]:
    """The document after the calls, the first one innermost, and the diffs; None where the server has none.

    ``in_place`` says that the server patches stored documents.  Raises ScenarioError for a path that the function does
    not take.
    """
    work = _Work(document, in_place=in_place)
    for function in functions:
        for text, value in function.changes:
            path = _legs(text)
            legs = work.stripped(path)
            if function.name == "json_remove":
                if not path:
                    raise ScenarioError("JSON_REMOVE cannot remove the whole document", expected="another path than $")
                work.remove(legs)
            else:
                work.set(legs, value, inserts=function.name == "json_set")
    return work.document(), work.diffs


def _legs(text: str) -> tuple[Leg, ...]:
    try:
        return parse_path(text)
    except FormatError as error:
        raise ScenarioError(error.rule, expected="a path to one place, such as $.a[0]") from None


class _Work:
    """A document under way: its bytes as long as it is patched, its value from then on."""

    def __init__(self, document: bytes, *, in_place: bool) -> None:
        self._bytes: bytes | None = document if in_place else None
        self._root: list[Json] = [decode_document(document)]
        self.diffs: tuple[Diff, ...] | None = ()

    def document(self) -> bytes:
        return encode_document(self._root[0]) if self._bytes is None else self._bytes

    def _note(self, operation: Operation, legs: Sequence[Leg], value: bytes | None = None) -> None:
        if self.diffs is not None:
            self.diffs = (*self.diffs, Diff(operation, format_path(tuple(legs)), value))

    def stripped(self, legs: Sequence[Leg]) -> tuple[Leg, ...]:
        """The path without the legs that lead from a single value to itself."""
        kept: list[Leg] = []
        for leg in legs:
            if isinstance(leg, Cell) and leg.index == 0:
                sought = self._seek(kept)
                if sought is not None and not isinstance(sought[0], list):
                    continue
            kept.append(leg)
        return tuple(kept)

    def _seek(self, legs: Sequence[Leg]) -> tuple[Json] | None:
        """The value at a path, in a tuple; None if there is none."""
        value = self._root[0]
        for leg in legs:
            key = _key(value, leg)
            if key is None:
                return None
            value = value[key]
        return (value,)

    def set(self, legs: Sequence[Leg], value: Json, *, inserts: bool) -> None:
        new = encode_document(value)
        if not legs:
            # The whole document is replaced.
            self._root[0], self._bytes, self.diffs = decode_document(new), None, None
            return
        sought = self._seek(legs[:-1])
        if sought is None:
            return
        parent, leg = sought[0], legs[-1]
        key = _key(parent, leg)
        if key is not None:
            parent[key] = decode_document(new)
            before = self._bytes
            self._bytes = None if before is None else replace_in_place(before, legs, new)
            # Equal bytes are no change; that a value equals the old one is not looked at otherwise.
            if self._bytes is None or self._bytes != before:
                self._note(Operation.REPLACE, legs, new)
        elif inserts:
            self._insert(parent, legs, new)

    def _insert(self, parent: Json, legs: Sequence[Leg], new: bytes) -> None:
        leg, value = legs[-1], decode_document(new)
        if isinstance(leg, Member):
            if isinstance(parent, dict):
                parent[leg.name] = value
                self._bytes = None
                self._note(Operation.INSERT, legs, new)
            return
        self._bytes = None
        if isinstance(parent, list):
            parent.insert(max(leg.position(len(parent)), 0), value)
            self._note(Operation.INSERT, legs, new)
            return
        both = [value, parent] if leg.from_end else [parent, value]
        if len(legs) == 1:
            self._root[0], self.diffs = both, None
            return
        above = self._seek(legs[:-2])
        assert above is not None
        above[0][_key(above[0], legs[-2])] = both
        self._note(Operation.REPLACE, self._counted(legs[:-1]), encode_document(both))

    def _counted(self, legs: Sequence[Leg]) -> tuple[Leg, ...]:
        """The path to an existing place, indexes counted from the start: how the server says where a value is."""
        value, counted = self._root[0], list[Leg]()
        for leg in legs:
            key = _key(value, leg)
            counted.append(Cell(key) if isinstance(key, int) else leg)
            value = value[key]
        return tuple(counted)

    def remove(self, legs: Sequence[Leg]) -> None:
        if not legs:
            return
        sought = self._seek(legs[:-1])
        if sought is None:
            return
        key = _key(sought[0], legs[-1])
        if key is None:
            return
        del sought[0][key]
        if self._bytes is not None:
            self._bytes = remove_in_place(self._bytes, legs)
        self._note(Operation.REMOVE, legs)


def _key(parent: Json, leg: Leg) -> str | int | None:
    """The key or index of the place that ``leg`` names in ``parent``; None if there is none."""
    if isinstance(leg, Member):
        return leg.name if isinstance(parent, dict) and leg.name in parent else None
    if not isinstance(parent, list):
        return None
    index = leg.position(len(parent))
    return index if 0 <= index < len(parent) else None
