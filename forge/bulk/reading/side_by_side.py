"""Work done piece by piece by two threads, and handed out in the order of the pieces.

A thread does all steps of a piece, one after the other: it finds what it has just made in the nearest cache.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import Final, Generic, TypeVar

_THREADS: Final = 2
#: Pieces that are begun and not handed out.
_MOST: Final = 3

_P = TypeVar("_P")


class _Turns:
    """Lets numbers pass one after the other, from 0 on."""

    def __init__(self) -> None:
        self._number = 0
        self._changed = threading.Condition()

    @contextmanager
    def of(self, number: int) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: self._number == number)
        try:
            yield
        finally:
            with self._changed:
                self._number = number + 1
                self._changed.notify_all()


class SideBySide(Generic[_P]):
    """Three steps for each piece: ``before`` and ``after`` run beside those of other pieces, ``in_turn`` after the
    same step of the piece before.

    ``pieces`` is asked for one piece at a time; until ``is_long`` says so, all is done by the caller's thread.
    """

    def __init__(
        self,
        pieces: Iterator[_P],
        before: Callable[[_P], None],
        in_turn: Callable[[_P], None],
        after: Callable[[_P], None],
        is_long: Callable[[], bool],
    ) -> None:
        self._pieces = pieces
        self._before, self._in_turn, self._after = before, in_turn, after
        self._is_long = is_long
        self._taking, self._turns = _Turns(), _Turns()
        #: No more pieces are taken.
        self._is_over = False

    def done(self) -> Generator[_P, None, None]:
        """The pieces, each with its steps done.

        Raises what ``pieces`` or a step raises, after the pieces before.  Closed, it leaves no thread behind.
        """
        while not self._is_long():
            piece = next(self._pieces, None)
            if piece is None:
                return
            for step in (self._before, self._in_turn, self._after):
                step(piece)
            yield piece
        with ThreadPoolExecutor(max_workers=_THREADS) as threads:
            begun: deque[Future[_P | None]] = deque(self._begun(threads, number) for number in range(_MOST))
            try:
                number = _MOST
                while (piece := begun.popleft().result()) is not None:
                    begun.append(self._begun(threads, number))
                    number += 1
                    yield piece
            finally:
                self._is_over = True

    def _begun(self, threads: ThreadPoolExecutor, number: int) -> Future[_P | None]:
        """What is set for the caller's thread, such as declared columns, holds for the others too."""
        return threads.submit(copy_context().run, self._do, number)

    def _do(self, number: int) -> _P | None:
        """The steps of the next piece; None if there is none."""
        piece: _P | None = None
        failed: Exception | None = None
        try:
            with self._taking.of(number):
                piece = None if self._is_over else next(self._pieces, None)
                self._is_over = piece is None
            if piece is not None:
                self._before(piece)
        except Exception as error:  # noqa: BLE001 - it is raised in its turn
            failed = error
            self._is_over = True
        with self._turns.of(number):
            if failed is not None:
                raise failed
            if piece is None:
                return None
            self._in_turn(piece)
        self._after(piece)
        return piece
