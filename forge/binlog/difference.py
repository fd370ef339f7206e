"""Where two binary logs differ, said in terms of the format: event, field, both values, offset.

Logs are compared as their listings, so fields that follow from others (sizes, positions, lengths, checksums) count only
where the file's own bytes contradict them: one longer event does not make all later ones differ.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from forge.binlog.listing.chosen import chosen_documents
from forge.binlog.listing.disassemble import placed_documents
from forge.binlog.reader import Frame, frames
from forge.binlog.selection import ALL, Selection
from forge.binlog.window import LogSource

_ABSENT = object()
_SHOWN = 160
#: Events of each log among which those are looked for that both have again.
_LOOKED_AT = 64
#: Characters of a text from which on its hash is compared: of two logs, only one has such a text in memory.
_LARGE = 1 << 20

_Document = dict[str, Any]
#: An event of a log: its number, its offset, and its document.
_Listed = tuple[int, int, _Document]


@dataclass(frozen=True, slots=True)
class _LargeText:
    """What is kept of a large text until it is compared."""

    digest: bytes
    length: int
    beginning: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that differs, or an event that one log lacks.

    ``event`` counts from 0 in the left log, ``other`` in the right one; None where that log has no such event.
    ``offset`` is a place in the left log: the first byte that differs, of the first difference; the start of the event,
    of others.  Values are as the listing shows them.
    """

    event: int | None
    offset: int
    event_type: str
    field: str
    left: str
    right: str
    #: Name of the file among those of a session; None if there is one.
    file: str | None = None
    other: int | None = None
    #: What the two logs are called.
    sides: tuple[str, str] = ("left", "right")

    def __str__(self) -> str:
        left, right = self.sides
        place = [] if self.file is None else [self.file]
        if self.event is not None or self.other is not None:
            number = f"event {self.event}" if self.event is not None else f"event {self.other} of {right}"
            place.append(f"{number} ({self.event_type})")
        else:
            place.append(self.event_type)
        return f"{', '.join(place)}, offset {self.offset}: {self.field}: {left} {self.left}, {right} {self.right}"


def first_difference(left: bytes, right: bytes) -> Difference | None:
    """The first difference in meaning, or None for identical files."""
    if left == right:
        return None
    for index, (ours, theirs) in enumerate(zip_longest(placed_documents(left), placed_documents(right))):
        mine, other = ours and ours[1], theirs and theirs[1]
        if mine != other:
            path, value, others = next(_differing(mine or {}, other or {}, ""))
            name = str((mine or other or {}).get("event", "bytes"))
            return Difference(
                index, _offset(left, right, index), name, path, _shown(value), _shown(others), other=index
            )
    return Difference(None, first_byte(left, right), "file", "bytes", f"{len(left)}", f"{len(right)}")


def differences(left: LogSource, right: LogSource, wanted: Selection = ALL) -> Iterator[Difference]:
    """All differences in meaning of the wanted events, in the order of the left log; each is read once, an event at a
    time.

    Behind events that one log lacks, comparing goes on where both have the same again, within 64 events.
    """
    for ours, theirs in _aligned(_documents(left, wanted), _documents(right, wanted)):
        if ours is None or theirs is None:
            number, offset, document = ours or theirs or (0, 0, {})
            words = ("the event", "nothing") if theirs is None else ("nothing", "the event")
            name = str(document.get("event", "bytes"))
            mine, other = (number, None) if theirs is None else (None, number)
            yield Difference(mine, offset, name, "event", *words, other=other)
            continue
        for path, value, others in _differing(ours[2], theirs[2], ""):
            name = str(ours[2].get("event", "bytes"))
            yield Difference(ours[0], ours[1], name, path, _shown(value), _shown(others), other=theirs[0])


def _documents(log: LogSource, wanted: Selection) -> Iterator[_Listed]:
    # Hexadecimal digits are twice as many as the bytes of an event.
    placed = placed_documents(log, _without_large, _LARGE // 2)
    if not wanted.is_all:
        return chosen_documents(placed, wanted)
    return ((number, offset, document) for number, (offset, document) in enumerate(placed))


def _without_large(value: Any) -> Any:
    """The document, or a part of it, with the hashes of large texts in their place."""
    kind = value.__class__
    if kind is dict:
        for key, part in value.items():
            if (other := _without_large(part)) is not part:
                value = value | {key: other}
    elif kind is list:
        for index, part in enumerate(value):
            if (other := _without_large(part)) is not part:
                value = [*value[:index], other, *value[index + 1 :]]
    elif kind is str and len(value) >= _LARGE:
        digest = hashlib.sha256()
        for at in range(0, len(value), _LARGE):
            digest.update(value[at : at + _LARGE].encode("utf-8", "surrogatepass"))
        return _LargeText(digest.digest(), len(value), value[:_SHOWN])
    return value


def _aligned(left: Iterator[_Listed], right: Iterator[_Listed]) -> Iterator[tuple[_Listed | None, _Listed | None]]:
    """The events that differ, each beside the one of the other log that stands in its place."""
    ours, theirs = _Ahead(left), _Ahead(right)
    while ours.fill(1) and theirs.fill(1):
        if ours.waiting[0][2] == theirs.waiting[0][2]:
            ours.waiting.popleft()
            theirs.waiting.popleft()
            continue
        skipped, missing = _next_equal(ours, theirs)
        for _ in range(min(skipped, missing)):
            yield ours.waiting.popleft(), theirs.waiting.popleft()
        for _ in range(skipped - missing):
            yield ours.waiting.popleft(), None
        for _ in range(missing - skipped):
            yield None, theirs.waiting.popleft()
    while ours.fill(1):
        yield ours.waiting.popleft(), None
    while theirs.fill(1):
        yield None, theirs.waiting.popleft()


class _Ahead:
    """The events of a log that were read and not yet compared."""

    def __init__(self, documents: Iterator[_Listed]) -> None:
        self._rest = documents
        self.waiting: deque[_Listed] = deque()

    def fill(self, count: int) -> int:
        """Read on until ``count`` events wait: how many there are then."""
        while len(self.waiting) < count:
            listed = next(self._rest, None)
            if listed is None:
                break
            self.waiting.append(listed)
        return len(self.waiting)


def _next_equal(ours: _Ahead, theirs: _Ahead) -> tuple[int, int]:
    """How many events of each come before the next that are equal; one of each if there are none near."""
    ours.fill(_LOOKED_AT)
    theirs.fill(_LOOKED_AT)
    for together in range(1, len(ours.waiting) + len(theirs.waiting)):
        # As many of one as of the other first: a changed event is likelier than one less and one more.
        for number in sorted(range(together + 1), key=lambda number: abs(2 * number - together)):
            other = together - number
            near = number < len(ours.waiting) and other < len(theirs.waiting)
            if near and ours.waiting[number][2] == theirs.waiting[other][2]:
                return number, other
    return 1, 1


def first_difference_of_files(
    names: Sequence[str], left: Sequence[bytes], right: Sequence[bytes], sides: tuple[str, str] = ("left", "right")
) -> Difference | None:
    """As :func:`first_difference`, of the files of one session; ``names`` are those of the left ones."""
    for name, ours, theirs in zip(names, left, right, strict=False):
        difference = first_difference(ours, theirs)
        if difference is not None:
            return replace(difference, sides=sides, file=None if len(left) == len(right) == 1 else name)
    if len(left) != len(right):
        return Difference(None, 0, "session", "files", str(len(left)), str(len(right)), sides=sides)
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
    if isinstance(value, _LargeText):
        return f"{repr(value.beginning)[:_SHOWN]}... ({value.length} characters)"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"


def _offset(left: bytes, right: bytes, index: int) -> int:
    """The first byte of event ``index`` that differs, as an offset in ``left``."""
    ours, theirs = _frame(left, index), _frame(right, index)
    if ours is None:
        return len(left)
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
