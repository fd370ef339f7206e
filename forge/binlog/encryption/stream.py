"""Encrypted logs read in pieces: memory holds a piece of a file of MySQL, and one event of a file of MariaDB."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import chain
from typing import Any, BinaryIO, cast

from forge.binlog.encryption.ciphers import ctr_stream
from forge.binlog.encryption.keyring import Keyring
from forge.binlog.encryption.seal import (
    HEADER_SIZE,
    PIECE,
    Opening,
    SizedEvents,
    read_header,
    read_piece,
    start_of,
    stream_key,
)
from forge.binlog.reader import ENCRYPTED_MAGIC, MAGIC
from forge.errors import FormatError

#: No FORMAT_DESCRIPTION with START_ENCRYPTION behind it is longer: two events whose sizes are a few hundred bytes.
_LONGEST_START = 4096


def plain_stream(file: BinaryIO, keyring: Keyring, *, key: int = 1, plain_too: bool = True) -> BinaryIO:
    """What ``file`` holds if it is encrypted, else (``plain_too``) the file as it is; ``key``: the number of MariaDB's.

    Raises FormatError for a damaged header, a key that opens no event, and without ``plain_too`` for a file that is not
    encrypted; ScenarioError for a missing key; OSError.
    """
    begin = read_piece(file, HEADER_SIZE)
    if begin[:4] == ENCRYPTED_MAGIC:
        seal = read_header(begin)
        return cast(BinaryIO, _Pieces(_of_mysql(file, *stream_key(seal, keyring)), file))
    begin += read_piece(file, _LONGEST_START - len(begin)) if begin[:4] == MAGIC else b""
    found = start_of(begin)
    if found is None and not plain_too:
        raise FormatError("the log is not encrypted", phase="framing", offset=0)
    if found is None:
        return cast(BinaryIO, _Pieces(_as_it_is(begin, file), file))
    at, start = found
    opening = Opening(SizedEvents(begin[at:], file, at), keyring, key, start)
    return cast(BinaryIO, _Pieces(chain((begin[:at],), opening), file))


def _as_it_is(begin: bytes, file: BinaryIO) -> Iterator[bytes]:
    yield begin
    while piece := file.read(PIECE):
        yield piece


def _of_mysql(file: BinaryIO, key: bytes, iv: bytes) -> Iterator[bytes]:
    opened = ctr_stream(key, iv)
    while piece := file.read(PIECE):
        yield opened(piece)


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
