"""Events made in the forms that a server may have written, and held against what the text says of them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from forge.errors import ForgeError
from forge.events.event import IN_USE, Event, built_body, encode_event
from forge.events.format import CHECKSUM_SIZE, FormatContext
from forge.events.format_description import FormatDescription
from forge.events.layout import Body
from forge.vendors.assembling.body_forms import FLAGS, USUAL_FLAGS, forms, mysql_line
from forge.vendors.assembling.local_clock import LocalClock
from forge.vendors.assembling.printed_events import Head, PrintedEvent, PrintedText
from forge.vendors.assembling.query_forms import QueryForms
from forge.vendors.shown_events import with_checksum

STATEMENTS = ("QUERY", "EXECUTE_LOAD_QUERY")
WITHOUT_BYTES = "its bytes stand in no BINLOG statement"
OPEN = "the text does not say all of it: made of what it says"


@dataclass(slots=True)
class Made:
    """The bytes of an event, or None; and what is to be said of it."""

    raw: bytes | None
    reason: str | None = None


class EventMaking:
    """The events of one text."""

    def __init__(self, text: PrintedText) -> None:
        self.text = text
        self.queries = QueryForms(text)
        self.clock = LocalClock()

    def found(self, event: PrintedEvent, made: Event) -> None:
        """An event was found to be that: what is likely for the next."""
        if event.kind in STATEMENTS and hasattr(made.body, "status_variables"):
            self.queries.found(event, made.body, made.flags)
        if event.head is not None:
            self.clock.learn(event.head, made.timestamp)

    def encoded(
        self, event: PrintedEvent, position: int, format: FormatContext, sizes: set[int], *, inner: bool = False
    ) -> Iterator[bytes]:
        """The bytes of the forms of an event, of these ``sizes`` if there are any.

        ``inner``: it stands in a compressed transaction, where no event says where it ends.
        """
        head = event.head
        assert head is not None
        end = 0 if inner else head.end
        for body, flags in self.forms(event, format, sizes):
            plain = Event(body=body, server_id=head.server_id, log_pos=end)
            try:
                built = built_body(plain, format)
            except ForgeError:
                continue
            size = format.header_size(body.type_code) + len(built) + CHECKSUM_SIZE * _has_checksum(body, format)
            if sizes and size not in sizes:
                continue
            for timestamp in self.timestamps(event, body):
                for flag in flags:
                    made = plain.replace(timestamp=timestamp, flags=flag | event.flags)
                    yield encode_event(made, position, format, body=built)

    def forms(self, event: PrintedEvent, format: FormatContext, sizes: set[int]) -> Iterator[tuple[Body, list[int]]]:
        if event.kind in STATEMENTS:
            yield from self.queries.forms(event, format, sizes)
            return
        fields = event.fields
        if event.kind == "FORMAT_DESCRIPTION":
            assert event.head is not None
            fields["header_time"] = next(self.clock.timestamps(event.head, search=False), 0)
            fields["checksums"] = event.head.checksum is not None
            likely = [int(bool(fields.get("in_use"))) | (0x40 if fields.get("relay_log") else 0)]
            if fields["at_startup"] and not fields.get("rolls_back"):
                likely = [likely[0] | 0x20, *likely]
        else:
            likely = list(FLAGS.get(event.kind, ()))
            if (
                event.kind == "PREVIOUS_GTIDS"
                and not mysql_line(format.server_version).framing.previous_gtids_ignorable
            ):
                likely = [0, *likely]
        usual = (0, IN_USE) if event.kind == "FORMAT_DESCRIPTION" else USUAL_FLAGS
        flags = list(dict.fromkeys([*likely, *usual]))
        for body in forms(event, self.text, format):
            yield body, flags

    def timestamps(self, event: PrintedEvent, body: Body) -> Iterable[int]:
        said = event.fields.get("said", {}).get("timestamp")
        if said is not None:
            return (said,)
        assert event.head is not None
        # FORMAT_DESCRIPTION comes first: nothing has said the zone.
        search = isinstance(body, FormatDescription) and event.head.checksum is not None and not self.clock.offsets
        return self.clock.timestamps(event.head, search=search)


def fits(raw: bytes, head: Head, sizes: set[int]) -> bool:
    """Whether an event has the printed length and checksum."""
    if sizes and len(raw) not in sizes:
        return False
    return head.checksum is None or int.from_bytes(raw[-CHECKSUM_SIZE:], "little") == head.checksum


def fits_inside(raw: bytes, head: Head) -> bool:
    """The same of an event of a compressed transaction, which has none there: the printed checksum is the program's."""
    return head.checksum is None or zlib.crc32(with_checksum(raw)[:-CHECKSUM_SIZE]) == head.checksum


def _has_checksum(body: Body, format: FormatContext) -> bool:
    if isinstance(body, FormatDescription):
        return body.checksum_algorithm is not None
    return format.checksum
