"""What the figures of foreign decoders leave out: files, functions and blocks that no binary log reaches."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from tests.power.foreign.sources import Source

_LIST = Path(__file__).with_name("left-out.toml")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An entry of the list.

    ``decoder``: a pattern for names.  ``file``: a path, or ``*`` for all files.  ``function``: a pattern for
    names of functions, empty for the whole file.  ``text``: the first line of a block, empty for the whole function.
    """

    decoder: str
    file: str
    function: str
    text: str
    reason: str

    def lines(self, source: Source) -> list[range]:
        """The lines of a source that it means."""
        if self.file not in ("*", source.name):
            return []
        if not self.function:
            return [range(1, len(source.lines) + 1)]
        if self.text:
            return source.blocks(self.function, self.text)
        return [one.lines for one in source.functions if re.fullmatch(self.function, one.name.rpartition(".")[2])]


def entries() -> Iterator[LeftOut]:
    """All entries of the list."""
    listed: dict[str, Any] = tomllib.loads(_LIST.read_text("utf-8"))
    for decoder, files in listed.items():
        for file, functions in files.items():
            if isinstance(functions, str):
                yield LeftOut(decoder, file, "", "", functions)
                continue
            for function, texts in functions.items():
                if isinstance(texts, str):
                    yield LeftOut(decoder, file, function, "", texts)
                    continue
                for text, reason in texts.items():
                    yield LeftOut(decoder, file, function, text, reason)


def left_out(decoder: str, sources: Mapping[str, Source]) -> dict[str, dict[int, str]]:
    """The lines of each source that are left out, with their reasons: those of a block before those of its function."""
    found: dict[str, dict[int, str]] = {name: {} for name in sources}
    listed = sorted(
        (one for one in entries() if fnmatch(decoder, one.decoder)), key=lambda one: (not one.text, not one.function)
    )
    for name, source in sources.items():
        for entry in listed:
            for span in entry.lines(source):
                for line in span:
                    found[name].setdefault(line, entry.reason)
    return found
