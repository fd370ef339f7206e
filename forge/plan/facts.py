"""Facts of a session: what a scenario cannot decide and a recording can tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

_Fact = TypeVar("_Fact")


class Checkpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A BINLOG_CHECKPOINT that MariaDB's background thread wrote after ``after`` groups of its file."""

    after: int
    #: Header time.
    second: int
    #: The oldest file that crash recovery still needs.
    file: str


class Connection(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A connection that goes on for another after ``after`` groups of the file."""

    after: int
    thread_id: int


class FileFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Facts of one file of a session; all optional."""

    #: Seconds: header time of FORMAT_DESCRIPTION.
    opened: int | None = None
    #: Seconds: its ``created`` field: ``opened`` in the first file after a server start, else 0.
    created: int | None = None
    #: Seconds: header time of PREVIOUS_GTIDS (GTID_LIST, BINLOG_CHECKPOINT), where it is another second.
    listed: int | None = None
    #: MySQL 8.3 on: PREVIOUS_GTIDS has the encoding with tags, though none of its GTIDs has one: the server knew some.
    tagged: bool = False
    #: Seconds: header time of STOP or ROTATE.
    closed: int | None = None
    #: The session's connection; in later files where it is another one than before.
    thread_id: int | None = None
    #: The connections that follow it in the file.
    connections: list[Connection] = []
    #: MariaDB: GTID_LIST, as ``domain-server-number``; of several domains or servers in the order of a hash table.
    gtid_list: list[str] | None = None
    #: MariaDB: the file that BINLOG_CHECKPOINT names at the file's start.
    checkpoint_file: str | None = None
    #: Seconds: header time of that BINLOG_CHECKPOINT, where it is another second than GTID_LIST's.
    checkpointed: int | None = None
    #: MariaDB: further BINLOG_CHECKPOINT events; where none are given, a later file has one after its first group.
    checkpoints: list[Checkpoint] | None = None


class RelayFileFacts(FileFacts, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Facts of one file of a relay log: its own events, and those in which the source or the receiver has a say."""

    #: Seconds: header time of the artificial ROTATE that names the source's file.
    announced: int | None = None
    #: Seconds: header time of the ROTATE of server id 0 that notes a position.
    noted: int | None = None
    #: Seconds: MariaDB's own FORMAT_DESCRIPTION where the source was started again.
    interrupted: int | None = None


class SourceFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Facts of a MySQL server whose transactions the log's own server has as a replica."""

    server_id: int
    server_uuid: str
    #: Number of the first GTID (gno).
    first_gno: int
    #: Its version, where it is not that of the replica.
    server_version: str | None = None


#: A number or text, a list of them (CHARSET, DATABASES), or pairs of numbers (CHARACTER_SET_COLLATIONS).
StatusValue = int | str | list[int | str | list[int]] | None


class QueryStatus(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Status variables of one QUERY event, where the server line's own rules give others, or its text."""

    #: Number of the QUERY event in the session's log, from 1; EXECUTE_LOAD_QUERY counts as one.
    query: int
    #: By name; null: the event does not have it.
    variables: dict[str, StatusValue] = {}
    #: The statement as the server writes it anew, such as one with a password's hash.
    text: str | None = None


class Facts(FileFacts, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Facts of a session: what a scenario cannot decide and a recording can tell.  All optional.

    The fields of FileFacts are those of the first file.  Lists are in file order.  ``timestamps`` has one list a group
    (GTID to commit): the start second of each statement, then the second of the commit (DDL: one entry); MariaDB's
    have the end of the transaction after that.
    """

    server_version: str | None = None
    server_uuid: str | None = None
    timestamps: list[list[int]] | None = None
    #: By group and statement, as ``timestamps``: the fraction of the statement's time, where QUERY says it.
    microseconds: list[list[int]] | None = None
    #: Microseconds since the epoch, one a group: the immediate commit timestamp of its GTID event.
    commit_timestamps: list[int] | None = None
    #: Where a replica wrote the log: the original commit timestamps of the same groups.
    original_commit_timestamps: list[int] | None = None
    #: Seconds of exec_time, one a QUERY event.
    exec_times: list[int] | None = None
    #: The QUERY events whose status variables are not those of the server line's own rules.
    statuses: list[QueryStatus] = []
    #: One a TABLE_MAP event.
    table_ids: list[int] | None = None
    #: One a LOAD DATA in statement format.
    file_ids: list[int] | None = None
    first_table_id: int | None = None
    #: One a group: of the XID event, or of the DDL's status variable; groups without one have 0.
    xids: list[int] | None = None
    #: One a data definition statement inside a transaction (MariaDB: CREATE TEMPORARY TABLE).
    inner_xids: list[int] | None = None
    first_xid: int | None = None
    #: Number of the first GTID (gno).
    first_gno: int | None = None
    #: MySQL: number of the first GTID that was executed before the session; PREVIOUS_GTIDS has them from there on.
    executed_from: int | None = None
    #: The servers whose transactions the log has beside its own server's.
    sources: list[SourceFacts] = []
    #: Name of the next file in a closing ROTATE.
    next_file: str | None = None
    #: The second and later files of the session.
    later_files: list[FileFacts] = []
    #: The files of the relay log, where the session is seen in one.
    relay: list[RelayFileFacts] = []

    def file(self, number: int) -> FileFacts:
        """The facts of the session's file ``number``, from 0."""
        if number == 0:
            return self
        return self.later_files[number - 1] if number <= len(self.later_files) else FileFacts()

    def thread_in(self, number: int, groups: int) -> int | None:
        """The connection's id in the session's file ``number``, from 0, after so many groups of it."""
        file = self.file(number)
        connections = [connection.thread_id for connection in file.connections if connection.after <= groups]
        earlier = (_last_thread(self.file(before)) for before in range(number - 1, -1, -1))
        threads = (*reversed(connections), file.thread_id, *earlier)
        return next((thread for thread in threads if thread is not None), None)


def told(values: Sequence[_Fact] | None, place: int) -> _Fact | None:
    """What a list of facts has at a place; None if it does not go so far."""
    return values[place] if values is not None and place < len(values) else None


def _last_thread(file: FileFacts) -> int | None:
    return file.connections[-1].thread_id if file.connections else file.thread_id
