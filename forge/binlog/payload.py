"""The events inside a TRANSACTION_PAYLOAD (MySQL 8.0.20 on, ``binlog_transaction_compression``).

Everything of the group but its GTID: whole events without checksums and with log_pos 0, one after the other, in one
zstd frame.  Recorded on 9.7: the frame's content size is pledged, the head's records come in the order 2, 3, 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO, RawIOBase

from forge.binlog.reader import Frame, announced_size, frames
from forge.errors import FormatError
from forge.events.event import Event, decode_event_strictly, encode_event
from forge.events.format import HEADER_SIZE, FormatContext, checksummed
from forge.events.packed import pack_int
from forge.events.transaction_payload import (
    COMPRESSION_TYPE,
    NONE,
    PAYLOAD_SIZE,
    UNCOMPRESSED_SIZE,
    ZSTD,
    TransactionPayload,
)
from forge.unpacking import LARGEST_UNPACKED, too_large

#: Payloads inside each other that are shown as events; one further inside is left compressed.  Servers write no payload
#: inside another, and their readers refuse one.
DEEPEST = 4
#: Servers compress no more than this (sql/binlog.cc); a payload that says more is not believed.
LARGEST = 1 << 30
#: Bytes that are unpacked at a time, and of a file those that are read at a time: each time, a thread may have to wait
#: for the interpreter.
_PIECE = 1 << 20
_READ = 1 << 19
DEFAULT_LEVEL = 3
#: The highest level that is tried where the size of the content is not pledged.
_HIGHEST_OF_UNKNOWN_SIZE = 19
#: Where a zstd frame has its window; the byte before, the frame's descriptor, is 0 where nothing else is told.
_WINDOW = 5
#: binlog_transaction_compression_level_zstd, the likely ones first.
LEVELS = (3, *(level for level in range(1, 23) if level != 3))


def payload_bytes(body: TransactionPayload, most: int = LARGEST) -> bytes:
    """The uncompressed bytes, which are at most ``most``.  Raises FormatError as :func:`unpacked`."""
    return b"".join(unpacked(body, most))


def unpacked(body: TransactionPayload, most: int = LARGEST) -> Iterator[bytes]:
    """The uncompressed bytes piece by piece, so that a small payload of gigabytes takes no memory.

    Raises FormatError as :func:`opened_payload` and :class:`Content`.
    """
    content = opened_payload(body, most)
    while piece := content.read(_PIECE):
        yield piece


def opened_payload(body: TransactionPayload, most: int = LARGEST) -> Content | BytesIO:
    """What the payload holds, to be read.

    Raises FormatError for a head without compression or payload size, or with another size than there is (held
    against mysqlbinlog 9.7, which alone does not mind a wrong uncompressed size), and for more than ``most`` bytes.
    """
    kind, length = body.number(COMPRESSION_TYPE), body.number(PAYLOAD_SIZE)
    if kind is None or length is None:
        missing = "compression type" if kind is None else "payload size"
        raise FormatError(f"the header of the payload has no {missing}", phase="body", offset=0)
    if length != len(body.payload):
        raise FormatError(
            f"the header announces a payload of {length} bytes, the event has {len(body.payload)}",
            phase="body",
            offset=0,
        )
    if kind == NONE:
        return BytesIO(body.payload)
    if kind != ZSTD:
        raise FormatError(f"unknown compression {kind}", phase="body", offset=0)
    size = body.number(UNCOMPRESSED_SIZE)
    if size is not None and size > most:
        raise FormatError(
            f"the payload announces {size} bytes; at most {most} are unpacked here", phase="body", offset=0
        )
    return Content(body.payload, size, most)


class Content:
    """What zstd frames unpack to: ``size`` bytes where that is known, and at most ``most``."""

    def __init__(self, frames: bytes | memoryview | RawIOBase, size: int | None, most: int) -> None:
        import zstandard

        # A stream, since early 8.0 wrote frames without their content's size; there may be several frames.
        decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        self._stream = decompressor.stream_reader(frames, _READ, read_across_frames=True)  # type: ignore[arg-type]
        self._damaged = zstandard.ZstdError
        self._size, self._most = size, most
        self._read = 0
        #: The byte behind what was read: whether there is one tells if that was all.
        self._ahead = b""

    def read(self, size: int) -> bytes:
        """So many bytes, fewer at the end, and none behind it.  Raises FormatError as :meth:`readinto`."""
        # Room for what is left, and for a byte that would be too many: most payloads are small.
        piece = bytearray(size if self._size is None else min(size, self._size - self._read + 1))
        with memoryview(piece) as room:
            got = self.readinto(room)
        del piece[got:]
        return bytes(piece)

    def readinto(self, room: memoryview) -> int:
        """Fill the room: how many bytes there were, fewer than it takes at the end, and none behind it.

        Raises FormatError for bytes that are no zstd, and for another size, of which nothing is said before the last
        piece.
        """
        got = len(self._ahead)
        room[:got] = self._ahead
        try:
            if got < len(room):  # zstd minds that there is no room.
                got += self._stream.readinto(room[got:])
            self._ahead = self._stream.read(1) if got == len(room) else b""
        except self._damaged as error:
            raise FormatError(f"zstd: {error}", phase="body", offset=0) from None
        self._read += got
        found, size = self._read + len(self._ahead), self._size
        if size is not None and (found > size or (found < size and not self._ahead)):
            decompressed = f"{found} were decompressed" if found < size else "more were decompressed"
            raise FormatError(f"the header announces {size} bytes, but {decompressed}", phase="body", offset=0)
        if found > self._most:
            raise FormatError(f"the payload has more than {self._most} bytes", phase="body", offset=0)
        return got


def inner_format(format: FormatContext) -> FormatContext:
    """Inner events follow the file's format without checksums."""
    return checksummed(format, False)


def inner_events(body: TransactionPayload, format: FormatContext) -> Iterator[Event]:
    """The events inside.  Raises FormatError as :func:`inner_frames`."""
    return (event for event, _ in inner_frames(body, format))


def inner_frames(body: TransactionPayload, format: FormatContext) -> Iterator[tuple[Event, bytes]]:
    """The events inside, each with its bytes.  Raises FormatError (offset within the uncompressed bytes).

    A payload inside is refused, as mysqlbinlog 9.7 does, and an event of more than
    :data:`forge.unpacking.LARGEST_UNPACKED` bytes.
    """
    inner = inner_format(format)
    buffer, start = bytearray(), 0
    for piece in unpacked(body):
        buffer += piece
        size = announced_size(buffer) if len(buffer) >= HEADER_SIZE else 0
        if size > LARGEST_UNPACKED:
            raise too_large("an event inside the payload", size, phase="framing", offset=start)
        if len(buffer) < size:
            continue  # An event of many pieces.
        whole = list(frames(bytes(buffer), 0))
        for frame in whole:
            yield _inner_event(frame, start + frame.offset, inner), frame.raw
        read = whole[-1].offset + len(whole[-1].raw) if whole else 0
        del buffer[:read]
        start += read
        if len(buffer) >= HEADER_SIZE and announced_size(buffer) < HEADER_SIZE:
            break
    if buffer:
        raise FormatError(
            "the last event inside the payload is cut off or has an impossible size", phase="framing", offset=start
        )


def _inner_event(frame: Frame, offset: int, inner: FormatContext) -> Event:
    if frame.type_code == TransactionPayload.type_code:
        raise FormatError("a payload contains another payload", phase="body", offset=offset)
    try:
        return decode_event_strictly(frame.raw, 0, inner)
    except FormatError as error:
        raise error.within(base=offset) from None


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
    #: The content is flushed as a block before the frame ends, with an empty block (MySQL 8.0 from 8.0.20 on).
    flushed: bool = False


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


def likely_levels(frame: bytes | memoryview, levels: Iterable[int]) -> list[int]:
    """Those of the levels at which a frame that does not tell the size of its content may have been made: its head has
    their window.

    The highest would take hundreds of MiB of memory for any content.
    """
    import zstandard

    if len(frame) <= _WINDOW or frame[_WINDOW - 1]:
        return []
    window = 10 + (frame[_WINDOW] >> 3)
    made = (level for level in levels if level <= _HIGHEST_OF_UNKNOWN_SIZE)
    return [level for level in made if zstandard.ZstdCompressionParameters.from_level(level).window_log == window]


def _frame(data: bytes, form: PayloadForm) -> bytes:
    """The server feeds a stream whose size it pledges; in 8.0 it pledged none, and flushed it before the end.

    Larger than the level's window, its blocks are not those that compressing at one go gives (recorded).
    """
    import zstandard

    compressor = zstandard.ZstdCompressor(
        level=form.level, write_content_size=form.content_size, write_checksum=form.frame_checksum
    )
    stream = compressor.compressobj(size=len(data)) if form.content_size else compressor.compressobj()
    content = stream.compress(data)
    if form.flushed:
        content += stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    return content + stream.flush()
