"""Where two binary logs first differ, said in terms of the format: event, field, both values, offset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from forge.binlog.listing import disassemble
from forge.binlog.reader import Frame, frames

_ABSENT = object()
_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Difference:
    """The first field that differs.

    ``event`` counts from 0; ``offset`` is the first differing byte of that event in the recorded file (that file's
    length if it has no such event).  Values are as the listing shows them.
    """

    event: int
    offset: int
    event_type: str
    field: str
    recorded: str
    compiled: str
    #: Name of the file among those of a session; None if there is one.
    file: str | None = None

    def __str__(self) -> str:
        place = [] if self.file is None else [self.file]
        place += [f"event {self.event} ({self.event_type})"] if self.event >= 0 else [self.event_type]
        return (
            f"{', '.join(place)}, offset {self.offset}: {self.field}:"
            f" recorded {self.recorded}, compiled {self.compiled}"
        )


def first_difference(recorded: bytes, compiled: bytes) -> Difference | None:
    """The first difference in meaning, or None for identical files.

    Fields that follow from others (sizes, positions, lengths, checksums) differ in every event after an earlier
    difference in size, so they are reported only where the file's own bytes contradict them.
    """
    if recorded == compiled:
        return None
    pairs = zip_longest(disassemble(recorded), disassemble(compiled), fillvalue=None)
    for index, (ours, theirs) in enumerate(pairs):
        if ours != theirs:
            field, left, right = next(_differing(ours or {}, theirs or {}, ""))
            name = str((ours or theirs or {}).get("event", "bytes"))
            return Difference(index, _offset(recorded, compiled, index), name, field, _shown(left), _shown(right))
    return Difference(-1, first_byte(recorded, compiled), "file", "bytes", f"{len(recorded)}", f"{len(compiled)}")


def first_difference_of_files(
    names: Sequence[str], recorded: Sequence[bytes], compiled: Sequence[bytes]
) -> Difference | None:
    """As :func:`first_difference`, of the files of one session; ``names`` are those of the recorded ones."""
    for name, ours, theirs in zip(names, recorded, compiled, strict=False):
        difference = first_difference(ours, theirs)
        if difference is not None:
            return difference if len(recorded) == len(compiled) == 1 else replace(difference, file=name)
    if len(recorded) != len(compiled):
        return Difference(-1, 0, "session", "files", str(len(recorded)), str(len(compiled)))
    return None


def _differing(left: Any, right: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """(path, left value, right value) of every leaf in which two documents differ."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in [*left, *(key for key in right if key not in left)]:
            mine, other = left.get(key, _ABSENT), right.get(key, _ABSENT)
            if mine != other:
                yield from _differing(mine, other, f"{path}.{key}" if path else str(key))
    elif isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        for index, (mine, other) in enumerate(zip_longest(left, right, fillvalue=_ABSENT)):
            if mine != other:
                yield from _differing(mine, other, f"{path}[{index}]")
    else:
        yield path, left, right


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "nothing"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"


def _offset(recorded: bytes, compiled: bytes, index: int) -> int:
    """The first byte of event ``index`` that differs, as an offset in ``recorded``."""
    ours, theirs = _frame(recorded, index), _frame(compiled, index)
    if ours is None:
        return len(recorded)
    if theirs is None:
        return ours.offset
    # Sizes and positions follow from the rest: they are passed over where something else differs.
    derived = set(range(9, 17))
    for place, (byte, other) in enumerate(zip(ours.raw, theirs.raw, strict=False)):
        if byte != other and place not in derived:
            return ours.offset + place
    return ours.offset + min(len(ours.raw), len(theirs.raw))


def _frame(data: bytes, index: int) -> Frame | None:
    return next((frame for frame in frames(data) if frame.index == index), None)


def first_byte(left: bytes, right: bytes) -> int:
    """Offset of the first byte that differs."""
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
