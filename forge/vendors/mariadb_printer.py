"""``mariadb-binlog`` of MariaDB 10.11 and 11.8: what it prints of each event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from forge.binlog.reader import MAGIC
from forge.events.binlog_checkpoint import BinlogCheckpoint
from forge.events.event import IGNORABLE, SKIP_REPLICATION, SUPPRESS_USE, RawBody
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid, Gtid
from forge.events.gtid_list import GtidList
from forge.events.ignorable import Ignorable
from forge.events.mariadb_compressed import QueryCompressed, uncompressed
from forge.events.mariadb_gtid import COMMIT_ALTER, START_ALTER, THREAD_ID, MariadbGtid
from forge.events.plain import to_bytes
from forge.events.previous_gtids import PreviousGtids
from forge.events.query import Query
from forge.events.rows import ROWS_BODIES, RowsBody
from forge.events.rows_query import AnnotateRows, RowsQuery
from forge.events.start_encryption import StartEncryption
from forge.events.table_map import TableMap
from forge.events.user_var import UserVar
from forge.events.xa_prepare import XaPrepare
from forge.events.xid import Xid
from forge.vendors.cell_forms import COUNTING
from forge.vendors.column_forms import Flavour
from forge.vendors.common_events import CommonEvents
from forge.vendors.mariadb_filters import MariadbFilters
from forge.vendors.mariadb_forms import absent_flags, unread, with_old_checksum
from forge.vendors.print_options import NO_STOP, PrintOptions
from forge.vendors.printed_rows import RowsEnd, row_lines
from forge.vendors.printer import PrintError, ends_statement, xa_id
from forge.vendors.quoting import base64_lines, in_backticks, variable_text
from forge.vendors.session_lines import OF_TRANSACTIONS, OF_XA
from forge.vendors.shown_events import ShownEvent
from forge.vendors.table_lines import table_texts

_ROW_NAMES = {
    23: b"Write_rows", 24: b"Update_rows", 25: b"Delete_rows", 30: b"Write_rows", 31: b"Update_rows",
    32: b"Delete_rows", 166: b"Write_compressed_rows", 167: b"Update_compressed_rows",
    168: b"Delete_compressed_rows", 169: b"Write_compressed_rows", 170: b"Update_compressed_rows",
    171: b"Delete_compressed_rows",
}  # fmt: skip
_IGNORED = {
    Ignorable: b"Ignorable log event", RowsQuery: b"MySQL Rows_query", Gtid: b"MySQL Gtid",
    AnonymousGtid: b"MySQL Anonymous_Gtid", PreviousGtids: b"MySQL Previous_gtids",
}  # fmt: skip
_ARTIFICIAL = 0x20
_OWN_IDS = (
    b"/*!100001 SET @@SESSION.SERVER_ID=@@GLOBAL.SERVER_ID */;\n"
    b"/*!100001 SET @@SESSION.GTID_DOMAIN_ID=@@GLOBAL.GTID_DOMAIN_ID */;\n"
)
_STANDALONE, _TRANSACTIONAL, _ALLOW_PARALLEL, _WAITED, _DDL, _COMMIT_ID = 1, 4, 8, 16, 32, 2
_PREPARED, _COMPLETED = 64, 128
_ROLLBACK_ALTER = 8


class MariadbPrinter(CommonEvents):
    family = "mariadb"

    def __init__(self, options: PrintOptions, flavour: Flavour, complain: Callable[[str], object]) -> None:
        super().__init__(options, flavour, complain)
        #: Headers of the row events of a statement that has not ended.
        self.headers: list[bytes] = []
        self.row_count = 0
        self.annotation: ShownEvent | None = None
        self.filters = MariadbFilters(options)
        self.skip_replication = False
        self.skip_parallel: bool | None = None
        self.domain_id: int | None = None
        self.server_id: int | None = None
        #: flags_extra of the GTID whose QUERY comes next.
        self.alter = 0
        #: Whether the last GTID was that of an XA transaction.
        self.in_xa = False
        self.printers |= {
            FormatDescription: self._format_description,
            GtidList: self._gtid_list,
            BinlogCheckpoint: self._checkpoint,
            MariadbGtid: self._gtid,
            Query: self._query,
            QueryCompressed: self._query,
            Xid: self._xid,
            XaPrepare: self._xa_prepare,
            AnnotateRows: self._annotate,
            TableMap: self._table_map,
            StartEncryption: self._start_encryption,
            UserVar: self._user_var,
        }
        for kind in (*_IGNORED, RawBody):
            self.printers[kind] = self._ignorable

    def first_lines(self) -> bytes:
        return (
            b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;\n"
            b"/*!40019 SET @@session.max_delayed_threads=0*/;\n"
            + self.log_and_charset_set()
            + b"DELIMITER "
            + self.session.delimiter
            + b"\n"
        )

    def end_calls(self) -> None:
        """Warn of what was not reached."""
        options = self.options
        if options.stop_datetime_text and not self.reached_time:
            self.warn(f"Did not reach stop datetime '{options.stop_datetime_text}' before end of input")
        if NO_STOP > options.stop_position > self.end:
            self.warn(f"Did not reach stop position {options.stop_position} before end of input")

    def last_lines(self) -> bytes:
        return (
            b"DELIMITER ;\n"
            b"# End of log file\n"
            b"ROLLBACK /* added by mysqlbinlog */;\n"
            + self.log_and_charset_reset()
            + b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n"
            + (_OWN_IDS if self.filters.by_id else b"")
        )

    def at_start(self, description: ShownEvent, position: int) -> ShownEvent | None:
        return description if self.options.blocks else None

    def bad_beginning(self, data: bytes) -> str:
        if len(data) < len(MAGIC):
            return "ERROR: Failed reading header; probably an empty file."
        return "ERROR: File is not a binary log file."

    def unread(self, offset: int, raw: bytes, *, torn: bool) -> str:
        return unread(offset, raw, torn=torn)

    def ends_at(self, offset: int, raw: bytes, *, torn: bool) -> None:
        message = self.unread(offset, raw, torn=torn)
        if not self.in_use:
            raise PrintError(message)
        # A server may be writing the event.
        self.complain(message.partition("\n")[0])

    def not_found(self, name: str, error: OSError) -> str:
        return f"mariadb-binlog: File '{name}' not found (Errcode: {error.errno} \"{error.strerror}\")"

    def is_read(self, shown: ShownEvent) -> bool:
        body = shown.body
        if isinstance(body, ROWS_BODIES):
            return shown.type_code in _ROW_NAMES
        if isinstance(body, RawBody):
            return bool(shown.event.flags & IGNORABLE)
        if isinstance(body, XaPrepare) and not body.gtrid:
            return False
        return type(body) in self.printers

    def event(self, shown: ShownEvent) -> Iterator[bytes]:
        options, body = self.options, shown.body
        filters = self.filters
        if isinstance(body, MariadbGtid):
            filters.check_order(shown.event.server_id, body)
        if filters.skips_server(shown.event) or filters.skips_domain(body):
            return
        if options.print_row_event_positions:
            yield self.at(shown)
        trivial = isinstance(body, (Query, QueryCompressed)) and self.is_trivial(to_bytes(body.text()))
        skipped = filters.skips_table(body, trivial=trivial)
        if isinstance(body, ROWS_BODIES) and ends_statement(body):
            self.annotation = None
            if skipped:
                yield from self._cut_rows()
        if skipped:
            return
        if isinstance(body, TableMap):
            shown = with_old_checksum(self.rewritten(shown), shown.checksum)
            body = shown.body
        skipped = bool(shown.event.flags & SKIP_REPLICATION)
        if skipped != self.skip_replication:
            self.skip_replication = skipped
            yield self.statement(b"/*!50521 SET skip_replication=%d*/" % skipped)
        if isinstance(body, ROWS_BODIES):
            yield from self._rows(shown, body)
        else:
            yield from self.printers[type(body)](shown, body)

    def _format_description(self, shown: ShownEvent, body: FormatDescription) -> Iterator[bytes]:
        self.session.absent_flags = absent_flags(body.server_version)
        yield from self.format_description(shown, body)
        if body.created and not shown.event.flags & _ARTIFICIAL:
            yield self.statement(b"ROLLBACK")
        yield from self.block_of(shown)

    def _gtid_list(self, shown: ShownEvent, body: GtidList) -> Iterator[bytes]:
        gtids = sorted(body.gtids, key=lambda gtid: (gtid[0], gtid[2]))
        text = b",\n# ".join(b"%d-%d-%d" % gtid for gtid in gtids)
        yield self.header(shown, b"\tGtid list [" + text + b"]\n")

    def _checkpoint(self, shown: ShownEvent, body: BinlogCheckpoint) -> Iterator[bytes]:
        yield self.header(shown, b"\tBinlog checkpoint " + to_bytes(body.file_name) + b"\n")

    def _gtid(self, shown: ShownEvent, body: MariadbGtid) -> Iterator[bytes]:
        flags, extra = body.flags2, body.flags_extra or 0
        server = shown.event.server_id
        self.alter = extra
        self.in_xa = bool(flags & (_PREPARED | _COMPLETED))
        words = [b"\tGTID %d-%d-%d" % (body.domain_id, server, body.sequence_number)]
        if flags & _COMMIT_ID:
            words.append(b"cid=%d" % (body.commit_id or 0))
        words += [
            word for bit, word in ((_DDL, b"ddl"), (_TRANSACTIONAL, b"trans"), (_WAITED, b"waited")) if flags & bit
        ]
        if extra & START_ALTER:
            words.append(b"START ALTER")
        for bit, word in ((COMMIT_ALTER, b"COMMIT"), (_ROLLBACK_ALTER, b"ROLLBACK")):
            if extra & bit:
                words.append(b"%s ALTER id= %d" % (word, body.start_alter or 0))
        if extra & THREAD_ID and self.flavour != "mariadb-10.11":
            words.append(b"thread_id=%d" % (body.thread_id or 0))
        yield self.header(shown, b" ".join(words) + b"\n")
        if not self.options.short_form:
            yield from self._gtid_settings(server, body)
        if flags & _PREPARED and body.xid is not None:
            format_id, gtrid, bqual = body.xid
            yield self.statement(b"XA START " + xa_id(gtrid, bqual, format_id))
        elif not flags & _STANDALONE:
            yield b"START TRANSACTION\n" + self.statement(b"")

    def _gtid_settings(self, server: int, body: MariadbGtid) -> Iterator[bytes]:
        skip = not body.flags2 & _ALLOW_PARALLEL
        if skip != self.skip_parallel:
            self.skip_parallel = skip
            yield self.statement(b"/*M!100101 SET @@session.skip_parallel_replication=%d*/" % skip)
        if body.domain_id != self.domain_id:
            self.domain_id = body.domain_id
            yield self.statement(b"/*M!100001 SET @@session.gtid_domain_id=%d*/" % body.domain_id)
        if server != self.server_id:
            self.server_id = server
            yield self.statement(b"/*M!100001 SET @@session.server_id=%d*/" % server)
        yield self.statement(b"/*M!100001 SET @@session.gtid_seq_no=%d*/" % body.sequence_number)

    def _query(self, shown: ShownEvent, body: Query | QueryCompressed) -> Iterator[bytes]:
        text = to_bytes(body.text())
        yield self.guarded(text)
        if not shown.event.flags & SUPPRESS_USE:
            yield self._rewritten_use(body, text)
        yield self._query_header(shown, body, b"Query_compressed" if isinstance(body, QueryCompressed) else b"Query")
        alter, self.alter = self.alter & (START_ALTER | COMMIT_ALTER | _ROLLBACK_ALTER), 0
        yield from self.settings(shown, text)
        if not alter:
            yield text + b"\n" + self.statement(b"")
            return
        starts = bool(alter & START_ALTER)
        yield (b"/*!100600 BINLOG '\n" if starts else b"BINLOG '\n") + base64_lines(shown.raw)
        yield self.statement(b"' */" if starts else b"'")
        yield b"### " + text.replace(b"\n", b"\n### ") + b"\n"

    def _rewritten_use(self, body: Query | QueryCompressed, text: bytes) -> bytes:
        """The line that changes to the database that --rewrite-db names, in front of the header."""
        new = self.options.rewrite_db.get(body.database)
        database = to_bytes(body.database)
        if new is None or database == self.session.database or self.is_trivial(text):
            return b""
        self.session.database = database
        return self.statement(b"use " + in_backticks(to_bytes(new)))

    def _query_header(self, shown: ShownEvent, body: Any, name: bytes) -> bytes:
        xid = self.session.status(body).get("mariadb_ddl_xid", 0)
        fields = (name, body.thread_id, body.exec_time, body.error_code, xid)
        return self.header(shown, b"\t%s\tthread_id=%d\texec_time=%d\terror_code=%d\txid=%d\n" % fields)

    def _xid(self, shown: ShownEvent, body: Xid) -> Iterator[bytes]:
        yield self.header(shown, b"\tXid = %d\n" % body.xid) + self.statement(b"COMMIT")

    def _xa_prepare(self, shown: ShownEvent, body: XaPrepare) -> Iterator[bytes]:
        xid = xa_id(body.gtrid, body.bqual, body.format_id)
        yield self.header(shown, b"\tXID = %s\n" % xid) + b"XA PREPARE %s\n" % xid + self.statement(b"")

    def settings(self, shown: ShownEvent, text: bytes) -> Iterator[bytes]:
        yield from super().settings(shown, text)
        unknown = self.session.unknown_charsets
        for number in [number for number, said in unknown.items() if not said]:
            unknown[number] = True
            self.complain(
                f"mariadb-binlog: Character set '#{number}' is not a compiled character set and is not specified in the"
                " '/usr/share/mysql/charsets/Index.xml' file"
            )

    def is_trivial(self, text: bytes) -> bool:
        return text.startswith(OF_XA if self.in_xa else OF_TRANSACTIONS)

    def _annotate(self, shown: ShownEvent, body: AnnotateRows) -> Iterator[bytes]:
        if not self.options.skip_annotate_row_events:
            self.annotation = shown
        yield from ()

    def _annotated(self, position: int) -> Iterator[bytes]:
        """The statement's text, which waits for the first table."""
        shown, self.annotation = self.annotation, None
        if shown is not None:
            assert isinstance(shown.body, AnnotateRows)
            text = to_bytes(shown.body.query).replace(b"\r\n", b"\n").replace(b"\n", b"\n#Q> ")
            head = b"# " if self.options.short_form else self.header_line(shown, position) + b"\t"
            yield head + b"Annotate_rows:\n#Q> " + text + b"\n"

    def _table_map(self, shown: ShownEvent, body: TableMap) -> Iterator[bytes]:
        mapped = self.note_table(shown, body)
        self.unfinished = True
        yield from self._annotated(shown.position)
        if self.options.short_form:
            return
        before, behind = table_texts(mapped, self.options, self.flavour, tells_key=False)
        yield self.header(shown, before + b"%d" % body.table_id + behind)
        self.add_to_block(shown)

    def _rows(self, shown: ShownEvent, body: RowsBody) -> Iterator[bytes]:
        self.unfinished = True
        ends = ends_statement(body)
        end = b" flags: STMT_END_F" if ends else b""
        line = b"\t%s: table id %d%s\n" % (_ROW_NAMES[shown.type_code], body.table_id, end)
        if uncompressed(body) is not body:
            shown = replace(shown, raw=shown.with_body(uncompressed(body)).raw)
        self.headers.append(self.header(shown, line))
        self.add_to_block(shown)
        if not self.options.short_form:
            try:
                self._hold_rows(body)
            except RowsEnd as error:
                if error.null and ends:
                    yield from self.headers
                    yield from self.block.take()
                # It ends here, and mostly says nothing.
                raise PrintError(error.problem) from None
        if ends:
            yield from self.end_statement()

    def end_statement(self) -> Iterator[bytes]:
        yield from self.headers
        self.headers.clear()
        yield from self.held_rows()
        count, self.row_count = self.row_count, 0
        if self.options.print_row_count and not self.options.short_form:
            yield b"# Number of rows: %d\n" % count

    def _cut_rows(self) -> Iterator[bytes]:
        """What is held of a statement whose last event is left out: what opens its BINLOG statement is not printed."""
        yield from self.headers
        self.headers.clear()
        if self.block:
            self.block.add(self.statement(b"'"))
        yield from self.block.take()
        yield from self.rows.take()
        self.row_count = 0

    def _hold_rows(self, body: RowsBody) -> None:
        mapped = self.tables.get(body.table_id)
        if mapped is None or mapped.columns is None:
            if self.options.rows:
                self.rows.add(b"### Row event for unknown table #%d" % body.table_id)
            return
        if not self.options.rows:
            with suppress(RowsEnd):
                for _ in row_lines(body, mapped, COUNTING, commented=False):
                    self.row_count += 1
            return
        for lines in row_lines(body, mapped, "mariadb", commented=self.options.verbose > 1):
            self.row_count += 1
            self.rows.add(lines)

    def _start_encryption(self, shown: ShownEvent, body: StartEncryption) -> Iterator[bytes]:
        if not self.options.short_form:
            fields = (body.scheme, body.key_version, body.nonce.hex().encode())
            yield b"# Encryption scheme: %d, key_version: %d, nonce: %s\n" % fields
            yield b"# The rest of the binlog is encrypted!\n"

    def _user_var(self, shown: ShownEvent, body: UserVar) -> Iterator[bytes]:
        name = b"SET @" + in_backticks(to_bytes(body.name)) + b":="
        yield self.header(shown, b"\tUser_var\n") + self.statement(name + variable_text(body, self.flavour))

    def _ignorable(self, shown: ShownEvent, body: Any) -> Iterator[bytes]:
        if not self.options.short_form:
            name = _IGNORED.get(type(body), b"Unknown")
            yield self.header(shown, b"\tIgnorable\n")
            yield b"# Ignorable event type %d (%s)\n" % (shown.type_code, name)
