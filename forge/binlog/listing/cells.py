"""One cell of a row in the listing: NULL, a value that gives the cell's very bytes, or ``{hex: ...}`` with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forge.binlog.listing.partial import diffs_from_plain, is_diffs
from forge.binlog.listing.text import is_safe
from forge.errors import ForgeError, ScenarioError
from forge.values.base import Column
from forge.values.registry import codec_for


def cell_to_plain(column: Column, cell: bytes | None) -> Any:
    """NULL, a value whose bytes are the cell's, or ``{hex: ...}``."""
    if cell is None:
        return None
    codec = codec_for(column)
    try:
        value = codec.decode(column, cell)
        candidates = [value] if isinstance(value, int) else [codec.text(column, value)]
        for candidate in candidates:
            if isinstance(candidate, str) and not is_safe(candidate):
                continue
            if candidate is not None and codec.encode(column, codec.accept(column, candidate)) == cell:
                return candidate
    except (ForgeError, ValueError, OverflowError):
        pass
    return {"hex": cell.hex()}


def cell_from_plain(column: Column, value: Any) -> bytes | None:
    """The inverse of :func:`cell_to_plain`.  Raises ScenarioError for what the column cannot hold."""
    if value is None:
        return None
    if isinstance(value, dict) and set(value) == {"hex"}:
        try:
            return bytes.fromhex(value["hex"])
        except (ValueError, TypeError):
            raise ScenarioError(f"{value['hex']!r} is not hexadecimal") from None
    if is_diffs(value):
        return diffs_from_plain(column, value["diffs"], cell_from_plain)
    codec = codec_for(column)
    return codec.encode(column, codec.accept(column, value))


def column_keys(columns: Sequence[Column]) -> list[str]:
    """The columns' names; ``@n`` for all if the table map does not name each of them once."""
    names = [column.name for column in columns]
    usable = all(name is not None and is_safe(name) for name in names) and len(set(names)) == len(names)
    return [str(name) for name in names] if usable else [f"@{index + 1}" for index in range(len(columns))]
