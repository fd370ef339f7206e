"""The columns that a TABLE_MAP of a file describes, and events whose rows cannot be told."""

from __future__ import annotations

from forge.binlog.reader import PlacedEvent
from forge.errors import FormatError, UnsupportedError
from forge.events.columns import columns_of
from forge.events.event import IGNORABLE, RawBody
from forge.events.format import FormatContext
from forge.events.registry import EVENT_NAMES
from forge.events.rows import PreGaRows, RowsBody
from forge.events.table_map import TableMap
from forge.values.base import Column

#: Table ids of row events that only end a statement (sql/log_event.h: 2^24 - 1 since 5.1.4, all bits before).
DUMMY_TABLE_IDS = frozenset((0xFFFFFF, 0xFFFFFFFFFFFF))
#: Types that hold rows; where one of them is kept raw, rows cannot be told.
ROW_CARRIERS = frozenset((*range(20, 26), 30, 31, 32, 39, 40, *range(166, 173)))


def mapped_columns(placed: PlacedEvent, body: TableMap, *, inner: bool = False) -> tuple[Column, ...]:
    """The columns of ``body``, which is the event's own or (``inner``) stands in the event's payload.

    Raises FormatError with the event's number and the file offset (inside a payload: of the payload) for metadata that
    does not fit its types, UnsupportedError for types that are not known.
    """
    try:
        return columns_of(body, mariadb=placed.format.mariadb)
    except FormatError as error:
        if inner:
            raise error.of_event(placed.offset, placed.index) from None
        end = placed.offset + placed.unchecked_size
        raise error.within(base=end - body.description_size(), event_index=placed.index) from None


def ends_a_statement(body: RowsBody) -> bool:
    """Whether a row event of a table that is not mapped is a dummy without rows."""
    return body.table_id in DUMMY_TABLE_IDS and not body.rows


def unmapped(placed: PlacedEvent, body: RowsBody) -> FormatError:
    """The error of a row event whose table is not mapped."""
    return FormatError(
        f"no TABLE_MAP before this event maps table id {body.table_id}",
        phase="row",
        event_index=placed.index,
        offset=placed.offset,
    )


def refuse_unusual(format: FormatContext) -> None:
    """Raises UnsupportedError for framing that no reader in bulk takes."""
    if not format.usual:
        raise UnsupportedError(
            "rows are read in bulk from logs of MySQL 5.0, 5.1.18 and later whose headers are those of the vendors' "
            "servers; `forge dump` and `forge disasm` read the others"
        )


def refuse_to_pass(placed: PlacedEvent) -> None:
    """Raises UnsupportedError for an event that is kept raw and behind which no reader of rows may go on."""
    event = placed.event
    if not isinstance(event.body, (RawBody, PreGaRows)):
        return
    if event.type_code in ROW_CARRIERS:
        raise UnsupportedError(f"{event.type_name} events are not decoded")
    if event.type_code not in EVENT_NAMES and not event.flags & IGNORABLE:
        raise UnsupportedError(f"event type {event.type_code} is unknown and not marked as ignorable")
