"""A set of GTIDs as servers print it: which transactions of a log are in it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Protocol

from forge.binlog.log_file import read_events
from forge.bulk.reading.splits import GtidRange, Split
from forge.errors import ScenarioError
from forge.events.binlog_checkpoint import BinlogCheckpoint
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid
from forge.events.gtid_list import GtidList
from forge.events.previous_gtids import PreviousGtids
from forge.events.rotate import Rotate
from forge.events.stop import Stop

#: PREVIOUS_GTIDS and GTID_LIST stand behind FORMAT_DESCRIPTION and, where there is one, START_ENCRYPTION.
_HEAD_EVENTS = 3
#: Events that are no part of a transaction.
_OUTSIDE = frozenset(
    body.type_code for body in (FormatDescription, PreviousGtids, GtidList, BinlogCheckpoint, Rotate, Stop)
)


class KnownGtids(Protocol):
    """A set of GTIDs."""

    def has(self, gtids: GtidRange) -> bool:
        """Whether all GTIDs of a source between two numbers are in the set."""


def known_gtids(text: str) -> KnownGtids:
    """A set as MySQL prints it (``uuid:1-5:7,uuid:3``), or a position of MariaDB (``0-1-100,5-2-7``).

    Raises ScenarioError for another text, and for tags.
    """
    parts = [part for part in re.split(r"\s*,\s*", text.strip()) if part]
    if parts and all(re.fullmatch(r"\d+-\d+-\d+", part) for part in parts):
        return _MariadbGtids(parts)
    return _MysqlGtids(parts)


class _MysqlGtids:
    """Intervals of numbers by the UUID of their server."""

    def __init__(self, parts: Iterable[str]) -> None:
        found: dict[str, list[tuple[int, int]]] = {}
        for part in parts:
            source, *intervals = part.split(":")
            try:
                source = str(uuid.UUID(source))
            except ValueError:
                raise _no_set(part) from None
            for interval in intervals:
                match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", interval)
                if match is None:
                    raise _no_set(part)
                found.setdefault(source, []).append((int(match[1]), int(match[2] or match[1])))
        self._intervals = {source: _merged(intervals) for source, intervals in found.items()}

    def has(self, gtids: GtidRange) -> bool:
        intervals = self._intervals.get(gtids.source, ())
        return any(first <= gtids.first and gtids.last <= last for first, last in intervals)


class _MariadbGtids:
    """The last sequence number of each domain; a replica that has it has all before it."""

    def __init__(self, parts: Iterable[str]) -> None:
        self._last: dict[str, int] = {}
        for domain, _, number in (part.split("-") for part in parts):
            self._last[str(int(domain))] = max(int(number), self._last.get(str(int(domain)), 0))

    def has(self, gtids: GtidRange) -> bool:
        return gtids.last <= self._last.get(gtids.source.partition("-")[0], -1)


def has_all(known: KnownGtids, split: Split) -> bool:
    """Whether all transactions of a split are in the set; those without a GTID, or with tags, are not."""
    if not split.gtids:
        return split.gtids is not None and _OUTSIDE.issuperset(split.types)
    return AnonymousGtid.type_code not in split.types and all(known.has(gtids) for gtids in split.gtids)


def has_all_before(known: KnownGtids, path: Path) -> bool | None:
    """Whether the set has the GTIDs of all files before this one; None if the file names none."""
    for logged in islice(read_events(path), _HEAD_EVENTS):
        body = logged.event.body
        if isinstance(body, PreviousGtids):
            sources = body.gtid_set[1]
            before = [(tag, GtidRange(source, *interval)) for source, tag, found in sources for interval in found]
            return all(not tag and known.has(gtids) for tag, gtids in before) if before else None
        if isinstance(body, GtidList) and body.gtids:
            return all(known.has(GtidRange(f"{domain}-{server}", last, last)) for domain, server, last in body.gtids)
    return None


def _merged(intervals: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(intervals):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return merged


def _no_set(part: str) -> ScenarioError:
    return ScenarioError(
        f"{part!r} is no GTID set", expected="MySQL's, such as UUID:1-5:7, without tags; or MariaDB's, such as 0-1-100"
    )
