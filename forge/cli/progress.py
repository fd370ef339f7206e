"""A progress bar on standard error, for people: none where that is no terminal, none for short work."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from forge.progress import Progress

T = TypeVar("T")

#: Seconds that must pass before a bar shows.
DELAY = 2.0


def progress(items: Iterable[T], *, total: int | None, label: str) -> Iterator[T]:
    """``items``, with a bar that counts them."""
    if not sys.stderr.isatty():
        yield from items
        return
    from tqdm import tqdm

    yield from tqdm(items, total=total, desc=label, delay=DELAY, leave=False, file=sys.stderr)


@contextmanager
def progress_to(label: str) -> Iterator[Progress]:
    """A function to call with (items finished, total); the bar goes away at the end of the block."""
    if not sys.stderr.isatty():
        yield lambda _finished, _total: None
        return
    from tqdm import tqdm

    with tqdm(desc=label, delay=DELAY, leave=False, file=sys.stderr) as bar:

        def show(finished: int, total: int) -> None:
            if (finished, total) != (bar.n, bar.total):
                bar.total = total
                bar.update(finished - bar.n)

        yield show
