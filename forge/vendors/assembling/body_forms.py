"""The events that what a text says of one may have been, but for statements (query_forms)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise, permutations
from typing import Any

from forge.events.binlog_checkpoint import BinlogCheckpoint
from forge.events.format import FormatContext, writes_checksums
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid, Gtid
from forge.events.gtid_list import GtidList
from forge.events.gtid_tagged import GtidTagged
from forge.events.ignorable import Ignorable
from forge.events.incident import Incident
from forge.events.intvar import VARIABLES, Intvar
from forge.events.layout import Body
from forge.events.load_files import DeleteFile
from forge.events.mariadb_gtid import MariadbGtid
from forge.events.plain import to_text
from forge.events.previous_gtids import PreviousGtids
from forge.events.rand import Rand
from forge.events.rotate import Rotate
from forge.events.rows_query import AnnotateRows, RowsQuery
from forge.events.stop import Stop
from forge.events.view_change import ViewChange
from forge.events.xa_prepare import XaPrepare
from forge.events.xid import Xid
from forge.servers import ServerLine, server_line, server_names
from forge.vendors.assembling.printed_events import PrintedEvent, PrintedText
from forge.vendors.assembling.variable_forms import user_vars
from forge.vendors.mysql_forms import UNKNOWN_VERSION

#: The flags of headers by kind, the usual ones first.
FLAGS: dict[str, tuple[int, ...]] = {
    "PREVIOUS_GTIDS": (0x80, 0xC0, 0, 0x40),
    "ROWS_QUERY": (0x80, 0, 0xC0),
    "MARIADB_GTID": (0x08, 0, 0x28),
    "ROTATE": (0, 0x20, 0x40, 0x60),
    "STOP": (0, 0x40),
}
USUAL_FLAGS = (0, 0x08, 0x40, 0x80, 0x100, 0x200, 0x04, 0x0C)
_STANDALONE, _GROUP_COMMIT, _TRANSACTIONAL, _PARALLEL, _WAITED, _DDL, _PREPARED, _COMPLETED = (
    1 << bit for bit in range(8)
)
_ALTERS = {"START": 2, "COMMIT": 4, "ROLLBACK": 8}
_IDENTICAL_LIMIT = 6


def forms(event: PrintedEvent, text: PrintedText, format: FormatContext) -> Iterable[Body]:
    """The bodies that an event may have, the likely ones first; none for a kind of which the text says too little."""
    made = _FORMS.get(event.kind)
    return () if made is None else made(event.fields, text, format)


def _format_description(fields: Any, text: PrintedText, format: FormatContext) -> Iterator[Body]:
    """The lengths of the fixed parts are those of a server line, one of the same release if there is one."""
    version = to_text(fields["version"])
    mariadb = "mariadb" in version.lower()
    number = re.search(r"\d+\.\d+", version.removeprefix("5.5.5-"))
    family = "mariadb" if mariadb else "mysql"
    names = [name for name in server_names() if name.startswith(family)]
    names.sort(key=lambda name: number is None or number[0] not in name)
    created = fields["header_time"] if fields["at_startup"] else 0
    seen: set[bytes] = set()
    for name in names:
        lengths = server_line(name).post_header_bytes
        if lengths in seen:
            continue
        seen.add(lengths)
        algorithms = (fields["checksums"], not fields["checksums"]) if writes_checksums(version) else (None,)
        for algorithm in algorithms:
            yield FormatDescription(
                server_version=version, created=created, post_header_lengths=lengths,
                checksum_algorithm=None if algorithm is None else int(algorithm),
            )  # fmt: skip


def mysql_line(version: str) -> ServerLine:
    """The line of MySQL that has that version, or the newest."""
    found = re.match(r"\d+\.\d+", version)
    name = f"mysql-{found[0]}" if found else ""
    return server_line(name if name in server_names() else "mysql-9.7")


def _gtid(fields: Any, text: PrintedText, format: FormatContext) -> Iterator[Body]:
    """Fields that end the event earlier in older versions are left out, as many as its size says."""
    parts = fields.get("gtid", "").split(":")
    by_row = fields["by_row"]
    flags = (1, 0) if by_row is None else ((0, 2) if by_row else (1, 3))
    times = _pairs(fields.get("immediate_commit_timestamp", 0), fields.get("original_commit_timestamp", 0))
    versions = _pairs(fields.get("immediate_server_version", 0), fields.get("original_server_version", 0))
    clock = (fields.get("last_committed", 0), fields.get("sequence_number", 0))
    length = fields.get("transaction_length", 0)
    if len(parts) == 3:
        yield from _tagged(fields, parts, flags, times, versions)
        return
    kind = AnonymousGtid if fields["anonymous"] else Gtid
    uuid = {"uuid": parts[0], "gno": int(parts[1])} if len(parts) == 2 else {}
    for more in range(7):
        for flag in flags:
            for time_pair in times:
                for version in versions:
                    # The later fields come all, or none from one on; those that are not printed as 0 are there.
                    count = 6 - more
                    yield kind(
                        gtid_flags=flag, **uuid,
                        clock_type=2 if count > 0 else None,
                        last_committed=clock[0] if count > 0 else None,
                        sequence_number=clock[1] if count > 0 else None,
                        commit_timestamp=time_pair if count > 1 else None,
                        transaction_length=length if count > 2 else None,
                        server_version=version if count > 3 else None,
                        commit_group_ticket=0 if count > 5 else None,
                    )  # fmt: skip


def _pairs(immediate: int, original: int) -> list[tuple[int, int | None]]:
    if immediate == UNKNOWN_VERSION:
        immediate = 0
    return [(immediate, None), (immediate, original)] if immediate == original else [(immediate, original)]


def _tagged(fields: Any, parts: list[str], flags: Iterable[int], times: Any, versions: Any) -> Iterator[Body]:
    for flag in flags:
        for last in (0, 1):
            for time_pair in times:
                for version in versions:
                    yield GtidTagged(
                        last_non_ignorable=last, gtid_flags=flag, uuid=parts[0], tag=parts[1], gno=int(parts[2]),
                        last_committed=fields.get("last_committed", 0),
                        sequence_number=fields.get("sequence_number", 0),
                        commit_timestamp=time_pair[0], original_commit_timestamp=time_pair[1],
                        transaction_length=fields.get("transaction_length", 0),
                        server_version=version[0], original_server_version=version[1],
                    )  # fmt: skip


def _previous_gtids(fields: Any, text: PrintedText, format: FormatContext) -> Iterator[Body]:
    sources: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for one in fields["gtids"].split(","):
        uuid, *parts = one.strip().split(":")
        tag = ""
        for part in parts:
            if part[:1].isdigit():
                first, _, last = part.partition("-")
                sources.setdefault((uuid, tag), []).append((int(first), int(last or first)))
            else:
                tag = part
    found = tuple((uuid, tag, tuple(intervals)) for (uuid, tag), intervals in sources.items())
    tagged = any(tag for _, tag, _ in found)
    yield PreviousGtids(gtid_set=(tagged, found))
    if not tagged:
        yield PreviousGtids(gtid_set=(True, found))


def _gtid_list(fields: Any, text: PrintedText, format: FormatContext) -> Iterator[Body]:
    gtids = tuple(fields["gtids"])
    for count in (len(gtids), len(gtids) | 1 << 28, len(gtids) | 1 << 29):
        # The text has them sorted.
        orders = permutations(gtids) if len(gtids) <= _IDENTICAL_LIMIT else iter([gtids])
        for order in orders:
            yield GtidList(gtids=order, count_and_flags=None if count == len(gtids) else count)


def _mariadb_gtid(fields: Any, text: PrintedText, format: FormatContext) -> Iterator[Body]:
    words = [to_text(word) for word in fields["words"]]
    flags = (_DDL if "ddl" in words else 0) | (_TRANSACTIONAL if "trans" in words else 0)
    flags |= _WAITED if "waited" in words else 0
    flags |= 0 if fields.get("skip_parallel") else _PARALLEL
    flags |= _GROUP_COMMIT if "cid" in fields else 0
    xa = fields.get("xa")
    flags |= 0 if fields.get("begins") or xa else _STANDALONE
    extra = next((_ALTERS[word] for word, after in pairwise(words) if after == "ALTER"), 0)
    xids: list[Any] = [None] if xa is None else [_xa_id(xa)]
    if fields.get("following_xa") is not None and xa is None:
        xids.append(_xa_id(fields["following_xa"]))
    if "thread_id" in fields:
        threads = [fields["thread_id"]]
    else:
        threads = [None, fields.get("following_thread"), *text.threads] if format.mariadb else [None]
    threads = list(dict.fromkeys(threads))
    for engines in (None, 255, 1, 0, 2, 3):
        for thread in threads:
            for xid in xids:
                own = flags if xid is None else flags | (_PREPARED if xa is not None else _COMPLETED)
                yield MariadbGtid(
                    sequence_number=fields["sequence_number"], domain_id=fields["domain_id"], flags2=own,
                    commit_id=fields.get("cid"), xid=xid, extra_engines=engines,
                    flags_extra=extra | (engines is not None) | (0x10 if thread is not None else 0),
                    start_alter=fields.get("start_alter"), thread_id=thread,
                )  # fmt: skip


def _xa_id(found: re.Match[bytes]) -> tuple[int, bytes, bytes]:
    format_id = int(found[3]) % (1 << 32)
    return format_id, bytes.fromhex(found[1].decode()), bytes.fromhex(found[2].decode())


def _xa_prepare(fields: Any, text: PrintedText, format: FormatContext) -> Iterator[Body]:
    format_id, gtrid, bqual = _xa_id(fields["xa"])
    yield XaPrepare(one_phase=int(fields["one_phase"]), format_id=format_id, gtrid=gtrid, bqual=bqual)


def _intvar(fields: Any, text: PrintedText, format: FormatContext) -> Iterator[Body]:
    found = re.fullmatch(rb"SET (\w+)=(\d+)", fields["setting"])
    names = {name: number for number, name in VARIABLES.items()}
    if found is not None and to_text(found[1]) in names:
        yield Intvar(variable=names[to_text(found[1])], value=int(found[2]))


def _rand(fields: Any, text: PrintedText, format: FormatContext) -> Iterator[Body]:
    numbers = re.findall(rb"=(\d+)", fields["setting"])
    if len(numbers) == 2:
        yield Rand(seed1=int(numbers[0]), seed2=int(numbers[1]))


def _annotate(fields: Any, text: PrintedText, format: FormatContext) -> Iterator[Body]:
    query = to_text(fields["text"])
    yield AnnotateRows(query=query)
    # Both kinds of line breaks are printed alike.
    yield AnnotateRows(query=query.replace("\n", "\r\n"))


def _rows_query(fields: Any, text: PrintedText, format: FormatContext) -> Iterator[Body]:
    for length in (0, len(fields["text"]) & 0xFF):
        yield RowsQuery(unused_length=length, query=to_text(fields["text"]))


def _view_change(fields: Any, text: PrintedText, format: FormatContext) -> Iterator[Body]:
    view = fields["rest"].removeprefix(b"View_change_log_event: view_id=")
    if len(view) <= 40:
        yield ViewChange(view_id=view.ljust(40, b"\0"), sequence_number=0)


def _rest(fields: Any, beginning: str) -> str:
    return to_text(fields["rest"]).removeprefix(beginning)


_FORMS: dict[str, Callable[[Any, PrintedText, FormatContext], Iterable[Body]]] = {
    "FORMAT_DESCRIPTION": _format_description,
    "GTID": _gtid,
    "PREVIOUS_GTIDS": _previous_gtids,
    "GTID_LIST": _gtid_list,
    "MARIADB_GTID": _mariadb_gtid,
    "XA_PREPARE": _xa_prepare,
    "INTVAR": _intvar,
    "RAND": _rand,
    "USER_VAR": user_vars,
    "ANNOTATE_ROWS": _annotate,
    "ROWS_QUERY": _rows_query,
    "VIEW_CHANGE": _view_change,
    "XID": lambda fields, text, format: [Xid(xid=fields["xid"])],
    "STOP": lambda fields, text, format: [Stop()],
    "ROTATE": lambda fields, text, format: [Rotate(next_file=fields["file"], position=fields["position"])],
    "BINLOG_CHECKPOINT": lambda fields, text, format: [BinlogCheckpoint(file_name=_rest(fields, "Binlog checkpoint "))],
    "DELETE_FILE": lambda fields, text, format: [DeleteFile(file_id=fields["file_id"])],
    "INCIDENT": lambda fields, text, format: [Incident()],
    "IGNORABLE": lambda fields, text, format: [Ignorable()],
}
