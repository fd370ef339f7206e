"""Work done piece by piece by two threads, the caller's and one more, and handed out in the order of the pieces."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Generic, TypeVar

#: Pieces that are begun and not handed out.
_MOST: Final = 3
#: Seconds that the other thread waits for the next piece, before it is given back.
_PATIENCE: Final = 0.02

_P = TypeVar("_P")


class _Begun(Generic[_P]):
    """A piece that one of the threads has taken."""

    __slots__ = ("error", "is_done", "number", "piece")

    def __init__(self, number: int, piece: _P | None, error: Exception | None = None) -> None:
        self.number = number
        self.piece = piece
        self.error = error
        self.is_done = error is not None


class SideBySide(Generic[_P]):
    """Three steps for each piece: ``before`` and ``after`` run beside those of other pieces, ``in_turn`` after the
    same step of the piece before.

    ``pieces`` is asked for one piece at a time, by either thread; the other one starts once ``is_long`` says so.
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
        self._begun: deque[_Begun[_P]] = deque()
        self._taking = threading.Lock()
        self._changed = threading.Condition()
        self._taken = 0
        #: The piece whose step in turn is next.
        self._turn = 0
        #: No more pieces are taken; those that are begun are not done either.
        self._is_over = self._is_closed = False

    def done(self) -> Generator[_P, None, None]:
        """The pieces, each with its steps done.

        Raises what ``pieces`` or a step raises, after the pieces before.  Closed, it leaves no thread behind.
        """
        with ThreadPoolExecutor(max_workers=1) as thread:
            other: Future[None] | None = None
            try:
                while True:
                    while self._begun and self._begun[0].is_done:
                        first = self._begun.popleft()
                        if first.error is not None:
                            raise first.error
                        self._tell()
                        assert first.piece is not None
                        yield first.piece
                    mine = self._take()
                    if not self._is_over and self._is_long() and (other is None or other.done()):
                        other = thread.submit(self._go_on)
                    if mine is not None:
                        self._do(mine)
                    elif self._begun:
                        self._wait_for(lambda: self._begun[0].is_done)
                    else:
                        return
            finally:
                self._is_over = self._is_closed = True
                self._tell()

    def _go_on(self) -> None:
        """Do pieces as long as there are some."""
        while not self._is_over:
            mine = self._take()
            if mine is not None:
                self._do(mine)
                continue
            with self._changed:
                if not self._changed.wait_for(lambda: self._is_over or len(self._begun) < _MOST, _PATIENCE):
                    return

    def _take(self) -> _Begun[_P] | None:
        """The next piece, to be done; None if there is none, or enough are begun."""
        with self._taking:
            if self._is_over or len(self._begun) >= _MOST:
                return None
            try:
                piece = next(self._pieces, None)
            except Exception as error:  # noqa: BLE001 - it is raised where its piece would be
                self._is_over = True
                self._begun.append(_Begun(self._taken, None, error))
                return None
            if piece is None:
                self._is_over = True
                return None
            begun = _Begun(self._taken, piece)
            self._taken += 1
            self._begun.append(begun)
            return begun

    def _do(self, begun: _Begun[_P]) -> None:
        assert begun.piece is not None
        try:
            self._steps(begun.number, begun.piece)
        except Exception as error:  # noqa: BLE001 - as above
            begun.error = error
            self._is_over = True
        begun.is_done = True
        self._tell()

    def _steps(self, number: int, piece: _P) -> None:
        failed: Exception | None = None
        try:
            self._before(piece)
        except Exception as error:  # noqa: BLE001 - as above
            failed = error
        self._wait_for(lambda: self._turn == number or self._is_closed)
        try:
            if failed is not None:
                raise failed
            if self._is_closed:
                return
            self._in_turn(piece)
        finally:
            self._turn = number + 1
            self._tell()
        self._after(piece)

    def _tell(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _wait_for(self, condition: Callable[[], bool]) -> None:
        if not condition():
            with self._changed:
                self._changed.wait_for(condition)
