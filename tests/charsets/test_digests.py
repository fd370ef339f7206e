"""Frozen digests of all that the sets decode and encode, so that a change in Python's codecs is noticed.

When one differs and the data files are as they were, ask a real server: ``python -m tests.charsets.measuring.codecs``.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from forge.charsets import charset, charset_names
from forge.charsets.tables import SINGLE_BYTE
from forge.errors import FormatError, ScenarioError

pytestmark = pytest.mark.slow

DIGESTS = json.loads((Path(__file__).parent / "digests.json").read_text())
_BYTES = [bytes([byte]) for byte in range(256)]
_PAIRS = [bytes([one, other]) for one in range(256) for other in range(256)]
_TRIPLES = [b"\x8f" + pair for pair in _PAIRS if pair[0] >= 0xA0 and pair[1] >= 0xA0]
_EVERY_97TH = range(0, 126 * 10 * 126 * 10, 97)


def _space(name: str) -> list[bytes]:
    """All bytes; all pairs but for 8-bit sets, where they follow; more where characters are longer."""
    if charset(name).max_length == 1:
        return _BYTES
    if name == "utf32":
        return [point.to_bytes(4, "big") for point in range(0, 0x111000, 13)]
    if name in ("ujis", "eucjpms"):
        return _BYTES + _PAIRS + _TRIPLES
    if name == "gb18030":
        numbers = [(n // 12600, n // 1260 % 10, n // 10 % 126, n % 10) for n in _EVERY_97TH]
        return _BYTES + _PAIRS + [bytes([0x81 + a, 0x30 + b, 0x81 + c, 0x30 + d]) for a, b, c, d in numbers]
    return _BYTES + _PAIRS


def decoded_digest(name: str) -> str:
    """sha256 over a line for every sequence that decodes."""
    ours = charset(name)
    digest = hashlib.sha256()
    for data in _space(name):
        if ours.well_formed(data):
            try:
                digest.update(f"{data.hex()} {ours.decode(data)!a}\n".encode())
            except FormatError:
                digest.update(f"{data.hex()} -\n".encode())
    return digest.hexdigest()


def _characters(name: str) -> str:
    if name not in SINGLE_BYTE:
        return "".join(map(chr, (*range(0xD800), *range(0xE000, 0x10000))))
    held = (bytes([byte]).decode(codec, "ignore") for codec in SINGLE_BYTE.values() for byte in range(256))
    return "".join(sorted({*held, *map(chr, range(0x3000))}))


def encoded_digest(name: str) -> str:
    """sha256 over a line for every character of the BMP that can be stored (8-bit sets: those below U+3000)."""
    ours = charset(name)
    digest = hashlib.sha256()
    for character in _characters(name):
        try:
            digest.update(f"{ord(character):x} {ours.encode(character).hex()}\n".encode())
        except ScenarioError:
            continue
    return digest.hexdigest()


@pytest.mark.parametrize("name", charset_names())
def test_a_charset_decodes_as_when_it_was_measured(name: str) -> None:
    assert decoded_digest(name) == DIGESTS[name]["decoded"]


@pytest.mark.parametrize("name", charset_names())
def test_a_charset_encodes_as_when_it_was_measured(name: str) -> None:
    assert encoded_digest(name) == DIGESTS[name]["encoded"]


def test_every_charset_has_its_digests() -> None:
    assert sorted(DIGESTS) == list(charset_names())
