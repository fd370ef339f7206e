"""A log's page: the object of ``--json``, and its tables as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, tzinfo
from typing import Any

import numpy as np

from forge.binlog.selection import Selection
from forge.bulk.reading.counts import TableCounts
from forge.bulk.reading.tables import Table
from forge.changed.log_info import SIZES, LogInfo, TransactionInfo
from forge.render.aligned import aligned
from forge.render.templates import render, visible

#: Statements and breaks that a page shows, and characters of a text.
_SHOWN, _WIDTH = 20, 100


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: a table, whose columns from ``numbers_from`` on are numbers."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    numbers_from: int = 99
    #: What stands below the table.
    more: str = ""


def info_object(info: LogInfo, events: Selection) -> dict[str, Any]:
    """All that is known, as JSON has it: numbers as numbers, times as seconds since the epoch."""
    transactions = {
        "count": info.transactions,
        "bytes": info.transaction_bytes,
        "sizes": [{"up_to": most, "count": n} for most, n in zip((*SIZES, None), info.sizes, strict=True)],
        "largest": None if info.largest is None else asdict(info.largest),
        "longest": None if info.longest is None else asdict(info.longest),
    }
    tables = [{"table": name, **_table_facts(counts)} for name, counts in _chosen(info, events)]
    numbers = info.gtids
    return {
        "files": [asdict(file) for file in info.files],
        "gtids": numbers.text(),
        "anonymous": numbers.anonymous,
        "transactions": transactions,
        "tables": tables,
        "statements": dict(info.statements),
        "texts": _texts(info, events),
        "settings": {name: dict(values) for name, values in info.session.values.items()},
        "breaks": {"count": numbers.broken, "first": [asdict(one) for one in numbers.breaks]},
        "events": dict(info.events),
        "problem": None if info.problem is None else str(info.problem),
    }


def _chosen(info: LogInfo, events: Selection) -> list[tuple[str, TableCounts]]:
    return [(name, counts) for name, counts in info.tables.items() if events.has_name(name)]


def _texts(info: LogInfo, events: Selection) -> list[dict[str, Any]]:
    return [one for one in info.texts if not events.tables or events.has_name(f"{one['database']}.")]


def _table_facts(counts: TableCounts) -> dict[str, Any]:
    facts: dict[str, Any] = {
        word: {"rows": count.rows, "events": count.events, "bytes": count.bytes}
        for word, count in counts.by_operation.items()
    }
    if counts.definitions:
        facts["columns"] = len(counts.definitions[-1].columns)
        facts["definitions"] = len(counts.definitions)
        facts["metadata"] = _metadata(counts.definitions[-1])
        facts["images"] = "full" if all(map(_is_full, counts.definitions)) else "some columns"
    return facts


def _metadata(table: Table) -> str:
    if any(column.name is not None for column in table.columns):
        return "full"
    told = any(column.unsigned is not None or column.collation is not None for column in table.columns)
    return "minimal" if told else "none"


def _is_full(table: Table) -> bool:
    """Whether all images have all columns."""
    return bool(np.isin(table.layouts.present_counts, (-1, len(table.columns))).all())


def sections(info: LogInfo, events: Selection, zone: tzinfo) -> Iterator[Section]:
    """The page, in its order."""
    files = [
        (visible(file.name), file.server, file.checksums, f"{_moment(file.first, zone)} to {_moment(file.last, zone)}",
         f"{file.events:,}", f"{file.bytes:,}")
        for file in info.files
    ]  # fmt: skip
    yield Section("Files", ("file", "server", "checksums", "times", "events", "bytes"), files, 4)
    yield from _transaction_sections(info)
    rows = []
    for name, counts in _chosen(info, events):
        facts = _table_facts(counts)
        numbers = [f"{count.rows:,}" for count in counts.by_operation.values()]
        size = sum(count.bytes for count in counts.by_operation.values())
        told = (facts.get("metadata", "-"), facts.get("images", "-"))
        rows.append((visible(name), *told, *numbers, f"{size:,}"))
    if rows:
        head = ("table", "metadata", "images", "inserted", "updated", "deleted", "bytes")
        yield Section("Tables, by changed rows", head, rows, 3)
    if info.statements:
        counted = [(visible(verb), f"{count:,}") for verb, count in info.statements.most_common(_SHOWN)]
        yield Section("Statements as text", ("statement", "count"), counted, 1)
        yield from _text_section(info, events, zone)
    settings = [
        (name, value, f"{count:,}")
        for name, values in info.session.values.items()
        for value, count in values.most_common()
    ]
    if settings:
        yield Section("Settings of BEGIN", ("setting", "value", "transactions"), settings, 2)
    broken = [
        (visible(one.file), str(one.offset), one.of, f"{one.expected:,}", f"{one.found:,}")
        for one in info.gtids.breaks[:_SHOWN]
    ]
    if broken:
        rest = info.gtids.broken - len(broken)
        columns = ("file", "offset", "number of", "expected", "found")
        yield Section("Numbers that do not follow", columns, broken, 3, f"and {rest:,} more" if rest else "")


def _transaction_sections(info: LogInfo) -> Iterator[Section]:
    rows = [("number", f"{info.transactions:,}")]
    if info.transactions:
        rows.append(("bytes, on average", f"{info.transaction_bytes // info.transactions:,}"))
    for word, one in (("largest", info.largest), ("longest", info.longest)):
        if one is not None:
            rows.append((word, _described(one)))
    edges = ["up to " + f"{most:,}" for most in SIZES] + [f"over {SIZES[-1]:,}"]
    rows += [(f"{edge} bytes", f"{count:,}") for edge, count in zip(edges, info.sizes, strict=True) if count]
    yield Section("Transactions", ("", ""), rows)
    if info.gtids.runs:
        yield Section("GTIDs", ("",), [(part,) for part in info.gtids.text().split(",")])
    if info.gtids.anonymous:
        yield Section("Anonymous transactions", ("",), [(f"{info.gtids.anonymous:,}",)])


def _described(one: TransactionInfo) -> str:
    gtid = "" if one.gtid is None else f", GTID {one.gtid}"
    return f"{one.bytes:,} bytes in {one.seconds:,} s, at {one.offset} of {visible(one.file)}{gtid}"


def _text_section(info: LogInfo, events: Selection, zone: tzinfo) -> Iterator[Section]:
    texts = _texts(info, events)
    rows = []
    for one in texts[:_SHOWN]:
        text = visible(" ".join(one["text"].split()))
        shown = text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."
        rows.append((_moment(one["timestamp"], zone), str(one["offset"]), visible(one["database"]), shown))
    if rows:
        rest = len(texts) - len(rows)
        yield Section(
            "The first of them", ("time", "offset", "database", "text"), rows, 99, f"and {rest:,} more" if rest else ""
        )


def _moment(seconds: int | None, zone: tzinfo) -> str:
    return "-" if seconds is None else datetime.fromtimestamp(seconds, zone).strftime("%Y-%m-%d %H:%M:%S")


def text_page(parts: Sequence[Section]) -> Iterator[str]:
    """The page as lines of text."""
    for number, part in enumerate(parts):
        if number:
            yield ""
        yield part.title
        rows = [part.head, *part.rows] if any(part.head) else part.rows
        yield from (f"  {line}" for line in aligned(rows, numbers_from=part.numbers_from))
        if part.more:
            yield f"  {part.more}"


def html_page(title: str, parts: Sequence[Section]) -> str:
    """The page as HTML that needs nothing but itself."""
    return render("info/page.html.j2", title=title, sections=parts)
