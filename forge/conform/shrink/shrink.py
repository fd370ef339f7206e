"""A file made smaller."""

from __future__ import annotations

from dataclasses import dataclass

from forge.conform.shrink.nodes import read_log
from forge.conform.shrink.passes import PASSES
from forge.conform.shrink.search import OutOfTime, Search, Shows
from forge.decode.expected import expected_of
from forge.progress import Progress

#: Bytes of a broken file of which single ones are tried.
_SMALL = 4096


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The smaller file; how many candidates were asked about; whether no part can be taken away any more."""

    data: bytes
    asked: int
    finished: bool


def shrink(data: bytes, shows: Shows, *, seconds: float | None = None, progress: Progress | None = None) -> Shrunk:
    """The smallest file that is found for which ``shows`` still holds, as it does for ``data``.

    It is a well-formed log if ``data`` is one, with whole transactions if ``data`` has them.  The same file for the
    same input, unless ``seconds`` end the search.
    """
    search = Search(read_log(data), data, shows, seconds=seconds, progress=progress)
    try:
        before = b""
        while search.data != before:
            before = search.data
            for one in PASSES:
                one(search)
        if not search.must_be_shaped and expected_of(data).problem is not None:
            _bytes(search)
    except OutOfTime:
        return Shrunk(search.data, search.asked, False)
    return Shrunk(search.data, search.asked, True)


def _bytes(search: Search) -> None:
    """Bytes of a file that is not made of whole events, in pieces of half of it down to single ones."""
    step = len(search.data) // 2
    while step and len(search.data) > step:
        at = 4
        while at < len(search.data):
            if not search.offer_bytes(search.data[:at] + search.data[at + step :]):
                at += step
        step = step // 2 if step > 1 or len(search.data) <= _SMALL else 0
