"""One file of a volume's log: everything in it follows from its number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from forge.binlog.writer import derives_length, write_binlog
from forge.bulk.generating.dependencies import DependencyClock, Entries, WrittenKeys
from forge.bulk.generating.lives import INSERT, UPDATE, Numbers, Rows
from forge.bulk.generating.setup import FilePart, VolumeSetup
from forge.bulk.generating.transaction_batches import Batch, batch_of, batches_between, spread
from forge.bulk.generating.volume_folder import PartOutput
from forge.bulk.plan import Bytes, slacked
from forge.bulk.writing.changes import KINDS
from forge.bulk.writing.envelopes import Envelopes, Statement
from forge.bulk.writing.layout import Templates, Transactions, place, stamp, templates_of
from forge.bulk.writing.packing import room, seal
from forge.bulk.writing.row_images import ImageCells, WireColumn, row_sizes, write_rows_at
from forge.bulk.writing.templates import Envelope, StatementTemplate
from forge.compile.groups.dependency import tracking_keys
from forge.events.event import Event, advance, encode_event
from forge.events.format import CHECKSUM_SIZE, FormatContext
from forge.events.gtid import AnonymousGtid
from forge.plan.grouping.logged_groups import logged_groups
from forge.plan.session import row_event_limit

_KINDS: Final = len(KINDS)


@dataclass(slots=True)
class WrittenFile:
    """What was written: bytes, events, transactions, and the rows by (table, operation)."""

    bytes: int = 0
    events: int = 0
    transactions: int = 0
    rows: dict[tuple[str, str], int] = field(default_factory=dict)


def write_file(
    setup: VolumeSetup, number: int, output: PartOutput, progress: Callable[[int], None] | None = None
) -> WrittenFile:
    """Write file ``number`` (from 0) of the log.  ``progress`` gets the number of transactions of each batch."""
    return _FileWriter(setup, setup.parts[number], output, progress).write()


class _FileWriter:
    def __init__(
        self, setup: VolumeSetup, part: FilePart, output: PartOutput, progress: Callable[[int], None] | None
    ) -> None:
        self.setup = setup
        self.part = part
        self.output = output
        self.progress = progress
        self.written = WrittenFile()
        self.log = setup.numbers.log()
        self.line = setup.definitions.line
        #: Groups of the log before this file, and those of the file.
        self.group = part.first_group
        self.sequence = 0
        self.format = FormatContext()
        self.checksum = 0
        self.buffer: Bytes = slacked(1 << 22)

    def write(self) -> WrittenFile:
        self._begin()
        for number, epoch in enumerate(self.setup.definitions.epochs):
            begin, end = self.setup.epoch_range(number)
            begin, end = max(begin, self.part.begin), min(end, self.part.end)
            if number and self.part.begin <= epoch.begin < self.part.end:
                self._definitions(number)
            if begin < end:
                rows = _EpochRows(self.setup, number)
                for batch in batches_between(self.setup.tables, begin, end):
                    self._batch(rows, batch)
        self._end()
        return self.written

    def _begin(self) -> None:
        setup, log = self.setup, self.log
        own = list(logged_groups(setup.definitions.plan.groups, self.line))
        files = setup.numbers.files(log, 0, 0)
        head = files.head()
        events = [*head, *log.between(0)]
        for number, group in enumerate(own):
            events += log.group(number, group)
            events += log.between(number + 1)
        #: The number that the XID of the log's first group would have.
        self.xid = next(log.next_xid) - len(own)
        if self.part.number:
            files = setup.numbers.files(log, self.part.number, self.part.first_group)
            events = [*files.head(), *log.between(0)]
        else:
            files.logged = self.group = self.sequence = len(own)
        self.files = files
        tracked = tracking_keys(getattr(log, "order", None)) is not None
        limit = log.session.dependency_history or self.line.groups.dependency_history
        self.clock = DependencyClock(limit if tracked else None)
        if self.sequence:
            self.clock.restart(self.sequence)
        self.format = advance(FormatContext(), head[0])
        self.checksum = CHECKSUM_SIZE if self.format.checksum else 0
        self._put(write_binlog(events), len(events))

    def _put(self, data: bytes | memoryview, events: int) -> None:
        self.output.write(data)
        self.written.bytes += len(data)
        self.written.events += events

    def _end(self) -> None:
        self.files.logged = self.group
        last = self.part.number + 1 == len(self.setup.parts)
        self._events(self.files.end() if last else [self.files.rotation()])

    def _events(self, events: Sequence[Event]) -> None:
        for event in events:
            self._put(encode_event(event, self.written.bytes, self.format), 1)

    def _definitions(self, number: int) -> None:
        """The statements that begin an epoch."""
        epoch = self.setup.definitions.epochs[number]
        [micro] = self.setup.calendar.times(np.array([epoch.begin])).tolist()
        for group in epoch.groups:
            xid = self.xid + self.group
            events = self.setup.numbers.definition(group, self.group, self.sequence + 1, xid, micro)
            if derives_length(events[0]):
                # The head of a file makes no difference to what is behind it.
                head = self.files.head()[:1]
                body = events[0].body
                assert isinstance(body, AnonymousGtid)
                size = len(write_binlog([*head, *events])) - len(write_binlog(head))
                events[0] = events[0].replace(body=body.replace(transaction_length=size))
            self._events(events)
            self._after(1)
            self.clock.restart(self.sequence)

    def _after(self, transactions: int) -> None:
        first = self.sequence == 0
        self.group += transactions
        self.sequence += transactions
        self.written.transactions += transactions
        if first:
            # What a server may write itself behind the first transaction of a file.
            self._events(list(self.log.between(self.sequence)))

    def _batch(self, rows: _EpochRows, batch: Batch) -> None:
        if self.sequence == 0 and len(batch.transactions) > 1:
            for some in (slice(0, 1), slice(1, None)):
                self._write(rows, batch_of(self.setup.tables, batch.transactions[some]))
        else:
            self._write(rows, batch)
        if self.progress is not None:
            self.progress(len(batch.transactions))

    def _write(self, rows: _EpochRows, batch: Batch) -> None:
        made = rows.encoded(batch)
        placed = place(made.sizes, made.transactions, made.templates, self.checksum)
        threads = self.log.default_thread_id
        last_committed = self.clock.next(self.sequence + 1, made.entry_cuts, made.entries, *rows.dependent(batch))
        stamps = self.setup.numbers.stamps(
            np.ascontiguousarray(batch.transactions["moment"]),
            last_committed,
            self.group,
            self.sequence + 1,
            self.xid,
            threads,
        )
        self.buffer = out = room(self.buffer, 0, placed.end)
        stamp(out, placed, made.templates, stamps)
        for images, places in made.images:
            write_rows_at(images, 0, placed.begins[places], out)
        positioned = made.templates.positioned[placed.templates]
        seal(out, placed.event_begins, placed.event_ends, positioned, self.written.bytes, self.checksum > 0)
        self._put(out[: placed.end].data, len(placed.event_begins))
        self._after(len(batch.transactions))
        for (table, kind), count in made.counts.items():
            key = self.setup.tables[table].name, KINDS[kind]
            self.written.rows[key] = self.written.rows.get(key, 0) + count


@dataclass(frozen=True, slots=True)
class _Encoded:
    """The rows of a batch: the images of each shape with the places of its rows, sizes by place."""

    sizes: Numbers
    images: Sequence[tuple[list[ImageCells], Numbers]]
    transactions: Transactions
    templates: Templates
    counts: dict[tuple[int, int], int]
    #: Entries in keys, row by row, and where those of each transaction begin.
    entries: Entries
    entry_cuts: Numbers


class _EpochRows:
    """Encodes the rows of one epoch."""

    def __init__(self, setup: VolumeSetup, epoch: int) -> None:
        self.setup = setup
        definitions = setup.definitions
        session, line, tables = definitions.plan.session, definitions.line, definitions.epochs[epoch].tables
        self.envelopes = Envelopes(
            definitions.plan, tables, line, table_ids=definitions.table_ids(tables), sessions=True
        )
        self.sources = [setup.sources[epoch].of_table(table.index) for table in setup.tables]
        self.keys = WrittenKeys(tables, self.sources, checks=session.foreign_key_checks)
        self.limit = row_event_limit(session, line)
        self.padding = line.rows.null_padding
        self._assigned = [
            frozenset(
                index
                for index, column in enumerate(tables[table.index].columns)
                if column.name.lower() in table.updated
            )
            for table in setup.tables
        ]
        moments = [self.envelopes.zoned_columns(table.index) for table in setup.tables]
        #: By table and kind: the columns that a statement sets for whose values the server asks for the time zone.
        self._zoned = {
            (table.index, kind): [column for column in moments[table.index] if kind == INSERT or column in assigned]
            for table, assigned in zip(setup.tables, self._assigned, strict=True)
            for kind in (INSERT, UPDATE)
        }
        self._shapes: list[StatementTemplate] = []
        self._shape_numbers: dict[tuple[int, int], int] = {}
        self._forms: list[Envelope] = []
        self._form_numbers: dict[tuple[int, ...], int] = {}
        self._templates: Templates | None = None

    def encoded(self, batch: Batch) -> _Encoded:
        statements = batch.statements
        codes, all_counts = statements["table"] * _KINDS + statements["kind"], np.ascontiguousarray(statements["count"])
        sizes = np.empty(batch.rows, np.int64)
        shapes = np.empty(len(codes), np.int64)
        zoned = np.zeros(batch.rows, np.bool_)
        widths = np.repeat(self.keys.widths[statements["table"]], all_counts)
        entry_begins = np.concatenate([[0], np.cumsum(widths)])
        entries = np.empty(int(entry_begins[-1]), np.uint64)
        images, counts = [], {}
        for code in np.unique(codes).tolist():
            table, kind = divmod(code, _KINDS)
            of_shape = np.flatnonzero(codes == code)
            number = shapes[of_shape] = self._shape(table, kind)
            each = all_counts[of_shape]
            total = int(each.sum())
            places = spread(batch.row_cuts[of_shape], each)
            rows = spread(statements["first"][of_shape], each)
            versions = None if kind == INSERT else np.repeat(statements["version"][of_shape], each)
            made = self._images(table, kind, number, rows, versions)
            images.append((made, places))
            sizes[places] = row_sizes(made, total)
            counts[table, kind] = total
            width = int(self.keys.widths[table])
            if width:
                own = entry_begins[places][:, None] + np.arange(width)
                entries[own] = self.keys.entries(table, self.setup.tables[table].lives, rows)
            if self._zoned.get((table, kind)):
                zoned[places] = self._has_moment(table, kind, number, made[-1], total)
        forms = self._forms_of(batch, zoned)
        if self._templates is None:
            self._templates = templates_of(self._forms, self._shapes, self.limit)
        return _Encoded(
            sizes,
            images,
            Transactions(forms, batch.cuts, shapes, all_counts),
            self._templates,
            counts,
            entries,
            entry_begins[batch.row_cuts[batch.cuts]],
        )

    def dependent(self, batch: Batch) -> tuple[Any, Any]:
        """For each transaction: whether it excludes all others, and whether it has rows without a key."""
        begins, tables = batch.cuts[:-1], batch.statements["table"]
        return (
            np.logical_or.reduceat(self.keys.alone[tables], begins),
            np.logical_or.reduceat(self.keys.keyless[tables], begins),
        )

    def _images(self, table: int, kind: int, shape: int, rows: Numbers, versions: Numbers | None) -> list[ImageCells]:
        template = self._shapes[shape].rows
        lives = self.setup.tables[table].lives
        now = Rows(lives, rows, versions)
        before = Rows(lives, rows, versions - 1) if kind == UPDATE and versions is not None else now
        same: dict[int, WireColumn] = {}

        def cells(columns: Sequence[int], image: Rows) -> ImageCells:
            made = []
            for column in columns:
                source = self.sources[table][column]
                if source.updated:
                    made.append(source.wire(image))
                else:
                    if column not in same:
                        same[column] = source.wire(now.inserted)
                    made.append(same[column])
            return ImageCells(made, self.padding)

        images = []
        if template.before is not None:
            images.append(cells(template.before, before))
        if template.after is not None:
            images.append(cells(template.after, now))
        return images

    def _has_moment(self, table: int, kind: int, shape: int, image: ImageCells, rows: int) -> Any:
        """Whether each row sets a column of moments to a value."""
        found = np.zeros(rows, np.bool_)
        present = self._shapes[shape].rows.after or ()
        for number, column in enumerate(present):
            if column in self._zoned[table, kind]:
                wire = image.columns[number]
                if not len(wire.validity):
                    return np.ones(rows, np.bool_)
                bits = np.unpackbits(wire.validity, bitorder="little")
                found |= bits[wire.first_bit : wire.first_bit + rows].astype(np.bool_)
        return found

    def _statement(self, table: int, kind: int, *, zoned: bool = False) -> Statement:
        assigned = self._assigned[table] if kind == UPDATE else None
        if kind == INSERT:
            assigned = frozenset(range(len(self.sources[table])))
        return Statement(KINDS[kind], table, assigned, zoned)

    def _shape(self, table: int, kind: int) -> int:
        if (table, kind) not in self._shape_numbers:
            [shape] = self.envelopes.of(self._statement(table, kind)).statements
            self._shape_numbers[table, kind] = len(self._shapes)
            self._shapes.append(shape)
            self._templates = None
        return self._shape_numbers[table, kind]

    def _forms_of(self, batch: Batch, zoned: Any) -> Numbers:
        """The form of each transaction."""
        transactions = batch.transactions
        tables = np.bitwise_or.reduceat(np.left_shift(1, batch.statements["table"]), batch.cuts[:-1])
        first = zoned[batch.row_cuts[batch.cuts[:-1]]]
        keys = np.stack([tables, first, transactions["kind"], transactions["table"]], axis=1)
        known, places = np.unique(keys, axis=0, return_inverse=True)
        return np.array([self._form(*key) for key in known.tolist()], np.int64)[places.reshape(-1)]

    def _form(self, present: int, zoned: int, kind: int, root: int) -> int:
        """``present``: a bit for each table that has rows."""
        key = (present, zoned, kind, root)
        if key not in self._form_numbers:
            inside = [table for table in self.setup.tables[root].inside if present >> table & 1]
            order = [root, *inside] if kind == INSERT else [*reversed(inside), root]
            statements = [self._statement(table, kind) for table in order]
            if zoned:
                statements[0] = self._statement(order[0], kind, zoned=True)
            self._form_numbers[key] = len(self._forms)
            self._forms.append(self.envelopes.of(*statements))
            self._templates = None
        return self._form_numbers[key]
