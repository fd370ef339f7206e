"""A part of a log: some of its transactions, one table's changes, a few rows of each statement."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from forge.binlog.listing import assemble
from forge.binlog.reader import MAGIC, PlacedEvent, announced_size, check_magic, frames, read_events
from forge.binlog.window import LogSource, LogWindow, window_of
from forge.binlog.writer import GROUP_BOUNDARIES, write_binlog
from forge.errors import FormatError, ScenarioError
from forge.events.event import IN_USE, SIZE_OFFSET, Event, advance, decode_event
from forge.events.format import HEADER_SIZE, FormatContext
from forge.events.gtid import AnonymousGtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.plain import name_text
from forge.events.query import Query
from forge.events.start_v3 import StartV3
from forge.events.table_map import TableMap
from forge.events.transaction_payload import TransactionPayload
from forge.record.retold.log_parts import GTIDS, Document, Part, listed_parts, parts_of

_RANGE = re.compile(r"([1-9][0-9]*)(?:-([1-9][0-9]*))?")
_END = "STMT_END"
#: Bytes of a log of which a scenario is made.
_MOST = 1 << 24
_GTIDS = frozenset((33, 34, 42, 162))


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is kept of a log; None for all."""

    #: The first and the last transaction, counted from 1.
    first: int = 1
    last: int | None = None
    #: ``database.table``.
    table: str | None = None
    rows: int | None = None

    @property
    def is_all(self) -> bool:
        """Whether nothing is left out."""
        return self == Wanted()


def refuse_large(size: int) -> None:
    """Raise ScenarioError for a log of so many bytes if a scenario of all of it is more than anybody reads."""
    if size > _MOST:
        raise ScenarioError(
            f"the log has {size >> 20} MiB, and a scenario says at most {_MOST >> 20}",
            expected="a part of it (--only-transactions, --table, --rows-at-most)",
        )


def wanted(transactions: str | None, table: str | None, rows: int | None) -> Wanted:
    """What options say.  Raises ScenarioError."""
    first, last = 1, None
    if transactions is not None:
        found = _RANGE.fullmatch(transactions)
        if found is None or int(found[2] or found[1]) < int(found[1]):
            problem = f"{transactions!r} names no transactions"
            raise ScenarioError(problem, expected="numbers from 1 on, such as 3 or 1-3")
        first, last = int(found[1]), int(found[2] or found[1])
    if table is not None and "." not in table:
        raise ScenarioError(f"table {table!r} has no database", expected="a name such as shop.orders")
    return Wanted(first, last, table, rows)


def selected(source: LogSource, choice: Wanted) -> bytes:
    """The log with nothing but what is wanted; sizes, positions and checksums are those of the new file.

    What is behind the last wanted transaction is not read.  Raises FormatError for what is no binary log,
    ScenarioError if nothing is left.
    """
    window = window_of(source)
    window.reach(0, 4)
    check_magic(window.data)
    kept = list(_kept(window, choice))
    if not kept:
        raise FormatError("the log has no whole event", phase="framing", offset=len(MAGIC))
    events = [_loose(placed.event) for part in kept for placed in part.placed]
    if kept[-1].kind != "end":
        # The file is one that nobody has closed.
        events[0] = events[0].replace(flags=events[0].flags | IN_USE)
    data = write_binlog(events)
    if choice.table is not None or choice.rows is not None:
        parts, _ = listed_parts(data, read_events(data, strict=False))
        for part in parts:
            part.documents = list(_fewer(part, choice))
        if not any(part.kind == "group" and part.documents for part in parts):
            raise ScenarioError(f"no transaction changes {choice.table}", expected="a table of the log")
        documents = [document for part in parts for document in part.documents]
        data = assemble("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in documents))
    return data


def _kept(window: LogWindow, choice: Wanted) -> Iterator[Part]:
    has_gtids, number = False, 0
    for part in parts_of(_placed(window, choice)):
        if part.kind == "group":
            has_gtids = has_gtids or isinstance(part.placed[0].event.body, GTIDS)
            number += 1
            if not has_gtids and choice.last is not None and number > choice.last:
                return
            if (has_gtids or number >= choice.first) and (choice.table is None or _names(part, choice.table)):
                yield part
        elif part.kind == "head" or (part.kind == "end" and choice.last is None):
            yield part
    if not has_gtids and 0 < number < choice.first:
        raise _beyond(choice, number)


def _beyond(choice: Wanted, number: int) -> ScenarioError:
    return ScenarioError(f"the log has no transaction {choice.first}", expected=f"1 to {number}")


def _placed(window: LogWindow, choice: Wanted) -> Iterator[PlacedEvent]:
    """The events; of transactions that begin with a GTID event, those that can be wanted: others are not decoded."""
    window.reach(4, HEADER_SIZE)
    if window.data[8 - window.start] == StartV3.type_code:
        yield from read_events(window, strict=False)
        return
    name = b"" if choice.table is None else choice.table.partition(".")[2].encode()
    format, number = FormatContext(), 0
    for begin, end, index in _spans(window):
        data, start = window.data, window.start
        if data[begin - start + 4] in _GTIDS:
            number += 1
            if choice.last is not None and number > choice.last:
                return
            named = data.find(name, begin - start, end - start) >= 0 or _holds_payload(data, begin - start, end - start)
            if number < choice.first or not named:
                continue
        for frame in frames(LogWindow(None, data[begin - start : end - start], start=begin, end=end), begin, index):
            event = decode_event(frame.raw, frame.offset, format)
            yield PlacedEvent(frame.index, frame.offset, frame.raw, event, format)
            format = advance(format, event)
    if 0 < number < choice.first:
        raise _beyond(choice, number)


def _spans(window: LogWindow) -> Iterator[tuple[int, int, int]]:
    """Where each transaction that begins with a GTID event begins and ends, and the number of its first event; and the
    same of each event outside of them.  The window has all of it.
    """
    begin, first, offset, index = -1, 0, 4, 0
    data, start = window.data, window.start
    while True:
        at = offset - start
        origin = offset if begin < 0 else begin
        if at + HEADER_SIZE > len(data):
            if not window.reach(origin, offset - origin + HEADER_SIZE):
                break
            data, start = window.data, window.start
            at = offset - start
        size = int.from_bytes(data[at + SIZE_OFFSET : at + SIZE_OFFSET + 4], "little")
        if size < HEADER_SIZE:
            break
        if at + size > len(data):
            if not window.reach(origin, offset - origin + size):
                break
            data, start = window.data, window.start
            at = offset - start
        code = data[at + 4]
        if code in GROUP_BOUNDARIES:
            if begin >= 0:
                yield begin, offset, first
            begin, first = (offset, index) if code in _GTIDS else (-1, 0)
        if begin < 0:
            yield offset, offset + size, index
        offset, index = offset + size, index + 1
    if begin >= 0:
        yield begin, offset, first


def _holds_payload(data: bytes, at: int, end: int) -> bool:
    """Whether the second event from there on is a compressed transaction."""
    second = at + announced_size(data, at)
    return second + 4 < end and data[second + 4] == TransactionPayload.type_code


def _names(part: Part, table: str) -> bool:
    """Whether a group changes the table, or has a statement that names it."""
    name = re.compile(rf"\b{re.escape(table.partition('.')[2])}\b")
    for event in part.events():
        body = event.body
        if isinstance(body, TableMap) and f"{name_text(body.database)}.{name_text(body.table)}" == table:
            return True
        if isinstance(body, Query) and name.search(body.query):
            return True
    return False


def _loose(event: Event) -> Event:
    """The event without what its place and the length of its group say."""
    if isinstance(event.body, (AnonymousGtid, GtidTagged)) and event.body.transaction_length is not None:
        event = event.replace(body=event.body.replace(transaction_length=None))
    # MariaDB writes 0 inside transactions.
    return event.replace(event_size=None, checksum=None, log_pos=0 if event.log_pos == 0 else None)


def _fewer(part: Part, choice: Wanted) -> Iterator[Document]:
    """The documents of a part with the wanted rows; none of a group that has had rows, and has no wanted ones."""
    payload = next((one for one in part.documents if "events" in one), None)
    documents = part.documents if payload is None else payload["events"]
    made = list(_of_statements(documents, choice))
    if any("rows" in one for one in documents) and not any("rows" in one for one in made):
        return
    if payload is None:
        yield from made
    else:
        yield from ({**one, "events": made} if one is payload else one for one in part.documents)


def _of_statements(documents: list[Document], choice: Wanted) -> Iterator[Document]:
    open: list[Document] = []
    for document in documents:
        open.append(document)
        if "rows" not in document and document.get("event") in ("ROWS_QUERY", "ANNOTATE_ROWS", "TABLE_MAP"):
            continue
        if "rows" in document and _END not in document.get("row_flags", []):
            continue
        yield from _of_statement(open, choice)
        open = []
    yield from open


def _of_statement(documents: list[Document], choice: Wanted) -> list[Document]:
    """What one statement has left, with so many rows of the table."""
    others = {
        one["table_id"]
        for one in documents
        if one.get("event") == "TABLE_MAP" and choice.table not in (None, f"{one['database']}.{one['table']}")
    }
    left = choice.rows
    kept: list[Document] = []
    for one in documents:
        if one.get("table_id") in others:
            continue
        if "rows" in one:
            rows = one["rows"] if left is None else one["rows"][:left]
            left = None if left is None else left - len(rows)
            if not rows:
                continue
            one = {**one, "rows": rows, "row_flags": [flag for flag in one.get("row_flags", []) if flag != _END]}
        kept.append(one)
    last = next((one for one in reversed(kept) if "rows" in one), None)
    if last is None:
        return [] if any("rows" in one for one in documents) else kept
    last["row_flags"] = [_END, *last["row_flags"]]
    return [one if one.get("row_flags") != [] else {k: v for k, v in one.items() if k != "row_flags"} for one in kept]
