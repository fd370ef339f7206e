"""The columns that a TABLE_MAP of a file describes; what is wrong in it has a place in the file."""

from __future__ import annotations

from forge.binlog.reader import PlacedEvent
from forge.errors import FormatError
from forge.events.columns import columns_of
from forge.events.event import carries_checksum
from forge.events.format import CHECKSUM_SIZE
from forge.events.table_map import TableMap
from forge.values.base import Column


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
        end = placed.offset + len(placed.raw) - CHECKSUM_SIZE * carries_checksum(placed.event, placed.format)
        raise error.within(base=end - body.description_size(), event_index=placed.index) from None
