"""``forge.write_rows``: rows of Arrow record batches as the binary log of a server."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa

from forge.bulk.writing.changes import ChangeReader, Changes, Operation, record_batches
from forge.bulk.writing.envelopes import Compiled
from forge.bulk.writing.log_end import LogEnd, end_of, plan_after, session_after
from forge.bulk.writing.open_transaction import LONG
from forge.bulk.writing.output import log_name_of, output_files
from forge.bulk.writing.rows_log import RowsLog
from forge.bulk.writing.table_text import table_plan, table_text
from forge.errors import ScenarioError
from forge.plan.plan import Plan
from forge.plan.session import Session

#: Bytes of rows that are encoded together, and of transactions with few rows: larger than the nearest caches, because
#: each call of a kernel costs some microseconds; and bounds of the number of rows.
_WINDOW, _SMALL_WINDOW = 1 << 23, 1 << 21
_FEWEST, _MOST = 64, 1 << 17
#: Bytes of changes that are looked at before the first is written, and how many changes.  They stay in memory so long,
#: or in the files that they come from.
_AHEAD: Final = 2 * LONG
_MOST_AHEAD: Final = 64
#: About as many bytes stand around the rows of a transaction.
_ENVELOPE: Final = 256


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """What was written: the files in their order, the rows, the events and bytes of all files.

    ``reference_rows``: rows with a cell that no kernel makes, which the reference codec made.  ``end``: what another
    call takes as ``after``.
    """

    files: tuple[Path, ...]
    rows: int
    events: int
    bytes: int
    reference_rows: int
    end: LogEnd


def write_rows(
    batches: Any,
    table: str,
    path: str | os.PathLike[str],
    *,
    server: str = "mysql-9.7",
    rows_per_transaction: int | None = None,
    operation: Operation = "insert",
    session: Session | None = None,
    definitions: bool = True,
    sync: bool = True,
    after: LogEnd | None = None,
) -> WrittenRows:
    """Write rows as the binary log that a server of the line would have written of them.

    ``batches``: a pyarrow RecordBatchReader, Table or RecordBatch, an iterable of those, or what has
    ``__arrow_c_stream__``; columns are found by name.  ``table``: the text of CREATE TABLE, or ``database.name``, where
    the columns' types follow from the schema.  ``path``: the log; with ``session.max_binlog_size`` the first of
    several, such as ``binlog.000001``.

    ``rows_per_transaction``: None puts all rows into one transaction.  ``operation``: ``insert``, ``delete``,
    ``update`` (the struct columns ``before`` and ``after`` are the images), or ``operation``: what the column
    ``_operation`` says of each row.  The columns ``_present``, ``_present_before`` and ``_present_after`` (a bit a
    column of the table, lowest first) say which columns an image has; without them the session's ``row_image`` does.
    Other metadata columns of ``read_rows`` are passed over.

    ``session``: settings and facts of the server and its session.  ``definitions``: the log begins with CREATE DATABASE
    and CREATE TABLE.  ``sync``: a file is on the disk (fsync) before it gets its name, as with ``sync_binlog=1``.

    ``after``: the ``end`` of an earlier call, whose log this one goes on: ``path`` has the next number, GTIDs and times
    count on, and what that log defines is not defined again.  The server was started again if that log ends with STOP
    or with nothing.

    Raises ScenarioError for a table that the server refuses, for columns that do not match, and for values that a
    column cannot hold (it names row and column); nothing is written then.
    """
    if rows_per_transaction is not None and rows_per_transaction < 1:
        raise ScenarioError(f"rows_per_transaction is {rows_per_transaction}", expected="1 or more, or None")
    target = Path(path)
    schema, items = record_batches(batches)
    ready = prepared(
        schema, table, target, server, operation=operation, session=session, definitions=definitions, after=after
    )
    plan, reader = ready.plan, ready.reader
    with output_files(target, sync=sync) as output:
        log = RowsLog(plan, reader.table, reader, output, ready.compiled)
        changes = chain.from_iterable(map(reader.changes, items))
        if rows_per_transaction is not None:
            log.begin(after)
            _write_transactions(log, _Source(_windows(changes, rows_per_transaction)), rows_per_transaction)
        else:
            windows = _windows(changes, None)
            first, least = _first_changes(log, windows)
            log.begin(after)
            log.transaction(chain(_taken(first), windows), least)
        log.end()
        end = end_of(log.files, log.next_xid, plan, ready.text, after)
        return WrittenRows(tuple(output.paths), log.rows, log.events, output.written, log.cells.by_reference, end)


class Prepared(NamedTuple):
    """What is known before there are rows: the plan, the text of CREATE TABLE, how batches are read, shapes."""

    plan: Plan
    text: str
    reader: ChangeReader
    compiled: Compiled


def prepared(
    schema: pa.Schema,
    table: str,
    path: Path,
    server: str,
    *,
    operation: Operation,
    session: Session | None,
    definitions: bool,
    after: LogEnd | None,
) -> Prepared:
    """The arguments of :func:`write_rows`, checked as far as no row is needed.  Raises as it does."""
    settings = _named(session or Session(), path)
    if after is not None:
        settings = session_after(settings, server, after)
    text = table_text(table, schema)
    plan, made, compiled = table_plan(text, server, settings)
    if after is not None:
        plan, compiled = plan_after(plan, text, after), {}
    if not definitions:
        plan = msgspec.structs.replace(plan, groups=())
    return Prepared(plan, text, ChangeReader(schema, made, operation), compiled)


def _named(session: Session, path: Path) -> Session:
    """The session whose first file has this name, as far as it can have it."""
    if not session.is_own_log:
        raise ScenarioError("rows in bulk make whole files of a server's own log")
    if session.binlog_format != "row" or session.rows_query:
        raise ScenarioError("rows in bulk have no statements' texts", expected="binlog_format: row, no rows_query")
    numbered = log_name_of(path, several=session.max_binlog_size is not None)
    if numbered is None:
        return session
    return msgspec.structs.replace(session, log_name=numbered[0], first_file=numbered[1])


def _windows(found: Iterator[Changes], rows_each: int | None) -> Iterator[Changes]:
    """The changes in pieces that fit the cache; where transactions are smaller, in whole ones."""
    for changes in found:
        if changes.rows <= _FEWEST:
            yield changes
            continue
        row_bytes = changes.nbytes // changes.rows + (0 if rows_each is None else _ENVELOPE // rows_each)
        window = _WINDOW if rows_each is None else _SMALL_WINDOW
        most = min(max(window // max(row_bytes, 1), _FEWEST), _MOST)
        if rows_each is not None and rows_each <= most:
            most -= most % rows_each
        for begin in range(0, changes.rows, most):
            yield changes.slice(begin, min(most, changes.rows - begin))


def _first_changes(log: RowsLog, changes: Iterator[Changes]) -> tuple[deque[Changes], int]:
    """The first changes of a transaction, as few as tell that it is long; and the bytes that it has at least."""
    first: deque[Changes] = deque()
    least = held = 0
    while least <= LONG and held < _AHEAD and len(first) < _MOST_AHEAD and (found := next(changes, None)) is not None:
        first.append(found)
        least += log.least_bytes(found)
        held += found.nbytes
    return first, least


def _taken(waiting: deque[Changes]) -> Iterator[Changes]:
    """All of them, none of which is held any longer."""
    while waiting:
        yield waiting.popleft()


class _Source:
    """The changes to be written, from which any number of rows can be taken."""

    def __init__(self, windows: Iterator[Changes]) -> None:
        self._windows = windows
        self._rest: Changes | None = None

    def next(self) -> Changes | None:
        """The next changes, which are still to be taken; None at the end."""
        if self._rest is None:
            self._rest = next(self._windows, None)
        return self._rest

    def take(self, rows: int) -> Changes:
        """So many rows of :meth:`next`."""
        changes = self.next()
        assert changes is not None
        self._rest = changes.slice(rows, changes.rows - rows) if rows < changes.rows else None
        return changes.slice(0, rows)

    def whole(self, rows_each: int) -> Iterator[Changes]:
        """Whole transactions of so many rows, as long as there are some in the next changes."""
        while (changes := self.next()) is not None and changes.rows >= rows_each:
            yield self.take(changes.rows - changes.rows % rows_each)

    def parts(self, rows: int) -> Iterator[Changes]:
        """So many rows, or all that are left."""
        while rows and (changes := self.next()) is not None:
            part = self.take(min(rows, changes.rows))
            rows -= part.rows
            yield part


def _write_transactions(log: RowsLog, source: _Source, rows_each: int) -> None:
    """Transactions of so many rows, whatever the batches and kinds of change are."""
    while source.next() is not None:
        log.transactions_of(source.whole(rows_each), rows_each)
        log.transaction(source.parts(rows_each))
