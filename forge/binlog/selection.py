"""Which events of a log are wanted: by place, time, type, table, and transaction.

An event is shown as a mapping: ``offset``, ``timestamp``, ``type``, the names ``database`` and ``table`` of a row
event, and ``fields``, which have the names of a TABLE_MAP and the ``gtid`` of a GTID event.  The objects of the
canonical decode are such.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from forge.errors import ScenarioError, nearest
from forge.events.plain import name_text
from forge.events.registry import EVENT_CODES

#: Types that begin a transaction, or stand outside of all.
_GTIDS = ("GTID", "ANONYMOUS_GTID", "GTID_TAGGED", "MARIADB_GTID")
_OUTSIDE = ("FORMAT_DESCRIPTION", "ROTATE", "STOP", "PREVIOUS_GTIDS", "GTID_LIST", "BINLOG_CHECKPOINT")
#: A GTID of either family, or several of a source: ``UUID:5``, ``UUID:tag:5``, ``UUID:1-5``, ``0-1-5``.
_GTID = re.compile(
    r"(?P<source>[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(:[a-z_][a-z0-9_]*)?):(?P<first>[0-9]+)(-(?P<last>[0-9]+))?"
    r"|[0-9]+-[0-9]+-[0-9]+"
)
_LATER = "a later end"
#: Tables that an error names.
_NAMED = 20


@dataclass(frozen=True, slots=True)
class Selection:
    """What is wanted; of each that is empty or None, all.

    ``tables`` are names such as ``shop.orders``; ``*`` in one stands for any characters.  ``start`` and ``stop`` are
    offsets: events that begin at ``start`` or later, and before ``stop``.  ``since`` and ``until`` are seconds since
    the epoch: from ``since`` on, and before ``until``.
    """

    tables: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    gtids: tuple[str, ...] = ()
    start: int | None = None
    stop: int | None = None
    since: int | None = None
    until: int | None = None
    #: The tables of the events that were looked at so far, of all files; noted where some are chosen.
    met: dict[str, None] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in self.types:
            if name not in EVENT_CODES:
                suggestion = nearest(name, EVENT_CODES)
                raise ScenarioError(f"there is no event type {name!r}", suggestion=suggestion)
        for name in self.tables:
            if "." not in name:
                raise ScenarioError(f"table {name!r} has no database", expected="a name such as shop.orders")
        for gtid in self.gtids:
            if _GTID.fullmatch(gtid) is None:
                raise ScenarioError(
                    f"{gtid!r} is no GTID", expected="one such as UUID:5, UUID:tag:5, UUID:1-5 or 0-1-5"
                )
        if self.start is not None and self.stop is not None and self.start >= self.stop:
            raise ScenarioError(f"no event is between the positions {self.start} and {self.stop}", expected=_LATER)
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise ScenarioError("the time of `until` is not after that of `since`", expected=_LATER)

    @property
    def is_all(self) -> bool:
        """Whether every event is wanted."""
        return self == ALL

    def of(self, events: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The wanted ones of the events of a file, in their order."""
        chooser = Chooser(self)
        for event in events:
            if chooser.takes(event):
                yield event
            elif self.is_behind(event) and not self.unmet():
                return

    def check_tables(self) -> None:
        """Raises ScenarioError for a table that no event was of, once all files were looked at."""
        for name in self.unmet():
            raise ScenarioError(
                f"no table {name!r} is in the log",
                expected=", ".join(list(self.met)[:_NAMED]) or "a log with tables",
                suggestion=nearest(name, self.met),
            )

    def unmet(self) -> list[str]:
        """The chosen tables that no event was of so far."""
        return [name for name in self.tables if not any(_matches(name, met) for met in self.met)]

    def has_name(self, name: str) -> bool:
        """Whether a table of that name is wanted."""
        return not self.tables or any(_matches(wanted, name) for wanted in self.tables)

    def is_behind(self, event: dict[str, Any]) -> bool:
        """Whether neither this event nor a later one is wanted."""
        return self.stop is not None and bool(event["offset"] >= self.stop)

    def rows_of(self, events: Iterator[dict[str, Any]], is_known: Callable[[], bool]) -> Iterator[dict[str, Any]]:
        """All events, those that are not wanted without their rows: what stands before tells what rows mean.

        Those behind the end are looked at until the table ``is_known``: it may be in the log without a wanted row.
        """
        chooser = Chooser(self)
        for event in events:
            is_behind = self.is_behind(event)
            if is_behind and is_known():
                return
            wanted = (chooser.takes(event) and not is_behind) or "rows" not in event
            yield event if wanted else {name: value for name, value in event.items() if name != "rows"}

    def has_gtid(self, gtid: str | None) -> bool:
        """Whether events of that transaction are wanted."""
        return not self.gtids or (gtid is not None and any(_holds(wanted, gtid) for wanted in self.gtids))

    def wants(self, event: dict[str, Any], gtid: str | None) -> bool:
        """Whether the event of that transaction is wanted."""
        return (
            (self.start is None or event["offset"] >= self.start)
            and (self.since is None or event["timestamp"] >= self.since)
            and (self.until is None or event["timestamp"] < self.until)
            and (not self.types or event["type"] in self.types)
            and (not self.tables or self._has_table(event))
            and self.has_gtid(gtid)
        )

    def _has_table(self, event: dict[str, Any]) -> bool:
        name = _table(event)
        return name is not None and self.has_name(name)


ALL = Selection()


@dataclass(slots=True)
class Chooser:
    """Whether the events of a file are wanted; it is shown all of them, in their order."""

    selection: Selection
    #: The transaction that the last event was of.
    gtid: str | None = None

    def takes(self, event: dict[str, Any]) -> bool:
        """Whether this one is."""
        if event["type"] in _GTIDS:
            self.gtid = event["fields"].get("gtid")
        elif event["type"] in _OUTSIDE:
            self.gtid = None
        if self.selection.tables and (table := _table(event)) is not None:
            self.selection.met.setdefault(table)
        return not self.selection.is_behind(event) and self.selection.wants(event, self.gtid)


def moment(text: str) -> int:
    """Seconds since the epoch of ``YYYY-MM-DD[ hh:mm:ss]`` in UTC, or of the number itself.  Raises ScenarioError."""
    if text.isascii() and text.isdigit() and len(text) > 4:
        return int(text)
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        raise ScenarioError(f"{text!r} is no time", expected="YYYY-MM-DD hh:mm:ss in UTC, or seconds") from None
    return int((found if found.tzinfo is not None else found.replace(tzinfo=dt.UTC)).timestamp())


def selection(
    *,
    tables: Sequence[str] = (),
    types: Sequence[str] = (),
    gtids: Sequence[str] = (),
    start: int | None = None,
    stop: int | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Selection:
    """The selection that somebody asks for in words.  Raises ScenarioError."""
    return Selection(
        tuple(tables), tuple(name.upper() for name in types), tuple(map(str.lower, gtids)), start, stop,
        None if since is None else moment(since), None if until is None else moment(until),
    )  # fmt: skip


def _table(event: dict[str, Any]) -> str | None:
    """The table of a TABLE_MAP or a row event."""
    named = event["fields"] if event["type"] == "TABLE_MAP" else event
    return None if named.get("database") is None or named.get("table") is None else full_name(named)


def full_name(fields: dict[str, Any]) -> str:
    """``database.table`` of what names both."""
    return f"{name_text(fields.get('database'))}.{name_text(fields.get('table'))}"


def _matches(wanted: str, name: str) -> bool:
    return wanted == name or ("*" in wanted and _pattern(wanted).fullmatch(name) is not None)


@cache
def _pattern(wanted: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, wanted.split("*"))), re.DOTALL)


def _holds(wanted: str, gtid: str) -> bool:
    if wanted == gtid:
        return True
    several = _GTID.fullmatch(wanted)
    source, _, number = gtid.rpartition(":")
    if several is None or several["last"] is None or source != several["source"] or not number.isdigit():
        return False
    return int(several["first"]) <= int(number) <= int(several["last"])
