"""Numbers that are a function of a counter (forge.scenario.counter_hash)."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from forge.scenario.counter_hash import CounterRandom, below, drawn, drawn_bytes, drawn_letters

WORDS = st.integers(0, (1 << 64) - 1)


@given(WORDS, st.integers(1, 1 << 80))
def test_a_number_below_a_limit_is(number: int, limit: int) -> None:
    assert 0 <= below(number, limit) < limit


@given(WORDS, st.integers(0, 300))
def test_bytes_and_letters_have_the_length_that_is_asked_for(number: int, length: int) -> None:
    assert len(drawn_bytes(number, length)) == len(drawn_letters(number, length)) == length


def test_all_values_of_a_small_range_come_about_equally_often() -> None:
    counts = Counter(below(drawn(7, row), 10) for row in range(10_000))
    assert set(counts) == set(range(10))
    assert all(850 < count < 1150 for count in counts.values())


def test_large_limits_reach_both_halves() -> None:
    halves = Counter(below(drawn(7, row), 1 << 100) >> 99 for row in range(1000))
    assert min(halves[0], halves[1]) > 400


@given(WORDS, st.integers(0, 200))
def test_random_numbers_are_the_same_again_after_the_same_seed(key: int, bits: int) -> None:
    source = CounterRandom()
    source.seed(key)
    first = [source.getrandbits(bits), source.random(), source.gauss(0, 1), source.randint(1, 6)]
    source.seed(key)
    assert [source.getrandbits(bits), source.random(), source.gauss(0, 1), source.randint(1, 6)] == first
    assert first[0] < 1 << bits
    assert 0 <= first[1] < 1


def test_one_key_does_not_give_what_the_next_gives() -> None:
    source = CounterRandom()
    source.seed(5)
    assert len({source.getrandbits(64) for _ in range(1000)} | {drawn(6, row) for row in range(1000)}) == 2000
