"""Keys of encrypted logs from the files in which servers keep them.

MySQL's ``component_keyring_file`` writes a JSON object with ``elements``, each with ``data_id`` and ``data`` in
hexadecimal.  MariaDB's ``file_key_management`` reads lines ``number;key`` in hexadecimal; lines with # are comments
(both recorded: 9.7, 10.11).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from forge.errors import ScenarioError

_SIZES = (16, 24, 32)


@dataclass(frozen=True, slots=True)
class Keyring:
    """Keys by their names (MySQL) and by their numbers (MariaDB); ``only`` is a key that was given by itself."""

    named: Mapping[str, bytes] = field(default_factory=dict)
    numbered: Mapping[int, bytes] = field(default_factory=dict)
    only: bytes | None = None

    def by_name(self, name: str) -> bytes:
        """The key of that name.  Raises ScenarioError if it is not here."""
        return self._key(self.named.get(name, self.only), repr(name), [repr(one) for one in self.named])

    def by_number(self, number: int) -> bytes:
        """The key of that number.  Raises ScenarioError if it is not here."""
        return self._key(self.numbered.get(number, self.only), str(number), [str(one) for one in self.numbered])

    def _key(self, key: bytes | None, name: str, known: list[str]) -> bytes:
        if key is None:
            raise ScenarioError(f"the keyring has no key {name}", expected=f"one of {', '.join(known) or 'none'}")
        return key


def read_keyring(content: bytes, *, file: str | None = None) -> Keyring:
    """The keys of a keyring file's content.  Raises ScenarioError for content of no known form."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise ScenarioError(
            "this keyring is not text", file=file, expected="JSON of component_keyring_file, or lines `number;key`"
        ) from None
    try:
        return _of_component(text) if text.lstrip().startswith("{") else _of_lines(text)
    except ScenarioError as error:
        raise error.at(file, error.line) from None


def key_of_hex(digits: str) -> bytes:
    """A key in hexadecimal.  Raises ScenarioError."""
    try:
        key = bytes.fromhex(digits.strip())
    except ValueError:
        key = b""
    if len(key) not in _SIZES:
        raise ScenarioError("this is no key", expected="32, 48 or 64 hexadecimal digits")
    return key


def _of_component(text: str) -> Keyring:
    try:
        loaded: Any = json.loads(text)
        named = {str(item["data_id"]): bytes.fromhex(item["data"]) for item in loaded["elements"]}
    except (ValueError, KeyError, TypeError):
        raise ScenarioError(
            "this is no keyring of component_keyring_file", expected="JSON with elements, each with data_id and data"
        ) from None
    return Keyring(named=named)


def _of_lines(text: str) -> Keyring:
    numbered: dict[int, bytes] = {}
    for number, row in enumerate(text.splitlines(), start=1):
        row = row.partition("#")[0].strip()
        if not row:
            continue
        name, mark, digits = row.partition(";")
        if not mark or not name.strip().isdigit():
            raise ScenarioError("this line has no key", line=number, expected="`number;key` in hexadecimal")
        try:
            numbered[int(name)] = key_of_hex(digits)
        except ScenarioError as error:
            raise error.at(None, number) from None
    return Keyring(numbered=numbered)
