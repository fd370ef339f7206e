"""The log of a cell's source, as ``forge.build`` makes it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

import forge
from forge.binlog.logged import logged_events
from forge.errors import ForgeError
from forge.events.format import CHECKSUM_SIZE, HEADER_SIZE
from forge.events.format_description import FormatDescription
from forge.events.stop import Stop
from forge.scenario.matrix import base_scenario
from forge.servers import server_line
from tests.replay.cells import CLOCK, Cell, assigned, source_variables

_HEAD = """-- forge: server: {line}
-- forge: session: {{database: x, time_zone: '+00:00', row_metadata: {metadata}}}
"""
#: Bytes of a table's id.
_TABLE_ID = 6
_OF_ROWS = frozenset((19, 20, 21, 22, 23, 24, 25, 30, 31, 32, 39, *range(166, 172)))


def build_log(cell: Cell, line: str) -> bytes:
    """The log that a source of that line writes.  Raises ForgeError for what is refused."""
    before = [
        f"SET sql_mode = '', timestamp = {CLOCK}",
        "CREATE DATABASE x CHARACTER SET utf8mb4",
        *cell.created("src"),
    ]
    before += [f"INSERT INTO x.t VALUES {', '.join(cell.rows)}"] if cell.rows else []
    text = ";\n".join([*before, f"SET {assigned(source_variables(cell, line))}", *cell.dml])
    metadata = "none" if server_line(line).family == "mariadb" else "minimal"
    scenario = base_scenario(_HEAD.format(line=line, metadata=metadata) + f"{text};\n")
    groups = scenario.transactions
    scenario = msgspec.structs.replace(scenario, existing=groups[: len(before)], transactions=groups[len(before) :])
    return forge.build(scenario).data


def row_events(log: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and body of the events of rows, without the ids of tables, which a server counts up."""
    sum_size = 0
    for logged in logged_events(log):
        if isinstance(logged.body, FormatDescription):
            sum_size = CHECKSUM_SIZE if logged.body.checksum_algorithm else 0
        if logged.event.type_code in _OF_ROWS:
            yield logged.event.type_code, logged.raw[HEADER_SIZE + _TABLE_ID : len(logged.raw) - sum_size]


def log_of(cell: Cell, line: str) -> bytes:
    """The log of a source of that line: the kept one, else the built one.  Raises ForgeError for what is refused."""
    return cell.log(line) or build_log(cell, line)


def is_built(cell: Cell, line: str, log: bytes) -> bool:
    """Whether a built log has the row events of this one, and the same events at all if another line reads it."""
    try:
        built = build_log(cell, line)
    except ForgeError:
        return False
    return list(row_events(built)) == list(row_events(log)) and (not cell.source or _outline(built) == _outline(log))


def _outline(log: bytes) -> list[tuple[int, object]]:
    """Types of the events, but of the one that ends the file; and whether they have checksums."""
    events = [logged.event for logged in logged_events(log)]
    return [
        (event.type_code, event.body.checksum_algorithm if isinstance(event.body, FormatDescription) else None)
        for event in events
        if not isinstance(event.body, Stop)
    ]
