"""Pieces of work done by two threads come out as one thread would do them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba", reason="the extra `rows` is not installed")
pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")

from forge.bulk.reading.side_by_side import SideBySide

pytestmark = pytest.mark.unit


class _Piece:
    def __init__(self, number: int) -> None:
        self.number = number
        self.steps: list[str] = []
        self.threads: set[int] = set()

    def note(self, step: str) -> None:
        self.steps.append(step)
        self.threads.add(threading.get_ident())


class _Work:
    """``count`` pieces; ``fails`` is called with every piece and step before it is noted."""

    def __init__(self, count: int, fails: Callable[[int, str], None] = lambda _number, _step: None) -> None:
        self.count = count
        self.fails = fails
        self.turns: list[int] = []
        self.is_long = True

    def pieces(self) -> Iterator[_Piece]:
        for number in range(self.count):
            self.fails(number, "piece")
            yield _Piece(number)

    def step(self, name: str) -> Callable[[_Piece], None]:
        def do(piece: _Piece) -> None:
            self.fails(piece.number, name)
            if name == "in turn":
                self.turns.append(piece.number)
            piece.note(name)

        return do

    def done(self) -> Iterator[_Piece]:
        steps = [self.step(name) for name in ("before", "in turn", "after")]
        return SideBySide(self.pieces(), steps[0], steps[1], steps[2], lambda: self.is_long).done()


class _Wrong(Exception):
    pass


@given(st.integers(0, 30))
def test_every_piece_comes_in_its_order_with_its_steps_in_theirs(count: int) -> None:
    work = _Work(count)
    done = list(work.done())
    assert [piece.number for piece in done] == work.turns == list(range(count))
    assert all(piece.steps == ["before", "in turn", "after"] for piece in done)


@given(st.sampled_from(["piece", "before", "in turn", "after"]), st.integers(0, 12))
def test_an_error_comes_behind_the_pieces_before_it_and_no_thread_is_left(where: str, at: int) -> None:
    def fails(number: int, step: str) -> None:
        if number == at and step == where:
            raise _Wrong

    threads = threading.active_count()
    done = _Work(20, fails).done()
    assert [next(done).number for _ in range(at)] == list(range(at))
    with pytest.raises(_Wrong):
        next(done)
    assert threading.active_count() == threads


@given(st.integers(0, 10))
def test_a_reader_that_stops_early_leaves_no_thread(taken: int) -> None:
    threads = threading.active_count()
    done = _Work(20).done()
    for _ in range(taken):
        next(done)
    done.close()  # type: ignore[attr-defined]
    assert threading.active_count() == threads


def test_two_threads_share_the_work_of_a_long_file() -> None:
    def slow(_number: int, step: str) -> None:
        if step == "after":
            time.sleep(0.01)

    assert len(set().union(*(piece.threads for piece in _Work(20, slow).done()))) == 2


def test_a_short_file_has_no_thread_of_its_own() -> None:
    work = _Work(3)
    work.is_long = False
    assert set().union(*(piece.threads for piece in work.done())) == {threading.get_ident()}


def test_what_is_read_ahead_is_bounded() -> None:
    work = _Work(20)
    done = work.done()
    next(done)
    time.sleep(0.05)
    assert len(work.turns) <= 5
