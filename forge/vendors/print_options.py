"""The options of the vendors' programs that decide what they print."""

from __future__ import annotations

from dataclasses import dataclass, field

#: A position, or a time, that no event has.
NO_STOP = (1 << 64) - 1


@dataclass(slots=True, kw_only=True)
class PrintOptions:
    """Those of one call; names as the programs have them."""

    verbose: int = 0
    base64_output: str = "auto"
    print_table_metadata: bool = False
    hexdump: bool = False
    short_form: bool = False
    database: str | None = None
    table: str | None = None
    offset: int = 0
    disable_log_bin: bool = False
    idempotent: bool = False
    rewrite_db: dict[str, str] = field(default_factory=dict)
    start_position: int = 4
    stop_position: int = NO_STOP
    start_datetime: int = 0
    stop_datetime: int = NO_STOP
    #: As it was given.
    stop_datetime_text: str = ""
    server_id: int = 0
    set_charset: str | None = None
    require_row_format: bool = False
    local_load: str | None = None
    verify_binlog_checksum: bool = False
    include_gtids: str | None = None
    exclude_gtids: str | None = None
    skip_gtids: bool = False
    force_if_open: bool = True
    force_read: bool = False
    skip_annotate_row_events: bool = False
    print_row_count: bool = True
    print_row_event_positions: bool = True
    gtid_strict_mode: bool = True
    do_domain_ids: frozenset[int] = frozenset()
    ignore_domain_ids: frozenset[int] = frozenset()
    do_server_ids: frozenset[int] = frozenset()
    ignore_server_ids: frozenset[int] = frozenset()
    #: Not theirs: another delimiter where a text holds it.
    safe: bool = False

    @property
    def blocks(self) -> bool:
        """Whether events are printed as BINLOG statements."""
        return self.base64_output == "auto" and not self.short_form

    @property
    def rows(self) -> bool:
        """Whether rows are printed as pseudo-SQL."""
        return self.verbose > 0 and not self.short_form
