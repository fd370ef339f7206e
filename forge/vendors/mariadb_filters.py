"""Which events mariadb-binlog prints: by database, table, server and domain; and GTIDs that go back."""

from __future__ import annotations

from typing import Any

from forge.events.binlog_checkpoint import BinlogCheckpoint
from forge.events.event import Event
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.format_description import FormatDescription
from forge.events.gtid_list import GtidList
from forge.events.mariadb_compressed import QueryCompressed
from forge.events.mariadb_gtid import MariadbGtid
from forge.events.query import Query
from forge.events.rotate import Rotate
from forge.events.rows import ROWS_BODIES, RowsBody
from forge.events.table_map import TableMap
from forge.vendors.print_options import PrintOptions
from forge.vendors.printer import PrintError, ends_statement


class MariadbFilters:
    """What one call leaves out."""

    def __init__(self, options: PrintOptions) -> None:
        self.options = options
        #: Tables that are left out, and whether the group is.
        self.ignored_tables: set[int] = set()
        self.in_filtered = False
        #: The last GTID of each domain.
        self.last_gtids: dict[int, tuple[int, int, int]] = {}

    @property
    def by_id(self) -> bool:
        """Whether events are left out by server or domain."""
        options = self.options
        servers = options.do_server_ids or options.ignore_server_ids
        return bool(servers or options.do_domain_ids or options.ignore_domain_ids)

    def check_order(self, server: int, body: MariadbGtid) -> None:
        """Raises PrintError for a GTID that goes back in its domain."""
        gtid = (body.domain_id, server, body.sequence_number)
        last = self.last_gtids.get(body.domain_id)
        if last is not None and last[2] >= gtid[2] and self.options.gtid_strict_mode:
            shown = ("-".join(map(str, one)) for one in (gtid, last))
            raise PrintError("ERROR: Found out of order GTID. Got {} after {}".format(*shown))
        self.last_gtids[body.domain_id] = gtid

    def skips_server(self, event: Event) -> bool:
        """Whether an event is left out by its server."""
        wanted, ignored = self.options.do_server_ids, self.options.ignore_server_ids
        skipped = event.server_id in ignored or bool(wanted and event.server_id not in wanted)
        return skipped and not isinstance(event.body, (FormatDescription, Rotate))

    def skips_domain(self, body: Any) -> bool:
        """Whether an event is left out by the domain of its group."""
        if isinstance(body, MariadbGtid):
            wanted, ignored = self.options.do_domain_ids, self.options.ignore_domain_ids
            self.in_filtered = body.domain_id in ignored or bool(wanted and body.domain_id not in wanted)
        outside = isinstance(body, (FormatDescription, Rotate, GtidList, BinlogCheckpoint))
        return self.in_filtered and not outside

    def skips_table(self, body: Any, *, trivial: bool) -> bool:
        """Whether an event is left out by its database or its table; those that are ``trivial`` statements are not."""
        options = self.options
        if isinstance(body, TableMap):
            if options.database in (None, body.database) and options.table in (None, body.table):
                return False
            self.ignored_tables.add(body.table_id)
            return True
        if isinstance(body, ROWS_BODIES):
            return self._skips_rows(body)
        statement = isinstance(body, (Query, QueryCompressed, ExecuteLoadQuery))
        return statement and not trivial and options.database not in (None, body.database)

    def _skips_rows(self, body: RowsBody) -> bool:
        skipped = body.table_id in self.ignored_tables
        if ends_statement(body):
            self.ignored_tables.clear()
        return skipped
