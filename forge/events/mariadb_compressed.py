"""MariaDB's compressed events (10.2.3 on, log_bin_compress): QUERY_COMPRESSED (165), row events of version 1
(166-168) and 2 (169-171).

Everything but the text or the rows is as in the plain event.  A compressed block is a byte (0x80, the algorithm in
bits 4-6, the number of length bytes in bits 0-2), the uncompressed length big-endian, and a zlib stream.
"""

from __future__ import annotations

import dataclasses
import zlib
from dataclasses import dataclass
from typing import Any, ClassVar

from construct import Struct

from forge.errors import FormatError
from forge.events.layout import Body, Rest, derived
from forge.events.plain import to_bytes, to_text
from forge.events.query import CIRCUMSTANCES, POST_HEADER, Query, QueryFields
from forge.events.rows import DeleteRows, DeleteRowsV1, RowsBody, UpdateRows, UpdateRowsV1, WriteRows, WriteRowsV1
from forge.events.status_vars import StatusVariables
from forge.unpacking import LARGEST_UNPACKED, too_large


def decompress_block(block: bytes) -> bytes:
    """The bytes behind a compressed block.

    Raises FormatError, also for more than :data:`forge.unpacking.LARGEST_UNPACKED`; allocates no more than the block
    says.
    """
    if not block or block[0] & 0xF8 != 0x80 or not 1 <= block[0] & 7 <= 4:
        raise FormatError("not a compressed block of a known algorithm", phase="body", offset=0)
    width = block[0] & 7
    size = int.from_bytes(block[1 : 1 + width], "big")
    if size > LARGEST_UNPACKED:
        raise too_large("the compressed block", size, phase="body", offset=1)
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(block[1 + width :], size + 1)
    except zlib.error as error:
        raise FormatError(f"zlib: {error}", phase="body", offset=1 + width) from None
    if len(data) != size:
        raise FormatError(
            f"the block announces {size} bytes, but {len(data)} were decompressed", phase="body", offset=1
        )
    return data


def label_block(labels: Any, name: str) -> None:
    """Label a compressed block, to the end of the region (forge.decode.labels.runs)."""
    if labels.at < len(labels.data):
        width = labels.data[labels.at] & 7
        labels.put(labels.at + 1, f"{name}.algorithm", labels.data[labels.at], "0x80, algorithm, bytes of the length")
        size = int.from_bytes(labels.data[labels.at : labels.at + width], "big")
        labels.put(labels.at + width, f"{name}.length", size, "unpacked length, big-endian")
        labels.rest(name, None, "zlib stream")


class _CompressedText(Rest):
    def labelled(self, walk: Any, name: str, flags: Any = None) -> bytes:
        block: bytes = walk.read(self, name)
        label_block(walk.labels, "query")
        return block


def compress_block(data: bytes) -> bytes:
    """The block that a server makes of ``data`` (zlib at its default level; recorded on 10.11)."""
    width = max(1, (len(data).bit_length() + 7) // 8)
    return bytes([0x80 | width]) + len(data).to_bytes(width, "big") + zlib.compress(data)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryCompressed(QueryFields, type_code=165, type_name="QUERY_COMPRESSED", features=("compressed_events",)):
    """As QUERY, with the text as a compressed block."""

    thread_id: int = 0
    exec_time: int = 0
    database_length: int | None = derived()
    error_code: int = 0
    status_length: int | None = derived()
    status_variables: StatusVariables = ()
    database: str = ""
    block: bytes

    layout: ClassVar[Struct] = Struct(*POST_HEADER, *CIRCUMSTANCES, "block" / _CompressedText())

    def text(self) -> str:
        return to_text(decompress_block(self.block))


_SAME_FIELDS = (
    "thread_id", "exec_time", "database_length", "error_code", "status_length", "status_variables", "database",
)  # fmt: skip


def compressed_query(query: Query) -> QueryCompressed:
    """The compressed form of a QUERY event."""
    same = {name: getattr(query, name) for name in _SAME_FIELDS}
    return QueryCompressed(**same, block=compress_block(to_bytes(query.query)))


def plain_query(query: QueryCompressed) -> Query:
    """The QUERY event that it stands for.  Raises FormatError for a block that cannot be unpacked."""
    same = {name: getattr(query, name) for name in _SAME_FIELDS}
    return Query(**same, query=to_text(decompress_block(query.block)))


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRowsCompressed(
    WriteRowsV1, type_code=166, type_name="WRITE_ROWS_COMPRESSED_V1", features=("compressed_events",)
):
    """``rows`` is a compressed block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRowsCompressed(
    UpdateRowsV1, type_code=167, type_name="UPDATE_ROWS_COMPRESSED_V1", features=("compressed_events",)
):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRowsCompressed(
    DeleteRowsV1, type_code=168, type_name="DELETE_ROWS_COMPRESSED_V1", features=("compressed_events",)
):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRowsCompressedV2(
    WriteRows, type_code=169, type_name="WRITE_ROWS_COMPRESSED", features=("compressed_events",)
):
    """As version 2, with ``rows`` as a compressed block.  MariaDB has the three types and writes none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRowsCompressedV2(
    UpdateRows, type_code=170, type_name="UPDATE_ROWS_COMPRESSED", features=("compressed_events",)
):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRowsCompressedV2(
    DeleteRows, type_code=171, type_name="DELETE_ROWS_COMPRESSED", features=("compressed_events",)
):
    pass


_PLAIN_ROWS: dict[type[RowsBody], type[RowsBody]] = {
    WriteRowsCompressed: WriteRowsV1,
    UpdateRowsCompressed: UpdateRowsV1,
    DeleteRowsCompressed: DeleteRowsV1,
    WriteRowsCompressedV2: WriteRows,
    UpdateRowsCompressedV2: UpdateRows,
    DeleteRowsCompressedV2: DeleteRows,
}
COMPRESSED_ROWS = (
    WriteRowsCompressed,
    UpdateRowsCompressed,
    DeleteRowsCompressed,
    WriteRowsCompressedV2,
    UpdateRowsCompressedV2,
    DeleteRowsCompressedV2,
)


def uncompressed(body: Body) -> Body:
    """The plain form of a compressed event, any other as it is.  Raises FormatError for a block that is damaged."""
    if isinstance(body, QueryCompressed):
        return plain_query(body)
    plain = _PLAIN_ROWS.get(type(body))  # type: ignore[arg-type]
    if plain is None:
        return body
    fields = {item.name: getattr(body, item.name) for item in dataclasses.fields(plain)}
    return plain(**fields | {"rows": decompress_block(fields["rows"])})


_COMPRESSED = {plain: compressed for compressed, plain in _PLAIN_ROWS.items()}


def compressed_rows(body: RowsBody) -> RowsBody:
    """The inverse of :func:`uncompressed` for rows: what a server with log_bin_compress writes in their place."""
    kind = _COMPRESSED[type(body)]
    fields = {item.name: getattr(body, item.name) for item in dataclasses.fields(body)}
    return kind(**fields | {"rows": compress_block(fields["rows"])})
