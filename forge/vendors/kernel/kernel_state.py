"""The state that a printer and the kernel hand each other."""

from __future__ import annotations

from forge.bulk.printing import words
from forge.bulk.printing.memories import Words
from forge.vendors.mariadb_printer import MariadbPrinter
from forge.vendors.mysql_printer import MysqlPrinter
from forge.vendors.print_options import NO_STOP
from forge.vendors.session_lines import DELIMITER

_NONE = -1


def is_usual(printer: MysqlPrinter | MariadbPrinter) -> bool:
    """Whether the options of a call are such that the kernel knows."""
    options = printer.options
    common = not (
        options.hexdump or options.short_form or options.database is not None or options.rewrite_db
        or options.stop_datetime != NO_STOP
    )  # fmt: skip
    if isinstance(printer, MysqlPrinter):
        return common and not (
            options.server_id or options.require_row_format or options.include_gtids is not None
            or options.exclude_gtids is not None or options.skip_gtids or options.base64_output == "never"
        )  # fmt: skip
    # Rows that are not printed are counted.
    tells = options.rows and options.print_row_event_positions and not options.skip_annotate_row_events
    return common and tells and options.table is None and not printer.filters.by_id


def is_ready(printer: MysqlPrinter | MariadbPrinter) -> bool:
    """Whether the printer has nothing in hand that the kernel does not know."""
    options = printer.options
    if options.offset or options.start_datetime or printer.session.delimiter != DELIMITER:
        return False
    if isinstance(printer, MysqlPrinter):
        return not (printer.head or printer.deferred or printer.skipped)
    return printer.annotation is None and not printer.skip_replication


def load_state(table: Words, printer: MysqlPrinter | MariadbPrinter) -> None:
    """Have the state of the printer."""
    table[words.UNFINISHED] = int(printer.unfinished)
    table[words.HELD] = int(bool(printer.block or printer.rows))
    table[words.MARIADB] = int(isinstance(printer, MariadbPrinter))
    table[words.SEEN_GTID] = table[words.TELLS_KEYS] = 0
    if isinstance(printer, MysqlPrinter):
        table[words.IN_TRANSACTION], table[words.BEGINS] = int(printer.in_transaction), int(printer.begins)
        table[words.SEEN_GTID], table[words.TELLS_KEYS] = int(printer.seen_gtid), int(printer.tells_generated_keys)
        return
    domain, options = printer.domain_id, printer.options
    last = printer.filters.last_gtids.get(_NONE if domain is None else domain)
    table[words.HELD] = int(bool(printer.block or printer.rows or printer.headers))
    table[words.ROW_COUNT], table[words.COUNTS] = printer.row_count, int(options.print_row_count)
    table[words.TELLS_THREADS] = int(printer.flavour != "mariadb-10.11")
    table[words.DOMAIN] = _NONE if domain is None or last is None else domain
    table[words.SERVER] = _NONE if printer.server_id is None else printer.server_id
    table[words.PARALLEL] = _NONE if printer.skip_parallel is None else int(printer.skip_parallel)
    table[words.LAST_NUMBER] = _NONE if last is None else last[2]


def store_state(table: Words, printer: MysqlPrinter | MariadbPrinter) -> None:
    """Tell the printer the state."""
    printer.unfinished = bool(table[words.UNFINISHED])
    if isinstance(printer, MysqlPrinter):
        printer.in_transaction, printer.begins = bool(table[words.IN_TRANSACTION]), bool(table[words.BEGINS])
        printer.seen_gtid, printer.tells_generated_keys = bool(table[words.SEEN_GTID]), bool(table[words.TELLS_KEYS])
        return
    printer.row_count = table[words.ROW_COUNT]
    if table[words.SEEN_GTID]:
        printer.alter, printer.in_xa = 0, False
        domain = table[words.DOMAIN]
        printer.filters.last_gtids[domain] = (domain, table[words.SERVER], table[words.LAST_NUMBER])
