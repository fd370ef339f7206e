"""``mysqlbinlog`` of MySQL 9.7: what it prints of each event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from forge.binlog.reader import ENCRYPTED_MAGIC, MAGIC
from forge.binlog.window import LogWindow
from forge.events.event import IGNORABLE, RawBody
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid
from forge.events.gtid_tagged import GtidTagged
from forge.events.ignorable import Ignorable
from forge.events.intvar import Intvar
from forge.events.plain import to_bytes
from forge.events.previous_gtids import PreviousGtids, gtid_set_text
from forge.events.query import Query
from forge.events.rand import Rand
from forge.events.rows import ROWS_BODIES, RowsBody
from forge.events.rows_query import RowsQuery
from forge.events.table_map import TableMap
from forge.events.transaction_payload import COMPRESSION_TYPE, NONE, UNCOMPRESSED_SIZE, TransactionPayload
from forge.events.user_var import DECIMAL, INTEGER, REAL, UserVar
from forge.events.view_change import ViewChange
from forge.events.xa_prepare import XaPrepare
from forge.events.xid import Xid
from forge.vendors.common_events import CommonEvents, PrintBody
from forge.vendors.mysql_forms import (
    gtid_text,
    moment_in_full,
    partitions_line,
    row_flag_names,
    times_and_versions,
    variable_text,
    version_numbers,
)
from forge.vendors.print_options import PrintOptions
from forge.vendors.printer import PrintError, ends_statement, xa_id
from forge.vendors.quoting import in_backticks
from forge.vendors.row_lines import row_lines
from forge.vendors.session_lines import DELIMITER
from forge.vendors.shown_events import ShownEvent, inner_events
from forge.vendors.table_lines import table_lines

_RELAY_LOG, _ARTIFICIAL = 0x40, 0x20
_READ_COMMITTED = 1
_ROW_NAMES = {30: b"Write_rows", 31: b"Update_rows", 32: b"Delete_rows", 39: b"Update_rows_partial"}
_GENERATED_KEY = 0x0004
#: The version of servers from which on a TABLE_MAP tells of generated keys.
_TELLS_GENERATED_KEYS = [8, 0, 30]
_UNFINISHED = (
    "This might be because the last statement was not fully written to the log, or because you are using a"
    " --stop-position or --stop-datetime that refers to an event in the middle of a statement. The event(s) from the"
    " partial statement have not been written to output."
)
_NO_CHARSET = 33


class MysqlPrinter(CommonEvents):
    family = "mysql"
    ends_after_errors = True

    def __init__(self, options: PrintOptions, complain: Callable[[str], object]) -> None:
        super().__init__(options, "mysql", complain)
        self.deferred: list[ShownEvent] = []
        self.in_transaction = False
        self.payload = False
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
        }

    def first_lines(self) -> bytes:
        return (
            b"# The proper term is pseudo_replica_mode, but we use this compatibility alias\n"
            b"# to make the statement usable on server versions 8.0.24 and older.\n"
            b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;\n"
            b"/*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;\n"
            b"DELIMITER " + DELIMITER + b"\n"
        )

    def bad_beginning(self, data: bytes) -> str:
        if data == ENCRYPTED_MAGIC:
            return "ERROR: Reading encrypted log files directly is not supported."
        if len(data) < len(MAGIC):
            return "ERROR: I/O error reading the header from the binary log"
        return (
            "ERROR: Binlog has bad magic number;  It's not a binary log file that can be used by this version of MySQL"
        )

    def unread(self, offset: int, raw: bytes, *, torn: bool) -> str:
        reason = (
            "binlog truncated in the middle of event; consider out of disk space"
            if torn
            else "Found invalid event in binary log"
        )
        return f"ERROR: Could not read entry at offset {offset}: Error in log format or read error 1.\nERROR: {reason}"

    def not_found(self, name: str, error: OSError) -> str:
        shown = f"mysqlbinlog: File '{name}' not found (OS errno {error.errno} - {error.strerror})"
        return f"{shown}\nERROR: Could not open log file"

    def log(self, window: LogWindow) -> Iterator[bytes]:
        try:
            yield from super().log(window)
        except PrintError as error:
            self.fail(error)
        self._warn_of_unfinished()
        yield from self.end_file()

    def _warn_of_unfinished(self) -> None:
        if self.deferred:
            self.warn(
                "The range of printed events ends with an Intvar_event, Rand_event or User_var_event with no matching"
                f" Query_log_event. {_UNFINISHED} "
            )
        elif self.unfinished:
            self.warn(
                "The range of printed events ends with a row event or a table map event that does not have the"
                f" STMT_END_F flag set. {_UNFINISHED}"
            )

    def end_file(self) -> Iterator[bytes]:
        if self.in_transaction:
            yield b"ROLLBACK /* added by mysqlbinlog */ " + DELIMITER + b"\n"
        if not self.options.skip_gtids:
            yield b"SET @@SESSION.GTID_NEXT= 'AUTOMATIC' /* added by mysqlbinlog */ " + DELIMITER + b"\n"

    def last_lines(self) -> bytes:
        return (
            b"DELIMITER ;\n"
            b"# End of log file\n"
            b"/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;\n"
            b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n"
        )

    def event(self, shown: ShownEvent) -> Iterator[bytes]:
        yield self.at(shown)
        body = shown.body
        if isinstance(body, ROWS_BODIES) and shown.type_code in _ROW_NAMES:
            yield from self._rows(shown, body)
        elif isinstance(body, (AnonymousGtid, GtidTagged)):
            yield from self._gtid(shown, body)
        elif isinstance(body, (Intvar, Rand, UserVar)):
            self.deferred.append(shown)
        else:
            yield from self._printer(shown)(shown, body)

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
        self.tells_generated_keys = version_numbers(body.server_version) >= _TELLS_GENERATED_KEYS
        flags = shown.event.flags
        yield from self.format_description(shown, body)
        if flags & _RELAY_LOG and not self.options.short_form:
            yield (b"# This Format_description_event appears in a relay log and was generated by the replica thread.\n")
        if body.created and not flags & (_RELAY_LOG | _ARTIFICIAL):
            yield self.statement(b"ROLLBACK")
        if not flags & _RELAY_LOG:
            yield from self.block_of(shown)

    def _previous_gtids(self, shown: ShownEvent, body: PreviousGtids) -> Iterator[bytes]:
        if not self.options.short_form:
            text = gtid_set_text(body.gtid_set[1]).replace(",", ",\n# ") or "[empty]"
            yield self.header(shown, b"\tPrevious-GTIDs\n") + b"# " + text.encode() + b"\n"

    def _gtid(self, shown: ShownEvent, body: AnonymousGtid | GtidTagged) -> Iterator[bytes]:
        immediate, original, own_version, original_version = times_and_versions(body)
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
        if not self.options.short_form:
            yield b"# original_commit_timestamp=%d (%s)\n" % (original, moment_in_full(original))
            yield b"# immediate_commit_timestamp=%d (%s)\n" % (immediate, moment_in_full(immediate))
        yield self.statement(b"/*!80001 SET @@session.original_commit_timestamp=%d*/" % original)
        yield self.statement(b"/*!80014 SET @@session.original_server_version=%d*/" % original_version)
        yield self.statement(b"/*!80014 SET @@session.immediate_server_version=%d*/" % own_version)
        yield self.statement(b"SET @@SESSION.GTID_NEXT= '%s'" % gtid_text(body))

    def _query(self, shown: ShownEvent, body: Query) -> Iterator[bytes]:
        for deferred in self.deferred:
            yield from self._printer(deferred)(deferred, deferred.body)
        self.deferred.clear()
        text = to_bytes(body.query)
        yield self._query_header(shown, body, b"Query")
        yield from self.settings(shown, text)
        yield text + b"\n" + self.statement(b"")
        if text == b"BEGIN" or text.startswith(b"XA START"):
            self.in_transaction = True
        elif text in (b"COMMIT", b"ROLLBACK"):
            self.in_transaction = False

    def _query_header(self, shown: ShownEvent, body: Any, name: bytes) -> bytes:
        line = b"\t%s\tthread_id=%d\texec_time=%d\terror_code=%d" % (
            name, body.thread_id, body.exec_time, body.error_code,
        )  # fmt: skip
        xid = self.session.status(body).get("ddl_xid")
        return self.header(shown, line + (b"" if xid is None else b"\tXid = %d" % xid) + b"\n")

    def _xid(self, shown: ShownEvent, body: Xid) -> Iterator[bytes]:
        self.in_transaction = False
        yield self.header(shown, b"\tXid = %d\n" % body.xid) + self.statement(b"COMMIT")

    def _xa_prepare(self, shown: ShownEvent, body: XaPrepare) -> Iterator[bytes]:
        xid = xa_id(body.gtrid, body.bqual, body.format_id)
        yield self.header(shown, b"\tXA PREPARE %s\n" % xid)
        yield b"XA COMMIT %s ONE PHASE\n" % xid if body.one_phase else b"XA PREPARE %s\n" % xid
        yield self.statement(b"")

    def _rows_query(self, shown: ShownEvent, body: RowsQuery) -> Iterator[bytes]:
        if self.options.verbose > 1 and not self.options.short_form:
            text = to_bytes(body.query).replace(b"\\", b"\\\\").replace(b"\n", b"\n# ")
            yield self.header(shown, b"\tRows_query\n") + b"# " + text + b"\n"
            self.add_to_block(shown)
            self.unfinished = True

    def _table_map(self, shown: ShownEvent, body: TableMap) -> Iterator[bytes]:
        mapped = self.note_table(shown, body)
        self.unfinished = True
        if self.options.short_form:
            return
        names = (to_bytes(body.database), to_bytes(body.table), body.table_id)
        yield self.header(shown, b"\tTable_map: `%s`.`%s` mapped to number %d\n" % names)
        if self.tells_generated_keys:
            yield b"# has_generated_invisible_primary_key=%d\n" % bool(body.table_flags & _GENERATED_KEY)
        if self.options.print_table_metadata:
            yield table_lines(mapped, self.flavour)
        self.add_to_block(shown)

    def _rows(self, shown: ShownEvent, body: RowsBody) -> Iterator[bytes]:
        self.unfinished = True
        name = _ROW_NAMES[shown.type_code]
        if self.options.base64_output == "never" and not self.options.short_form:
            raise PrintError(
                f"--base64-output=never specified, but binlog contains a {name.decode()} event which must be printed"
                " in base64."
            )
        line = b"\t%s: table id %d%s\n" % (name, body.table_id, row_flag_names(body.row_flags))
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
        partitions = partitions_line(getattr(body, "extra", b""))
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
            yield from self.event(inner)
        if not self.options.short_form:
            yield b"# End of compressed events.\n"

    def _user_var(self, shown: ShownEvent, body: UserVar) -> Iterator[bytes]:
        yield self.header(shown, b"\tUser_var\n")
        kind, number, _ = body.value or (None, 0, b"")
        connection = number if kind in (REAL, INTEGER, DECIMAL) else _NO_CHARSET
        for line in self.session.charset_lines((_NO_CHARSET, connection, _NO_CHARSET)):
            yield self.statement(line)
        yield self.statement(b"SET @" + in_backticks(to_bytes(body.name)) + b":=" + variable_text(body))
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
