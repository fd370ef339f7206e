"""What a file on disk holds: the log inside gzip, zstd or encryption, else the file itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from forge.binlog.wrapped import unwrapped

if TYPE_CHECKING:
    from forge.binlog.encryption.keyring import Keyring


def opened(file: BinaryIO, keyring: Keyring | None) -> BinaryIO:
    """What a gzip or zstd file holds, and with a ``keyring`` what an encrypted file holds; else the file as it is.

    Raises as :func:`forge.binlog.encryption.stream.plain_stream` does.
    """
    held = unwrapped(file)
    if keyring is None:
        return held
    # Loaded where there is something to open: most logs are plain.
    from forge.binlog.encryption.stream import plain_stream

    return plain_stream(held, keyring)
