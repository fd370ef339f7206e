"""Facts about statements that are logged as their text (binlog_format STATEMENT and MIXED)."""

from __future__ import annotations

from typing import Literal

import msgspec


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Facts about statements that are logged as their text (binlog_format STATEMENT and MIXED)."""

    #: CURRENT_TIMESTAMP() and its like read the fraction of the time, digits or not.
    fraction_of_every_clock: bool
    #: DEFAULT CURRENT_TIMESTAMP of a DATETIME reads the fraction of the time, digits or not.
    fraction_of_datetime_defaults: bool
    #: DEFAULT CURRENT_TIMESTAMP of a TIMESTAMP reads the fraction of the time, digits or not.
    fraction_of_timestamp_defaults: bool
    #: The literal default of a TIMESTAMP asks for the time zone.
    converts_defaults: bool
    #: COMMIT of one statement that changed nothing has the status variables of the statement.
    commit_has_variables: bool
    #: An ON UPDATE column makes an UPDATE read all columns, be it assigned or not.
    stamp_reads_all: bool
    #: An UPDATE reads what virtual columns are made of; else only where a key has them.
    reads_virtual_columns: bool
    #: An UPDATE reads the columns of every key of which it sets one.
    reads_key_columns: bool
    #: UPDATE of several tables asks the engine to change a row that stays the same.
    updates_on_the_fly: bool
    #: Subqueries that make a statement one of several tables: "all" of a DELETE (MySQL 8.0.21 on), "in" of UPDATE and
    #: DELETE (MariaDB 11.1 on).
    joins_subqueries: Literal["", "all", "in"]
    #: USER_VAR is logged of variables that the text names, whether they were read or not.
    logs_unread_variables: bool
    #: USER_VAR says whether an integer is unsigned.
    user_variable_flags: bool
    #: Collation that USER_VAR has with numbers; none: that of the connection.
    number_collation: int | None
    #: The text of LOAD DATA has one space behind OPTIONALLY, and an escape for 0x1a.
    load_text_tidy: bool
    #: Bytes of a block of LOAD DATA LOCAL, which its client sends at once.
    local_block_size: int
    #: DELETE of several tables has the flag THREAD_SPECIFIC.
    flags_joined_deletes: bool
    #: Functions that are unsafe beside those of forge.plan.statement_choice.
    unsafe_functions: tuple[str, ...]
    #: XA transactions are unsafe, so that MIXED logs their rows.
    unsafe_xa: bool
    #: MIXED logs what is done to temporary tables as texts, as STATEMENT does.
    mixed_logs_temporary: bool
    #: The client takes an optimizer hint for a comment.
    spaces_before_hints: bool
    #: Optimizer hints name indexes to pass over.
    index_hints: bool
    #: The words in /*M! ... */ are read.
    mariadb_comments: bool
    #: First and last number of version comments that are passed over although the server is newer.
    passed_comments: tuple[int, int] | None
