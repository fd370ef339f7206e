"""The canonical decode for people: a line an event, a line a row image, in columns.

::

        3        235  QUERY          2026-11-20 19:44:32  server 1     [t] CREATE DATABASE t
        9        979  WRITE_ROWS     2024-02-29 12:34:56  server 1     insert t.ints, 1 row  STMT_END
                      + a=-128 b=255 y=2155

An event inside a compressed transaction has the number of that one, a point and its own.
``+`` is a new row, ``-`` a deleted one, ``<`` and ``>`` an updated row before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from forge.events.registry import EVENT_NAMES

_INDENT = " " * 21
_TYPE_WIDTH = 25
#: Types whose values are shown in quotes.
_QUOTED = ("CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM", "SET", "JSON")
_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\", "'": r"\'"}


def render_text(event: Mapping[str, Any]) -> str:
    """One object of :func:`forge.check.canonical.canonical_events` as text, without a final newline."""
    moment = datetime.fromtimestamp(event["timestamp"], UTC).strftime("%Y-%m-%d %H:%M:%S")
    number = f"{event['index']}.{event['inner']}" if "inner" in event else str(event["index"])
    head = f"{number:>9} {event['offset']:>10}"
    line = f"{head}  {event['type']:<{_TYPE_WIDTH}} {moment}  server {event['server_id']:<4}  {_summary(event)}"
    return "\n".join([line.rstrip(), *_row_lines(event)])


def _summary(event: Mapping[str, Any]) -> str:
    fields = event["fields"]
    parts = [_SUMMARIES[event["type"]](fields) if event["type"] in _SUMMARIES else ""]
    if "rows" in event:
        parts = [_rows_summary(event)]
    if "raw" in fields:
        size = len(fields["raw"]) // 2
        parts = [f"{size} bytes, not decoded" + ("" if event["type"] in EVENT_NAMES.values() else ", unknown type")]
        parts.append("an old reader has to {old}, a new one to {new} it".format(**event["readers"]))
    parts += [str(flag) for flag in [*fields.get("row_flags", ()), *event["flags"]]]
    if event["checksum"]["valid"] is False:
        parts.append("CHECKSUM WRONG")
    return "  ".join(part for part in parts if part)


def _rows_summary(event: Mapping[str, Any]) -> str:
    kind = event["type"].partition("_")[0].replace("PARTIAL", "UPDATE").lower().replace("write", "insert")
    where = f"{_text(event['database'])}.{_text(event['table'])}" if "table" in event else "nothing"
    if "raw_rows" in event:
        return f"{kind} {where}, {len(event['raw_rows']) // 2} bytes not decoded: {event['note']}"
    count = len(event["rows"])
    return f"{kind} {where}, {count} row{'' if count == 1 else 's'}"


def _row_lines(event: Mapping[str, Any]) -> Iterator[str]:
    for row in event.get("rows", ()):
        marks = ("<", ">") if row["before"] is not None and row["after"] is not None else ("-", "+")
        for mark, image in zip(marks, (row["before"], row["after"]), strict=True):
            if image is not None:
                shown = " ".join(_cell(cell) for cell in image) or "(no columns)"
                yield f"{_INDENT} {mark} {shown}"


def _cell(cell: Mapping[str, Any]) -> str:
    name = _text(cell["name"]) if "name" in cell else f"@{cell['column']}"
    if "hex" in cell:
        return f"{name}=0x{cell['hex']}" + ("?" if "note" in cell else "")
    if "diffs" in cell:
        diffs = (f"{diff['operation']} {diff['path']} {diff.get('value', '')}".rstrip() for diff in cell["diffs"])
        return f"{name}={{{printable('; '.join(diffs))}}}"
    if cell["value"] is None:
        return f"{name}=NULL"
    quoted = cell["type"].partition("(")[0].partition(" ")[0] in _QUOTED
    return f"{name}=" + (f"'{printable(cell['value'])}'" if quoted else cell["value"])


def printable(text: str) -> str:
    """Text that cannot break a line or drive a terminal."""
    return "".join(
        _ESCAPES.get(character) or (character if character.isprintable() else _escape(character)) for character in text
    )


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{{{code:x}}}"


def _text(text: Any) -> str:
    """Text of a field, which may be ``{"hex": ...}``."""
    return f"0x{text['hex']}" if isinstance(text, Mapping) else printable(str(text))


def _line(text: Any) -> str:
    """SQL text on one line."""
    return " ".join(_text(text).replace(r"\n", " ").replace(r"\'", "'").split())


def _table_map(fields: Mapping[str, Any]) -> str:
    where = f"{_text(fields['database'])}.{_text(fields['table'])} = {fields['table_id']}"
    if "columns" not in fields:
        return f"{where}, {len(fields['types']) // 2} columns" + (f": {fields['note']}" if "note" in fields else "")
    columns = ", ".join(
        (f"{_text(column['name'])} " if "name" in column else "") + column["type"] for column in fields["columns"]
    )
    return f"{where} ({columns})"


_SUMMARIES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "FORMAT_DESCRIPTION": lambda f: f"{_text(f['server_version'])}, checksums {f['checksum_algorithm'] or 'unknown'}",
    "QUERY": lambda f: (f"[{_text(f['database'])}] " if f["database"] else "") + _line(f["query"]),
    "QUERY_COMPRESSED": lambda f: (f"[{_text(f['database'])}] " if f["database"] else "") + _line(f["query"]),
    "ROWS_QUERY": lambda f: _line(f["query"]),
    "ANNOTATE_ROWS": lambda f: _line(f["query"]),
    "GTID_TAGGED": lambda f: str(f["gtid"]),
    "MARIADB_GTID": lambda f: "  ".join([f["gtid"], *map(str, f["flags2"])]),
    "TRANSACTION_PAYLOAD": lambda f: f"{f['compression']}, {f['payload_size']} of {f['uncompressed_size']} bytes",
    "USER_VAR": lambda f: f"@{_text(f['name'])}",
    "GTID": lambda f: str(f["gtid"]),
    "PREVIOUS_GTIDS": lambda f: _text(f["gtid_set"]) or "(empty)",
    "TABLE_MAP": _table_map,
    "XID": lambda f: f"COMMIT, xid {f['xid']}",
    "ROTATE": lambda f: " ".join(f"{_text(value)}" for value in f.values()),
    "INTVAR": lambda f: " ".join(f"{name}={_text(value)}" for name, value in f.items()),
    "RAND": lambda f: " ".join(f"{name}={value}" for name, value in f.items()),
    "INCIDENT": lambda f: " ".join(f"{name}={_text(value)}" for name, value in f.items()),
    "HEARTBEAT": lambda f: " ".join(_text(value) for value in f.values()),
}
