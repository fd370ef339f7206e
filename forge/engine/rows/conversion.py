"""Cells of a column whose definition changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forge.engine.dictionary.definition import ColumnDefinition
from forge.engine.rows.literals import strict_value
from forge.engine.rows.state import stored_bytes_of
from forge.errors import ScenarioError
from forge.values.base import Value

_NUMBERS = frozenset({"TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE", "YEAR"})
_STRINGS = frozenset({"CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT"})
_BYTES = frozenset({"BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB"})
#: Families of types between whose members values are converted; within them, by value, else by text.
_CONVERSIONS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(_NUMBERS, _NUMBERS | _STRINGS),
    **dict.fromkeys(_STRINGS, _STRINGS | _BYTES | {"ENUM", "SET"}),
    **dict.fromkeys(_BYTES, _BYTES | _STRINGS),
    "BINARY": _BYTES,
    "ENUM": _STRINGS | {"ENUM"},
    "SET": _STRINGS | {"SET"},
    "BIT": frozenset({"BIT"}),
    "DATE": frozenset({"DATE", "DATETIME", "TIMESTAMP"}) | _STRINGS,
    "TIME": frozenset({"TIME"}) | _STRINGS,
    "DATETIME": frozenset({"DATETIME", "TIMESTAMP"}) | _STRINGS,
    "TIMESTAMP": frozenset({"TIMESTAMP", "DATETIME"}) | _STRINGS,
}


def converted(old: ColumnDefinition, new: ColumnDefinition, value: Value | None) -> Value | None:
    """A cell as a changed column holds it.  Raises ScenarioError where a server in strict mode would refuse it."""
    if value is None:
        if not new.column.nullable:
            raise ScenarioError(f"column {new.name!r} becomes NOT NULL, but a row has NULL in it")
        return None
    if old.type == new.type:
        return value
    if old.type.name != new.type.name and new.type.name not in _CONVERSIONS.get(old.type.name, frozenset()):
        raise ScenarioError(f"rows cannot be converted from {old.type.name} to {new.type.name}")
    literal: Any = value
    if old.type.name in ("ENUM", "SET") or (old.type.name in _NUMBERS and new.type.name in _STRINGS):
        literal = old.codec.text(old.wire, value)
        recoded = old.type.name == new.type.name == "ENUM" and old.type.collation != new.type.collation
        if recoded and isinstance(literal, str) and not literal.isascii():
            # The server compares the members' bytes (recorded: 1265).
            raise ScenarioError(f"the member {literal!r} of column {new.name!r} is not found in the new set")
    if new.type.name in _BYTES and isinstance(value, str):
        literal = stored_bytes_of(old, value)
    result = strict_value(new.wire, new.codec, literal)
    if new.type.name in _STRINGS and isinstance(result, bytes):
        raise ScenarioError(f"the bytes of a row are no text of column {new.name!r}")
    return result
