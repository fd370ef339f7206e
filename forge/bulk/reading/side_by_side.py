"""Work done piece by piece by two threads, the caller's and one more, and handed out in the order of the pieces.

The other thread takes pieces rather than do them, and the caller's does them rather than take some: what unpacks them
finds what it has just made in the nearest cache.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Generic, TypeVar

#: Pieces that are taken and not handed out.
_MOST: Final = 3
#: Seconds that the other thread waits for something to do, before it is given back.
_PATIENCE: Final = 0.02

_P = TypeVar("_P")


class _Taken(Generic[_P]):
    """A piece that was taken; ``is_begun`` once one of the threads does it."""

    __slots__ = ("error", "is_begun", "is_done", "number", "piece")

    def __init__(self, number: int, piece: _P | None, error: Exception | None = None) -> None:
        self.number = number
        self.piece = piece
        self.error = error
        self.is_begun = self.is_done = error is not None


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
        #: What is below changes under this lock.
        self._changed = threading.Condition()
        self._taken: deque[_Taken[_P]] = deque()
        self._count = 0
        self._is_taking = False
        #: The piece whose step in turn is next.
        self._turn = 0
        #: No more pieces are taken; those that were taken are not done either.
        self._is_over = self._is_closed = False

    def done(self) -> Generator[_P, None, None]:
        """The pieces, each with its steps done.

        Raises what ``pieces`` or a step raises, after the pieces before.  Closed, it leaves no thread behind.
        """
        with ThreadPoolExecutor(max_workers=1) as thread:
            other: Future[None] | None = None
            try:
                while True:
                    while self._is_first_done:
                        with self._changed:
                            first = self._taken.popleft()
                            self._changed.notify_all()
                        if first.error is not None:
                            raise first.error
                        assert first.piece is not None
                        yield first.piece
                    if not self._is_over and self._is_long() and (other is None or other.done()):
                        other = thread.submit(self._help)
                    if not self._go_on():
                        return
            finally:
                self._is_over = self._is_closed = True
                self._tell()

    def _go_on(self) -> bool:
        """Do the next piece, or take one if none waits, unless the first is done; whether there is anything left."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._is_first_done or self._waiting or self._may_take or not (self._taken or self._is_taking)
            )
            if self._is_first_done:
                return True
            mine = self._begin()
            if mine is None and not self._may_take:
                return False
            self._is_taking = self._is_taking or mine is None
        self._take() if mine is None else self._do(mine)
        return True

    def _help(self) -> None:
        """Take pieces, and do the next one where enough are taken, as long as there are some."""
        while True:
            with self._changed:
                if not self._changed.wait_for(lambda: self._may_take or self._waiting or self._is_over, _PATIENCE):
                    return
                mine = None if self._may_take else self._begin()
                if mine is None and not self._may_take:
                    return
                self._is_taking = self._is_taking or mine is None
            self._take() if mine is None else self._do(mine)

    @property
    def _is_first_done(self) -> bool:
        return bool(self._taken) and self._taken[0].is_done

    @property
    def _may_take(self) -> bool:
        return not self._is_taking and not self._is_over and len(self._taken) < _MOST

    @property
    def _waiting(self) -> _Taken[_P] | None:
        """The next piece that nobody does."""
        return None if self._is_closed else next((taken for taken in self._taken if not taken.is_begun), None)

    def _begin(self) -> _Taken[_P] | None:
        mine = self._waiting
        if mine is not None:
            mine.is_begun = True
        return mine

    def _take(self) -> None:
        """The next piece; the caller has said that it takes it."""
        taken: _Taken[_P] | None = None
        try:
            piece = next(self._pieces, None)
            if piece is not None:
                taken = _Taken(self._count, piece)
        except Exception as error:  # noqa: BLE001 - it is raised where its piece would be
            taken = _Taken(self._count, None, error)
        with self._changed:
            if taken is None or taken.is_done:
                self._is_over = True
            if taken is not None:
                self._taken.append(taken)
                self._count += 1
            self._is_taking = False
            self._changed.notify_all()

    def _do(self, taken: _Taken[_P]) -> None:
        assert taken.piece is not None
        try:
            self._steps(taken.number, taken.piece)
        except Exception as error:  # noqa: BLE001 - as above
            taken.error = error
            self._is_over = True
        taken.is_done = True
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
