"""Encrypted logs read in pieces: memory holds a piece of a file of MySQL, and one event of a file of MariaDB."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from forge.binlog.encryption.ciphers import ctr_stream
from forge.binlog.encryption.keyring import Keyring
from forge.binlog.encryption.seal import (
    HEADER_SIZE,
    LOOKED_AT,
    OPENING,
    Crypt,
    event_key,
    fits,
    read_header,
    start_of,
    stream_key,
    turned,
)
from forge.binlog.reader import ENCRYPTED_MAGIC, MAGIC
from forge.errors import FormatError
from forge.events.event import SIZE_OFFSET
from forge.events.format import HEADER_SIZE as EVENT_HEADER

_PIECE = 1 << 20
#: No FORMAT_DESCRIPTION with START_ENCRYPTION behind it is longer: two events whose sizes are a few hundred bytes.
_LONGEST_START = 4096
#: Bytes of the first events that are looked at for the cipher.
_MOST_LOOKED_AT = 1 << 20


def plain_stream(file: BinaryIO, keyring: Keyring, *, key: int = 1, plain_too: bool = True) -> BinaryIO:
    """What ``file`` holds if it is encrypted, else (``plain_too``) the file as it is; ``key``: the number of MariaDB's.

    Raises FormatError for a damaged header, a key that opens no event, and without ``plain_too`` for a file that is not
    encrypted; ScenarioError for a missing key; OSError.
    """
    begin = _read(file, HEADER_SIZE)
    if begin[:4] == ENCRYPTED_MAGIC:
        seal = read_header(begin)
        return cast(BinaryIO, _Pieces(_of_mysql(file, *stream_key(seal, keyring)), file))
    begin += _read(file, _LONGEST_START - len(begin)) if begin[:4] == MAGIC else b""
    found = start_of(begin)
    if found is None and not plain_too:
        raise FormatError("the log is not encrypted", phase="framing", offset=0)
    if found is None:
        return cast(BinaryIO, _Pieces(_as_it_is(begin, file), file))
    at, start = found
    events = _Events(begin[at:], file, at)
    return cast(
        BinaryIO, _Pieces(_of_mariadb(begin[:at], events, event_key(keyring, key, start), start.nonce, key), file)
    )


def _as_it_is(begin: bytes, file: BinaryIO) -> Iterator[bytes]:
    yield begin
    while piece := file.read(_PIECE):
        yield piece


def _of_mysql(file: BinaryIO, key: bytes, iv: bytes) -> Iterator[bytes]:
    opened = ctr_stream(key, iv)
    while piece := file.read(_PIECE):
        yield opened(piece)


def _of_mariadb(begin: bytes, events: _Events, key: bytes, nonce: bytes, number: int) -> Iterator[bytes]:
    yield begin
    waiting: list[tuple[int, bytes]] = []
    crypt: Crypt | None = None
    for offset, raw in events:
        waiting.append((offset, raw))
        if crypt is None:
            crypt = next((one for one in OPENING.values() if fits(turned(raw, offset, key, nonce, one), offset)), None)
            looked = sum(len(one) for _, one in waiting)
            if crypt is None and len(waiting) < LOOKED_AT and looked < _MOST_LOOKED_AT:
                continue
        if crypt is None:
            break
        yield from (turned(one, place, key, nonce, crypt) for place, one in waiting)
        waiting.clear()
    if waiting:
        raise FormatError(f"key {number} of the keyring does not open the events", phase="framing", offset=len(MAGIC))
    yield events.left


class _Events:
    """(offset, bytes) of the events of a stream, by the sizes in their headers; ``left`` is a torn one at its end."""

    def __init__(self, begin: bytes, file: BinaryIO, offset: int) -> None:
        self._begin, self._file, self._offset = begin, file, offset
        self.left = b""

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        while header := self._take(EVENT_HEADER):
            size = int.from_bytes(header[SIZE_OFFSET : SIZE_OFFSET + 4], "little")
            body = self._take(size - EVENT_HEADER) if size > EVENT_HEADER == len(header) else b""
            if len(header) + len(body) != size:
                self.left = header + body + self._begin
                return
            yield self._offset, header + body
            self._offset += size

    def _take(self, size: int) -> bytes:
        taken, self._begin = self._begin[:size], self._begin[size:]
        return taken + _read(self._file, size - len(taken)) if len(taken) < size else taken


def _read(file: BinaryIO, size: int) -> bytes:
    """So many bytes, or those that are left: sizes are not believed."""
    pieces = []
    while size > 0 and (piece := file.read(min(size, _PIECE))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


class _Pieces:
    """A stream of what is made piece by piece, whose length nobody knows before its end."""

    def __init__(self, pieces: Iterator[bytes], file: BinaryIO) -> None:
        self._pieces = pieces
        #: Whoever opened it closes it: it must not go away with the last piece.
        self._file = file
        self._piece = memoryview(b"")

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            return b"".join([bytes(self._piece), *self._pieces])
        room = bytearray(size)
        return bytes(room[: self.readinto(room)])

    def readinto(self, room: Any) -> int:
        """As much as there is room for, unless the stream ends."""
        filled, view = 0, memoryview(room).cast("B")
        while filled < len(view):
            if not self._piece:
                following = next(self._pieces, None)
                if following is None:
                    break
                self._piece = memoryview(following)
                continue
            taken = min(len(self._piece), len(view) - filled)
            view[filled : filled + taken] = self._piece[:taken]
            self._piece = self._piece[taken:]
            filled += taken
        return filled

    def fileno(self) -> int:
        raise io.UnsupportedOperation("fileno")
