"""The log that rows are written to: its files, and the transactions in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain, groupby
from typing import Any, Final

import numpy as np

from forge.binlog.payload import PayloadForm
from forge.binlog.writer import write_binlog
from forge.bulk.writing.cells import CellWriter, RowsToWrite
from forge.bulk.writing.changes import ChangeReader, Changes
from forge.bulk.writing.envelopes import Compiled, Envelopes, Statement
from forge.bulk.writing.layout import NO_END, Placed, Stamps, Templates, alike, place, stamp, templates_of
from forge.bulk.writing.log_end import LogEnd, go_on
from forge.bulk.writing.logical_clock import InsertClock
from forge.bulk.writing.open_transaction import OpenTransaction, PayloadTransaction
from forge.bulk.writing.output import OutputFiles
from forge.bulk.writing.packing import sealed
from forge.bulk.writing.row_images import Sizes, write_rows_at
from forge.bulk.writing.templates import STAMPS, Envelope, RowsTemplate, StatementTemplate
from forge.bulk.writing.transaction_numbers import Numbers
from forge.compile.files.compilation import LOGS
from forge.compile.files.payloads import payload_form
from forge.compile.files.session_files import SessionFiles
from forge.compile.groups.dependency import tracking_keys
from forge.compile.rows.table_map import wire_columns
from forge.errors import UnsupportedError
from forge.events.event import IN_USE, Event, advance, encode_event
from forge.events.format import CHECKSUM_SIZE, FormatContext
from forge.plan.grouping.logged_groups import logged_groups
from forge.plan.keys import key_of_rows
from forge.plan.plan import Plan
from forge.plan.session import row_event_limit
from forge.plan.tables import Key, Table, is_transactional
from forge.servers import server_line

#: Where the flags of FORMAT_DESCRIPTION stand in a file.
_FLAGS_AT: Final = 4 + 17


class RowsLog:
    """Writes the log of one session.

    First come the groups of the plan (CREATE DATABASE, CREATE TABLE), then transactions of rows.
    """

    def __init__(self, plan: Plan, table: Table, reader: ChangeReader, output: OutputFiles, compiled: Compiled) -> None:
        self.plan = plan
        self.session = plan.session
        self.line = server_line(plan.server)
        self.table = table
        self.reader = reader
        self.output = output
        self.log = LOGS[self.line.family](plan, self.line)
        self.files = SessionFiles(self.log)
        if table.partition is not None:
            raise UnsupportedError(f"rows in bulk of the partitioned table {table.full_name!r} are not supported")
        if plan.session.gtid and plan.session.gtid_tag:
            raise UnsupportedError("rows in bulk with tagged GTIDs are not supported")
        self.envelopes = Envelopes(plan, (table,), self.line, compiled=compiled)
        #: Whether transactions run between BEGIN and COMMIT.
        self.in_block = reader.operation == "operation"
        columns = wire_columns(table, plan.session, self.line)
        self.cells = CellWriter(table, columns, self.line, output.workers)
        self.limit = row_event_limit(plan.session, self.line)
        self.largest = NO_END if plan.session.max_binlog_size is None else plan.session.max_binlog_size
        self.payload = self._payload_form()
        self.rows = 0
        self.events = 0
        self.transactions = 0

    def _payload_form(self) -> PayloadForm | None:
        compressed = self.session.compression and is_transactional(self.table)
        return payload_form(self.session, self.line) if compressed else None

    def begin(self, after: LogEnd | None = None) -> None:
        """Begin the first file, which follows the log that ended so."""
        self.output.open(self.output.path.name)
        if after is not None:
            go_on(self.files, after)
        events = self.files.head()
        self.format = advance(FormatContext(), events[0])
        self.checksum = CHECKSUM_SIZE if self.format.checksum else 0
        events += self.log.between(0)
        for group in logged_groups(self.plan.groups, self.line):
            events += self.log.group(self.files.logged, group)
            self.files.logged += 1
            self.log.in_file += 1
            events += self.log.between(self.log.in_file)
        self._write_whole(events)
        self.numbers = Numbers(self.session, self.log, self.files.logged)
        self.clock = self._insert_clock()

    def _write_whole(self, events: list[Event]) -> None:
        self.output.write(write_binlog(events))
        self.events += len(events)

    def _write_event(self, event: Event) -> None:
        self.output.write(encode_event(event, self.output.position, self.format))
        self.events += 1

    def _insert_clock(self) -> InsertClock:
        order = getattr(self.log, "order", None)  # MariaDB has none.
        writeset = tracking_keys(order)
        return InsertClock(
            sequence_number=0 if order is None else order.sequence_number,
            history_start=1 if writeset is None else writeset.history_start,
            limit=None if writeset is None else writeset.limit,
            # Only INSERTs are known to write keys that none of the others has written.
            keyless=key_of_rows(self.table) is None or self.reader.operation != "insert",
        )

    def end(self) -> None:
        """End the last file."""
        for event in self.files.end():
            self._write_event(event)
        if self.session.ends_with == "nothing":
            self.output.put(memoryview(bytes([IN_USE])), _FLAGS_AT)
        self.output.close()

    @property
    def next_xid(self) -> int:
        """The XID of the next transaction of the running server."""
        return self.numbers.first_default_xid + self.files.logged

    def _after(self, transactions: int) -> None:
        """So many transactions were written: what the server writes now, perhaps in the next file."""
        self.transactions += transactions
        self.files.logged += transactions
        self.log.in_file += transactions
        if self.output.position < self.largest:
            for event in self.log.between(self.log.in_file):
                self._write_event(event)
            return
        self._write_event(self.files.rotation())
        self.output.close()
        self.log.file += 1
        self.log.rotated = True
        self.log.in_file = 0
        self.output.open(self.log.file_name(self.log.file))
        self._write_whole([*self.files.head(), *self.log.between(0)])
        self.clock.restart()

    def _statement(self, changes: Changes) -> Statement:
        assigned = None if changes.kind == "delete" else self.reader.given(changes.kind)
        zoned = bool(self._zoned(changes.slice(0, 1), 1)[0])
        return Statement(changes.kind, assigned=assigned, zoned=zoned)

    def _envelope(self, statement: Statement) -> Envelope:
        return self.envelopes.of(statement, in_block=self.in_block)

    def _zoned(self, changes: Changes, rows_each: int) -> Any:
        """Whether the server asks for the time zone: one a transaction, whose first row says."""
        flags = np.zeros(-(-changes.rows // rows_each), bool)
        if changes.kind == "insert" and changes.after is not None:
            for index in self.envelopes.zoned_columns():
                array = changes.after.arrays.get(index)
                if array is not None and not array.null_count:
                    flags[:] = True
                elif array is not None:
                    flags |= array.is_valid().to_numpy(zero_copy_only=False)[::rows_each]
        return flags

    def _rows_template(self, statement: Statement, changes: Changes) -> RowsTemplate:
        bitmaps = [image.bitmap for image in changes.images]
        given = tuple(bitmap for bitmap in bitmaps if bitmap is not None)
        whole = given if len(given) == len(bitmaps) else None
        return self.envelopes.rows(statement, whole, in_block=self.in_block)

    def _entries(self, changes: Changes) -> Sizes:
        """Entries that the keys of each row have: none where a part is NULL."""
        entries: Any = np.int64(0)
        image = changes.before if changes.kind == "delete" else changes.after
        for key in self.table.keys:
            if key.kind != "index" and image is not None:
                entries = entries + _named(key, image.arrays)
        return np.broadcast_to(entries, changes.rows)

    def least_bytes(self, changes: Changes) -> int:
        """Bytes that a transaction with these changes has at least."""
        return 0 if self.session.log_bin_compress else self.cells.least_bytes(changes, self._template(changes))

    def _template(self, changes: Changes) -> RowsTemplate:
        return self._rows_template(self._statement(changes), changes)

    def transaction(self, parts: Iterable[Changes], least: int = 0) -> None:
        """One transaction of all these changes; those of one kind that follow each other are one statement.

        ``least``: as many bytes as it is known to have.
        """
        waiting = iter(parts)
        first = next(waiting, None)
        if first is None:
            return
        envelope = self._envelope(self._statement(first))
        numbers = self.numbers.of(self.transactions, 1, envelope.queries)[:, 0].tolist()
        current = self._opened(envelope, numbers, least)
        statements = entries = 0
        for _, of_kind in groupby(chain([first], waiting), key=lambda part: part.kind):
            begun = next(of_kind)
            statement = self._statement(begun)
            current.close_rows(last=True)
            numbers[0] = self.numbers.second(self.transactions, statements)
            for event in self._envelope(statement).statements[0].maps:
                current.add_event(event.stamped(numbers), positioned=event.positioned)
            statements += 1
            template = partial(self._rows_template, statement)
            for ready in self.cells.images_of(chain([begun], of_kind), template, self.rows):
                current.add_rows(ready, ready.template.head.stamped(numbers))
                entries += int(self._entries(ready.changes).sum())
                self.rows += ready.changes.rows
        current.close_rows(last=True)
        numbers[0] = self.numbers.second(self.transactions, 0)
        if statements > 1:
            numbers[1] = self.numbers.second(self.transactions, statements)
            numbers[2] = self.numbers.second(self.transactions, statements + 1)
        for event in envelope.closing:
            current.add_event(event.stamped(numbers), positioned=event.positioned)
        (last_committed,), (sequence,) = self.clock.next(np.array([entries], np.int64))
        numbers[STAMPS.index("last_committed")] = int(last_committed)
        numbers[STAMPS.index("sequence_number")] = int(sequence)
        current.finish(numbers)
        self.events += current.events
        self._after(1)

    def _opened(self, envelope: Envelope, numbers: list[int], least: int) -> OpenTransaction:
        first = envelope.opening[0]
        made: OpenTransaction
        if self.payload is not None:
            made = PayloadTransaction(self.output, first, self.limit, form=self.payload, checksum=self.checksum)
        else:
            made = OpenTransaction(
                self.output,
                first,
                self.limit,
                checksum=self.checksum,
                least=least,
                compressed_from=self.session.log_bin_compress_min_len if self.session.log_bin_compress else None,
            )
        for event in envelope.opening[1:]:
            made.add_event(event.stamped(numbers), positioned=event.positioned)
        return made

    def transactions_of(self, parts: Iterable[Changes], rows_each: int) -> None:
        """Transactions of so many rows each, a whole number of them in each part."""
        if self.payload is not None or self.session.log_bin_compress:
            # How long they are is not known before they are compressed.
            for changes in parts:
                for begin in range(0, changes.rows, rows_each):
                    self.transaction([changes.slice(begin, rows_each)])
            return

        for ready in self.cells.images_of(parts, self._template, self.rows):
            self._write_transactions(ready, rows_each)

    def _write_transactions(self, ready: RowsToWrite, rows_each: int) -> None:
        changes = ready.changes
        statement = self._statement(changes)
        zoned = self._zoned(changes, rows_each)
        flags = [False, True] if zoned.any() else [False]
        envelopes = [self._envelope(dataclasses.replace(statement, zoned=flag)) for flag in flags]
        forms = zoned.astype(np.int64)
        shape = StatementTemplate(envelopes[0].statements[0].maps, self._rows_template(statement, changes))
        templates = templates_of(envelopes, [shape], self.limit)
        entries = np.add.reduceat(self._entries(changes), np.arange(0, changes.rows, rows_each))
        done = 0
        while done < len(forms):
            some = forms[done : done + self._until_event()]
            sizes = ready.sizes[done * rows_each : (done + len(some)) * rows_each]
            transactions = alike(some, len(sizes), rows_each)
            room = self.largest - self.output.position
            placed = place(sizes, transactions, templates, self.checksum, room)
            count = len(placed.bounds) - 1
            stamps = self._stamps(count, envelopes[0].queries, entries[done:])
            self._write_placed(ready, done * rows_each, placed, templates, stamps)
            done += count
            self._after(count)
        self.rows += changes.rows

    def _until_event(self) -> int:
        """Transactions until the server may write something itself (MariaDB)."""
        checkpoints = self.session.facts.file(self.log.file).checkpoints
        places = [1] if checkpoints is None and self.log.rotated else [each.after for each in checkpoints or ()]
        ahead = [place - self.log.in_file for place in places if place > self.log.in_file]
        return min(ahead, default=NO_END)

    def _stamps(self, count: int, queries: int, entries: Sizes) -> Stamps:
        stamps = self.numbers.of(self.transactions, count, queries)
        last_committed, sequence = self.clock.next(entries[:count])
        stamps[STAMPS.index("last_committed")] = last_committed
        stamps[STAMPS.index("sequence_number")] = sequence
        return stamps

    def _write_placed(
        self, ready: RowsToWrite, first: int, placed: Placed, templates: Templates, stamps: Stamps
    ) -> None:
        """Transactions of the rows from number ``first`` on."""
        positioned = templates.positioned[placed.templates]
        output, checksum = self.output, self.checksum > 0
        position = output.reserve(placed.end)

        def write() -> None:
            out = output.scratch(placed.end)
            stamp(out, placed, templates, stamps)
            write_rows_at(ready.images, first, placed.begins, out)
            events = placed.event_begins, placed.event_ends, positioned
            for at, piece in sealed(out, *events, position, checksum=checksum):
                output.put(piece, at)

        output.later(write)
        self.events += len(placed.event_begins)


def _named(key: Key, arrays: Mapping[int, Any]) -> Any:
    """1 for each row that the key has an entry of, 0 for one with a NULL in it; a single number if all are alike."""
    named: Any = 1
    for part in key.parts:
        array = arrays.get(part.column)
        if array is None:
            return 0
        if array.null_count:
            named = named & array.is_valid().to_numpy(zero_copy_only=False)
    return named
