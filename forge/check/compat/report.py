"""What a consumer of one server line makes of a log of another: what it ignores, misreads or refuses, and why.

The rules are ``forge/servers/features.toml``; :mod:`forge.check.compat.features_used` finds what an event uses of them.
The expected decode is that of a reader of the consumer's line: up to the event at which it stops, without what it
passes over, and without the parts of events that came after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import msgspec
from msgspec.structs import replace as replace_in

from forge.binlog.logged import LoggedEvent, logged_events
from forge.binlog.selection import ALL, Chooser, Selection
from forge.binlog.window import LogSource
from forge.check.compat.features_used import APPLIED, Use, declared_uses, event_uses, logged_definitions
from forge.check.compat.readers_view import as_seen
from forge.decode.cells import MappedTable
from forge.decode.decode import canonical_event, event_without_rows
from forge.decode.readers import knows_type, reading, stops_all_the_same
from forge.decode.table_maps import TableMaps
from forge.errors import UnsupportedError
from forge.events.event import IGNORABLE
from forge.events.format_description import FormatDescription
from forge.events.plain import text_or_hex
from forge.events.query import Query
from forge.events.registry import features_of_type
from forge.events.rows import ROWS_BODIES
from forge.plan.definitions import DdlStatement
from forge.plan.plan import Plan
from forge.servers import ServerLine, server_line
from forge.servers.features import Effect, feature
from forge.unpacking import TooManyCells


class Place(msgspec.Struct, frozen=True, order=True):
    """An event by file and index, both from 0."""

    file: int
    index: int


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that the consumer does not have, with the events that use it."""

    effect: Effect
    #: Everybody who reads the log, or only a replica that applies it.
    consumer: Literal["reader", "replica"]
    #: Its name in the table of features.
    feature: str | None = None
    title: str
    reason: str
    #: Since when it exists, in words; empty where that is no question.
    since: str = ""
    source: str
    #: The replica's setting on which it depends.
    setting: str | None = None
    types: tuple[str, ...]
    events: tuple[Place, ...] = ()


class Stop(msgspec.Struct, frozen=True):
    """Where a consumer stops for good."""

    file: int
    index: int
    offset: int
    type: str
    reason: str


class Report(msgspec.Struct, rename={"producer": "from", "consumer": "to"}):
    """What a consumer of the line ``consumer`` makes of a log of the line ``producer``; as JSON has it.

    ``events`` and ``rows`` are those of the log, and those that a reader of the consumer's line gets to see.
    """

    producer: str
    consumer: str
    findings: list[Finding] = []
    events: int = 0
    rows: int = 0
    read: int = 0
    skipped: int = 0
    rows_seen: int = 0
    reader_stops: Stop | None = None
    replica_stops: Stop | None = None
    #: The canonical decode as that reader has it, an object an event, with its ``file``.
    decode: list[dict[str, Any]] = []


def compatibility(plan: Plan, files: Sequence[bytes], consumer: str) -> Report:
    """The report for the plan's files, as its server line wrote them, and a consumer of the line ``consumer``.

    Raises ScenarioError for an unknown line, FormatError for files that are not well-formed.
    """
    statements = [group for group in plan.groups if isinstance(group, DdlStatement)]
    return _Judge(plan.server, server_line(consumer), statements).judge(files)


def compatibility_of_logs(
    files: Iterable[LogSource], consumer: str, *, decoded: bool = True, wanted: Selection = ALL
) -> Report:
    """The report for logs that some server wrote.  Definitions are those of its CREATE TABLE statements.

    The producer is the version that FORMAT_DESCRIPTION names.  Without ``decoded`` the report has no decode, and takes
    little memory for logs of any size.  Raises ScenarioError for an unknown line, FormatError, after the events before,
    for bytes that break a rule; OSError.
    """
    return _Judge("", server_line(consumer), None, decoded=decoded, wanted=wanted).judge(files)


class _Judge:
    def __init__(
        self,
        producer: str,
        consumer: ServerLine,
        statements: list[DdlStatement] | None,
        *,
        decoded: bool = True,
        wanted: Selection = ALL,
    ) -> None:
        self.wanted = wanted
        self.consumer = consumer
        self.decoded = decoded
        self.report = Report(producer, consumer.name)
        self.found: dict[tuple[str, str], tuple[Finding, list[Place]]] = {}
        #: Definitions of the plan that the log has not shown yet; None of a log without a plan.
        self.statements = statements
        #: How many types the FORMAT_DESCRIPTION in force lists.
        self.types = 0
        self.has_checksums = False

    def judge(self, files: Iterable[LogSource]) -> Report:
        report = self.report
        for number, data in enumerate(files):
            tables, seen, chooser = TableMaps(), TableMaps(), Chooser(self.wanted)
            for logged in logged_events(data):
                mapped = tables.note(logged)
                if isinstance(logged.body, FormatDescription):
                    report.producer = report.producer or logged.body.server_version
                    self.types = len(logged.body.post_header_lengths)
                    self.has_checksums = logged.body.checksum_algorithm == 1
                if not self.wanted.is_all and not chooser.takes(_described(logged, tables, mapped)):
                    seen.note(logged)
                    continue
                rows = _rows(logged, tables)
                if not logged.inner:
                    report.events += 1
                report.rows += rows
                self._event(number, logged, tables, seen, rows)
        order: dict[Effect, int] = {"refuse": 0, "misread": 1, "ignore": 2}
        findings = [replace_in(finding, events=tuple(dict.fromkeys(places))) for finding, places in self.found.values()]
        report.findings = sorted(
            findings, key=lambda finding: (order[finding.effect], finding.consumer, finding.events[0])
        )
        return report

    def _event(self, number: int, logged: LoggedEvent, tables: TableMaps, seen: TableMaps, rows: int) -> None:
        """Judge one event; those behind the place where a reader stops are judged as if it had gone on."""
        report, event = self.report, logged.placed.event
        if logged.inner and not self.consumer.knows("compression"):
            return
        place = Place(number, logged.placed.index)
        known_type = knows_type(self.consumer, event.type_code)
        findings = list(self._lacking(logged, tables)) if known_type else [self._unknown(logged)]
        applied = APPLIED.get(event.type_name)
        if applied is not None and not self.consumer.knows(applied):
            findings.append(self._finding(Use(applied), event.type_name))
        for finding in findings:
            self._add(finding, place)
            if finding.effect == "refuse" and finding.setting is None:
                stop = Stop(place.file, place.index, logged.placed.offset, event.type_name, finding.reason)
                if finding.consumer == "reader" and report.reader_stops is None:
                    report.reader_stops = stop
                if report.replica_stops is None:
                    report.replica_stops = stop
        if report.reader_stops is None:
            self._seen(number, logged, seen, rows, skipped=not known_type)

    def _uses(self, logged: LoggedEvent, tables: TableMaps) -> Iterator[Use]:
        yield from event_uses(logged, tables, self.consumer)
        body = logged.placed.event.body
        if isinstance(body, Query) and self.has_checksums:
            yield Use("checksums_of_statements")
        if isinstance(body, Query) and self.statements is None:
            for statement in logged_definitions(body, self.report.producer):
                yield from declared_uses(statement)
        elif isinstance(body, Query) and self.statements:
            # DDL is logged in the plan's order; IF NOT EXISTS that did nothing may be missing.
            for count, statement in enumerate(self.statements):
                if body.query == statement.text.sql:
                    del self.statements[: count + 1]
                    yield from declared_uses(statement)
                    return

    def _lacking(self, logged: LoggedEvent, tables: TableMaps) -> Iterator[Finding]:
        """What an event, whose type the consumer knows, uses and the consumer lacks."""
        for use in self._uses(logged, tables):
            if use.missing is not None or feature(use.feature).setting or not self.consumer.knows(use.feature):
                yield self._finding(use, logged.placed.event.type_name)

    def _finding(self, use: Use, type_name: str) -> Finding:
        lacking, family = feature(use.feature), self.consumer.family
        reaction = lacking.reaction(family)
        return Finding(
            effect=reaction.effect,
            consumer=lacking.consumer,
            title=lacking.title,
            reason=reaction.reason if use.missing is None else f"{reaction.reason} ({use.missing})",
            source=lacking.source,
            since=lacking.history(family) if use.missing is None and lacking.setting is None else "",
            feature=use.feature,
            setting=lacking.setting,
            types=(type_name,),
        )

    def _unknown(self, logged: LoggedEvent) -> Finding:
        """What the consumer does with an event of a type that it does not know."""
        event, line = logged.placed.event, self.consumer
        finding = Finding(
            effect="refuse",
            consumer="reader",
            title=f"events of type {event.type_code}",
            reason="the type is unknown" if not event.type_name.isdigit() else "no server knows the type",
            source="WL#4033",
            types=(event.type_name,),
        )
        for name in features_of_type(event.type_code):
            if not line.knows(name):
                finding = self._finding(Use(name), event.type_name)
                break
        ignorable = bool(event.flags & IGNORABLE)
        if reading(line, event.type_code, ignorable=ignorable) == "stop":
            unread = ignorable and not line.knows("ignorable")
            return replace_in(finding, reason=f"{finding.reason}; it knows no flag IGNORABLE") if unread else finding
        stopped = stops_all_the_same(line, event.type_code, self.types) if ignorable else None
        if stopped is not None:
            return replace_in(
                finding,
                effect="refuse",
                reason=stopped,
                source="recorded on mysqlbinlog 9.7 and mariadb-binlog 10.11 and 11.8",
            )
        if finding.effect == "ignore":
            return finding
        return replace_in(
            finding, effect="ignore", reason="the flag IGNORABLE says that nothing is lost", source="WL#4033"
        )

    def _add(self, finding: Finding, place: Place) -> None:
        key = (finding.title, finding.reason)
        first, places = self.found.setdefault(key, (finding, []))
        if finding.types[0] not in first.types:
            self.found[key] = (replace_in(first, types=(*first.types, *finding.types)), places)
        places.append(place)

    def _seen(self, number: int, logged: LoggedEvent, seen: TableMaps, rows: int, *, skipped: bool) -> None:
        report = self.report
        if skipped:
            report.skipped += not logged.inner
            return
        report.read += not logged.inner
        report.rows_seen += rows
        if self.decoded:
            shown = replace(logged, placed=replace(logged.placed, event=as_seen(logged.placed.event, self.consumer)))
            report.decode.append({"file": number, **canonical_event(shown, seen)})


def _described(logged: LoggedEvent, tables: TableMaps, mapped: MappedTable | None) -> dict[str, Any]:
    """What a selection asks of an event: its object without rows, with the table of a row event."""
    event = event_without_rows(logged, mapped)
    if isinstance(logged.body, ROWS_BODIES) and (table := tables.by_id.get(logged.body.table_id)) is not None:
        event |= {"database": text_or_hex(table.body.database), "table": text_or_hex(table.body.table)}
    return event


def _rows(logged: LoggedEvent, tables: TableMaps) -> int:
    """How many rows the event has, as far as they can be told here."""
    try:
        return sum(1 for _ in tables.changes(logged))
    except TooManyCells:
        raise
    except UnsupportedError:
        return 0


def summary(report: Report) -> Iterator[str]:
    """Lines for a person."""
    yield f"A log of {report.producer} for a consumer of {report.consumer}:\n"
    if not report.findings:
        yield "  nothing in it is new or foreign to it\n"
    for finding in report.findings:
        who = "a replica" if finding.consumer == "replica" else "a reader"
        verb = {"ignore": "ignores", "misread": "misreads", "refuse": "refuses"}[finding.effect]
        since = f" [{finding.since}]" if finding.since else ""
        who += f" with {finding.setting}" if finding.setting else ""
        yield f"  {who} {verb} {finding.title}{since}\n"
        yield f"      {finding.reason}\n      {_places(finding)}; {finding.source}\n"
    yield _stops("reader", report.reader_stops)
    yield _stops("replica", report.replica_stops)
    passed = f", skips {report.skipped}" if report.skipped else ""
    rows = f"{report.rows_seen} of {report.rows} rows"
    yield f"A reader reads {report.read} of {report.events} events{passed}, and {rows}.\n"


def _stops(who: str, stop: Stop | None) -> str:
    if stop is None:
        return f"A {who} gets to the end.\n"
    file = f" of file {stop.file + 1}" if stop.file else ""
    return f"A {who} stops at event {stop.index}{file}, {stop.type} at {stop.offset}: {stop.reason}.\n"


def _places(finding: Finding) -> str:
    count = len(finding.events)
    place = finding.events[0]
    first = f"event {place.index}" + (f" of file {place.file + 1}" if place.file else "")
    return f"{', '.join(finding.types)}: " + (first if count == 1 else f"{count} events, the first is {first}")
