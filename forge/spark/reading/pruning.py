"""Which splits can hold rows that filters let through: the others are not read.

Spark filters every row itself; here a split is left out only where no row of it can pass.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from forge.binlog.row_counts import OPERATIONS
from forge.bulk.reading.splits import Split
from forge.events.registry import EVENT_CODES
from forge.events.transaction_payload import TransactionPayload

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

#: Types of row events by operation, MariaDB's compressed ones among them.
_ROWS = dict(zip(OPERATIONS, ((20, 23, 30, 166, 169), (21, 24, 31, 39, 167, 170), (22, 25, 32, 168, 171)), strict=True))
_ROW_CARRIERS = frozenset((*(code for codes in _ROWS.values() for code in codes), TransactionPayload.type_code))


def holds_rows(split: Split) -> bool:
    """Whether a split can hold changes of rows."""
    return not _ROW_CARRIERS.isdisjoint(split.types)


def may_match(split: Split, filters: Iterable[Filter], *, events: bool) -> bool:
    """Whether a row of the split can pass all filters; ``events``: a row is an event, not a change."""
    return all(_may_match(split, filter, events) for filter in filters)


def _may_match(split: Split, filter: Any, events: bool) -> bool:
    path: tuple[str, ...] = getattr(filter, "attribute", ())
    if len(path) != 1:  # NOT has none.
        return True
    kind, value = type(filter).__name__, getattr(filter, "value", None)
    # Changes out of a payload have times and types of their own.
    opaque = not events and TransactionPayload.type_code in split.types
    match path[0]:
        case "_file":
            return _text(kind, value, (split.path,))
        case "_position":
            return _between(kind, value, split.begin, split.end - 1)
        case "_event":
            return _between(kind, value, split.mark.number, split.mark.number + split.events - 1)
        case "_timestamp" if not opaque:
            return _between(kind, _seconds(value), split.first_time, split.last_time)
        case "_type_code" if kind in ("EqualTo", "EqualNullSafe", "In"):
            return any(code in split.types for code in _wanted(kind, value))
        case "_type" if kind in ("EqualTo", "EqualNullSafe", "In"):
            return any(EVENT_CODES.get(name, _number(name)) in split.types for name in _wanted(kind, value))
        case "_operation" if not opaque and kind in ("EqualTo", "EqualNullSafe", "In"):
            codes = {code for word in _wanted(kind, value) for code in _ROWS.get(word, ())}
            return not codes.isdisjoint(split.types)
        case "_gtid" if split.gtids is not None:
            return _gtid(kind, value, split)
    return True


def _wanted(kind: str, value: Any) -> tuple[Any, ...]:
    return tuple(value) if kind == "In" else (value,)


def _number(text: str) -> int:
    return int(text) if isinstance(text, str) and text.isascii() and text.isdigit() else -1


def _text(kind: str, value: Any, texts: tuple[str, ...]) -> bool:
    match kind:
        case "EqualTo" | "EqualNullSafe" | "In":
            return any(one in texts for one in _wanted(kind, value))
        case "StringStartsWith":
            return any(text.startswith(value) for text in texts)
        case "StringEndsWith":
            return any(text.endswith(value) for text in texts)
        case "StringContains":
            return any(value in text for text in texts)
    return True


def _seconds(value: Any) -> Any:
    """Times in seconds since 1970; None for values that are no time with a zone."""
    if isinstance(value, (tuple, list)):
        return [_seconds(one) for one in value]
    return value.timestamp() if isinstance(value, datetime) and value.tzinfo is not None else None


def _between(kind: str, value: Any, first: int, last: int) -> bool:
    """Whether a number from ``first`` to ``last`` can pass."""
    values = _wanted(kind, value)
    if any(not isinstance(one, (int, float)) for one in values):
        return True
    match kind:
        case "EqualTo" | "EqualNullSafe" | "In":
            return any(first <= one <= last for one in values)
        case "GreaterThan":
            return bool(last > value)
        case "GreaterThanOrEqual":
            return bool(last >= value)
        case "LessThan":
            return bool(first < value)
        case "LessThanOrEqual":
            return bool(first <= value)
    return True


def _gtid(kind: str, value: Any, split: Split) -> bool:
    """The GTID from before the split is in force until its first GTID event."""
    assert split.gtids is not None
    match kind:
        case "EqualTo" | "EqualNullSafe" | "In":
            return any(one is None or one == split.mark.gtid or _among(one, split) for one in _wanted(kind, value))
        case "StringStartsWith":
            if split.mark.gtid is not None and split.mark.gtid.startswith(value):
                return True
            sources = [found.source for found in split.gtids]
            return any(source.startswith(value) or value.startswith(source) for source in sources)
    return True


def _among(gtid: str, split: Split) -> bool:
    source, _, number = gtid.rpartition(":" if ":" in gtid else "-")
    return any(found.source == source and found.first <= _number(number) <= found.last for found in split.gtids or ())
