"""Listings of encrypted logs: a first document that says how the log was encrypted, then that of the plain log."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, get_args

from forge.binlog.encryption.keyring import Keyring
from forge.binlog.encryption.seal import Cipher, MariadbSeal, MysqlSeal, Seal, seal, unseal
from forge.binlog.listing.assemble import assemble
from forge.binlog.listing.disassemble import listing_json, listing_text
from forge.binlog.listing.documents import unhex
from forge.binlog.listing.text import dump_document
from forge.errors import FormatError, ScenarioError
from forge.located import load_documents

#: The first document of a YAML listing, with the comments before it; what follows is the listing of the plain log.
_FIRST = re.compile(r"\A((?:#[^\n]*\n)*---\n(?:#[^\n]*\n)*\{?encryption:.*?\n)(?=---\n|\Z)", re.DOTALL)
_ANSWERS = {MysqlSeal: "mysql", MariadbSeal: "mariadb"}


def sealed_listing(
    data: bytes,
    keyring: Keyring,
    *,
    key: int = 1,
    as_json: bool = False,
    listing: Callable[[bytes], Iterator[str]] | None = None,
) -> Iterator[str]:
    """The listing of a log, a chunk an event; ``key`` is the number of MariaDB's key, ``listing`` makes
    that of the plain log, by default the usual one.

    A log that is not encrypted, or whose encryption cannot be opened, is listed as it is.  Raises ScenarioError for a
    key that the keyring does not have.
    """
    listing = listing or (listing_json if as_json else listing_text)
    try:
        plain, found = unseal(data, keyring, key=key)
    except FormatError:
        yield from listing(data)
        return
    if seal(plain, found, keyring) != data:
        yield from listing(data)
        return
    document = seal_fields(found)
    if as_json:
        yield json.dumps(document) + "\n"
        yield from listing(plain)
        return
    yield "# An encrypted binary log as a listing; `forge asm` with the same keys makes the file again.\n---\n"
    yield dump_document(document)
    yield from listing(plain)


def assemble_sealed(text: str, keyring: Keyring | None, *, file: str | None = None) -> bytes:
    """The file that a listing describes, encrypted if its first document says so.

    Raises ScenarioError as :func:`forge.binlog.listing.assemble`, and for an encrypted log without its keys.
    """
    first, rest = _divided(text)
    if first is None:
        return assemble(text, file=file)
    if keyring is None:
        raise ScenarioError("the listing is of an encrypted log", file=file, expected="its keys (--keys or --key)")
    try:
        wanted = seal_of(first)
    except ScenarioError as error:
        raise error.at(file, 1) from None
    return seal(assemble(rest, file=file), wanted, keyring)


def _divided(text: str) -> tuple[dict[str, Any] | None, str]:
    if text.startswith('{"encryption"'):
        head, _, rest = text.partition("\n")
        return json.loads(head), rest
    found = _FIRST.match(text)
    if found is None:
        return None, text
    documents = [located.value for located in load_documents(found[1]) if located.value is not None]
    return documents[0], text[found.end() :]


def seal_fields(found: Seal) -> dict[str, Any]:
    """The document that says how a log was encrypted."""
    kind = _ANSWERS[type(found)]
    if isinstance(found, MariadbSeal):
        return {"encryption": kind, "key": found.key, "cipher": found.cipher}
    fields = {"encryption": kind, "key": found.key_id, "password": found.password.hex(), "iv": found.iv.hex()}
    return fields | ({"rest": found.rest.hex()} if found.rest else {})


def seal_of(fields: dict[str, Any]) -> Seal:
    """The inverse of :func:`seal_fields`.  Raises ScenarioError for fields that are missing or no such fields."""
    kind, key = fields.get("encryption"), fields.get("key")
    if kind == "mariadb":
        cipher: Cipher = fields.get("cipher", "cbc")
        if not isinstance(key, int) or cipher not in get_args(Cipher) or set(fields) - {"encryption", "key", "cipher"}:
            raise ScenarioError(
                f"the encryption is {fields!r}", expected="key (a number) and cipher (cbc, ctr or percona)"
            )
        return MariadbSeal(key, cipher)
    if kind != "mysql" or not isinstance(key, str) or set(fields) - {"encryption", "key", "password", "iv", "rest"}:
        raise ScenarioError(f"the encryption is {fields!r}", expected="mysql with key, password and iv, or mariadb")
    parts = [unhex(fields.get(name, ""), name) for name in ("password", "iv", "rest")]
    if len(parts[0]) != 32 or len(parts[1]) != 16:
        raise ScenarioError("password or iv of the encryption has another size", expected="32 and 16 bytes")
    return MysqlSeal(key, *parts)
