"""The declared form of ``set:``, which changes the session's settings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from forge.errors import ScenarioError
from forge.plan.session import Session, Source
from forge.servers import ServerLine

_MARIADB = ("gtid_domain_id", "server_id", "skip_replication", "skip_parallel_replication")
#: Settings that not all sessions can change: the features that go with them, and the servers that have these.
_NEEDED = (
    dict.fromkeys(_MARIADB, ("mariadb_gtid", "a MariaDB server"))
    | dict.fromkeys(("log_bin_compress", "log_bin_compress_min_len"), ("compressed_events", "a MariaDB server"))
    | {"ndb_transaction_id": ("private_ndb_row_info", "mysql-8.0-ndb")}
)
#: What SET of a setting says of others.
_REPLACED = {
    "names": ("character_set_client", "character_set_results", "character_set_connection", "collation_connection"),
    "character_set_connection": ("collation_connection",),
    "collation_connection": ("character_set_connection",),
    "character_set_server": ("collation_server",),
    "collation_server": ("character_set_server",),
}
#: What no server lets a session change between BEGIN and COMMIT (errors 1560 to 1568, 1694).
OUTSIDE_TRANSACTIONS = (
    "binlog_format", "row_value_options", "gtid_tag", "gtid_domain_id", "server_id", "skip_replication",
    "compression", "compression_level", "source",
)  # fmt: skip


class SessionChange(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """New values of settings, by the names that they have in `session`; null is the server's default."""

    row_image: Literal["full", "minimal", "noblob"] | UnsetType = UNSET
    row_value_options: Literal["PARTIAL_JSON"] | UnsetType | None = UNSET
    row_metadata: Annotated[
        Literal["none", "minimal", "full"] | UnsetType, Meta(description="SET GLOBAL binlog_row_metadata.")
    ] = UNSET
    rows_query: bool | UnsetType = UNSET
    binlog_format: Literal["row", "statement", "mixed"] | UnsetType = UNSET
    gtid_tag: str | UnsetType | None = UNSET
    gtid_domain_id: int | UnsetType = UNSET
    server_id: Annotated[int | UnsetType, Meta(description="MariaDB: SET SESSION server_id.")] = UNSET
    source: Annotated[
        Source | UnsetType | None, Meta(description="The server that committed what follows; null: the log's own.")
    ] = UNSET
    binlog_transaction_dependency_tracking: Annotated[
        Literal["COMMIT_ORDER", "WRITESET", "WRITESET_SESSION"] | UnsetType | None,
        Meta(description="MySQL 5.7.22 to 8.3: SET GLOBAL binlog_transaction_dependency_tracking."),
    ] = UNSET
    log_bin_use_v1_row_events: Annotated[
        bool | UnsetType, Meta(description="MySQL 5.6.6 to 8.2: SET GLOBAL log_bin_use_v1_row_events.")
    ] = UNSET
    timestamp: str | UnsetType | None = UNSET
    compression: bool | UnsetType = UNSET
    compression_level: int | UnsetType = UNSET
    log_bin_compress: Annotated[bool | UnsetType, Meta(description="MariaDB: SET GLOBAL log_bin_compress.")] = UNSET
    log_bin_compress_min_len: int | UnsetType = UNSET
    generate_invisible_primary_key: bool | UnsetType = UNSET
    sql_require_primary_key: bool | UnsetType = UNSET
    default_table_encryption: bool | UnsetType = UNSET
    explicit_defaults_for_timestamp: bool | UnsetType = UNSET
    default_storage_engine: str | UnsetType = UNSET
    binlog_alter_two_phase: bool | UnsetType = UNSET
    check_constraint_checks: bool | UnsetType = UNSET
    foreign_key_checks: bool | UnsetType = UNSET
    unique_checks: bool | UnsetType = UNSET
    auto_increment_increment: int | UnsetType = UNSET
    auto_increment_offset: int | UnsetType = UNSET
    lc_time_names: str | UnsetType = UNSET
    sql_mode: str | UnsetType | None = UNSET
    time_zone: str | UnsetType = UNSET
    names: str | UnsetType | None = UNSET
    character_set_client: str | UnsetType | None = UNSET
    character_set_results: str | UnsetType | None = UNSET
    character_set_connection: str | UnsetType | None = UNSET
    character_set_server: str | UnsetType | None = UNSET
    collation_connection: str | UnsetType | None = UNSET
    collation_server: str | UnsetType | None = UNSET
    collation_database: str | UnsetType | None = UNSET
    default_collation_for_utf8mb4: Literal["utf8mb4_0900_ai_ci", "utf8mb4_general_ci"] | UnsetType | None = UNSET
    sql_auto_is_null: bool | UnsetType = UNSET
    skip_replication: bool | UnsetType = UNSET
    skip_parallel_replication: bool | UnsetType = UNSET
    ndb_transaction_id: Annotated[int, Meta(ge=0)] | UnsetType | None = UNSET

    @property
    def values(self) -> dict[str, Any]:
        """The settings that it names, with their new values."""
        given = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in given.items() if value is not UNSET}

    def applied(self, settings: Session, line: ServerLine) -> Session:
        """The settings after it.  Raises ScenarioError for one that sessions of the line do not have."""
        changes = self.values
        if not changes:
            raise ScenarioError("`set` names no setting", expected=", ".join(self.__struct_fields__))
        for name in changes:
            if name == "explicit_defaults_for_timestamp" and line.query.explicit_timestamps_set_by != "session":
                problem = f"a session of {line.name} cannot change {name}: an option of the server sets it"
                raise ScenarioError(problem, expected=f"session.{name}")
            feature, expected = _NEEDED.get(name, (None, None))
            if feature is not None and not line.knows(feature):
                raise ScenarioError(f"a session of {line.name} cannot change {name}", expected=expected)
        for setting, others in _REPLACED.items():
            # The later of two settings of one variable counts.
            if changes.get(setting) is not None:
                changes = dict.fromkeys(others) | changes
        return msgspec.structs.replace(settings, **changes)
