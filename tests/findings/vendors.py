"""What the vendors' own readers do with the file of a finding, as forge.check runs them."""

from __future__ import annotations

from functools import cache
from typing import Literal

from forge.check.decoder import DecodingEnded
from forge.check.decoders.table import decoder
from forge.check.decoders.vendors.reader import CommandLineReader
from forge.conform.findings.records import VENDORS
from forge.errors import EnvironmentMissing

#: ``says``: it prints an error, and goes on.  ``crashes`` is also a reader that does not end.
Did = Literal["reads", "says", "stops", "crashes"]


@cache
def _readers() -> dict[str, CommandLineReader]:
    found = {name: decoder(name) for name in VENDORS.values()}
    readers = {name: reader for name, reader in found.items() if isinstance(reader, CommandLineReader)}
    for name, reader in readers.items():
        if (missing := reader.available()) is not None:
            raise EnvironmentMissing(f"{name} is needed to make findings: {missing}; make servers unpacks it")
    return readers


def reader_does(name: str, data: bytes) -> Did:
    """What one vendor's reader does with a file, all that it can print asked for.  Raises EnvironmentMissing."""
    try:
        for _ in _readers()[name].decode(data):
            pass
    except DecodingEnded as error:
        return "crashes" if error.ending in ("crashed", "timeout") else "stops"
    return "says" if _readers()[name].complaints(data) else "reads"


def readers_do(data: bytes) -> dict[str, Did]:
    """What each does.  Raises EnvironmentMissing."""
    return {name: reader_does(name, data) for name in VENDORS.values()}
