"""The events inside a TRANSACTION_PAYLOAD (MySQL 8.0.20 on, ``binlog_transaction_compression``).

Everything of the group but its GTID: whole events without checksums and with log_pos 0, one after the other, in one
zstd frame.  Recorded on 9.7: the frame's content size is pledged, the head's records come in the order 2, 3, 1.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from forge.binlog.reader import frames
from forge.errors import FormatError
from forge.events.event import Event, decode_event_strictly, encode_event
from forge.events.format import FormatContext
from forge.events.layout import pack_int
from forge.events.transaction_payload import (
    COMPRESSION_TYPE,
    NONE,
    PAYLOAD_SIZE,
    UNCOMPRESSED_SIZE,
    ZSTD,
    TransactionPayload,
)

#: Servers compress no more than this (sql/binlog.cc); a payload that says more is not believed.
LARGEST = 1 << 30
DEFAULT_LEVEL = 3
#: binlog_transaction_compression_level_zstd, the likely ones first.
LEVELS = (3, *(level for level in range(1, 23) if level != 3))


def payload_bytes(body: TransactionPayload) -> bytes:
    """The uncompressed bytes.

    Raises FormatError for a head without compression or payload size, or with another size than there is (held
    against mysqlbinlog 9.7, which alone does not mind a wrong uncompressed size); never holds more than it announces.
    """
    kind, length = body.number(COMPRESSION_TYPE), body.number(PAYLOAD_SIZE)
    if kind is None or length is None:
        missing = "compression type" if kind is None else "payload size"
        raise FormatError(f"the head of the payload has no {missing}", phase="body", offset=0)
    if length != len(body.payload):
        raise FormatError(f"a payload of {length} bytes announced, {len(body.payload)} there", phase="body", offset=0)
    if kind == NONE:
        return body.payload
    if kind != ZSTD:
        raise FormatError(f"unknown compression {kind}", phase="body", offset=0)
    size = body.number(UNCOMPRESSED_SIZE, LARGEST) or 0
    if size > LARGEST:
        raise FormatError(f"the payload announces {size} bytes", phase="body", offset=0)
    import zstandard

    try:
        # A stream, since early 8.0 wrote frames without their content's size; there may be several frames.
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
            body.payload, read_across_frames=True
        ) as stream:
            data = stream.read(size + 1)
    except zstandard.ZstdError as error:
        raise FormatError(f"zstd: {error}", phase="body", offset=0) from None
    if body.number(UNCOMPRESSED_SIZE) is not None and len(data) != size:
        raise FormatError(f"{size} bytes announced, {len(data)} decompressed", phase="body", offset=0)
    return bytes(data)


def inner_format(format: FormatContext) -> FormatContext:
    """Inner events follow the file's format without checksums."""
    return dataclasses.replace(format, checksum=False)


def inner_events(body: TransactionPayload, format: FormatContext) -> Iterator[Event]:
    """The events inside.  Raises FormatError (offset within the uncompressed bytes)."""
    data = payload_bytes(body)
    inner = inner_format(format)
    end = 0
    for frame in frames(data, 0):
        yield decode_event_strictly(frame.raw, 0, inner)
        end = frame.offset + len(frame.raw)
    if end < len(data):
        raise FormatError("an event inside the payload does not fit it", phase="framing", offset=end)


@dataclass(frozen=True, slots=True)
class PayloadForm:
    """How the bytes of a payload are compressed; the defaults are those of a server.

    Readers take all of these (mysqlbinlog 9.7 does): ``frames`` frames one after the other, without the size of their
    content, with a checksum of their own; ``compression`` NONE has the bytes as they are.
    """

    level: int = DEFAULT_LEVEL
    compression: int = ZSTD
    frames: int = 1
    content_size: bool = True
    frame_checksum: bool = False


def compress_events(
    events: Iterable[Event], format: FormatContext, form: PayloadForm = PayloadForm()
) -> TransactionPayload:
    """One payload of these events, as a server makes it."""
    inner = inner_format(format)
    return compress_bytes(b"".join(encode_inner(event, inner) for event in events), form)


def encode_inner(event: Event, inner: FormatContext) -> bytes:
    """The bytes of an event inside a payload, where log_pos is 0 if it is not given."""
    return encode_event(event if event.log_pos is not None else event.replace(log_pos=0), 0, inner)


def compress_bytes(data: bytes, form: PayloadForm = PayloadForm()) -> TransactionPayload:
    """One payload of these bytes."""
    if form.compression == NONE:
        values = ((COMPRESSION_TYPE, pack_int(NONE)), (PAYLOAD_SIZE, pack_int(len(data))))
        return TransactionPayload(values=values, payload=data)
    step = max(-(-len(data) // form.frames), 1)
    payload = b"".join(_frame(data[at : at + step], form) for at in range(0, max(len(data), 1), step))
    return TransactionPayload(
        values=(
            (COMPRESSION_TYPE, pack_int(ZSTD)),
            (UNCOMPRESSED_SIZE, pack_int(len(data))),
            (PAYLOAD_SIZE, pack_int(len(payload))),
        ),
        payload=payload,
    )


def _frame(data: bytes, form: PayloadForm) -> bytes:
    """The server feeds a stream whose size it pledges.

    Larger than the level's window, its blocks are not those that compressing at one go gives (recorded).
    """
    import zstandard

    compressor = zstandard.ZstdCompressor(
        level=form.level, write_content_size=form.content_size, write_checksum=form.frame_checksum
    )
    stream = compressor.compressobj(size=len(data)) if form.content_size else compressor.compressobj()
    return stream.compress(data) + stream.flush()
