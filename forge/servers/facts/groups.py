"""Facts about the groups of a transaction: GTIDs, their order, what a rollback leaves, XA."""

from __future__ import annotations

from typing import Literal

import msgspec


class Groups(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Facts about the groups of a transaction: GTIDs, their order, what a rollback leaves, XA."""

    #: Every group has a GTID; no setting asks for it.
    always_gtids: bool
    #: A commit of transactional tables is logged as XID; else as COMMIT.
    xid_commits: bool
    #: Which statements that commit by themselves stand between BEGIN and COMMIT: all, those of tables with
    #: transactions, or nothing; the others stand alone.
    begins_single_statements: Literal["all", "transactional", "nothing"]
    #: With GTIDs, what enforce_gtid_consistency forbids is refused.
    enforces_gtid_consistency: bool
    #: GTID events of transactions of rows say that they may have statements in them.
    gtid_may_have_statements: bool
    #: The GTID event says the thread.
    gtid_thread_id: bool
    #: The GTID event says extra_engines 255, for engines that nobody knows: of a group that ends without XID, unless an
    #: engine was asked to write and knew of the transaction before the log did ("unless_first"), or whenever it did
    #: ("unless_any").
    gtid_unknown_engines: Literal["never", "unless_first", "unless_any"]
    #: How last_committed is found: the previous transaction, or the last one that wrote the same keys.
    dependency_tracking: Literal["commit_order", "writeset"]
    #: last_committed and sequence_number are the second and the microsecond of the commit.
    clock_in_gtids: bool
    #: How many written keys are remembered for it (binlog_transaction_dependency_history_size); 0: none.
    dependency_history: int
    #: GTID events of what commits by itself before it is logged say that it is data definition: ALTER TABLE that copies
    #: because types of columns change; ANALYZE, OPTIMIZE and REPAIR, of partitions too.
    commits_say_ddl: bool
    #: GTID events of transactions that no rollback reaches as a whole say that they are transactional.
    mixed_is_transactional: bool
    #: Aria takes part in a transaction, which is then committed without XID.
    aria_takes_part: bool
    #: What was rolled back stays in the log, and the log says so, once a change was made that stays.
    keeps_rolled_back: bool
    #: ROLLBACK TO leaves the SAVEPOINT itself in the log.
    savepoints_stay: bool
    #: Every row of an INSERT is a change that stays, in a table without transactions, also one that IGNORE leaves out
    #: (write_record in sql_insert.cc).
    counts_ignored_rows: bool
    #: The zstd frame of a payload does not tell the size of its content, and ends with an empty block behind what was
    #: flushed.
    flushes_payloads: bool
    #: XA PREPARE frees the session for other statements (xa_detach_on_prepare).
    detaches_xa: bool
    #: The gtrid of an XA transaction may be empty.
    empty_gtrids: bool
