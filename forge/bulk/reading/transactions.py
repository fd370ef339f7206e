"""Where transactions of a file end: a walk over the headers of its events, which reads no rows.

What begins and what ends a transaction is as the servers' own readers have it (Query_log_event::starts_group and
ends_group of MySQL's sql/log_event.h; Gtid_log_event's FL_STANDALONE of MariaDB's): GTID, BEGIN and XA START begin one;
XID, COMMIT, ROLLBACK, XA_PREPARE and TRANSACTION_PAYLOAD end it, and so does a statement outside of BEGIN.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from forge.bulk.machine import kernel, load8, load16, load32, load64, signed, store64
from forge.bulk.plan import Bytes
from forge.events.event import SIZE_OFFSET, Event
from forge.events.format import CHECKSUM_SIZE, HEADER_SIZE, FormatContext
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid, Gtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.mariadb_gtid import MariadbGtid
from forge.events.start_encryption import StartEncryption
from forge.events.table_map import TableMap
from forge.events.transaction_payload import TransactionPayload

#: Why a walk returned: the window has no more, a transaction ended that makes the piece long enough, the next event
#: changes how those behind it are read, its size is impossible, or it is not whole.
NO_MORE, LONG_ENOUGH, AT_SPECIAL, BAD_SIZE, NOT_WHOLE = range(5)

#: What an event is to a transaction.  PART: of a statement that follows; STATEMENT: ends unless BEGIN stands before it.
_PASS, _GTID, _MARIADB_GTID, _QUERY, _STATEMENT, _END, _PART, _MAP, _ROWS, _SPECIAL = range(10)
#: Where the walk is: between transactions, behind a GTID, in a statement's parts, in rows without BEGIN, behind BEGIN.
BETWEEN, _BEHIND_GTID, _IN_PARTS, _IN_ROWS, _OPEN = range(5)

#: Bytes of an event that the walk may look at: a QUERY's text stands behind 64 KiB of status variables at most.
LOOKED_AT: Final = 70_000
#: Sources of GTIDs that one piece distinguishes.
_MOST_SOURCES: Final = 64
_SOURCE: Final = 16

#: What the walk counts, by place: see :class:`Walked`.
_STATE, _NUMBER, _BEGIN, _END_PLACE, _END_NUMBER, _LAST_GTID, _END_GTID, _FIRST_TIME, _LAST_TIME, _SOURCES = range(10)
_TAGGED = GtidTagged.type_code
_MARIADB = MariadbGtid.type_code
_GTID_CODE = Gtid.type_code
_NO_TIME: Final = 1 << 32

_ROLES: Final[dict[int, tuple[int, ...]]] = {
    _GTID: (Gtid.type_code, AnonymousGtid.type_code, GtidTagged.type_code),
    _MARIADB_GTID: (MariadbGtid.type_code,),
    _QUERY: (2,),
    # LOAD, EXEC_LOAD, DELETE_FILE, NEW_LOAD, EXECUTE_LOAD_QUERY, INCIDENT, QUERY_COMPRESSED.
    _STATEMENT: (6, 10, 11, 12, 18, 26, 165),
    # STOP, ROTATE (nothing of the transaction follows in this file), XID, XA_PREPARE.
    _END: (3, 4, 16, 38, TransactionPayload.type_code),
    # INTVAR, CREATE_FILE, APPEND_BLOCK, RAND, USER_VAR, BEGIN_LOAD_QUERY, ROWS_QUERY, ANNOTATE_ROWS.
    _PART: (5, 8, 9, 13, 14, 17, 29, 160),
    _MAP: (TableMap.type_code,),
    _ROWS: (*range(20, 26), 30, 31, 32, 39, *range(166, 173)),
    _SPECIAL: (FormatDescription.type_code, StartEncryption.type_code),
}


def _roles() -> Bytes:
    roles = np.zeros(256, np.uint8)
    for role, codes in _ROLES.items():
        roles[list(codes)] = role
    return roles


class _Sources(NamedTuple):
    """The sources of GTIDs: their 16 bytes, the type code of the event, the lowest and the highest number."""

    names: Any
    types: Any
    lowest: Any
    highest: Any


class Walked:
    """What a walk has met since :meth:`begin`.

    ``end`` and ``end_number`` are the offset behind the last transaction that ended, and the number of the event there;
    ``end_gtid`` the offset of the last GTID event before it, -1 for none.
    """

    def __init__(self) -> None:
        self._roles = _roles()
        self._numbers = np.zeros(10, np.int64)
        self._numbers[[_LAST_GTID, _END_GTID]] = -1
        self._seen = np.zeros(256, np.uint8)
        self._sources = np.zeros((_MOST_SOURCES, _SOURCE), np.uint8)
        self._source_types = np.zeros(_MOST_SOURCES, np.uint8)
        self._lowest = np.zeros(_MOST_SOURCES, np.int64)
        self._highest = np.zeros(_MOST_SOURCES, np.int64)

    def begin(self, place: int, number: int) -> None:
        """A new piece begins at that offset, with the event of that number."""
        self._numbers[[_BEGIN, _END_PLACE]] = place
        self._numbers[[_NUMBER, _END_NUMBER]] = number
        self._numbers[_FIRST_TIME], self._numbers[_LAST_TIME] = _NO_TIME, 0
        self._numbers[_SOURCES] = 0
        self._seen[:] = 0

    @property
    def number(self) -> int:
        """The number of the next event."""
        return int(self._numbers[_NUMBER])

    @property
    def between(self) -> bool:
        """Whether no transaction has begun that did not end."""
        return int(self._numbers[_STATE]) == BETWEEN

    @property
    def end(self) -> int:
        return int(self._numbers[_END_PLACE])

    @property
    def end_number(self) -> int:
        return int(self._numbers[_END_NUMBER])

    @property
    def end_gtid(self) -> int:
        return int(self._numbers[_END_GTID])

    @property
    def times(self) -> tuple[int, int]:
        """The first and the last time of headers, seconds since 1970."""
        return int(min(self._numbers[_FIRST_TIME], self._numbers[_LAST_TIME])), int(self._numbers[_LAST_TIME])

    @property
    def types(self) -> tuple[int, ...]:
        """The type codes that were met."""
        return tuple(np.flatnonzero(self._seen).tolist())

    def gtids(self) -> list[tuple[int, bytes, int, int]] | None:
        """(type code, source, lowest, highest number) of the GTIDs; None if they are too many, or have tags.

        The source are the 16 bytes of a UUID; of MariaDB's the domain and the server, 4 bytes each.
        """
        count = int(self._numbers[_SOURCES])
        if count > _MOST_SOURCES:
            return None
        return [
            (
                int(self._source_types[at]),
                self._sources[at].tobytes(),
                int(self._lowest[at]),
                int(self._highest[at]),
            )
            for at in range(count)
        ]

    def special(self, event: Event, size: int, place: int) -> None:
        """A SPECIAL event of that size and offset has been taken."""
        self._seen[event.type_code] = 1
        self._numbers[_FIRST_TIME] = min(self._numbers[_FIRST_TIME], event.timestamp)
        self._numbers[_LAST_TIME] = max(self._numbers[_LAST_TIME], event.timestamp)
        self._numbers[_NUMBER] += 1
        if self.between:
            self._numbers[[_END_PLACE, _END_NUMBER]] = place + size, self.number

    def walk(
        self, buffer: Bytes, at: int, end: int, base: int, limit: int, long: int, format: FormatContext
    ) -> tuple[int, int]:
        """Over ``buffer[at:end]``, which begins at the offset ``base`` of the file: (where the walk ended, why).

        Events that reach beyond ``limit`` are not whole; with ``long`` bytes a piece is long enough.  The end may lie
        behind the buffer: what an event has beyond LOOKED_AT is not needed.
        """
        lengths = format.post_header_lengths
        query_header = lengths[1] if len(lengths) > 1 else 11
        tail = CHECKSUM_SIZE if format.checksum else 0
        sizes = tail, format.table_id_size, query_header
        sources = _Sources(self._sources, self._source_types, self._lowest, self._highest)
        bounds = base, limit, long
        return _walk(buffer, at, end, bounds, sizes, self._roles, self._numbers, self._seen, sources)  # type: ignore[no-any-return]


@kernel
def _walk(
    buffer: Any, at: Any, end: Any, bounds: Any, sizes: Any, roles: Any, numbers: Any, seen: Any, sources: Any
) -> Any:
    base, limit, long = bounds
    tail, id_size, query_header = sizes
    state = numbers[_STATE]
    number = numbers[_NUMBER]
    why = NO_MORE
    while at + HEADER_SIZE <= end:
        size = signed(load32(buffer, at + SIZE_OFFSET))
        if size < HEADER_SIZE + tail:
            why = BAD_SIZE
            break
        if base + at + size > limit:
            why = NOT_WHOLE
            break
        if at + min(size, LOOKED_AT) > end:
            break
        code = signed(load8(buffer, at + 4))
        role = roles[code]
        if role == _SPECIAL:
            why = AT_SPECIAL
            break
        if role in (_GTID, _MARIADB_GTID):
            if state != BETWEEN:  # What is behind a GTID is another transaction, whatever became of the one before.
                state = BETWEEN
                numbers[_END_PLACE] = base + at
                numbers[_END_NUMBER] = number
                numbers[_END_GTID] = numbers[_LAST_GTID]
                if base + at - numbers[_BEGIN] >= long:
                    why = LONG_ENOUGH
                    break
            numbers[_LAST_GTID] = base + at
            _note_gtid(buffer, at, size - tail, code, numbers, sources)
        seen[code] = 1
        time = signed(load32(buffer, at))
        numbers[_FIRST_TIME] = min(numbers[_FIRST_TIME], time)
        numbers[_LAST_TIME] = max(numbers[_LAST_TIME], time)
        if role == _GTID:
            state = _BEHIND_GTID
        elif role == _MARIADB_GTID:
            standalone = size < HEADER_SIZE + 13 or signed(load8(buffer, at + HEADER_SIZE + 12)) & 1 != 0
            state = _BEHIND_GTID if standalone else _OPEN
        elif role == _QUERY:
            word = _word(buffer, at, size - tail, query_header)
            if state == _OPEN:
                if word == 2:
                    state = BETWEEN
            else:
                state = _OPEN if word == 1 else BETWEEN
        elif role == _STATEMENT:
            if state != _OPEN:
                state = BETWEEN
        elif role == _END:
            state = BETWEEN
        elif role == _PART:
            if state == BETWEEN:
                state = _IN_PARTS
        elif role in (_MAP, _ROWS):
            if state == _BEHIND_GTID:
                state = _OPEN
            elif state != _OPEN:
                state = _IN_ROWS
            flags_at = HEADER_SIZE + id_size
            if role == _ROWS and state == _IN_ROWS and (
                size < flags_at + 2 or signed(load16(buffer, at + flags_at)) & 1 != 0
            ):  # fmt: skip
                state = BETWEEN
        at += size
        number += 1
        if state == BETWEEN:
            numbers[_END_PLACE] = base + at
            numbers[_END_NUMBER] = number
            numbers[_END_GTID] = numbers[_LAST_GTID]
            if base + at - numbers[_BEGIN] >= long:
                why = LONG_ENOUGH
                break
    numbers[_STATE] = state
    numbers[_NUMBER] = number
    return at, why


@kernel
def _word(buffer: Any, at: Any, size: Any, query_header: Any) -> Any:
    """1 for a text that begins a transaction, 2 for one that ends it, 0 for any other."""
    begin = at + HEADER_SIZE + query_header + 1
    if begin > at + size:
        return 0
    begin += signed(load8(buffer, at + HEADER_SIZE + 8))
    if query_header >= 13:
        begin += signed(load16(buffer, at + HEADER_SIZE + 11))
    length = at + size - begin
    if length < 5:
        return 0
    # Letters of ASCII in upper case; a word that ends behind the event reads what is there, and is no word.
    head = load64(buffer, begin) & np.uint64(0xDFDFDFDFDFDFDFDF)
    if length == 5 and head & np.uint64(0xFFFFFFFFFF) == np.uint64(0x4E49474542):  # BEGIN
        return 1
    if length == 6 and head & np.uint64(0xFFFFFFFFFFFF) == np.uint64(0x54494D4D4F43):  # COMMIT
        return 2
    if length >= 8 and head == np.uint64(0x5452415453004158):  # XA START, whose space has lost its bit
        return 1
    if length >= 8 and head == np.uint64(0x4B4341424C4C4F52):  # ROLLBACK, but not to a savepoint
        if length >= 12:
            rest = load32(buffer, begin + 8) & np.uint64(0xFFDFDFFF)
            if rest == np.uint64(0x204F5420):
                return 0
        return 2
    return 0


@kernel
def _note_gtid(buffer: Any, at: Any, size: Any, code: Any, numbers: Any, sources: Any) -> None:
    body = at + HEADER_SIZE
    count = numbers[_SOURCES]
    if count > _MOST_SOURCES:
        return
    if code == _TAGGED:
        numbers[_SOURCES] = _MOST_SOURCES + 1
        return
    if code == _MARIADB and size >= HEADER_SIZE + 13:
        first = load32(buffer, body + 8) | load32(buffer, at + 5) << np.uint64(32)
        second = np.uint64(0)
        value = signed(load64(buffer, body))
    elif code == _GTID_CODE and size >= HEADER_SIZE + 25:
        first = load64(buffer, body + 1)
        second = load64(buffer, body + 9)
        value = signed(load64(buffer, body + 17))
    else:
        return
    for index in range(count):
        known = load64(sources.names[index], 0) == first and load64(sources.names[index], 8) == second
        if known and sources.types[index] == code:
            sources.lowest[index] = min(sources.lowest[index], value)
            sources.highest[index] = max(sources.highest[index], value)
            return
    if count < _MOST_SOURCES:
        store64(sources.names[count], 0, first)
        store64(sources.names[count], 8, second)
        sources.types[count] = code
        sources.lowest[count] = sources.highest[count] = value
    numbers[_SOURCES] = count + 1
