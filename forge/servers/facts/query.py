"""Facts about QUERY events: what a default session says in its status variables, and what BEGIN adds."""

from __future__ import annotations

from typing import Literal

import msgspec


class Queries(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Facts about QUERY events: what a default session says in its status variables, and what BEGIN adds."""

    #: SQL_MODE status variable of a default session.
    sql_mode: int
    #: Modes that sessions of the line know beside those of all servers.
    further_modes: tuple[str, ...]
    #: sql_mode ANSI sets ONLY_FULL_GROUP_BY.
    ansi_groups_fully: bool
    #: FLAGS2 status variable of a default session.
    flags2: int
    #: Who sets explicit_defaults_for_timestamp: a session, the server's options alone, or nobody: it is not there.
    explicit_timestamps_set_by: Literal["session", "server", "nobody"]
    #: Collation ids of a default client: character_set_client, collation_connection, collation_server.
    client_charset: tuple[int, int, int]
    #: DEFAULT_COLLATION_FOR_UTF8MB4 status variable.
    default_collation_for_utf8mb4: int | None
    #: Statements that name a character set say CHARACTER_SET_COLLATIONS, even if it has no pair (MariaDB 11.2 on).
    says_collations: bool
    #: Pairs of a character set's compiled-in default collation and the one in force.
    character_set_collations: tuple[tuple[int, int], ...]
    #: The status variables that are written at all, in writing order; None: each that says something.
    variables: tuple[str, ...] | None
    #: BEGIN says nothing of its session: no thread, database or status variable.
    plain_begin: bool
    #: (user, host) of the session: INVOKER status variable, and definer of what names none.
    session_user: tuple[str, str]
    #: The status variable that has the fraction of the statement's time.
    fraction_variable: Literal["microseconds", "hrnow"]
    #: Which UPDATE says TABLE_MAP_FOR_UPDATE (row-logged ones in their BEGIN): all, or those of several tables.
    table_map_for_update: Literal["all", "several"]
    #: Which tables that a statement writes make its BEGIN claim all databases, and its TABLE_MAPs REFERRED_FK_DB:
    #: parents of foreign keys, these and children whose keys are checked ("related"), or none.
    foreign_keys_isolate: Literal["nothing", "parents", "related"]
    #: ENABLE_CASCADE_TRIGGERS status variable of changes in statement format.
    enable_cascade_triggers: int | None
