"""Hypothesis strategies for events and files of events, aimed at the boundaries of their fields."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from forge.binlog.writer import Item
from forge.events.annotate_rows import AnnotateRows
from forge.events.append_block import AppendBlock
from forge.events.begin_load_query import BeginLoadQuery
from forge.events.binlog_checkpoint import BinlogCheckpoint
from forge.events.create_file import CreateFile
from forge.events.delete_file import DeleteFile
from forge.events.event import Event, RawBody
from forge.events.exec_load import ExecLoad
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid, Gtid
from forge.events.gtid_list import GtidList
from forge.events.gtid_tagged import GtidTagged
from forge.events.heartbeat import Heartbeat
from forge.events.heartbeat_v2 import HeartbeatV2
from forge.events.ignorable import Ignorable
from forge.events.incident import Incident
from forge.events.intvar import Intvar
from forge.events.layout import Body
from forge.events.load import Load
from forge.events.mariadb_compressed import COMPRESSED_ROWS, QueryCompressed
from forge.events.mariadb_gtid import MariadbGtid
from forge.events.new_load import NewLoad
from forge.events.optional_metadata import MetadataRecord, record
from forge.events.previous_gtids import PreviousGtids
from forge.events.query import Query
from forge.events.rand import Rand
from forge.events.registry import EVENT_TYPES
from forge.events.rotate import Rotate
from forge.events.rows import (
    DeleteRows,
    DeleteRowsV1,
    PartialUpdateRows,
    UpdateRows,
    UpdateRowsV1,
    WriteRows,
    WriteRowsV1,
)
from forge.events.rows_query import RowsQuery
from forge.events.start_encryption import StartEncryption
from forge.events.stop import Stop
from forge.events.table_map import TableMap
from forge.events.transaction_payload import TransactionPayload
from forge.events.user_var import UserVar
from forge.events.view_change import ViewChange
from forge.events.xa_prepare import XaPrepare
from forge.events.xid import Xid


def unsigned(bits: int) -> st.SearchStrategy[int]:
    """Numbers of that width, the ends often."""
    top = (1 << bits) - 1
    return st.one_of(st.sampled_from((0, 1, top // 2, top - 1, top)), st.integers(0, top))


def texts(max_bytes: int = 40) -> st.SearchStrategy[str]:
    """Text as events hold it: any bytes, decoded with surrogate escapes."""
    return st.one_of(
        st.text(max_size=max_bytes // 4),
        st.binary(max_size=max_bytes).map(lambda b: b.decode("utf-8", "surrogateescape")),
    )


def _names() -> st.SearchStrategy[str]:
    return texts().filter(lambda text: "\0" not in text)


def status_variables() -> st.SearchStrategy[tuple[tuple[str, Any], ...]]:
    each = st.one_of(
        st.tuples(st.just("flags2"), unsigned(32)),
        st.tuples(st.just("sql_mode"), unsigned(64)),
        st.tuples(st.just("catalog"), texts()),
        st.tuples(st.just("auto_increment"), st.tuples(unsigned(16), unsigned(16))),
        st.tuples(st.just("charset"), st.tuples(unsigned(16), unsigned(16), unsigned(16))),
        st.tuples(st.just("time_zone"), texts()),
        st.tuples(st.just("invoker"), st.tuples(texts(), texts())),
        st.tuples(st.just("updated_databases"), st.lists(_names(), max_size=16).map(tuple)),
        st.tuples(st.just("updated_databases"), st.just(254)),
        st.tuples(st.just("microseconds"), unsigned(24)),
        st.tuples(st.just("ddl_xid"), unsigned(64)),
        st.tuples(st.just("mariadb_gtid_flags"), st.sampled_from(((2,), (4, 15), (16,)))),
        st.tuples(
            st.just("character_set_collations"), st.lists(st.tuples(unsigned(16), unsigned(16)), max_size=3).map(tuple)
        ),
    )
    ending = st.one_of(st.just(()), st.binary(max_size=9).map(lambda rest: (("unread", b"\x7f" + rest),)))
    return st.builds(lambda known, rest: (*known, *rest), st.lists(each, max_size=6).map(tuple), ending)


def gtid_sets() -> st.SearchStrategy[tuple[bool, tuple[Any, ...]]]:
    intervals = st.lists(st.tuples(unsigned(62), unsigned(62)), max_size=3).map(tuple)
    uuids = st.uuids().map(str)
    plain = st.lists(st.tuples(uuids, st.just(""), intervals), max_size=3).map(tuple)
    tagged = st.lists(st.tuples(uuids, st.text("abc_", max_size=8), intervals), max_size=3).map(tuple)
    return st.one_of(st.tuples(st.just(False), plain), st.tuples(st.just(True), tagged))


def metadata_records() -> st.SearchStrategy[MetadataRecord]:
    packed = st.one_of(st.sampled_from((0, 250, 251, 255, 65535, 65536)), unsigned(24))
    numbers = st.lists(packed, max_size=5).map(tuple)
    pairs = st.lists(st.tuples(packed, packed), max_size=4).map(tuple)
    members = st.lists(st.lists(st.binary(max_size=5), max_size=3).map(tuple), max_size=3).map(tuple)
    bits = st.text("01", max_size=20).map(lambda text: text.ljust(-(-len(text) // 8) * 8, "0"))
    return st.one_of(
        bits.map(lambda value: record("signedness", value)),
        st.tuples(packed, pairs).map(lambda value: record("default_charset", value)),
        numbers.map(lambda value: record("column_charset", value)),
        st.lists(texts(), max_size=4).map(lambda value: record("column_name", tuple(value))),
        members.map(lambda value: record("set_members", value)),
        members.map(lambda value: record("enum_members", value)),
        pairs.map(lambda value: record("prefix_primary_key", value)),
        bits.map(lambda value: record("visibility", value)),
        st.builds(MetadataRecord, st.integers(14, 255), st.binary(max_size=6), st.sampled_from((None, 3, 4, 9))),
        # The same number in three bytes, and an item that ends beyond its record.
        st.sampled_from((MetadataRecord(3, b"\xfc\x08\x00"), MetadataRecord(8, b"\x01\xfd\x00", 4))),
    )


def _rows(kind: type[Any], **more: Any) -> st.SearchStrategy[Any]:
    def at_width(width: int) -> st.SearchStrategy[Any]:
        bitmap = st.binary(min_size=(width + 7) // 8, max_size=(width + 7) // 8)
        fields: dict[str, Any] = {"present": bitmap, **more}
        if "present_after" in kind.field_names():
            fields["present_after"] = bitmap
        if "extra" in kind.field_names():
            fields["extra"] = st.binary(max_size=8)
        return st.builds(
            kind,
            table_id=unsigned(48),
            row_flags=unsigned(16),
            width=st.just(width),
            rows=st.binary(max_size=30),
            **fields,
        )

    return st.sampled_from((0, 1, 8, 9, 250, 251)).flatmap(at_width)


def _gtids(kind: type[AnonymousGtid]) -> st.SearchStrategy[AnonymousGtid]:
    original = st.one_of(st.none(), unsigned(31))
    stamps = st.tuples(unsigned(55), st.one_of(st.none(), unsigned(55)))
    base = {"gtid_flags": unsigned(8), "uuid": st.uuids().map(str), "gno": st.integers(-(1 << 63), (1 << 63) - 1)}
    clock: dict[str, Any] = {"clock_type": unsigned(8), "last_committed": unsigned(63), "sequence_number": unsigned(63)}
    full: dict[str, Any] = {
        "commit_timestamp": stamps,
        "transaction_length": unsigned(64),
        "server_version": st.tuples(unsigned(31), original),
        "commit_group_ticket": st.one_of(st.none(), unsigned(64)),
    }
    absent: dict[str, Any] = {"clock_type": st.none(), "last_committed": st.none(), "sequence_number": st.none()}
    return st.one_of(
        st.builds(kind, **base, **absent), st.builds(kind, **base, **clock), st.builds(kind, **base, **clock, **full)
    )


def _table_maps() -> st.SearchStrategy[TableMap]:
    def at_width(width: int) -> st.SearchStrategy[TableMap]:
        return st.builds(
            TableMap,
            table_id=unsigned(48),
            table_flags=unsigned(16),
            database=texts(),
            table=texts(),
            types=st.binary(min_size=width, max_size=width),
            metadata=st.binary(max_size=12),
            nullable=st.binary(min_size=(width + 7) // 8, max_size=(width + 7) // 8),
            optional_metadata=st.lists(metadata_records(), max_size=4).map(tuple),
            metadata_tail=st.sampled_from((None, b"\x01", b"\x01\xff", b"\x04\x7f\x01a", b"\x01\xfb\x01\x01\x00")),
        )

    return st.sampled_from((0, 1, 3, 8, 9, 250, 251)).flatmap(at_width)


def _mariadb_gtids() -> st.SearchStrategy[MariadbGtid]:
    def with_flags(flags: tuple[int, int]) -> st.SearchStrategy[MariadbGtid]:
        flags2, extra = flags
        ids = st.tuples(unsigned(32), st.binary(max_size=64), st.binary(max_size=64))
        return st.builds(
            MariadbGtid,
            sequence_number=unsigned(64),
            domain_id=unsigned(32),
            flags2=st.just(flags2),
            commit_id=unsigned(64) if flags2 & 0x02 else st.none(),
            xid=ids if flags2 & 0xC0 else st.none(),
            flags_extra=st.just(extra),
            extra_engines=unsigned(8) if extra & 0x01 else st.none(),
            start_alter=unsigned(64) if extra & 0x0C else st.none(),
            thread_id=unsigned(32) if extra & 0x10 else st.none(),
        )

    return st.tuples(unsigned(8), st.sampled_from((0, 0x01, 0x02, 0x04, 0x10, 0x11, 0x14))).flatmap(with_flags)


def _tagged_gtids() -> st.SearchStrategy[GtidTagged]:
    signed = st.integers(-(1 << 63), (1 << 63) - 1)
    return st.builds(
        GtidTagged,
        gtid_flags=unsigned(8),
        uuid=st.uuids().map(str),
        gno=signed,
        tag=st.text("abc_", max_size=32),
        last_committed=signed,
        sequence_number=signed,
        commit_timestamp=unsigned(64),
        original_commit_timestamp=st.one_of(st.none(), unsigned(64)),
        transaction_length=unsigned(64),
        server_version=unsigned(32),
        commit_group_ticket=st.one_of(st.none(), unsigned(64)),
    )


def _user_vars() -> st.SearchStrategy[UserVar]:
    content = unsigned(32), st.binary(max_size=12)
    flags, data_type = st.one_of(st.none(), unsigned(8)), st.one_of(st.none(), texts())
    return st.one_of(
        st.builds(UserVar, name=texts()),
        st.builds(UserVar, name=texts(), value=st.tuples(st.sampled_from((0, 1, 3, 4)), *content), data_type=data_type),
        st.builds(UserVar, name=texts(), value=st.tuples(unsigned(3), *content), value_flags=flags),
        st.builds(
            UserVar,
            name=texts(),
            value=st.tuples(st.just(2), *content),
            value_flags=unsigned(8),
            data_type=data_type,
        ),
    )


def _old_loads(kind: type[Body], separator: st.SearchStrategy[Any], **more: Any) -> st.SearchStrategy[Any]:
    return st.builds(
        kind,
        thread_id=unsigned(32),
        exec_time=unsigned(32),
        skip_lines=unsigned(32),
        separators=st.tuples(*[separator] * 5),
        options=unsigned(8),
        columns=st.lists(texts(), max_size=4).map(tuple),
        table=texts(),
        database=texts(),
        file_name=texts().filter(lambda name: "\0" not in name),
        **more,
    )


def _tlvs() -> st.SearchStrategy[tuple[tuple[int, bytes], ...]]:
    return st.lists(st.tuples(st.sampled_from((1, 2, 3, 200, 251)), st.binary(max_size=9)), max_size=3).map(tuple)


#: A strategy for every body in the registry.
BODIES: dict[type[Body], st.SearchStrategy[Any]] = {
    Query: st.builds(
        Query,
        thread_id=unsigned(32),
        exec_time=unsigned(32),
        error_code=unsigned(16),
        status_variables=status_variables(),
        database=texts(),
        query=texts(),
    ),
    Stop: st.builds(Stop),
    Rotate: st.builds(Rotate, position=unsigned(64), next_file=texts()),
    Intvar: st.builds(Intvar, variable=unsigned(8), value=unsigned(64)),
    Rand: st.builds(Rand, seed1=unsigned(64), seed2=unsigned(64)),
    Xid: st.builds(Xid, xid=unsigned(64)),
    Incident: st.builds(Incident, incident=unsigned(16), message=texts()),
    Heartbeat: st.builds(Heartbeat, file_name=texts()),
    RowsQuery: st.builds(RowsQuery, unused_length=unsigned(8), query=texts()),
    TableMap: _table_maps(),
    Gtid: _gtids(Gtid),
    AnonymousGtid: _gtids(AnonymousGtid),
    PreviousGtids: st.builds(PreviousGtids, gtid_set=gtid_sets()),
    FormatDescription: st.builds(
        FormatDescription,
        server_version=st.text("0123456789.-MariaDBlog", max_size=49),
        created=unsigned(32),
        post_header_lengths=st.sampled_from((27, 38, 41, 42)).map(
            lambda n: bytes(14) + bytes([57 + n]) + bytes(n - 15)
        ),
        checksum_algorithm=st.sampled_from((0, 1)),
    ),
    AppendBlock: st.builds(AppendBlock, file_id=unsigned(32), block=st.binary(max_size=30)),
    BeginLoadQuery: st.builds(BeginLoadQuery, file_id=unsigned(32), block=st.binary(max_size=30)),
    DeleteFile: st.builds(DeleteFile, file_id=unsigned(32)),
    ExecLoad: st.builds(ExecLoad, file_id=unsigned(32)),
    Load: _old_loads(Load, unsigned(8), empty=unsigned(8)),
    NewLoad: _old_loads(NewLoad, texts()),
    CreateFile: _old_loads(CreateFile, texts(), file_id=unsigned(32), block=st.binary(max_size=20)),
    UserVar: _user_vars(),
    ExecuteLoadQuery: st.builds(
        ExecuteLoadQuery,
        file_id=unsigned(32),
        file_name_start=unsigned(32),
        file_name_end=unsigned(32),
        duplicates=unsigned(8),
        status_variables=status_variables(),
        database=texts(),
        query=texts(),
    ),
    Ignorable: st.builds(Ignorable, data=st.binary(max_size=20)),
    ViewChange: st.builds(
        ViewChange,
        view_id=st.binary(min_size=40, max_size=40),
        sequence_number=unsigned(64),
        certification_count=unsigned(32),
        certification=st.binary(max_size=20),
    ),
    XaPrepare: st.builds(
        XaPrepare,
        one_phase=unsigned(8),
        format_id=unsigned(32),
        gtrid=st.binary(max_size=64),
        bqual=st.binary(max_size=64),
    ),
    TransactionPayload: st.builds(TransactionPayload, values=_tlvs(), payload=st.binary(max_size=30)),
    HeartbeatV2: st.builds(HeartbeatV2, values=_tlvs()),
    GtidTagged: _tagged_gtids(),
    AnnotateRows: st.builds(AnnotateRows, query=texts()),
    BinlogCheckpoint: st.builds(BinlogCheckpoint, file_name=texts()),
    MariadbGtid: _mariadb_gtids(),
    GtidList: st.builds(
        GtidList, gtids=st.lists(st.tuples(unsigned(32), unsigned(32), unsigned(64)), max_size=4).map(tuple)
    ),
    StartEncryption: st.builds(
        StartEncryption, scheme=unsigned(8), key_version=unsigned(32), nonce=st.binary(min_size=12, max_size=12)
    ),
    QueryCompressed: st.builds(
        QueryCompressed,
        thread_id=unsigned(32),
        status_variables=status_variables(),
        database=texts(),
        block=st.binary(max_size=20),
    ),
    **{
        kind: _rows(kind)
        for kind in (WriteRows, UpdateRows, DeleteRows, WriteRowsV1, UpdateRowsV1, DeleteRowsV1, PartialUpdateRows)
    },
    **{kind: _rows(kind) for kind in COMPRESSED_ROWS},
}


def bodies() -> st.SearchStrategy[Body]:
    """Any body but FORMAT_DESCRIPTION (which changes the framing), or raw bytes of an unknown type."""
    unknown = st.integers(0, 255).filter(lambda code: code not in EVENT_TYPES)
    known = [strategy for kind, strategy in BODIES.items() if kind is not FormatDescription]
    return st.one_of(*known, st.builds(RawBody, unknown, st.binary(max_size=20)))


def events() -> st.SearchStrategy[Event]:
    return st.builds(Event, body=bodies(), timestamp=unsigned(32), server_id=unsigned(32), flags=unsigned(16))


def files(max_events: int = 6) -> st.SearchStrategy[list[Item]]:
    """A FORMAT_DESCRIPTION and some events, in any order and not necessarily sensible."""
    description = st.builds(Event, body=BODIES[FormatDescription], timestamp=unsigned(32), server_id=unsigned(32))
    return st.builds(lambda head, rest: [head, *rest], description, st.lists(events(), max_size=max_events))
