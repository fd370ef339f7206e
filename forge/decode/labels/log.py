"""The bytes of a whole log, section by section: the magic number, each event, and what is behind the last one.

Every byte has one label, also in a damaged file: what cannot be read is ``raw``, with the reason beside it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from construct import Struct

from forge.binlog.payload import DEEPEST, inner_format, payload_bytes
from forge.binlog.reader import FIRST_TYPES, MAGIC, check_magic, frames, torn
from forge.binlog.window import LogSource, window_of
from forge.decode.labels.bodies import label_rows
from forge.decode.labels.layouts import UNREADABLE, LayoutLabels, rule_of
from forge.decode.labels.runs import MOST_RUNS, LabelledSection, Labels
from forge.errors import ForgeError, FormatError
from forge.events.columns import columns_of
from forge.events.event import (
    EVENT_FLAGS,
    Event,
    advance,
    decode_event,
    event_checksum,
    framing_of,
    header_layout,
    kind_of,
)
from forge.events.format import CHECKSUM_SIZE, HEADER_SIZE, FormatContext, checksummed
from forge.events.format_description import FormatDescription, is_checksum_aware
from forge.events.mariadb_compressed import COMPRESSED_ROWS, label_block, uncompressed
from forge.events.plain import flag_names
from forge.events.registry import event_name
from forge.events.rows import ROWS_BODIES
from forge.events.start_v3 import StartV3
from forge.events.table_map import TableMap
from forge.events.transaction_payload import TransactionPayload
from forge.layouts import fixed_layout
from forge.values.base import Column

#: Bytes of an unpacked payload that are labelled: each byte is shown, which takes a dozen times as many.
LARGEST_PAYLOAD = 12 << 20


def labelled_log(source: LogSource, events: Container[int] | None = None) -> Iterator[LabelledSection]:
    """All bytes of a file with their labels, in file order, an event at a time.  Raises OSError, for no bytes else.

    With ``events``, those that do not have one of these numbers are left out.
    """
    window = window_of(source)
    window.reach(0, len(MAGIC))
    try:
        check_magic(window.data)
    except FormatError as error:
        data = window.rest(0)
        labels = Labels(data)
        labels.rest(rule=error.rule)
        yield LabelledSection("no binary log", 0, tuple(labels.runs), problem=error)
        return
    labels = Labels(MAGIC)
    labels.rest("magic", "binary log", "the bytes fe 62 69 6e")
    yield LabelledSection("magic number", 0, tuple(labels.runs))
    state = _State()
    offset, index = len(MAGIC), 0
    for frame in frames(window):
        if events is not None and frame.index not in events:
            state.pass_over(frame.raw, frame.offset)
            offset, index = frame.offset + len(frame.raw), frame.index + 1
            continue
        section = state.section(frame.raw, frame.offset, frame.index)
        if not frame.index and frame.type_code not in FIRST_TYPES and section.problem is None:
            rule = f"the first event is {event_name(frame.type_code)}; without FORMAT_DESCRIPTION no event can be read"
            problem = FormatError(rule, phase="framing", event_index=0, offset=frame.offset)
            section = dataclasses.replace(section, problem=problem)
        yield section
        offset, index = frame.offset + len(frame.raw), frame.index + 1
    if window.left(offset) > 0:
        yield _tail(window.rest(offset), offset, index)


def _tail(data: bytes, offset: int, index: int) -> LabelledSection:
    problem = FormatError(torn(data[:HEADER_SIZE], len(data)), phase="framing", offset=offset, event_index=index)
    labels = Labels(data, offset)
    if len(data) >= HEADER_SIZE:
        _label_header(labels, FormatContext(), None)
    labels.rest(rule=problem.rule)
    return LabelledSection("behind the last whole event", offset, tuple(labels.runs), problem=problem)


@dataclass(slots=True)
class _State:
    """What earlier events say of later ones: the framing, and the columns of each table."""

    format: FormatContext = field(default_factory=FormatContext)
    columns: dict[int, tuple[Column, ...]] = field(default_factory=dict)
    #: Payloads around the events.
    depth: int = 0

    def section(self, raw: bytes, offset: int, index: int, *, inner: bool = False) -> LabelledSection:
        """One whole event at ``offset``."""
        labels = Labels(raw, offset)
        code, framing = framing_of(raw, self.format)
        title = event_name(code)
        if len(raw) >= framing.header_size(code):
            _label_header(labels, framing, 0 if inner else offset)
        try:
            event = decode_event(raw, 0 if inner else offset, self.format)
        except FormatError as error:
            labels.rest(rule=error.rule)
            broken = error.within(base=offset, event_index=index)
            return LabelledSection(title, offset, tuple(labels.runs), index, (), broken)
        description = code == FormatDescription.type_code
        with_checksum = is_checksum_aware(raw[HEADER_SIZE:]) if description else framing.checksum
        own = checksummed(framing, with_checksum)
        body = Labels(raw[: len(raw) - CHECKSUM_SIZE * with_checksum], offset, labels.at)
        wrong = self._label_body(body, event, own)
        problem = None if wrong is None else wrong.of_event(wrong.offset or offset, index)
        labels.runs += body.runs
        labels.at = body.at
        if with_checksum:
            problem = self._label_checksum(labels, event, index) or problem
        inside, problem_inside = self._inside(event, offset, index)
        self._note(event)
        return LabelledSection(title, offset, tuple(labels.runs), index, inside, problem or problem_inside)

    def pass_over(self, raw: bytes, offset: int) -> None:
        """Note what an event says of later ones, without its labels."""
        code, _ = framing_of(raw, self.format)
        if code in (StartV3.type_code, FormatDescription.type_code, TableMap.type_code):
            with suppress(FormatError):
                self._note(decode_event(raw, offset, self.format))

    def _label_body(self, labels: Labels, event: Event, format: FormatContext) -> FormatError | None:
        """Label the body; what is wrong with it (offset in the file)."""
        code = event.type_code
        kind = kind_of(code, format)
        if kind is None:
            labels.rest("body", rule=f"events of type {code} are kept as bytes")
            return None
        if format.more_post_header(code)[1]:
            labels.rest("body", rule="FORMAT_DESCRIPTION makes the fixed part longer than the layout")
            return None
        flags = dict(kind.named_flags())
        walk = LayoutLabels(labels, format)
        head = kind.layout
        is_rows = isinstance(event.body, ROWS_BODIES)
        if is_rows:
            head = Struct(*(part for part in head.subcons if part.name != "rows"))
        try:
            walk.body(head, flags)
        except UNREADABLE as error:
            return self._broken(labels, f"{kind.type_name} body: {error}")
        if is_rows:
            return self._label_rows(labels, event)
        if labels.at < len(labels.data):
            return self._broken(labels, f"{kind.type_name} body: {len(labels.data) - labels.at} bytes too many")
        return None

    def _broken(self, labels: Labels, rule: str) -> FormatError:
        problem = FormatError(rule, phase="body", offset=labels.base + labels.at)
        labels.rest(rule=rule)
        return problem

    def _label_rows(self, labels: Labels, event: Event) -> FormatError | None:
        body = event.body
        assert isinstance(body, ROWS_BODIES)
        if isinstance(body, COMPRESSED_ROWS):
            label_block(labels, "rows")
            return None
        columns = self.columns.get(body.table_id)
        if columns is None:
            labels.rest("rows", rule=f"no readable TABLE_MAP before this event maps table id {body.table_id}")
            return None
        start = labels.base + labels.at
        problem = label_rows(labels, body, columns)
        return None if problem is None else problem.within(base=start)

    def _label_checksum(self, labels: Labels, event: Event, index: int) -> FormatError | None:
        right = event_checksum(labels.data[: len(labels.data) - CHECKSUM_SIZE])
        found = int.from_bytes(labels.data[-CHECKSUM_SIZE:], "little")
        place = labels.base + labels.at
        held = "CRC32, holds" if found == right else f"CRC32, does not hold: the bytes give {right:08x}"
        labels.rest("checksum", f"{found:08x}", held)
        if found == right:
            return None
        rule = f"the checksum of this {event.type_name} event is wrong"
        return FormatError(rule, phase="checksum", event_index=index, offset=place)

    def _inside(self, event: Event, offset: int, index: int) -> tuple[tuple[LabelledSection, ...], FormatError | None]:
        """The events of a payload, or the rows that MariaDB compressed, and what is wrong with the whole."""
        body = event.body
        try:
            if isinstance(body, TransactionPayload):
                if self.depth == DEEPEST:
                    rule = f"more than {DEEPEST} payloads lie inside each other; no server writes one inside another"
                    raise FormatError(rule, phase="body")
                return tuple(self._payload(payload_bytes(body, LARGEST_PAYLOAD), offset, index)), None
            if isinstance(body, COMPRESSED_ROWS):
                return self._unpacked_rows(body, offset, index), None
        except FormatError as error:
            return (), error.of_event(offset, index)
        return (), None

    def _payload(self, data: bytes, offset: int, index: int) -> Iterator[LabelledSection]:
        inside = _State(inner_format(self.format), self.columns, self.depth + 1)
        at = runs = 0
        for number, frame in enumerate(frames(data, 0), start=1):
            if runs >= MOST_RUNS:
                labels = Labels(data[at:], at)
                labels.rest(rule=f"a payload has at most {MOST_RUNS} labels: its other events are not labelled")
                yield LabelledSection("further events", at, tuple(labels.runs))
                return
            section = inside.section(frame.raw, frame.offset, number, inner=True)
            problem = section.problem
            placed = None if problem is None else problem.replace(offset=offset, event_index=index)
            runs += len(section.runs)
            yield dataclasses.replace(section, problem=placed)
            at = frame.offset + len(frame.raw)
        if at < len(data):
            tail = _tail(data[at:], at, 0)
            rule = "the last event inside the payload is cut off or has an impossible size"
            yield dataclasses.replace(
                tail, problem=FormatError(rule, phase="framing", offset=offset, event_index=index)
            )

    def _unpacked_rows(self, body: object, offset: int, index: int) -> tuple[LabelledSection, ...]:
        assert isinstance(body, COMPRESSED_ROWS)
        plain = uncompressed(body)
        assert isinstance(plain, ROWS_BODIES)
        labels = Labels(plain.rows)
        columns = self.columns.get(body.table_id)
        problem = None
        if columns is None:
            labels.rest("rows", rule=f"no readable TABLE_MAP before this event maps table id {body.table_id}")
        else:
            problem = label_rows(labels, plain, columns)
        placed = None if problem is None else problem.of_event(offset, index)
        return (LabelledSection("unpacked rows", 0, tuple(labels.runs), problem=placed),)

    def _note(self, event: Event) -> None:
        self.format = advance(self.format, event)
        if isinstance(event.body, TableMap):
            self.columns.pop(event.body.table_id, None)
            try:
                self.columns[event.body.table_id] = columns_of(event.body, mariadb=self.format.mariadb)
            except ForgeError:
                return


def _label_header(labels: Labels, format: FormatContext, offset: int | None) -> None:
    """The common header; ``offset`` is where the event is, for what the header says of places."""
    layout = header_layout(format)
    values = fixed_layout(layout).read(labels.data[: layout.sizeof()])
    type_code = format.type_of(labels.data[4])
    for part, value in zip(layout.subcons, values, strict=True):
        name, rule = part.name, rule_of(part.subcon) or ""
        said: object = value
        if name == "timestamp":
            said = f"{value} = {datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M:%S} UTC"
        elif name == "type_code":
            said = f"{value} = {event_name(type_code)}"
        elif name == "flags":
            said = " ".join(map(str, flag_names(value, EVENT_FLAGS))) or "none"
        elif name == "log_pos" and offset is not None:
            place = format.log_pos(offset, len(labels.data))
            ends = "ends" if format.binlog_version == 4 else "starts"
            rule += f"; where the event {ends}" if value == place else f"; the event {ends} at {place}"
        labels.put(labels.at + part.sizeof(), f"header.{name}", said, rule)
    if (size := format.header_size(type_code)) > labels.at:
        labels.put(size, "header.extra", labels.data[labels.at : size], "FORMAT_DESCRIPTION makes the header longer")
