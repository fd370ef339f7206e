"""Which features (``forge/servers/features.toml``) a session and a table's columns need.

One list for both uses: a server line that lacks one refuses the scenario, and ``forge compat`` asks what a consumer
that lacks it does.
"""

from __future__ import annotations

from collections.abc import Iterator

from forge.charsets import find_collation
from forge.plan.session import Session
from forge.plan.tables import KeyExpression, Table, TableColumn
from forge.servers import ServerLine
from forge.values.registry import facts_of

_CHARSETS = {"utf8mb4": "utf8mb4", "utf16": "utf16", "utf32": "utf16", "utf16le": "utf16le", "gb18030": "gb18030"}


#: The feature that a setting needs when it is not the usual one.
_BY_SETTING = {
    "row_image": "row_images",
    "row_value_options": "partial_json",
    "gtid_tag": "gtid_tags",
    "gtid_domain_id": "mariadb_gtid",
    "binlog_transaction_dependency_tracking": "dependency_tracking",
    "transaction_write_set_extraction": "write_set_extraction",
    "log_bin_use_v1_row_events": "use_v1_row_events",
    "generate_invisible_primary_key": "generated_invisible_key",
    "sql_require_primary_key": "sql_require_primary_key",
    "default_table_encryption": "default_table_encryption",
    "default_collation_for_utf8mb4": "default_collation_for_utf8mb4",
    "binlog_alter_two_phase": "mariadb_gtid_flags",
    "check_constraint_checks": "check_constraint_checks",
    "compression": "compression",
    "log_bin_compress": "compressed_events",
    "skip_replication": "mariadb_gtid",
    "skip_parallel_replication": "mariadb_gtid_kinds",
    "ndb_transaction_id": "private_ndb_row_info",
    "mysql56_temporal_format": "mysql56_temporal_format",
}
#: (setting, value, feature) where only some values need one.
_BY_VALUE = (
    ("row_metadata", "full", "row_metadata"),
    ("binlog_format", "mixed", "mixed_format"),
    ("checksum", "crc32", "checksums"),
    ("lc_time_names", "rm_CH", "locale_rm"),
    ("lc_time_names", "ka_GE", "locale_ka"),
)
_USUAL = Session()


def session_features(session: Session, line: ServerLine) -> Iterator[tuple[str, str]]:
    """(setting, feature) for every setting that asks for a feature which not all lines have."""
    for setting, feature in _BY_SETTING.items():
        if getattr(session, setting) != getattr(_USUAL, setting):
            yield setting, feature
    for setting, value, feature in _BY_VALUE:
        if getattr(session, setting) == value:
            yield setting, feature
    if "." in (session.timestamp or ""):
        yield "timestamp", "timestamp_fractions"
    if session.rows_query:
        yield "rows_query", line.rows.query_event
    if session.gtid and not line.groups.always_gtids:
        yield "gtid", "gtid"
    if session.explicit_defaults_for_timestamp not in (None, line.settings.explicit_defaults_for_timestamp):
        yield "explicit_defaults_for_timestamp", "timestamp_defaults"


def column_features(column: TableColumn) -> Iterator[str]:
    """The features that a column's declaration needs."""
    name, facts = column.type.name, facts_of(column.type)
    if facts.feature is not None:
        yield facts.feature
    if facts.kind == "year" and column.type.length is not None:
        yield "year_widths"
    if column.type.fsp:
        yield "fractional_seconds"
    if name == "DATETIME" and (column.default_now or column.on_update_now):
        yield "datetime_now"
    if column.type.compressed:
        yield "mariadb_compressed_columns"
    if column.generated is not None:
        yield "generated_columns"
    if column.computed_default:
        yield "expression_defaults"
    if not column.visible:
        yield "invisible_columns"
    collation = None if column.type.collation is None else find_collation(column.type.collation)
    if collation is not None and collation.charset in _CHARSETS:
        yield _CHARSETS[collation.charset]


def table_features(table: Table) -> frozenset[str]:
    """The features that a table's declaration needs."""
    names = {name for column in table.columns for name in column_features(column)}
    expressions = [part.expression for key in table.keys for part in key.parts if part.expression is not None]
    names |= {name for expression in expressions for name in expression_features(expression)}
    return frozenset(names)


def expression_features(expression: KeyExpression) -> Iterator[str]:
    """The features that a key on an expression needs."""
    yield "expression_keys"
    if expression.arrays:
        yield "multi_valued_keys"
