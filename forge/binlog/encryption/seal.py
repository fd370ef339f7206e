"""What an encrypted log has beside its plain bytes: taken off (``unseal``), and put on again (``seal``).

MySQL (8.0.14 on, ``binlog_encryption``): 512 bytes name a key and hold the file's password, encrypted with it; behind
them is the plain file, encrypted as one stream.  The password's SHA-512 is the key and the start of that stream
(sql/stream_cipher.cc; recorded on 9.7).

MariaDB (10.1.7 on, ``encrypt_binlog``): the file begins plainly, and behind START_ENCRYPTION each event is encrypted
by itself.  Its size stays plain: it changes places with the time (recorded on 10.11 with both ciphers of
file_key_management).  Percona Server (5.7.20 on, ``encrypt_binlog``; 8.0 reads it) does the same with a vector that is
encrypted first, and keys of 16 bytes whose names in the keyring are ``percona_binlog:1``, ``:2`` ... (its
sql/binlog_crypt_data.cc and sql/event_crypt.cc; nobody recorded it).
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal

from forge.binlog.encryption.ciphers import cbc_decrypt, cbc_encrypt, ctr, percona_decrypt, percona_encrypt
from forge.binlog.encryption.keyring import Keyring
from forge.binlog.reader import ENCRYPTED_MAGIC, MAGIC, announced_size, frames
from forge.errors import FormatError
from forge.events.event import SIZE_OFFSET, decode_event
from forge.events.format import HEADER_SIZE as EVENT_HEADER
from forge.events.format import FormatContext
from forge.events.start_encryption import StartEncryption

#: Bytes before the stream of an encrypted file of MySQL.
HEADER_SIZE = 512
_VERSION = 1
_KEY_ID, _PASSWORD, _IV = 1, 2, 3
_FIELD_SIZES = {_PASSWORD: 32, _IV: 16}
Cipher = Literal["cbc", "ctr", "percona"]
#: Key, vector and data to what comes out.
Crypt = Callable[[bytes, bytes, bytes], bytes]
CIPHERS: tuple[Cipher, ...] = ("cbc", "ctr", "percona")
#: How each of them opens an event, and how it encrypts one.
OPENING: dict[Cipher, Crypt] = {"cbc": cbc_decrypt, "ctr": ctr, "percona": percona_decrypt}
_CLOSING: dict[Cipher, Crypt] = {"cbc": cbc_encrypt, "ctr": ctr, "percona": percona_encrypt}


@dataclass(frozen=True, slots=True)
class MysqlSeal:
    """The header's fields: the key's name, the encrypted password, and with which vector it was encrypted.

    ``rest`` is what follows them in the header, without the zeros at its end.
    """

    key_id: str
    password: bytes
    iv: bytes
    rest: bytes = b""


@dataclass(frozen=True, slots=True)
class MariadbSeal:
    """The number of the key, and how it was used; the rest is said by the event START_ENCRYPTION."""

    key: int = 1
    cipher: Cipher = "cbc"


Seal = MysqlSeal | MariadbSeal
#: Events, and bytes of them, whose headers tell whether the right key and cipher were used.
_LOOKED_AT, _MOST_LOOKED_AT = 16, 1 << 20
PIECE = 1 << 20


def is_sealed(data: bytes) -> bool:
    """Whether the log is an encrypted file of MySQL, or one of MariaDB with START_ENCRYPTION."""
    return data[:4] == ENCRYPTED_MAGIC or start_of(data) is not None


def unseal(data: bytes, keyring: Keyring, *, key: int = 1) -> tuple[bytes, Seal]:
    """The plain log, and what makes it the encrypted one again; ``key`` is the number of MariaDB's key.

    Raises FormatError for a log that is not encrypted or a damaged header, ScenarioError for a missing key.
    """
    if data[:4] == ENCRYPTED_MAGIC:
        mysql = read_header(data)
        return _stream(mysql, keyring, data[HEADER_SIZE:]), mysql
    found = start_of(data)
    if found is None:
        raise FormatError("the log is not encrypted", phase="framing", offset=0)
    opening = Opening(SizedEvents(b"", io.BytesIO(data[found[0] :]), found[0]), keyring, key, found[1])
    return b"".join((data[: found[0]], *opening)), MariadbSeal(key, opening.cipher)


def seal(plain: bytes, with_seal: Seal, keyring: Keyring) -> bytes:
    """The encrypted log.  Raises ScenarioError for a missing key, FormatError for a log without START_ENCRYPTION."""
    if isinstance(with_seal, MysqlSeal):
        return build_header(with_seal) + _stream(with_seal, keyring, plain)
    found = start_of(plain)
    if found is None:
        raise FormatError("the log has no START_ENCRYPTION, behind which events are encrypted", phase="framing")
    begin, start = found
    key, crypt = event_key(keyring, with_seal.key, start), _CLOSING[with_seal.cipher]
    events = SizedEvents(b"", io.BytesIO(plain[begin:]), begin)
    sealed = [turned(raw, offset, key, start.nonce, crypt) for offset, raw in events]
    return b"".join((plain[:begin], *sealed, events.left))


def new_seal(key_id: str, keyring: Keyring, secret: bytes) -> MysqlSeal:
    """A seal for a log that MySQL did not encrypt: password and vector follow from ``secret``."""
    password, iv = hashlib.sha256(b"password" + secret).digest(), hashlib.sha256(b"vector" + secret).digest()[:16]
    return MysqlSeal(key_id, cbc_encrypt(keyring.by_name(key_id), iv, password), iv)


def read_header(data: bytes) -> MysqlSeal:
    """The header of an encrypted file of MySQL.  Raises FormatError."""
    header = data[:HEADER_SIZE]
    if len(header) < HEADER_SIZE:
        raise FormatError(
            f"the header of an encrypted file has {HEADER_SIZE} bytes, but only {len(header)} are left",
            phase="framing",
            offset=len(header),
        )
    if header[4] != _VERSION:
        raise FormatError(f"version {header[4]} of encrypted files is not known", phase="framing", offset=4)
    at, found = 5, dict[int, bytes]()
    for wanted in (_KEY_ID, _PASSWORD, _IV):
        if header[at] != wanted:
            raise FormatError(f"field {wanted} of the header is missing", phase="framing", offset=at)
        size = _FIELD_SIZES.get(wanted)
        at += 1
        if size is None:
            size, at = header[at], at + 1
        found[wanted] = header[at : at + size]
        at += size
    return MysqlSeal(
        found[_KEY_ID].decode("utf-8", "surrogateescape"), found[_PASSWORD], found[_IV], header[at:].rstrip(b"\0")
    )


def build_header(with_seal: MysqlSeal) -> bytes:
    """The inverse of :func:`read_header`."""
    name = with_seal.key_id.encode("utf-8", "surrogateescape")
    fields = bytes([_VERSION, _KEY_ID, len(name)]) + name
    fields += bytes([_PASSWORD]) + with_seal.password + bytes([_IV]) + with_seal.iv
    return (ENCRYPTED_MAGIC + fields + with_seal.rest).ljust(HEADER_SIZE, b"\0")


def stream_key(with_seal: MysqlSeal, keyring: Keyring) -> tuple[bytes, bytes]:
    """Key and vector of the file's key stream.  Raises ScenarioError for a missing key."""
    password = cbc_decrypt(keyring.by_name(with_seal.key_id), with_seal.iv, with_seal.password)
    derived = hashlib.sha512(password).digest()
    # The last eight bytes count blocks, from 0.
    return derived[:32], derived[32:40] + bytes(8)


def _stream(with_seal: MysqlSeal, keyring: Keyring, data: bytes) -> bytes:
    """``data`` under the file's key stream, which opens what it has sealed."""
    return ctr(*stream_key(with_seal, keyring), data)


def event_key(keyring: Keyring, number: int, start: StartEncryption) -> bytes:
    """MariaDB's key of that number, or Percona Server's of the version that the file names.

    Raises ScenarioError if neither is here.
    """
    named = keyring.named.get(f"percona_binlog:{start.key_version}")
    return keyring.by_number(number) if named is None else named


def start_of(data: bytes) -> tuple[int, StartEncryption] | None:
    """Where the encrypted events of a file of MariaDB begin, and what says so; None if nothing does."""
    if data[:4] != MAGIC:
        return None
    format = FormatContext()
    for frame in frames(data):
        if frame.index > 1:
            return None
        try:
            event = decode_event(frame.raw, frame.offset, format)
        except FormatError:
            return None
        if isinstance(event.body, StartEncryption):
            return frame.offset + len(frame.raw), event.body
        if not hasattr(event.body, "context"):
            return None
        format = event.body.context()
    return None


def turned(event: bytes, offset: int, key: bytes, nonce: bytes, crypt: Crypt) -> bytes:
    """An event of MariaDB, at that offset of its file, encrypted or opened."""
    raw = bytearray(event)
    # The size stands plainly in both; what else is there was, or will be, in the place of the time.
    size = raw[SIZE_OFFSET : SIZE_OFFSET + 4]
    raw[SIZE_OFFSET : SIZE_OFFSET + 4] = raw[:4]
    raw[4:] = crypt(key, nonce + (offset % (1 << 32)).to_bytes(4, "little"), bytes(raw[4:]))
    raw[:4] = raw[SIZE_OFFSET : SIZE_OFFSET + 4]
    raw[SIZE_OFFSET : SIZE_OFFSET + 4] = size
    return bytes(raw)


def fits(event: bytes, offset: int) -> bool:
    """Whether the header of an event at that offset of its file says where the event ends."""
    return int.from_bytes(event[13:17], "little") == (offset + len(event)) % (1 << 32)


class SizedEvents:
    """(offset, bytes) of the events of a stream, by the sizes in their headers; ``left`` is a torn one at its end."""

    def __init__(self, begin: bytes, file: BinaryIO, offset: int) -> None:
        self._begin, self._file, self._offset = begin, file, offset
        self.left = b""

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        while header := self._take(EVENT_HEADER):
            size = announced_size(header)
            body = self._take(size - EVENT_HEADER) if size > EVENT_HEADER == len(header) else b""
            if len(header) + len(body) != size:
                self.left = header + body + self._begin
                return
            yield self._offset, header + body
            self._offset += size

    def _take(self, size: int) -> bytes:
        taken, self._begin = self._begin[:size], self._begin[size:]
        return taken + read_piece(self._file, size - len(taken)) if len(taken) < size else taken


def read_piece(file: BinaryIO, size: int) -> bytes:
    """So many bytes, or those that are left: sizes are not believed."""
    pieces = []
    while size > 0 and (piece := file.read(min(size, PIECE))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


class Opening:
    """The plain bytes of the encrypted events of a file of MariaDB; ``cipher`` is known once one was opened.

    Raises FormatError for a key that opens none of the first events, ScenarioError for a missing one.
    """

    def __init__(self, events: SizedEvents, keyring: Keyring, key: int, start: StartEncryption) -> None:
        self._events, self._number, self._nonce = events, key, start.nonce
        self._key = event_key(keyring, key, start)
        self.cipher: Cipher = CIPHERS[0]

    def __iter__(self) -> Iterator[bytes]:
        waiting: list[tuple[int, bytes]] = []
        is_open = False
        for offset, raw in self._events:
            waiting.append((offset, raw))
            if not is_open:
                cipher = next((one for one in CIPHERS if fits(self._turned(raw, offset, one), offset)), None)
                looked = sum(len(one) for _, one in waiting)
                if cipher is None and len(waiting) < _LOOKED_AT and looked < _MOST_LOOKED_AT:
                    continue
                if cipher is None:
                    break
                self.cipher, is_open = cipher, True
            yield from (self._turned(one, place, self.cipher) for place, one in waiting)
            waiting.clear()
        if waiting:
            problem = f"key {self._number} of the keyring does not open the events"
            raise FormatError(problem, phase="framing", offset=len(MAGIC))
        yield self._events.left

    def _turned(self, raw: bytes, offset: int, cipher: Cipher) -> bytes:
        return turned(raw, offset, self._key, self._nonce, OPENING[cipher])
