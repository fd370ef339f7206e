"""The server line of a log, and the settings that its events show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from forge.binlog.reader import PlacedEvent
from forge.charsets import collation, find_collation
from forge.errors import ForgeError
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.format_description import FormatDescription
from forge.events.gtid import Gtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.mariadb_compressed import COMPRESSED_ROWS, QueryCompressed
from forge.events.query import Query
from forge.events.rotate import Rotate
from forge.events.row_image import OLD_TEMPORALS, images_of, present_columns
from forge.events.rows import ROWS_BODIES
from forge.events.rows_query import AnnotateRows, RowsQuery
from forge.events.start_v3 import StartV3
from forge.events.stop import Stop
from forge.events.table_map import TableMap
from forge.events.transaction_payload import TransactionPayload
from forge.plan.sql_modes import mode_text
from forge.record.retold.log_parts import Part
from forge.servers import ServerLine, locale_names, server_line, server_names
from forge.values.wire_types import WireType

_PLAIN = re.compile(r"(mysql|mariadb)-[0-9.]+")
_FILE = re.compile(r"(?P<name>[^./]+)\.(?P<number>[0-9]{6})")
CHANGES = re.compile(r"\s*(?:/\*.*?\*/\s*)*(INSERT|REPLACE|UPDATE|DELETE)\b", re.IGNORECASE | re.DOTALL)
_BLOBS = (WireType.BLOB, WireType.JSON, WireType.GEOMETRY)
#: Bits of the status variable flags2, and whether a set bit makes the setting false.
_FLAGS = {
    "sql_auto_is_null": (1 << 14, False),
    "check_constraint_checks": (1 << 15, True),
    "foreign_key_checks": (1 << 26, True),
    "unique_checks": (1 << 27, True),
}
#: What a session has whose events do not say it.
_USUAL = {"auto_increment": (1, 1), "lc_time_names": 0, "charset_database": None}


def line_of(first: PlacedEvent) -> str:
    """The line whose log begins with that event: the one of its release, or the latest before."""
    body = first.event.body
    if not isinstance(body, (FormatDescription, StartV3)):
        return "mysql-9.7"
    version = body.server_version
    family = "mariadb" if first.format.mariadb or "mariadb" in version.lower() else "mysql"
    numbers = re.findall(r"[0-9]+", version.split("-")[-2] if version.startswith("5.5.5-") else version)
    wanted = tuple(map(int, (*numbers[:3], 0, 0, 0)))[:3]
    begin = re.compile(rf"{family}-{wanted[0]}\.{wanted[1]}(?![0-9])")
    names = [name for name in server_names() if begin.match(name)]
    lines = [server_line(name) for name in names or server_names() if name.startswith(family)]
    same = [line for line in lines if _PLAIN.fullmatch(line.name)] or lines
    below = [line for line in same if line.release <= wanted]
    found = max(below, key=_release) if below else min(same, key=_release)
    if isinstance(body, FormatDescription) and found.post_header_bytes != bytes(body.post_header_lengths):
        # A fork has event types of its own.
        forks = [line for line in lines if line.post_header_bytes == bytes(body.post_header_lengths)]
        found = next(iter(forks), found)
    return found.name


def _release(line: ServerLine) -> tuple[int, ...]:
    return tuple(line.release)


def session_of(parts: Sequence[Part], line: ServerLine, file: str) -> dict[str, Any]:
    """The settings of the whole log."""
    first, last = parts[0].placed[0].event, parts[-1].placed[-1].event
    found: dict[str, Any] = {}
    if (named := _FILE.fullmatch(file)) is not None:
        found |= {"log_name": named["name"], "first_file": int(named["number"])}
    if first.server_id != 1:
        found["server_id"] = first.server_id
    if isinstance(first.body, FormatDescription):
        found["checksum"] = "crc32" if first.body.checksum_algorithm == 1 else "none"
    if not isinstance(last.body, Stop):
        found["ends_with"] = "rotate" if isinstance(last.body, Rotate) else "nothing"
    bodies = [event.body for part in parts for event in part.events()]
    groups = [part for part in parts if part.kind == "group"]
    if any(isinstance(body, (Gtid, GtidTagged)) for body in bodies):
        found["gtid"] = True
    tags = {body.tag for body in bodies if isinstance(body, GtidTagged)}
    if len(tags) == 1 and not any(isinstance(body, Gtid) for body in bodies):
        found["gtid_tag"] = tags.pop()
    found |= _of_rows(bodies, line)
    if any(isinstance(body, ExecuteLoadQuery) or (isinstance(body, Query) and changes_rows(body)) for body in bodies):
        found["binlog_format"] = "mixed" if any(isinstance(body, ROWS_BODIES) for body in bodies) else "statement"
    if any(isinstance(one.event.body, TransactionPayload) for part in groups for one in part.placed):
        found |= {"compression": True} | _payload(groups)
    if any(isinstance(one.event.body, (QueryCompressed, *COMPRESSED_ROWS)) for part in groups for one in part.placed):
        found["log_bin_compress"] = True
    return found


def _payload(groups: Sequence[Part]) -> dict[str, Any]:
    levels = {one.get("level", 3) for part in groups for one in part.documents if "events" in one}
    return {"compression_level": levels.pop()} if len(levels) == 1 and levels != {3} else {}


def _of_rows(bodies: Sequence[Any], line: ServerLine) -> dict[str, Any]:
    """What row events and table maps show."""
    found: dict[str, Any] = {}
    maps = [body for body in bodies if isinstance(body, TableMap)]
    if any(isinstance(body, (RowsQuery, AnnotateRows)) for body in bodies):
        found["rows_query"] = True
    records = [body.records() for body in maps]
    if any("column_name" in one for one in records):
        found["row_metadata"] = "full"
    elif line.table_map.metadata_can_be_off and maps and not any(records):
        found["row_metadata"] = "none"
    image = _row_image(bodies)
    if image != "full":
        found["row_image"] = image
    are_old = any(code in OLD_TEMPORALS for body in maps for code in body.types)
    if are_old and line.knows("mysql56_temporal_format"):
        found["mysql56_temporal_format"] = False
    rows = [body for body in bodies if isinstance(body, ROWS_BODIES)]
    if (
        rows
        and line.rows.version == 2
        and line.knows("use_v1_row_events")
        and all(body.type_name.endswith("_V1") for body in rows)
    ):
        found["log_bin_use_v1_row_events"] = True
    return found


def _row_image(bodies: Sequence[Any]) -> str:
    """``minimal`` if an image has no other column than a BLOB left out, ``noblob``, or ``full``."""
    types: dict[int, bytes] = {}
    image = "full"
    for body in bodies:
        if isinstance(body, TableMap):
            types[body.table_id] = bytes(body.types)
        elif isinstance(body, ROWS_BODIES) and body.table_id in types:
            known = types[body.table_id]
            for bitmap in images_of(body):
                if bitmap is None or len(present_columns(bitmap, body.width)) == body.width != len(known):
                    continue
                present = present_columns(bitmap, min(body.width, len(known)))
                missing = set(range(len(known))) - set(present)
                if any(known[index] not in _BLOBS for index in missing):
                    return "minimal"
                if missing:
                    image = "noblob"
    return image


def changes_rows(query: Query) -> bool:
    """Whether a statement that changes rows is logged as its text."""
    return CHANGES.match(query.query) is not None


def settings_of(query: Query, line: ServerLine) -> dict[str, Any]:
    """The session's settings that the status variables of a QUERY event show."""
    variables = {**_USUAL, **dict(query.status_variables)}
    found: dict[str, Any] = {}
    if "flags2" in variables:
        found |= {name: bool(variables["flags2"] & bit) != turned for name, (bit, turned) in _FLAGS.items()}
    if "sql_mode" in variables:
        found["sql_mode"] = mode_text(variables["sql_mode"], line)
    if "charset" in variables:
        found |= _charsets(variables["charset"], line)
    if "time_zone" in variables:
        found["time_zone"] = variables["time_zone"]
    names = "auto_increment_increment", "auto_increment_offset"
    found |= dict(zip(names, variables["auto_increment"], strict=True))
    if variables["lc_time_names"] < len(locale_names()):
        found["lc_time_names"] = locale_names()[variables["lc_time_names"]]
    database, default = variables["charset_database"], variables.get("default_collation_for_utf8mb4")
    found["collation_database"] = None if database is None else _name(database, line)
    if default is not None:
        usual = default == line.query.default_collation_for_utf8mb4
        found["default_collation_for_utf8mb4"] = None if usual else _name(default, line)
    return found


def _charsets(numbers: Sequence[int], line: ServerLine) -> dict[str, Any]:
    client, connection, server = numbers
    found: dict[str, Any] = {}
    try:
        if (client, connection) == tuple(line.query.client_charset[:2]):
            found["names"] = None
        elif collation(client, line.name).charset == collation(connection, line.name).charset:
            found["names"] = collation(connection, line.name).name
        if server == line.query.client_charset[2]:
            found["collation_server"] = None
        else:
            found["collation_server"] = collation(server, line.name).name
    except ForgeError:
        return {}
    return found


def _name(number: int, line: ServerLine) -> str | None:
    known = find_collation(number, line.name)
    return None if known is None else known.name
