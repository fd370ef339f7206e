"""Cells of a column whose definition changes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec

from forge.engine.dictionary.columns import ColumnDefinition, stored_bytes_of
from forge.engine.dictionary.literals import strict_value, under
from forge.engine.rows.defaults import zone_refusal
from forge.errors import ScenarioError, UnsupportedError
from forge.servers.facts.values import Dialect
from forge.values.base import Value
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import facts_of


def _converts(old: SqlType, new: SqlType) -> bool:
    """Whether values of a type become those of another; they do by value within a family, else by text."""
    mine, its = facts_of(old), facts_of(new)
    if old.name == new.name:
        return True
    if old.name == "BINARY":
        # Its text would be padded with 00.
        return its.is_bytes
    if mine.is_bytes:
        return its.is_bytes or its.is_text
    if mine.is_text:
        return its.is_text or its.is_bytes or its.has_members
    if its.is_text:
        return mine.is_number or mine.has_members or mine.is_temporal
    if mine.is_number:
        return its.is_number
    return its.is_moment and mine.has_date


def converted(
    old: ColumnDefinition, new: ColumnDefinition, value: Value | None, dialect: Dialect | None = None
) -> Value | None:
    """A cell as a changed column holds it; ``dialect`` is what the session's modes make of values.

    Raises ScenarioError where a server in strict mode would refuse it.
    """
    if value is None:
        if new.column.auto_increment:
            raise UnsupportedError(f"column {new.name!r} becomes AUTO_INCREMENT, but a row has NULL in it")
        if not new.column.nullable and new.is_timestamp:
            # It is the time of the statement (recorded on 9.7, 10.11 and 11.8).
            raise UnsupportedError(f"TIMESTAMP {new.name!r} becomes NOT NULL, but a row has NULL in it")
        if not new.column.nullable:
            raise ScenarioError(f"column {new.name!r} becomes NOT NULL, but a row has NULL in it")
        return None
    if value == 0 and new.column.auto_increment and not old.column.auto_increment:
        raise UnsupportedError(f"column {new.name!r} becomes AUTO_INCREMENT, but a row has 0 in it")
    if old.type == new.type:
        return value
    if value == 0 and old.type_facts.kind == new.type_facts.kind == "enum":
        return value  # The value that is no member stays it (recorded on 9.7).
    if dialect is not None and dialect.utc_offset:
        if old.is_timestamp != new.is_timestamp:
            raise zone_refusal(new if new.is_timestamp else old, "a row that is converted from or to")
        dialect = msgspec.structs.replace(dialect, utc_offset=0)
    if not _converts(old.type, new.type):
        raise UnsupportedError(f"rows cannot be converted from {old.type.name} to {new.type.name} yet")
    if old.type.zerofill and new.type_facts.is_text:
        raise UnsupportedError(f"rows cannot be converted from {old.type.name} ZEROFILL to {new.type.name} yet")
    literal: Any = value
    if old.type_facts.has_members or (old.type_facts.is_number and new.type_facts.is_text):
        literal = old.codec.text(old.wire, value)
        if old.type_facts.is_approximate and old.type.scale is not None:
            # FLOAT(5,2) is shown with its places, of the shortest text that is the number (recorded).
            shortest = Decimal(repr(value))
            fits = round(value, old.type.scale) == value
            literal = f"{shortest if fits else value:.{old.type.scale}f}"
    if new.type_facts.is_bytes and isinstance(value, str):
        literal = stored_bytes_of(old, value)
    result = strict_value(under(new.wire, dialect), new.codec, literal)
    if new.type_facts.is_text and isinstance(result, bytes):
        raise ScenarioError(f"the bytes of a row are not text of column {new.name!r}")
    return result
