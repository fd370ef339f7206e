"""``mysqlbinlog`` of MySQL 9.7: what it prints of each event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from forge.binlog.window import LogWindow
from forge.events.event import IGNORABLE, RawBody
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.ignorable import Ignorable
from forge.events.intvar import Intvar
from forge.events.plain import to_bytes
from forge.events.previous_gtids import PreviousGtids, gtid_set_text
from forge.events.query import Query
from forge.events.rand import Rand
from forge.events.rotate import Rotate
from forge.events.rows import ROWS_BODIES, RowsBody
from forge.events.rows_query import RowsQuery
from forge.events.table_map import TableMap
from forge.events.transaction_payload import COMPRESSION_TYPE, NONE, UNCOMPRESSED_SIZE, TransactionPayload
from forge.events.user_var import DECIMAL, INTEGER, REAL, UserVar
from forge.events.view_change import ViewChange
from forge.events.xa_prepare import XaPrepare
from forge.events.xid import Xid
from forge.vendors import mysql_forms as forms
from forge.vendors import mysql_messages as messages
from forge.vendors.common_events import CommonEvents, PrintBody
from forge.vendors.mysql_filters import MysqlFilters, ends_group, is_of_statements, is_of_transactions, starts_group
from forge.vendors.print_options import PrintOptions
from forge.vendors.printed_rows import row_lines
from forge.vendors.printer import PrintError, ends_statement, xa_id
from forge.vendors.quoting import in_backticks, variable_text
from forge.vendors.shown_events import ShownEvent, inner_events
from forge.vendors.table_lines import table_texts

_RELAY_LOG, _ARTIFICIAL = 0x40, 0x20
_READ_COMMITTED = 1
_ROW_NAMES = {30: b"Write_rows", 31: b"Update_rows", 32: b"Delete_rows", 39: b"Update_rows_partial"}
#: The version of servers, in a GTID, from which on a TABLE_MAP tells of generated keys.
_TELLS_GENERATED_KEYS = 80030
_NO_CHARSET = 33


class MysqlPrinter(CommonEvents):
    family = "mysql"
    ends_after_errors = True
    passes_begun = True
    before_start = (FormatDescription, PreviousGtids, Rotate)

    def __init__(self, options: PrintOptions, complain: Callable[[str], object]) -> None:
        super().__init__(options, "mysql", complain)
        self.deferred: list[ShownEvent] = []
        self.in_transaction = False
        self.filters = MysqlFilters(options)
        self.head: list[bytes] = []
        #: Tables of databases that are left out, and whether one of the group's events was.
        self.ignored_tables: set[int] = set()
        self.skipped = False
        self.seen_gtid = False
        #: With --skip-gtids: whether transactions were said to have new ones.
        self.automatic = False
        #: Whether a GTID was printed, and not the end of its group.
        self.begins = False
        self.tells_generated_keys = False
        self.printers |= {
            FormatDescription: self._format_description,
            PreviousGtids: self._previous_gtids,
            Query: self._query,
            Xid: self._xid,
            XaPrepare: self._xa_prepare,
            RowsQuery: self._rows_query,
            TableMap: self._table_map,
            TransactionPayload: self._payload,
            UserVar: self._user_var,
            ViewChange: self._view_change,
            Ignorable: self._ignorable,
            RawBody: self._ignorable,
        }

    def first_lines(self) -> bytes:
        options = self.options
        repeated = b"/*!50700 SET @@SESSION.RBR_EXEC_MODE=IDEMPOTENT*/;\n\n" if options.idempotent else b""
        by_row = b"/*!80019 SET @@SESSION.REQUIRE_ROW_FORMAT=1*/;\n\n" if options.require_row_format else b""
        return (
            b"# The proper term is pseudo_replica_mode, but we use this compatibility alias\n"
            b"# to make the statement usable on server versions 8.0.24 and older.\n"
            b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;\n"
            + self.log_and_charset_set()
            + repeated
            + by_row
            + b"DELIMITER "
            + self.session.delimiter
            + b"\n"
        )

    def bad_beginning(self, data: bytes) -> str:
        return messages.bad_beginning(data)

    def unread(self, offset: int, raw: bytes, *, torn: bool) -> str:
        return messages.unread(offset, raw, torn=torn)

    def ends_at(self, offset: int, raw: bytes, *, torn: bool) -> None:
        if not (torn and self.in_use and self.options.force_if_open):
            raise PrintError(self.unread(offset, raw, torn=torn))
        self.warn("File ends with a truncated event.")

    def not_found(self, name: str, error: OSError) -> str:
        shown = f"mysqlbinlog: File '{name}' not found (OS errno {error.errno} - {error.strerror})"
        return f"{shown}\nERROR: Could not open log file"

    def log(self, window: LogWindow) -> Iterator[bytes]:
        try:
            yield from super().log(window)
        except PrintError as error:
            self.head.clear()
            self.fail(error)
        self._warn_of_unfinished()
        yield from self.end_file()

    def at_start(self, description: ShownEvent, position: int) -> ShownEvent:
        return replace(description, position=position)

    def _warn_of_unfinished(self) -> None:
        if self.deferred:
            self.warn(f"{messages.WITHOUT_QUERY} {messages.UNFINISHED} ")
        elif self.unfinished:
            self.warn(f"{messages.WITHOUT_END} {messages.UNFINISHED}")

    def end_file(self) -> Iterator[bytes]:
        if self.skipped:
            self.skipped = self.begins = False
            yield self.statement(b"COMMIT /* added by mysqlbinlog */")
        if self.begins and not self.in_transaction:
            yield b"BEGIN /*added by mysqlbinlog */ " + self.session.delimiter + b"\n"
        if self.in_transaction or self.begins:
            yield b"ROLLBACK /* added by mysqlbinlog */ " + self.session.delimiter + b"\n"
        if not self.options.skip_gtids:
            yield b"SET @@SESSION.GTID_NEXT= 'AUTOMATIC' /* added by mysqlbinlog */ " + self.session.delimiter + b"\n"

    def last_lines(self) -> bytes:
        repeated = b"/*!50700 SET @@SESSION.RBR_EXEC_MODE=STRICT*/;\n" if self.options.idempotent else b""
        return (
            b"DELIMITER ;\n"
            b"# End of log file\n"
            + self.log_and_charset_reset()
            + b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n"
            + repeated
        )

    def event(self, shown: ShownEvent) -> Iterator[bytes]:
        """What stands in ``head`` is printed with the next event that is."""
        if self.filters.skips_server(shown.event):
            return
        self.head.append(self.at(shown))
        shown = self.rewritten(shown)
        body = shown.body
        if self.filters.skips_gtid(body):
            return
        self._refuse(shown)
        if isinstance(body, (Intvar, Rand, UserVar)):
            self.deferred.append(shown)
            yield from self.flushed()
        elif isinstance(body, (AnonymousGtid, GtidTagged)):
            if self.skipped:
                self.skipped = False
                yield self.statement(b"COMMIT /* added by mysqlbinlog */")
            yield from self.flushed()
            yield from self._gtid(shown, body)
        elif isinstance(body, Query) and self._skips_query(body):
            if self.seen_gtid and not self.in_transaction and not ends_group(to_bytes(body.query)):
                self.skipped = self.begins = False
                yield self.statement(b"COMMIT /* added by mysqlbinlog */")
        elif not self._skips(shown):
            yield from self.flushed()
            if isinstance(body, ROWS_BODIES):
                yield from self._rows(shown, body)
            else:
                yield from self._printer(shown)(shown, body)

    def _refuse(self, shown: ShownEvent) -> None:
        """Raises PrintError for an event that the options forbid."""
        options, body = self.options, shown.body
        if options.require_row_format and is_of_statements(body, self.in_transaction):
            raise PrintError("ERROR: Event being written violates the --require-row-format parameter constraints.")
        if options.base64_output == "never" and not options.short_form and isinstance(body, ROWS_BODIES):
            raise PrintError(
                "ERROR: --base64-output=never specified, but binlog contains a"
                f" {_ROW_NAMES[shown.type_code].decode()} event which must be printed in base64."
            )

    def flushed(self) -> Iterator[bytes]:
        """What stands in front of the event."""
        yield from self.head
        self.head.clear()

    def _skips(self, shown: ShownEvent) -> bool:
        """Whether an event is left out by its database."""
        body = shown.body
        skips = self.filters.skips_database
        if isinstance(body, TableMap):
            skipped = skips(body.database)
            if skipped:
                self.ignored_tables.add(body.table_id)
        elif isinstance(body, ROWS_BODIES):
            skipped = body.table_id in self.ignored_tables
            if ends_statement(body):
                self.ignored_tables.clear()
                if skipped:
                    self.head += self.held_rows()
        else:
            skipped = isinstance(body, ExecuteLoadQuery) and skips(body.database)
        self.skipped = self.skipped or skipped
        return skipped

    def _printer(self, shown: ShownEvent) -> PrintBody:
        return self.printers[type(shown.body)]

    def is_read(self, shown: ShownEvent) -> bool:
        """Whether the program knows the event's type, and its bytes fit it."""
        body = shown.body
        if isinstance(body, RawBody):
            return bool(shown.event.flags & IGNORABLE)
        if isinstance(body, ROWS_BODIES):
            return shown.type_code in _ROW_NAMES
        return type(body) in self.printers or isinstance(body, (AnonymousGtid, GtidTagged))

    def _format_description(self, shown: ShownEvent, body: FormatDescription) -> Iterator[bytes]:
        flags = shown.event.flags
        yield from self.format_description(shown, body)
        if flags & _RELAY_LOG:
            yield (b"# This Format_description_event appears in a relay log and was generated by the replica thread.\n")
        if body.created and not flags & (_RELAY_LOG | _ARTIFICIAL):
            yield self.statement(b"ROLLBACK")
        if not flags & _RELAY_LOG:
            yield from self.block_of(shown)
        quiet = self.options.short_form or self.options.base64_output == "never" or flags & _RELAY_LOG
        if self.options.skip_gtids and not quiet and not self.automatic:
            self.automatic = True
            yield self.statement(b"/*!50616 SET @@SESSION.GTID_NEXT='AUTOMATIC'*/")

    def _previous_gtids(self, shown: ShownEvent, body: PreviousGtids) -> Iterator[bytes]:
        if self.options.database is not None and not self.options.skip_gtids:
            self.warn(messages.OF_A_DATABASE)
        text = gtid_set_text(body.gtid_set[1]).replace(",", ",\n# ") or "[empty]"
        yield self.header(shown, b"\tPrevious-GTIDs\n") + b"# " + text.encode() + b"\n"

    def _gtid(self, shown: ShownEvent, body: AnonymousGtid | GtidTagged) -> Iterator[bytes]:
        self.seen_gtid = self.begins = True
        immediate, original, own_version, original_version = forms.times_and_versions(body)
        self.tells_generated_keys = _TELLS_GENERATED_KEYS <= own_version < forms.UNKNOWN_VERSION
        by_row = not (body.gtid_flags or 0) & _READ_COMMITTED
        anonymous = type(body) is AnonymousGtid
        fields = (
            b"Anonymous_GTID" if anonymous else b"GTID", body.last_committed or 0, body.sequence_number or 0,
            b"yes" if by_row else b"no", original, immediate, body.transaction_length or 0,
        )  # fmt: skip
        yield self.header(
            shown,
            b"\t%s\tlast_committed=%d\tsequence_number=%d\trbr_only=%s\toriginal_committed_timestamp=%d"
            b"\timmediate_commit_timestamp=%d\ttransaction_length=%d\n" % fields,
        )
        if by_row:
            yield self.statement(b"/*!50718 SET TRANSACTION ISOLATION LEVEL READ COMMITTED*/")
        yield b"# original_commit_timestamp=%d (%s)\n" % (original, forms.moment_in_full(original))
        yield b"# immediate_commit_timestamp=%d (%s)\n" % (immediate, forms.moment_in_full(immediate))
        yield self.statement(b"/*!80001 SET @@session.original_commit_timestamp=%d*/" % original)
        yield self.statement(b"/*!80014 SET @@session.original_server_version=%d*/" % original_version)
        yield self.statement(b"/*!80014 SET @@session.immediate_server_version=%d*/" % own_version)
        yield self.statement(b"SET @@SESSION.GTID_NEXT= '%s'" % forms.gtid_text(body))

    def _skips_query(self, body: Query) -> bool:
        """Whether a statement is left out by its database, and what it would have read."""
        if is_of_transactions(to_bytes(body.query)) or not self.filters.skips_database(body.database):
            return False
        self.skipped = True
        self.deferred.clear()
        return True

    def _query(self, shown: ShownEvent, body: Query) -> Iterator[bytes]:
        text = to_bytes(body.query)
        yield self.guarded(text)
        for deferred in self.deferred:
            yield from self._printer(deferred)(deferred, deferred.body)
        self.deferred.clear()
        if ends_group(text):
            self.in_transaction = self.skipped = self.begins = False
        elif starts_group(text):
            self.in_transaction = True
        elif not self.in_transaction:
            self.begins = False
        yield self._query_header(shown, body, b"Query")
        yield from self.settings(shown, text)
        yield text + b"\n" + self.statement(b"")

    def _query_header(self, shown: ShownEvent, body: Any, name: bytes) -> bytes:
        line = b"\t%s\tthread_id=%d\texec_time=%d\terror_code=%d" % (
            name, body.thread_id, body.exec_time, body.error_code,
        )  # fmt: skip
        xid = self.session.status(body).get("ddl_xid")
        return self.header(shown, line + (b"" if xid is None else b"\tXid = %d" % xid) + b"\n")

    def _xid(self, shown: ShownEvent, body: Xid) -> Iterator[bytes]:
        self.in_transaction = self.skipped = self.begins = False
        yield self.header(shown, b"\tXid = %d\n" % body.xid) + self.statement(b"COMMIT")

    def _xa_prepare(self, shown: ShownEvent, body: XaPrepare) -> Iterator[bytes]:
        xid = xa_id(body.gtrid, body.bqual, body.format_id)
        # Also with --short-form.
        yield self.header_line(shown) + b"\tXA PREPARE %s\n" % xid
        yield b"XA COMMIT %s ONE PHASE\n" % xid if body.one_phase else b"XA PREPARE %s\n" % xid
        yield self.statement(b"")

    def _rows_query(self, shown: ShownEvent, body: RowsQuery) -> Iterator[bytes]:
        self.unfinished = True
        if self.options.verbose > 1 and not self.options.short_form:
            text = to_bytes(body.query).replace(b"\\", b"\\\\").replace(b"\n", b"\n# ")
            yield self.header(shown, b"\tRows_query\n") + b"# " + text + b"\n"
            self.add_to_block(shown)

    def _table_map(self, shown: ShownEvent, body: TableMap) -> Iterator[bytes]:
        mapped = self.note_table(shown, body)
        self.unfinished = True
        if self.options.short_form:
            return
        before, behind = table_texts(mapped, self.options, self.flavour, tells_key=self.tells_generated_keys)
        yield self.header(shown, before + b"%d" % body.table_id + behind)
        self.add_to_block(shown)

    def _rows(self, shown: ShownEvent, body: RowsBody) -> Iterator[bytes]:
        self.unfinished = True
        name = _ROW_NAMES[shown.type_code]
        line = b"\t%s: table id %d%s\n" % (name, body.table_id, forms.row_flag_names(body.row_flags))
        yield self.header(shown, line)
        if not self.options.short_form:
            self.add_to_block(shown)
        if self.options.rows:
            self._hold_rows(body)
        if ends_statement(body):
            yield from self.held_rows()

    def _hold_rows(self, body: RowsBody) -> None:
        mapped = self.tables.get(body.table_id)
        if mapped is None or mapped.columns is None:
            self.rows.add(b"### Row event for unknown table #%d" % body.table_id)
            return
        partitions = forms.partitions_line(getattr(body, "extra", b""))
        for number, lines in enumerate(row_lines(body, mapped, "mysql", commented=self.options.verbose > 1)):
            if not number and partitions:
                self.rows.add(partitions)
            self.rows.add(lines)

    def _payload(self, shown: ShownEvent, body: TransactionPayload) -> Iterator[bytes]:
        kind = b"NONE" if body.number(COMPRESSION_TYPE) == NONE else b"ZSTD"
        fields = (len(body.payload), kind, body.number(UNCOMPRESSED_SIZE) or 0)
        line = b"\tTransaction_Payload\t\tpayload_size=%d\tcompression_type=%s\tuncompressed_size=%d\n" % fields
        yield self.header(shown, line)
        if not self.options.short_form:
            yield b"# Start of compressed events.\n"
        for inner in inner_events(shown, body):
            if not self.is_read(inner):
                raise PrintError(messages.UNREAD_INNER)
            yield from self.event(inner)
        if not self.options.short_form:
            yield b"# End of compressed events.\n"

    def _user_var(self, shown: ShownEvent, body: UserVar) -> Iterator[bytes]:
        yield self.header(shown, b"\tUser_var\n")
        kind, number, _ = body.value or (None, 0, b"")
        connection = number if kind in (REAL, INTEGER, DECIMAL) else _NO_CHARSET
        for line in self.session.charset_lines((_NO_CHARSET, connection, _NO_CHARSET)):
            yield self.statement(line)
        yield self.statement(b"SET @" + in_backticks(to_bytes(body.name)) + b":=" + variable_text(body, self.flavour))
        if self.session.charset is not None:
            for line in self.session.charset_lines(self.session.charset):
                yield self.statement(line)

    def _view_change(self, shown: ShownEvent, body: ViewChange) -> Iterator[bytes]:
        view = body.view_id.split(b"\0")[0]
        yield self.header(shown, b"View_change_log_event: view_id=%s\n" % view)

    def _ignorable(self, shown: ShownEvent, body: Ignorable | RawBody) -> Iterator[bytes]:
        yield self.header(shown, b"\tIgnorable\n")
        if not self.options.short_form:
            yield b"# Unrecognized ignorable event\n"
