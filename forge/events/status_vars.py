"""Status variables of QUERY events: one table drives reading and writing (libs/mysql/binlog/event/statement_events.h).

A variable has a one-byte code and no length, so a reader that meets an unknown code must skip the rest of the block;
here that rest is kept as bytes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from construct import Array, Const, Int8ul, Int16ul, Int24ul, Int32ul, Int64ul, Sequence

from forge.events.giving import Part, giver_of
from forge.events.layout import Counted, ShortText, Span, ZeroTerminated
from forge.events.taking import Fields, LayoutError, take_number, taker_of

#: (name, value) in file order.  The value's shape is that of the variable's layout in STATUS_VARIABLES.
StatusVariables = tuple[tuple[str, Any], ...]

#: The name under which bytes after an unknown code are kept, the code included.
UNREAD = "unread"


class _Terminated(ShortText):
    """Text with a one-byte length."""

    def take(self, data: bytes, at: int, found: Any) -> tuple[str, int]:
        text, end = super().take(data, at, found)
        # The catalog of 5.0.0 - 5.0.3 ends with a NUL, unless it is empty.
        return (text, taker_of(Const(b"\0"))(data, end, found)[1]) if text else (text, end)

    def give(self, value: str, fields: Any) -> bytes:
        return super().give(value, fields) + (b"\0" if value else b"")


class _DatabaseNames(Part):
    """Up to 16 NUL-terminated names; 254 stands for "too many, or all" and no names follow."""

    OVER_MAX = 254

    def take(self, data: bytes, at: int, found: Any) -> tuple[Any, int]:
        count, start = take_number(data, at, 1)
        return (self.OVER_MAX, start) if count == self.OVER_MAX else _NAMES.take(data, at, found)

    def give(self, value: Any, fields: Any) -> bytes:
        return bytes([self.OVER_MAX]) if value == self.OVER_MAX else _NAMES.give(value, fields)

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.tuples_of(draws.names(), 16) | draws.st.just(self.OVER_MAX)


class _GtidFlags3(Part):
    """MariaDB: flags_extra of the GTID, with the start-alter's sequence number for COMMIT and ROLLBACK ALTER."""

    WITH_NUMBER = 0x04 | 0x08

    def take(self, data: bytes, at: int, found: Any) -> tuple[tuple[int, ...], int]:
        flags, at = take_number(data, at, 1)
        if not flags & self.WITH_NUMBER:
            return (flags,), at
        number, end = take_number(data, at, 8)
        return (flags, number), end

    def give(self, value: tuple[int, ...], fields: Any) -> bytes:
        return bytes([value[0]]) + b"".join(number.to_bytes(8, "little") for number in value[1:])

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.st.sampled_from(((2,), (4, 15), (16,)))


_Charsets = Array(3, Int16ul)
_Nothing = Sequence()
_NAMES = Counted(Int8ul, ZeroTerminated())

#: code -> (name, layout).  Servers write them in this order (CATALOG_NZ stands right after SQL_MODE).
STATUS_VARIABLES: dict[int, tuple[str, Any]] = {
    0: ("flags2", Int32ul),
    1: ("sql_mode", Int64ul),
    2: ("catalog_terminated", _Terminated()),
    6: ("catalog", ShortText()),
    3: ("auto_increment", Array(2, Int16ul)),
    4: ("charset", _Charsets),
    5: ("time_zone", ShortText()),
    7: ("lc_time_names", Int16ul),
    8: ("charset_database", Int16ul),
    9: ("table_map_for_update", Int64ul),
    10: ("master_data_written", Int32ul),
    11: ("invoker", Sequence(ShortText(), ShortText())),
    12: ("updated_databases", _DatabaseNames()),
    13: ("microseconds", Int24ul),
    # Of milestones of 5.7 only: 5.7.0 to 5.7.3, and 5.7.4 to 5.7.5.
    14: ("commit_timestamp", Int64ul),
    15: ("commit_timestamps", Array(2, Int64ul)),
    16: ("explicit_defaults_for_timestamp", Int8ul),
    17: ("ddl_xid", Int64ul),
    18: ("default_collation_for_utf8mb4", Int16ul),
    19: ("sql_require_primary_key", Int8ul),
    20: ("default_table_encryption", Int8ul),
    21: ("enable_cascade_triggers", Int8ul),
    128: ("hrnow", Int24ul),
    129: ("mariadb_ddl_xid", Int64ul),
    130: ("mariadb_gtid_flags", _GtidFlags3()),
    131: ("character_set_collations", Counted(Int8ul, Array(2, Int16ul))),
    # Of PolarDB-X alone: the global commit numbers of a transaction.
    200: ("commit_gcn", Int64ul),
    201: ("prepare_gcn", Int64ul),
    255: ("dummy", _Nothing),
}
#: Writing order (Query_log_event::write in sql/log_event.cc).
WRITING_ORDER = (
    "flags2", "sql_mode", "catalog", "character_set_collations", "auto_increment", "charset", "time_zone",
    "lc_time_names", "charset_database", "table_map_for_update", "invoker", "updated_databases", "microseconds",
    "explicit_defaults_for_timestamp", "ddl_xid", "hrnow", "mariadb_ddl_xid", "mariadb_gtid_flags",
    "default_collation_for_utf8mb4",
    "sql_require_primary_key", "default_table_encryption", "enable_cascade_triggers",
)  # fmt: skip
_CODES = {name: code for code, (name, _) in STATUS_VARIABLES.items()}


@lru_cache(maxsize=256)
def parse_status_variables(block: bytes) -> StatusVariables:
    """The variables of a block in file order; what cannot be read is kept as ("unread", bytes).

    Remembered: the statements of a session have the same block, or nearly.
    """
    at, fields = 0, Fields()
    variables: list[tuple[str, Any]] = []
    while at < len(block):
        try:
            name, layout = STATUS_VARIABLES[block[at]]
            value, end = taker_of(layout)(block, at + 1, fields)
        except (KeyError, LayoutError):
            variables.append((UNREAD, block[at:]))
            break
        variables.append((name, value))
        at = end
    return tuple(variables)


def build_status_variables(variables: StatusVariables) -> bytes:
    """The block's bytes.  Raises one of NOT_GIVEN for a name that is not in the table, and for a bad value."""
    parts, fields = [], Fields()
    for name, value in variables:
        if name == UNREAD:
            parts.append(value)
        else:
            code = _CODES[name]
            parts.append(bytes([code]) + giver_of(STATUS_VARIABLES[code][1])(value, fields))
    return b"".join(parts)


@lru_cache(maxsize=256)
def _kept_size(variables: StatusVariables) -> int:
    return len(build_status_variables(variables))


def size_of_variables(variables: StatusVariables) -> int:
    """The length of their block.  Raises as :func:`build_status_variables`."""
    try:
        return _kept_size(variables)
    except TypeError:  # a value that a scenario gives as a list
        return len(build_status_variables(variables))


class StatusBlock(Part):
    """``length(context)`` bytes of status variables."""

    def __init__(self, length: Any) -> None:
        super().__init__()
        self.span = Span(length)

    def take(self, data: bytes, at: int, found: Any) -> tuple[StatusVariables, int]:
        block, end = self.span.take(data, at, found)
        return parse_status_variables(block), end

    def give(self, value: StatusVariables, fields: Any) -> bytes:
        return build_status_variables(value)

    def labelled(self, walk: Any, name: str, flags: Any = None) -> StatusVariables:
        block: bytes = walk.read(self.span, name)
        end = walk.at
        inside = walk.inside(block)
        while inside.labels.at < len(block):
            code = block[inside.labels.at]
            if code not in STATUS_VARIABLES:
                break
            variable, layout = STATUS_VARIABLES[code]
            inside.labels.put(inside.labels.at + 1, f"{name}.{variable}.code", code, "code of the variable")
            if not inside.whole(layout, f"{name}.{variable}"):
                break
        inside.labels.rest(f"{name}.unread", rule="a variable that is not known: nothing says how long it is")
        walk.adopt(inside, end)
        return parse_status_variables(block)

    def drawn(self, draws: Any, fields: Any) -> Any:
        each = draws.st.one_of(
            *(
                draws.st.tuples(draws.st.just(name), draws.strategy_of(layout, fields))
                for name, layout in STATUS_VARIABLES.values()
            )
        )
        ending = draws.st.just(()) | draws.binary(9).map(lambda rest: ((UNREAD, b"\x7f" + rest),))
        return draws.st.builds(lambda variables, rest: (*variables, *rest), draws.tuples_of(each, 6), ending)
