"""Passwords in statements on accounts: servers log their hash, which has a random salt.

The hash is that of SHA-crypt (``$5$``; mysys/crypt_genhash_impl.cc) with salts of 20 bytes; caching_sha2_password keeps
it as ``$A$``, thousands of rounds in three hexadecimal digits, ``$``, salt and digest (recorded on 9.7).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

SALT_LENGTH = 20
HASHED = ("caching_sha2_password", "sha256_password")
_ALPHABET = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#: Rounds of sha256_password.
_SHA256_ROUNDS = 5000


@dataclass(frozen=True, slots=True)
class Password:
    """A password in a statement's text, where its hash is logged.

    ``plugin`` is empty for the account's own; without a text that is ``given`` nothing but the plugin is named.
    ``number`` is the hash's place among those that the session logs.
    """

    plugin: str
    clear: str
    given: bool = False
    number: int = 0


def password_hash(password: Password, salt: bytes, rounds: int) -> bytes:
    """What the server would keep of it with that salt; ``rounds`` are caching_sha2_password's, in thousands."""
    clear = password.clear.encode()
    if password.plugin == "sha256_password":
        return b"$5$" + salt + b"$" + sha_crypt(clear, salt, _SHA256_ROUNDS)
    return f"$A${rounds:03X}$".encode() + salt + sha_crypt(clear, salt, rounds * 1000)


def default_salt(number: int) -> bytes:
    """A salt where no recording tells one: letters that depend on nothing but the password's number."""
    digest = hashlib.sha256(f"salt {number}".encode()).digest()
    return bytes(_ALPHABET[byte % 64].encode()[0] for byte in digest[:SALT_LENGTH])


def sha_crypt(password: bytes, salt: bytes, rounds: int) -> bytes:
    """The 43 characters of SHA-crypt with SHA-256."""
    size = hashlib.sha256().digest_size

    def stretched(digest: bytes, length: int) -> bytes:
        return (digest * (length // size + 1))[:length]

    inner = hashlib.sha256(password + salt + password).digest()
    first = hashlib.sha256(password + salt + stretched(inner, len(password)))
    length = len(password)
    while length:
        first.update(inner if length & 1 else password)
        length >>= 1
    digest = first.digest()
    of_password = stretched(hashlib.sha256(password * len(password)).digest(), len(password))
    of_salt = stretched(hashlib.sha256(salt * (16 + digest[0])).digest(), len(salt))
    for number in range(rounds):
        step = of_password if number & 1 else digest
        step += of_salt if number % 3 else b""
        step += of_password if number % 7 else b""
        step += digest if number & 1 else of_password
        digest = hashlib.sha256(step).digest()
    return _encoded(digest)


def _encoded(digest: bytes) -> bytes:
    """Six bits a character, the low ones first; the bytes of a group of three change places from group to group."""
    text = ""
    places = [[(group * 21 + shift * 10) % 30 for shift in range(3)] for group in range(10)]
    for one, two, three in places:
        value = digest[one] << 16 | digest[two] << 8 | digest[three]
        text += "".join(_ALPHABET[value >> 6 * shift & 63] for shift in range(4))
    value = digest[31] << 8 | digest[30]
    return (text + "".join(_ALPHABET[value >> 6 * shift & 63] for shift in range(3))).encode()


_ESCAPES = {"\\": "\\\\", "'": "\\'", '"': '\\"', "\0": "\\0", "\n": "\\n", "\r": "\\r", "\x1a": "\\Z"}


def escaped(text: str) -> str:
    """Text in quotes as servers write it (escape_string_for_mysql)."""
    return "".join(_ESCAPES.get(character, character) for character in text)


def logged_salts(text: str) -> list[bytes]:
    """The salts of the hashes in a statement on accounts, in order."""
    found = []
    for match in _HASH.finditer(text) if _ON_ACCOUNTS.match(text) else ():
        plain = _ESCAPED.sub(lambda one: _PLAIN.get(one[1], one[1]), match[1])
        start = 7 if plain.startswith("$A$") else 3
        found.append(plain[start : start + SALT_LENGTH].encode())
    return found


_ON_ACCOUNTS = re.compile(r"(?:CREATE|ALTER) USER ")
_HASH = re.compile(r" IDENTIFIED WITH '\w+' AS '((?:[^'\\]|\\.)+)'", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PLAIN = {"0": "\0", "n": "\n", "r": "\r", "Z": "\x1a"}
