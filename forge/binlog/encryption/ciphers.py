"""AES as the servers use it, from the package ``cryptography``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forge.errors import EnvironmentMissing, with_extra

BLOCK = 16


def _cipher(key: bytes, mode: str, iv: bytes = b"") -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        raise EnvironmentMissing(f"encrypted logs need cryptography: {with_extra('encryption')}") from None
    chosen = {"cbc": modes.CBC, "ctr": modes.CTR}.get(mode)
    return Cipher(algorithms.AES(key), modes.ECB() if chosen is None else chosen(iv))


def _run(context: Any, data: bytes) -> bytes:
    return bytes(context.update(data) + context.finalize())


def ctr(key: bytes, iv: bytes, data: bytes) -> bytes:
    """Both ways: the key stream over ``data``."""
    return _run(_cipher(key, "ctr", iv).encryptor(), data)


def ctr_stream(key: bytes, iv: bytes) -> Callable[[bytes], bytes]:
    """As :func:`ctr`, for data that comes in pieces."""
    context = _cipher(key, "ctr", iv).encryptor()
    return lambda piece: bytes(context.update(piece))


def cbc_encrypt(key: bytes, iv: bytes, data: bytes) -> bytes:
    """Whole blocks chained; what is left is masked with the encrypted ``iv`` (MyCTX_nopad of MariaDB)."""
    whole = len(data) // BLOCK * BLOCK
    return _run(_cipher(key, "cbc", iv).encryptor(), data[:whole]) + _masked(key, iv, data[whole:])


def cbc_decrypt(key: bytes, iv: bytes, data: bytes) -> bytes:
    """The inverse of :func:`cbc_encrypt`."""
    whole = len(data) // BLOCK * BLOCK
    return _run(_cipher(key, "cbc", iv).decryptor(), data[:whole]) + _masked(key, iv, data[whole:])


def percona_encrypt(key: bytes, iv: bytes, data: bytes) -> bytes:
    """As :func:`cbc_encrypt`, of a vector that is encrypted first (Binlog_crypt_data::set_iv of Percona Server)."""
    return cbc_encrypt(key, _block(key, iv), data)


def percona_decrypt(key: bytes, iv: bytes, data: bytes) -> bytes:
    """The inverse of :func:`percona_encrypt`."""
    return cbc_decrypt(key, _block(key, iv), data)


def _block(key: bytes, block: bytes) -> bytes:
    return _run(_cipher(key, "ecb").encryptor(), block)


def _masked(key: bytes, iv: bytes, tail: bytes) -> bytes:
    if not tail:
        return b""
    return bytes(one ^ other for one, other in zip(tail, _block(key, iv), strict=False))
