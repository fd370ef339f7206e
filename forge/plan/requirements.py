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


def session_features(session: Session, line: ServerLine) -> Iterator[tuple[str, str]]:
    """(setting, feature) for every setting that asks for a feature which not all lines have."""
    asked = (
        ("row_image", "row_images", session.row_image != "full"),
        ("row_value_options", "partial_json", session.row_value_options is not None),
        ("row_metadata", "row_metadata", session.row_metadata == "full"),
        ("binlog_format", "mixed_format", session.binlog_format == "mixed"),
        ("timestamp", "timestamp_fractions", "." in (session.timestamp or "")),
        ("rows_query", line.rows.query_event, session.rows_query),
        ("gtid", "gtid", session.gtid and not line.groups.always_gtids),
        ("gtid_tag", "gtid_tags", session.gtid_tag is not None),
        ("gtid_domain_id", "mariadb_gtid", session.gtid_domain_id != 0),
        (
            "binlog_transaction_dependency_tracking",
            "dependency_tracking",
            session.binlog_transaction_dependency_tracking is not None,
        ),
        (
            "transaction_write_set_extraction",
            "write_set_extraction",
            session.transaction_write_set_extraction is not None,
        ),
        ("log_bin_use_v1_row_events", "use_v1_row_events", session.log_bin_use_v1_row_events),
        ("checksum", "checksums", session.checksum == "crc32"),
        (
            "explicit_defaults_for_timestamp",
            "timestamp_defaults",
            session.explicit_defaults_for_timestamp not in (None, line.settings.explicit_defaults_for_timestamp),
        ),
        ("generate_invisible_primary_key", "generated_invisible_key", session.generate_invisible_primary_key),
        ("sql_require_primary_key", "sql_require_primary_key", session.sql_require_primary_key),
        ("default_table_encryption", "default_table_encryption", session.default_table_encryption),
        (
            "default_collation_for_utf8mb4",
            "default_collation_for_utf8mb4",
            session.default_collation_for_utf8mb4 is not None,
        ),
        ("binlog_alter_two_phase", "mariadb_gtid_flags", session.binlog_alter_two_phase),
        ("check_constraint_checks", "check_constraint_checks", not session.check_constraint_checks),
        ("lc_time_names", "locale_rm", session.lc_time_names == "rm_CH"),
        ("lc_time_names", "locale_ka", session.lc_time_names == "ka_GE"),
        ("compression", "compression", session.compression),
        ("log_bin_compress", "compressed_events", session.log_bin_compress),
        ("skip_replication", "mariadb_gtid", session.skip_replication),
        ("skip_parallel_replication", "mariadb_gtid_kinds", session.skip_parallel_replication),
        ("ndb_transaction_id", "private_ndb_row_info", session.ndb_transaction_id is not None),
        ("mysql56_temporal_format", "mysql56_temporal_format", not session.mysql56_temporal_format),
    )
    yield from ((setting, feature) for setting, feature, is_set in asked if is_set)


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
