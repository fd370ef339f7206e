"""``forge compat`` says what real consumers did: corpora/compat/matrix.tsv."""

from __future__ import annotations

from functools import cache

import pytest

from forge.binlog import read_events
from forge.check.compat.report import Report, Stop, compatibility_of_logs
from forge.record.builds import BUILD_OF_LINE
from tests.long.compat.logs import data_of
from tests.long.compat.page import PAGE, matrix_page
from tests.long.compat.table import Measured, read_matrix

MATRIX = read_matrix()
#: Of a hundred pairs two may be wrong about where a consumer stops.
RIGHT = 0.98
_GTIDS = ("GTID", "ANONYMOUS_GTID", "GTID_TAGGED", "MARIADB_GTID")


@cache
def groups_of(log: str) -> list[list[int]]:
    """The offsets of a log's events by group; those before the first group are of it, as a replica's place has them."""
    placed_events = list(read_events(data_of(log), strict=False))
    with_gtids = any(placed.event.type_name in _GTIDS for placed in placed_events)
    groups: list[list[int]] = [[]]
    within = begun = False
    for placed in placed_events:
        text = str(getattr(placed.event.body, "query", ""))
        begins = placed.event.type_name in _GTIDS if with_gtids else bool(text) and not within
        if begins and begun:
            groups.append([])
        begun = begun or begins
        within = (within or text == "BEGIN") and placed.event.type_name != "XID" and text not in ("COMMIT", "ROLLBACK")
        groups[-1].append(placed.offset)
    return groups


@cache
def report_of(log: str, consumer: str) -> Report:
    return compatibility_of_logs([data_of(log)], consumer, decoded=False)


def misreads(report: Report) -> bool:
    return any(finding.effect == "misread" for finding in report.findings)


def stops_there(did: str, stop: Stop | None, log: str) -> bool:
    """Whether a consumer that stops does so in the group of the event that we name, or at the event behind."""
    if stop is None:
        return False
    events = [place for group in groups_of(log) for place in group]
    # A reader shows where it is, which may be inside of an event.
    offset = max(place for place in events if place <= int(did.split(" ")[1]))
    here = [group for group in groups_of(log) if offset in group or stop.offset in group]
    behind = events.index(offset) + 1 < len(events) and events[events.index(offset) + 1] == stop.offset
    return len(here) == 1 or behind


def problem(row: Measured) -> str | None:
    """What is wrong in what we say of a pair."""
    report = report_of(row.log, row.consumer)
    for who, did, stop in (("reader", row.reader, report.reader_stops), ("replica", row.replica, report.replica_stops)):
        how = did.split(" ")[0]
        if how in ("unmeasured", "withheld"):
            continue
        said = "end" if stop is None else f"stop at {stop.offset}: {stop.reason}"
        if how == "end":
            right = stop is None
        elif how == "misread":
            right = stop is not None or misreads(report)
        else:
            right = stops_there(did, stop, row.log)
        if not right:
            return f"{row.log} -> {row.consumer}: the {who} does {did}; we say {said}"
    return None


def promises_too_much(row: Measured) -> bool:
    """Whether we let somebody get to the end who stops or reads wrong values."""
    report = report_of(row.log, row.consumer)
    reader = row.reader.startswith("stop") and report.reader_stops is None
    replica = row.replica != "end" and report.replica_stops is None
    return reader or (replica and not (row.replica.startswith("misread") and misreads(report)))


def test_every_pair_of_recorded_lines_was_measured() -> None:
    pairs = {(row.writer, row.consumer) for row in MATRIX}
    writers, consumers = {writer for writer, _ in pairs}, {consumer for _, consumer in pairs}
    assert (len(writers), consumers) == (len(BUILD_OF_LINE) - 1, set(BUILD_OF_LINE)), "5.6.14 writes what 5.6.24 does"
    assert {(writer, consumer) for writer in writers for consumer in consumers} - pairs == set()


@pytest.mark.slow
def test_what_real_consumers_did_is_what_we_say() -> None:
    problems = [words for row in MATRIX if (words := problem(row)) is not None]
    assert len(problems) <= (1 - RIGHT) * len(MATRIX), "\n".join(problems)


@pytest.mark.parametrize("consumer", sorted({row.consumer for row in MATRIX}))
def test_nobody_gets_to_the_end_who_stops_or_is_misled(consumer: str) -> None:
    assert [row for row in MATRIX if row.consumer == consumer and promises_too_much(row)] == []


def test_the_page_shows_the_table() -> None:
    assert PAGE.read_text("utf-8") == matrix_page(MATRIX), "python -m tests.long.compat --page"
