"""Status variables of QUERY events: one table drives reading and writing (libs/mysql/binlog/event/statement_events.h).

A variable has a one-byte code and no length, so a reader that meets an unknown code must skip the rest of the block;
here that rest is kept as bytes.
"""

from __future__ import annotations

import io
from functools import lru_cache
from typing import Any

from construct import (
    Array,
    ConstructError,
    FormatFieldError,
    Int8ul,
    Int16ul,
    Int24ul,
    Int32ul,
    Int64ul,
    PrefixedArray,
    Sequence,
)

from forge.events.giving import Part
from forge.events.layout import Span, as_tuples, read_exactly
from forge.events.plain import to_bytes, to_text
from forge.events.taking import Take, bytes_taker
from forge.values.quick import UnusualError

#: (name, value) in file order.  The value's shape is that of the variable's layout in STATUS_VARIABLES.
StatusVariables = tuple[tuple[str, Any], ...]

#: The name under which bytes after an unknown code are kept, the code included.
UNREAD = "unread"


class _Counted(Part):
    """Text with a one-byte length."""

    def __init__(self, terminated: bool = False) -> None:
        super().__init__()
        self.terminated = terminated

    def _parse(self, stream: Any, context: Any, path: str) -> str:
        length = Int8ul.parse_stream(stream)
        text = to_text(read_exactly(stream, length, path))
        # The catalog of 5.0.0 - 5.0.3 ends with a NUL, unless it is empty.
        if self.terminated and length and stream.read(1) != b"\0":
            raise FormatFieldError("catalog without its NUL", path=path)
        return text

    def give(self, value: str, fields: Any) -> bytes:
        text = to_bytes(value)
        return bytes(Int8ul.build(len(text)) + text + (b"\0" if self.terminated and text else b""))

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.texts()


class _DatabaseNames(Part):
    """Up to 16 NUL-terminated names; 254 stands for "too many, or all" and no names follow."""

    OVER_MAX = 254

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        count = Int8ul.parse_stream(stream)
        if count == self.OVER_MAX:
            return self.OVER_MAX
        return tuple(_read_name(stream, path) for _ in range(count))

    def give(self, value: Any, fields: Any) -> bytes:
        if value == self.OVER_MAX:
            return bytes([self.OVER_MAX])
        return bytes(Int8ul.build(len(value))) + b"".join(to_bytes(name) + b"\0" for name in value)

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.tuples_of(draws.names(), 16) | draws.st.just(self.OVER_MAX)


def _read_name(stream: Any, path: str) -> str:
    name = bytearray()
    while (byte := stream.read(1)) != b"\0":
        if not byte:
            raise FormatFieldError("database name without its NUL", path=path)
        name += byte
    return to_text(bytes(name))


class _GtidFlags3(Part):
    """MariaDB: flags_extra of the GTID, with the start-alter's sequence number for COMMIT and ROLLBACK ALTER."""

    WITH_NUMBER = 0x04 | 0x08

    def _parse(self, stream: Any, context: Any, path: str) -> tuple[int, ...]:
        flags = int(Int8ul.parse_stream(stream))
        return (flags, int(Int64ul.parse_stream(stream))) if flags & self.WITH_NUMBER else (flags,)

    def give(self, value: tuple[int, ...], fields: Any) -> bytes:
        return bytes(Int8ul.build(value[0])) + b"".join(Int64ul.build(number) for number in value[1:])

    def drawn(self, draws: Any, fields: Any) -> Any:
        return draws.st.sampled_from(((2,), (4, 15), (16,)))


_Charsets = Array(3, Int16ul)
_Nothing = Sequence()

#: code -> (name, layout).  Servers write them in this order (CATALOG_NZ stands right after SQL_MODE).
STATUS_VARIABLES: dict[int, tuple[str, Any]] = {
    0: ("flags2", Int32ul),
    1: ("sql_mode", Int64ul),
    2: ("catalog_terminated", _Counted(terminated=True)),
    6: ("catalog", _Counted()),
    3: ("auto_increment", Array(2, Int16ul)),
    4: ("charset", _Charsets),
    5: ("time_zone", _Counted()),
    7: ("lc_time_names", Int16ul),
    8: ("charset_database", Int16ul),
    9: ("table_map_for_update", Int64ul),
    10: ("master_data_written", Int32ul),
    11: ("invoker", Sequence(_Counted(), _Counted())),
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
    131: ("character_set_collations", PrefixedArray(Int8ul, Array(2, Int16ul))),
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
    stream = io.BytesIO(block)
    variables: list[tuple[str, Any]] = []
    while (start := stream.tell()) < len(block):
        code = stream.read(1)[0]
        if code not in STATUS_VARIABLES:
            variables.append((UNREAD, block[start:]))
            break
        name, layout = STATUS_VARIABLES[code]
        try:
            value = as_tuples(layout.parse_stream(stream))
        except ConstructError:
            variables.append((UNREAD, block[start:]))
            break
        variables.append((name, value))
    return tuple(variables)


def build_status_variables(variables: StatusVariables) -> bytes:
    """The block's bytes.  Raises KeyError for a name that is not in the table, construct's errors for bad values."""
    parts = []
    for name, value in variables:
        if name == UNREAD:
            parts.append(value)
        else:
            code = _CODES[name]
            parts.append(bytes([code]) + STATUS_VARIABLES[code][1].build(value))
    return b"".join(parts)


#: Bytes of a block that is kept with its variables.
_KEPT_SIZE = 4096


@lru_cache(maxsize=256)
def _usual_variables(block: bytes) -> StatusVariables:
    """The variables of a block that builds to the same bytes; a session has them in one statement after the other."""
    variables = parse_status_variables(block)
    if build_status_variables(variables) != block:
        raise UnusualError
    return variables


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

    def _parse(self, stream: Any, context: Any, path: str) -> StatusVariables:
        return parse_status_variables(self.span._parse(stream, context, path))

    def taker(self) -> Take:
        block_of = bytes_taker(self.span.length)

        def take(data: bytes, at: int, found: Any) -> tuple[StatusVariables, int]:
            block, end = block_of(data, at, found)
            if len(block) > _KEPT_SIZE:
                raise UnusualError
            return _usual_variables(block), end

        return take

    def give(self, value: StatusVariables, fields: Any) -> bytes:
        return build_status_variables(value)

    def labelled(self, walk: Any, name: str, flags: Any = None) -> StatusVariables:
        block: bytes = walk.read(self.span, name)
        end = walk.stream.tell()
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
