"""A progress bar on standard error, for people: none where that is no terminal, none for short work."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

#: Seconds that must pass before a bar shows.
DELAY = 2.0


def progress(items: Iterable[T], *, total: int | None, what: str) -> Iterator[T]:
    """``items``, with a bar that counts them."""
    if not sys.stderr.isatty():
        yield from items
        return
    from tqdm import tqdm

    yield from tqdm(items, total=total, desc=what, delay=DELAY, leave=False, file=sys.stderr)


@contextmanager
def progress_to(what: str) -> Iterator[Callable[[int, int], None]]:
    """A function to be told (done, total) from time to time; the bar goes away at the end of the block."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from tqdm import tqdm

    with tqdm(desc=what, delay=DELAY, leave=False, file=sys.stderr) as bar:

        def show(done: int, total: int) -> None:
            if (done, total) != (bar.n, bar.total):
                bar.total = total
                bar.update(done - bar.n)

        yield show
