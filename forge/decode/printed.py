"""The canonical decode for people: a line an event, a line a row image, in columns.

::

        3        235  QUERY          2026-11-20 19:44:32  server 1     [t] CREATE DATABASE t
        9        979  WRITE_ROWS     2024-02-29 12:34:56  server 1     insert t.ints, 1 row  STMT_END
                      + a=-128 b=255 y=2155

An event inside a compressed transaction has the number of that one, a point and its own.
``+`` is a new row, ``-`` a deleted one, ``<`` and ``>`` an updated row before and after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from forge.errors import counted
from forge.events.plain import printable, words
from forge.events.registry import EVENT_NAMES, EVENT_TYPES
from forge.values.registry import column_types

INDENT = " " * 21
_TYPE_WIDTH = 25


def render_text(event: Mapping[str, Any]) -> str:
    """One object of :func:`forge.decode.decode.canonical_events` as text, without a final newline."""
    return "".join(text_pieces(event))


def text_pieces(event: Mapping[str, Any]) -> Iterator[str]:
    """As :func:`render_text`, a cell at a time."""
    number = f"{event['index']}.{event['inner']}" if "inner" in event else str(event["index"])
    head = f"{number:>9} {event['offset']:>10}"
    line = f"{head}  {origin(event['type'], event['timestamp'], event['server_id'])}  {summary(event)}"
    yield line.rstrip()
    yield from _row_pieces(event)


@lru_cache(maxsize=4096)
def origin(type_name: str, seconds: int, server_id: int) -> str:
    """What a line says of the event's header."""
    moment = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return f"{type_name:<{_TYPE_WIDTH}} {moment}  server {server_id:<4}"


def summary(event: Mapping[str, Any]) -> str:
    """What a line says of the event itself."""
    fields = event["fields"]
    if "rows" in event:
        parts = [_rows_summary(event)]
    elif "raw" in fields:
        size = len(fields["raw"]) // 2
        does = {"read": "reads", "skip": "skips", "stop": "stops at"}
        old, new = (does[event["readers"][which]] for which in ("old", "new"))
        unknown = "" if event["type"] in EVENT_NAMES.values() else ", unknown type"
        parts = [f"{size} bytes, not decoded{unknown}", f"an old reader {old} it, a new one {new} it"]
    else:
        parts = [EVENT_TYPES[event["type_code"]].summary(fields)]
    parts += [str(flag) for flag in [*fields.get("row_flags", ()), *event["flags"]]]
    if event["checksum"]["valid"] is False:
        parts.append("CHECKSUM WRONG")
    return "  ".join(part for part in parts if part)


def _rows_summary(event: Mapping[str, Any]) -> str:
    kind = event["type"].partition("_")[0].replace("PARTIAL", "UPDATE").lower().replace("write", "insert")
    where = f"{words(event['database'])}.{words(event['table'])}" if "table" in event else "nothing"
    if "raw_rows" in event:
        return f"{kind} {where}, {len(event['raw_rows']) // 2} bytes not decoded: {event['note']}"
    return f"{kind} {where}, {counted(len(event['rows']), 'row')}"


def _row_pieces(event: Mapping[str, Any]) -> Iterator[str]:
    for row in event.get("rows", ()):
        marks = ("<", ">") if row["before"] is not None and row["after"] is not None else ("-", "+")
        for mark, image in zip(marks, (row["before"], row["after"]), strict=True):
            if image is not None:
                yield f"\n{INDENT} {mark}"
                for cell in image:
                    yield " "
                    yield _cell(cell)
                if not image:
                    yield " (no columns)"


def _cell(cell: Mapping[str, Any]) -> str:
    name = cell.get("name")
    name = f"@{cell['column']}" if name is None else _name(name) if name.__class__ is str else words(name)
    if "hex" in cell:
        return f"{name}=0x{cell['hex']}" + ("?" if "note" in cell else "")
    if "diffs" in cell:
        diffs = (f"{diff['operation']} {diff['path']} {diff.get('value', '')}".rstrip() for diff in cell["diffs"])
        return f"{name}={{{printable('; '.join(diffs))}}}"
    if cell["value"] is None:
        return f"{name}=NULL"
    return f"{name}='{printable(cell['value'])}'" if is_quoted(cell["type"]) else f"{name}={cell['value']}"


_name = lru_cache(maxsize=1024)(words)


@lru_cache(maxsize=1024)
def is_quoted(type_name: str) -> bool:
    """Whether values of the type are shown in quotes."""
    sql_type = column_types().get(type_name.partition("(")[0].partition(" ")[0])
    return sql_type is not None and (sql_type.facts.has_charset or sql_type.facts.is_json)
