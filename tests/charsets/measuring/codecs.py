"""Comparing our character sets with a real server's, over every sequence of bytes that can matter.

``python -m tests.charsets.measuring.codecs --server DIR [--charset NAME]`` lists every difference.  With ``--write``
the differences between the server and Python's codecs become the data files ``data/NAME.map`` first.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from forge.charsets.base import Charset
from forge.charsets.registry import charset, charset_names
from forge.charsets.tables import MULTI_BYTE, SINGLE_BYTE
from forge.errors import FormatError, ScenarioError
from tests.charsets.measuring.live import LiveServer
from tests.charsets.measuring.observe import observe_decoding, observe_encoding
from tests.charsets.measuring.patching import write_patch


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which ours and the server disagree; ``ours`` and ``server`` are None where refused."""

    charset: str
    what: Literal["decode", "encode", "well-formed"]
    sent: str
    ours: str | None
    server: str | None

    def __str__(self) -> str:
        ours, server = self.ours or "refuses", self.server or "refuses"
        return f"{self.charset}: {self.what} {self.sent}: ours {ours}, server {server}"


def measure(server_run: Path, charset: str) -> list[Difference]:
    """Every difference between our character set and that of an unpacked server (``NAME.run`` or its folder).

    Raises EnvironmentMissing if the server is not there, ScenarioError if it or we do not know the set.
    """
    with LiveServer(server_run) as server:
        return differences(server, charset)


def differences(server: LiveServer, name: str) -> list[Difference]:
    """Every difference between our character set and that of a running server."""
    ours = charset(name)
    _require(server, ours.name)
    differing = []
    encoded = list(observe_encoding(server, ours.name))
    for seen in encoded:
        data = _encode(ours, seen.character)
        if data != seen.data:
            differing.append(
                Difference(ours.name, "encode", f"U+{ord(seen.character):04X}", _hex(data), _hex(seen.data))
            )
    differing_bytes: set[int] = set()
    for asked in observe_decoding(server, ours.name, encoded):
        if ours.max_length == 1 and not differing_bytes.isdisjoint(asked.data):
            continue  # follows from the difference in one of the bytes
        sent = asked.data.hex(" ")
        well_formed = ours.well_formed(asked.data, server.family)
        text = _decode(ours, asked.data)
        if well_formed != asked.kept:
            differing.append(Difference(ours.name, "well-formed", sent, str(well_formed), str(asked.kept)))
        if text != asked.text:
            differing.append(Difference(ours.name, "decode", sent, _points(text), _points(asked.text)))
        if len(asked.data) == 1 and (well_formed, text) != (asked.kept, asked.text):
            differing_bytes.update(asked.data)
    return differing


def _require(server: LiveServer, name: str) -> None:
    names = {row[0] for row in server.rows("SELECT character_set_name FROM information_schema.character_sets")}
    if name not in names:
        raise ScenarioError(f"the server {server.run.stem} has no character set {name}")


def _encode(ours: Charset, character: str) -> bytes | None:
    try:
        return ours.encode(character)
    except ScenarioError:
        return None


def _decode(ours: Charset, data: bytes) -> str | None:
    try:
        return ours.decode(data)
    except FormatError:
        return None


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex(" ")


def _points(text: str | None) -> str | None:
    return None if text is None else " ".join(f"U+{ord(character):04X}" for character in text)


def main(arguments: list[str] | None = None) -> int:
    """Measure one or all character sets; exit code 1 if there is a difference."""
    parser = argparse.ArgumentParser(prog="python -m tests.charsets.measuring.codecs", description=__doc__)
    parser.add_argument("--server", type=Path, required=True, help="an unpacked server: NAME.run or its folder")
    parser.add_argument("--charset", action="append", help="the set to measure (default: all that the server has)")
    parser.add_argument("--write", action="store_true", help="write the data files from this server first")
    options = parser.parse_args(arguments)
    total = 0
    with LiveServer(options.server) as server:
        for name in options.charset or _names(server):
            if options.write and name in {**SINGLE_BYTE, **MULTI_BYTE}:
                write_patch(server, name)
            differing = differences(server, name)
            for difference in differing:
                sys.stdout.write(f"{difference}\n")
            sys.stderr.write(f"{name}: {len(differing)} differences from {server.run.stem}\n")
            total += len(differing)
    return 1 if total else 0


def _names(server: LiveServer) -> list[str]:
    names = {row[0] for row in server.rows("SELECT character_set_name FROM information_schema.character_sets")}
    return [name for name in charset_names() if name in names and name != "binary"]


if __name__ == "__main__":
    sys.exit(main())
