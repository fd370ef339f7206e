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
    """One object of :func:`forge.check.canonical.decode.canonical_events` as text, without a final newline."""
    moment = datetime.fromtimestamp(event["timestamp"], UTC).strftime("%Y-%m-%d %H:%M:%S")
    number = f"{event['index']}.{event['inner']}" if "inner" in event else str(event["index"])
    head = f"{number:>9} {event['offset']:>10}"
    line = f"{head}  {event['type']:<{_TYPE_WIDTH}} {moment}  server {event['server_id']:<4}  {_summary(event)}"
    return "\n".join([line.rstrip(), *_row_lines(event)])


def _summary(event: Mapping[str, Any]) -> str:
    fields = event["fields"]
    if "rows" in event:
        parts = [_rows_summary(event)]
    elif "raw" in fields:
        size = len(fields["raw"]) // 2
        does = {"read": "reads", "skip": "passes over", "stop": "stops at"}
        old, new = (does[event["readers"][which]] for which in ("old", "new"))
        unknown = "" if event["type"] in EVENT_NAMES.values() else ", unknown type"
        parts = [f"{size} bytes, not decoded{unknown}", f"an old reader {old} it, a new one {new} it"]
    else:
        parts = [_SUMMARIES[event["type"]](fields) if event["type"] in _SUMMARIES else ""]
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
    """SQL text on one line, otherwise as it is."""
    if isinstance(text, Mapping):
        return _text(text)
    return "".join(character if character.isprintable() else _escape(character) for character in " ".join(text.split()))


def _table_map(fields: Mapping[str, Any]) -> str:
    where = f"{_text(fields['database'])}.{_text(fields['table'])} = {fields['table_id']}"
    if "columns" not in fields:
        return f"{where}, {len(fields['types']) // 2} columns" + (f": {fields['note']}" if "note" in fields else "")
    columns = ", ".join(
        (f"{_text(column['name'])} " if "name" in column else "") + column["type"] for column in fields["columns"]
    )
    return f"{where} ({columns})"


def _query(fields: Mapping[str, Any]) -> str:
    return (f"[{_text(fields['database'])}] " if fields["database"] else "") + _line(fields["query"])


def _user_var(fields: Mapping[str, Any]) -> str:
    name, value = f"@{_text(fields['name'])}", fields["value"]
    if value is None:
        return f"{name} = NULL"
    if "hex" in value:
        return f"{name} = 0x{value['hex']}"
    if value["type"] != "STRING":
        return f"{name} = {value['value']}"
    return f"{name} = '{printable(value['value'])}' ({value['collation']['name']})"


def _load(fields: Mapping[str, Any]) -> str:
    columns = f" ({', '.join(map(_text, fields['columns']))})" if fields["columns"] else ""
    text = f"LOAD DATA {_text(fields['file_name'])} INTO {_text(fields['database'])}.{_text(fields['table'])}{columns}"
    return "  ".join([text, *map(str, fields["options"])]) + (f"  {_block(fields)}" if "file_id" in fields else "")


def _block(fields: Mapping[str, Any]) -> str:
    """A file of LOAD DATA, and how many bytes of it."""
    return f"file {fields['file_id']}" + (f", {len(fields['block']) // 2} bytes" if "block" in fields else "")


def _xa_prepare(fields: Mapping[str, Any]) -> str:
    word = "XA COMMIT ONE PHASE" if fields["one_phase"] else "XA PREPARE"
    return f"{word} X'{fields['gtrid']}',X'{fields['bqual']}',{fields['format_id']}"


def _words(fields: Mapping[str, Any]) -> str:
    return "  ".join(f"{name}={_text(value)}" for name, value in fields.items())


_SUMMARIES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "FORMAT_DESCRIPTION": lambda f: f"{_text(f['server_version'])}, checksums {f['checksum_algorithm'] or 'unknown'}",
    "QUERY": _query,
    "QUERY_COMPRESSED": _query,
    "EXECUTE_LOAD_QUERY": lambda f: f"{_query(f)}  {_block(f)}",
    "LOAD": _load,
    "CREATE_FILE": _load,
    "NEW_LOAD": _load,
    "BEGIN_LOAD_QUERY": _block,
    "APPEND_BLOCK": _block,
    "DELETE_FILE": _block,
    "EXEC_LOAD": _block,
    "XA_PREPARE": _xa_prepare,
    "BINLOG_CHECKPOINT": lambda f: _text(f["file_name"]),
    "GTID_LIST": lambda f: ", ".join(f["gtids"]) or "(empty)",
    "START_ENCRYPTION": lambda f: f"scheme {f['scheme']}, key version {f['key_version']}",
    "IGNORABLE": lambda f: f"{len(f['data']) // 2} bytes",
    "VIEW_CHANGE": lambda f: _text(f["view_id"]),
    "ROWS_QUERY": lambda f: _line(f["query"]),
    "ANNOTATE_ROWS": lambda f: _line(f["query"]),
    "GTID_TAGGED": lambda f: str(f["gtid"]),
    "MARIADB_GTID": lambda f: "  ".join([f["gtid"], *map(str, f["flags2"])]),
    "TRANSACTION_PAYLOAD": lambda f: f"{f['compression']}, {f['payload_size']} of {f['uncompressed_size']} bytes",
    "USER_VAR": _user_var,
    "GTID": lambda f: str(f["gtid"]),
    "PREVIOUS_GTIDS": lambda f: _text(f["gtid_set"]) or "(empty)",
    "TABLE_MAP": _table_map,
    "XID": lambda f: f"COMMIT, xid {f['xid']}",
    "ROTATE": lambda f: " ".join(f"{_text(value)}" for value in f.values()),
    "INTVAR": lambda f: f"{f['variable']} = {f['value']}",
    "RAND": _words,
    "INCIDENT": _words,
    "HEARTBEAT": lambda f: _text(f["file_name"]),
    "HEARTBEAT_V2": lambda f: _text(f["file_name"]),
}
