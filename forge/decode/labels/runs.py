"""Labelled bytes: runs that lie one behind the other in a region of a file, without gap or overlap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from forge.errors import FormatError
from forge.events.plain import plain, printable, text_or_hex, words
from forge.values.base import Piece

#: Labels of an event, and of all events inside one.
MOST_RUNS = 1 << 15
#: Characters of a value that are shown.
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """Bytes at ``offset`` of the file (or of an unpacked payload) that are one thing.

    ``field`` names it with a dot for each level, ``value`` is what the bytes say, ``rule`` how they are written or what
    they are held against.  Bytes that cannot be told have the field ``raw``.
    """

    offset: int
    data: bytes
    field: str
    value: str | None = None
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class LabelledSection:
    """The magic number, an event, or bytes behind the last event.  The runs together are all of its bytes.

    ``inner`` are the events of a compressed transaction, or the unpacked rows; their offsets count from the start of
    what was unpacked.  ``index`` is None where the section is no event.
    """

    title: str
    offset: int
    runs: tuple[LabelledRun, ...]
    index: int | None = None
    inner: tuple[LabelledSection, ...] = ()
    problem: FormatError | None = None

    @property
    def size(self) -> int:
        """Bytes of the section, without those that were unpacked."""
        return sum(len(run.data) for run in self.runs)

    def problems(self) -> Iterator[FormatError]:
        """What is wrong here and inside."""
        if self.problem is not None:
            yield self.problem
        for section in self.inner:
            yield from section.problems()


@dataclass(slots=True)
class Labels:
    """Labels put on the bytes of a region, in their order; ``at`` is the first byte without one."""

    data: bytes
    base: int = 0
    at: int = 0
    runs: list[LabelledRun] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """Whether what is left has one label at most."""
        return len(self.runs) >= MOST_RUNS

    def put(self, end: int, name: str, value: Any = None, rule: str | None = None) -> None:
        """Label the bytes up to ``end``; no run is made of no bytes."""
        end = min(end, len(self.data))
        if end > self.at:
            if self.is_full:
                end, name, value = len(self.data), "raw", None
                rule = f"an event has at most {MOST_RUNS} labels: the rest is not labelled"
            said = None if value is None else shown(value)
            self.runs.append(LabelledRun(self.base + self.at, self.data[self.at : end], name, said, rule))
            self.at = end

    def put_pieces(self, end: int, name: str, pieces: Iterable[Piece], rule: str | None = None) -> None:
        """Label the bytes up to ``end`` with the pieces of a cell, which count from where the labels are."""
        start, stop = self.at, min(end, len(self.data))
        for piece in pieces:
            if start + piece.offset != self.at or self.at + len(piece.data) > stop:
                break
            self.put(self.at + len(piece.data), name, piece.meaning, rule)
        self.put(stop, name, None, rule)

    def rest(self, name: str = "raw", value: Any = None, rule: str | None = None) -> None:
        """Label all that is left."""
        self.put(len(self.data), name, value, rule)


def shown(value: Any) -> str:
    """A value on a line that cannot drive a terminal."""
    if isinstance(value, str) and len(value) > _SHOWN:
        return f"{_words(value[:_SHOWN])[:_SHOWN]}… ({len(value)} characters)"
    text = _words(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters)"


def _words(value: Any) -> str:
    if isinstance(value, str) and isinstance(text_or_hex(value), str):
        # The text of a cell has its quotes and escapes already; nothing else stands beside it.
        return value if value.isprintable() else printable(value)
    if isinstance(value, (tuple, list)):
        return ", ".join(map(_words, value))
    if isinstance(value, bytes) and len(value) > _SHOWN:
        return f"{value[: _SHOWN // 2].hex()}… ({len(value)} bytes)"
    return words(plain(value))
