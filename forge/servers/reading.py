"""What a reader of a server line does with an event of some type: read it, pass over it, or stop.

By WL#4033 a reader passes over an event of a type that it does not know if the event has the flag IGNORABLE, and
stops otherwise; readers of before (5.1, 5.5) know no such flag.  Recorded on mysqlbinlog 9.7 and mariadb-binlog 10.11
and 11.8, and on replicas of 9.7 and 10.11.
"""

from __future__ import annotations

from typing import Literal

from forge.servers.features import Family, feature
from forge.servers.line import ServerLine
from forge.servers.loading import server_line, server_names

Reading = Literal["read", "skip", "stop"]

#: The features that a reader needs for events of a type; types up to 26 without an entry are as old as the format.
TYPE_FEATURES: dict[int, tuple[str, ...]] = {
    19: ("row_events",),
    **dict.fromkeys((20, 21, 22), ("row_events",)),
    **dict.fromkeys((23, 24, 25), ("row_events", "rows_v1")),
    29: ("rows_query",),
    **dict.fromkeys((30, 31, 32), ("rows_v2",)),
    **dict.fromkeys((33, 35), ("gtid",)),
    34: ("anonymous_gtid",),
    **dict.fromkeys((36, 37), ("transaction_context",)),
    38: ("xa_prepare",),
    39: ("partial_json",),
    40: ("compression",),
    41: ("heartbeat_v2",),
    42: ("gtid_tags",),
    160: ("annotate_rows",),
    **dict.fromkeys((161, 162, 163), ("mariadb_gtid",)),
    164: ("start_encryption",),
    **dict.fromkeys(range(165, 172), ("compressed_events",)),
}
_FIRST_TYPES = 26
#: The last line without WL#4033, and the newest line of each family.
OLD_LINE = "mysql-5.5"


def knows_type(line: ServerLine, type_code: int) -> bool:
    """Whether readers of the line decode events of this type in a file."""
    if type_code in line.framing.unread_types:
        return False
    names = TYPE_FEATURES.get(type_code)
    if names is None:
        return 1 <= type_code <= _FIRST_TYPES
    return all(line.knows(name) for name in names)


def reading(line: ServerLine, type_code: int, *, ignorable: bool) -> Reading:
    """What the rules ask of a reader of that line; ``ignorable`` is the event's flag.

    Real readers do less in two cases, see :func:`stops_all_the_same`.
    """
    if knows_type(line, type_code):
        return "read"
    if any(feature(name).reaction(line.family).effect == "ignore" for name in TYPE_FEATURES.get(type_code, ())):
        return "skip"
    return "skip" if ignorable and line.knows("ignorable") else "stop"


def stops_all_the_same(line: ServerLine, type_code: int, types: int) -> str | None:
    """Why a real reader stops at an event that is marked as ignorable; None if it does not.

    ``types`` is how many types the file's FORMAT_DESCRIPTION lists.  Recorded: all readers refuse types beyond that
    list, whatever their flags; MySQL takes the type for a signed byte and refuses those from 128 on.
    """
    if type_code > types:
        return f"type {type_code} is beyond the {types} types that the file's FORMAT_DESCRIPTION lists"
    if line.framing.signed_types and type_code >= 128:
        return f"type {type_code} is taken for a negative number"
    return None


def newest_line(family: Family) -> ServerLine:
    """The newest line of a family."""
    lines = [line for line in map(server_line, server_names()) if line.family == family]
    return max(lines, key=lambda line: line.release)
