"""The fields of an event's body as plain data: numbers, text, bytes as hex, lists and objects.

Lengths and counts that follow from the other fields are left out.  Text is text, or ``{"hex": ...}`` if its bytes are
not UTF-8.  Every shape here is in decode.schema.json.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from forge.charsets import charset
from forge.charsets.collations import find_collation
from forge.check.canonical.cells import MappedTable
from forge.check.canonical.statement_fields import (
    DUPLICATES,
    collation_fields,
    intvar_fields,
    load_fields,
    user_var_fields,
)
from forge.errors import ForgeError, FormatError
from forge.events.columns import primary_key_of
from forge.events.event import Event, RawBody
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.format_description import FormatDescription
from forge.events.gtid import AnonymousGtid
from forge.events.gtid_list import GtidList
from forge.events.gtid_tagged import GtidTagged
from forge.events.heartbeat_v2 import HeartbeatV2
from forge.events.intvar import Intvar
from forge.events.layout import Body, flag_names, text_or_hex, to_bytes, to_text
from forge.events.load_statement import LoadStatement
from forge.events.mariadb_compressed import QueryCompressed, decompress_block
from forge.events.mariadb_gtid import GTID_FLAGS2, MariadbGtid
from forge.events.optional_metadata import MetadataRecord, read_value
from forge.events.previous_gtids import GtidSource, PreviousGtids
from forge.events.query import Query
from forge.events.rows import ROW_FLAGS, ROWS_BODIES
from forge.events.table_map import TABLE_FLAGS, TableMap
from forge.events.transaction_payload import COMPRESSION_TYPE, NONE, UNCOMPRESSED_SIZE, ZSTD, TransactionPayload
from forge.events.user_var import UserVar
from forge.events.view_change import ViewChange
from forge.events.xa_prepare import XaPrepare
from forge.values.base import Column
from forge.values.registry import codec_for

Fields = dict[str, Any]
Text = str | dict[str, str]


def plain(value: Any) -> Any:
    """Any field's value as plain data."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, str):
        return text_or_hex(value)
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return value


def fields_of(event: Event, mapped: MappedTable | None = None, *, mariadb: bool = False) -> Fields:
    """The fields of an event's body.

    ``mapped`` is the table that a TABLE_MAP describes; ``mariadb``: collations are MariaDB's.
    """
    body = event.body
    if isinstance(body, RawBody):
        return {"raw": body.data.hex()}
    if isinstance(body, TableMap):
        return _table_map(body, mapped)
    if isinstance(body, MariadbGtid):
        return _mariadb_gtid(body, event.server_id)
    if isinstance(body, UserVar):
        return user_var_fields(body, "mariadb" if mariadb else "mysql")
    for known, show in _SHOWN:
        if isinstance(body, known):
            return show(body)
    return _simple(body)


def _simple(body: Body, *without: str) -> Fields:
    shown: Fields = {}
    for item in dataclasses.fields(body):  # type: ignore[arg-type]
        value = getattr(body, item.name)
        if item.name in without or value is None:
            continue
        shown[item.name] = flag_names(value, ROW_FLAGS) if item.name == "row_flags" else plain(value)
    return shown


def _format_description(body: FormatDescription) -> Fields:
    algorithms = {None: None, 0: "OFF", 1: "CRC32"}
    algorithm = body.checksum_algorithm
    return _simple(body, "checksum_algorithm") | {"checksum_algorithm": algorithms.get(algorithm, algorithm)}


def _query(body: Query) -> Fields:
    return _query_fields(body, to_bytes(body.query))


def _query_fields(body: Query | QueryCompressed | ExecuteLoadQuery, query: bytes) -> Fields:
    variables = [{"name": name, "value": plain(value)} for name, value in body.status_variables]
    return _simple(body, "status_variables", "query", "block") | {
        "status_variables": variables,
        "query": text_or_hex(to_text(query)),
    }


def _gtid(body: AnonymousGtid) -> Fields:
    shown: Fields = {"gtid": None if body.type_name == "ANONYMOUS_GTID" else f"{body.uuid}:{body.gno}"}
    for name, value in _simple(body).items():
        if name in ("commit_timestamp", "server_version"):
            immediate, original = value
            value = {"immediate": immediate, "original": immediate if original is None else original}
        shown[name] = value
    return shown


def _gtid_tagged(body: GtidTagged) -> Fields:
    shown = _simple(body, "commit_timestamp", "original_commit_timestamp", "server_version", "original_server_version")
    for name in ("commit_timestamp", "server_version"):
        immediate, original = getattr(body, name), getattr(body, f"original_{name}")
        if immediate is not None:
            shown[name] = {"immediate": immediate, "original": immediate if original is None else original}
    return {"gtid": f"{body.uuid}:{body.tag}:{body.gno}"} | shown


def _mariadb_gtid(body: MariadbGtid, server_id: int) -> Fields:
    shown: Fields = {"gtid": f"{body.domain_id}-{server_id}-{body.sequence_number}"} | _simple(body, "flags2", "xid")
    shown["flags2"] = flag_names(body.flags2, GTID_FLAGS2)
    if body.xid is not None:
        shown["xid"] = {"format_id": body.xid[0], "gtrid": body.xid[1].hex(), "bqual": body.xid[2].hex()}
    return shown


def _query_compressed(body: QueryCompressed) -> Fields:
    return _query_fields(body, decompress_block(body.block))


def _payload(body: TransactionPayload) -> Fields:
    compression = {ZSTD: "ZSTD", NONE: "NONE"}
    kind = body.number(COMPRESSION_TYPE, ZSTD)
    return {
        "compression": compression.get(kind, kind) if kind is not None else None,
        "payload_size": len(body.payload),
        "uncompressed_size": body.number(UNCOMPRESSED_SIZE),
    }


def _execute_load_query(body: ExecuteLoadQuery) -> Fields:
    return _query_fields(body, to_bytes(body.query)) | {"duplicates": DUPLICATES.get(body.duplicates, body.duplicates)}


def _load(body: LoadStatement) -> Fields:
    return load_fields(body, _simple(body, "separators", "options", "empty"))


def _xa_prepare(body: XaPrepare) -> Fields:
    return _simple(body, "one_phase") | {"one_phase": body.one_phase != 0}


def _gtid_list(body: GtidList) -> Fields:
    return {"gtids": ["-".join(map(str, gtid)) for gtid in body.gtids]} | _simple(body, "gtids")


def _view_change(body: ViewChange) -> Fields:
    return {"view_id": text_or_hex(to_text(body.view_id.rstrip(b"\0")))} | _simple(body, "view_id")


def _heartbeat_v2(body: HeartbeatV2) -> Fields:
    return {"file_name": text_or_hex(body.file_name), "values": plain(body.values)}


def _previous_gtids(body: PreviousGtids) -> Fields:
    tagged, sources = body.gtid_set
    return {"gtid_set": text_or_hex(gtid_set_text(sources)), "tagged": tagged}


def gtid_set_text(sources: Sequence[GtidSource]) -> str:
    """A GTID set as servers print it: ``uuid:first-last:first``, a tag before its intervals."""
    parts: list[str] = []
    last_uuid = None
    for uuid, tag, intervals in sources:
        ranges = [str(first) if first == last else f"{first}-{last}" for first, last in intervals]
        words = ":".join(([tag] if tag else []) + ranges)
        if uuid == last_uuid:
            parts[-1] += f":{words}"
        else:
            parts.append(f"{uuid}:{words}")
        last_uuid = uuid
    return ",".join(parts)


def _table_map(body: TableMap, mapped: MappedTable | None) -> Fields:
    shown: Fields = {
        "table_id": body.table_id,
        "table_flags": flag_names(body.table_flags, TABLE_FLAGS),
        "database": text_or_hex(body.database),
        "table": text_or_hex(body.table),
    }
    records = [
        {"type": record.type_code, "name": record.type_name, "value": plain(_read_value(record))}
        for record in body.optional_metadata
    ]
    if mapped is None or mapped.columns is None:
        shown |= {"types": body.types.hex(), "metadata": body.metadata.hex(), "nullable": body.nullable.hex()}
        if mapped is not None:
            shown["note"] = str(mapped.problem)
        return shown | {"optional_metadata": records}
    family = "mariadb" if mapped.mariadb else "mysql"
    visible = body.records().get("visibility")
    shown["columns"] = [
        _column(number, column, family, visible) for number, column in enumerate(mapped.columns, start=1)
    ]
    key = primary_key_of(body)
    if key is not None:
        shown["primary_key"] = [{"column": index + 1} | ({"prefix": prefix} if prefix else {}) for index, prefix in key]
    return shown | {"optional_metadata": records}


def _read_value(record: MetadataRecord) -> Any:
    try:
        return read_value(record)
    except FormatError:
        return record.value


def _column(number: int, column: Column, family: str, visible: Any) -> Fields:
    codec = codec_for(column)
    shown: Fields = {"column": number}
    if column.name is not None:
        shown["name"] = text_or_hex(column.name)
    shown |= {
        "type": codec.type_name(column),
        "type_code": column.type_code,
        "metadata": column.metadata.hex(),
        "nullable": column.nullable,
    }
    if column.unsigned is not None:
        shown["unsigned"] = column.unsigned
    if column.collation is not None:
        shown["collation"] = collation_fields(column.collation, family)
    if column.members is not None:
        shown["members"] = [_member(member, column, family) for member in column.members]
    if column.geometry_type is not None:
        shown["geometry_type"] = column.geometry_type
    if column.dimensions is not None:
        shown["dimensions"] = column.dimensions
    if isinstance(visible, str) and number <= len(visible):
        shown["visible"] = visible[number - 1] == "1"
    return shown


def _member(member: bytes, column: Column, family: str) -> Text:
    """A member is in its column's character set."""
    known = None if column.collation is None else find_collation(column.collation, family)
    if known is not None and known.charset != "binary":
        try:
            return charset(known.charset).decode(member)
        except ForgeError:
            pass
    return {"hex": member.hex()}


def _rows(body: Any) -> Fields:
    return _simple(body, "rows")


_SHOWN: tuple[tuple[Any, Callable[[Any], Fields]], ...] = (
    (FormatDescription, _format_description),
    (Query, _query),
    (AnonymousGtid, _gtid),
    (PreviousGtids, _previous_gtids),
    (GtidTagged, _gtid_tagged),
    (QueryCompressed, _query_compressed),
    (TransactionPayload, _payload),
    (Intvar, intvar_fields),
    (ExecuteLoadQuery, _execute_load_query),
    (LoadStatement, _load),
    (XaPrepare, _xa_prepare),
    (GtidList, _gtid_list),
    (HeartbeatV2, _heartbeat_v2),
    (ViewChange, _view_change),
    (ROWS_BODIES, _rows),
)
