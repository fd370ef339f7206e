"""CRC32 in kernels: zlib is the judge, of the folding and of the tables."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

np = pytest.importorskip("numpy")
pytest.importorskip("numba")

from forge.bulk.crc32 import (
    behind_short,
    checksums_hold,
    crc32_by_folding,
    crc32_by_tables,
    multiplies_at_once,
)
from forge.bulk.machine import SLACK, kernel, memory

pytestmark = pytest.mark.slow


def _kernel(crc32: Any) -> Any:
    @kernel
    def way(buffer: Any, begin: Any, count: Any) -> Any:
        return crc32(buffer, begin, count)

    return way


def _folding(way: Callable[[int], Any]) -> list[Any]:
    """What multiplies so many vectors at once, where this CPU does."""
    has = multiplies_at_once()
    return [
        pytest.param(
            way(vectors) if vectors in has else None,
            id=f"folding-{vectors}",
            marks=pytest.mark.skipif(vectors not in has, reason=f"this CPU does not multiply {vectors} at once"),
        )
        for vectors in (1, 2, 4)
    ]


WAYS = [
    pytest.param(_kernel(crc32_by_tables), id="tables"),
    *_folding(lambda vectors: _kernel(crc32_by_folding(vectors))),
]


def _buffer(data: bytes) -> Any:
    return np.frombuffer(data + bytes(SLACK), np.uint8).copy()


@pytest.mark.parametrize("way", WAYS)
def test_every_size_up_to_1300_bytes_has_the_checksum_of_zlib(way: Callable[..., Any]) -> None:
    data = np.random.default_rng(1).integers(0, 256, 1400, np.uint8)
    buffer = _buffer(data.tobytes())
    for begin in (0, 1, 7, 19):
        for size in range(1300):
            assert way(buffer, begin, size) == zlib.crc32(data[begin : begin + size].tobytes()), (begin, size)


@pytest.mark.parametrize("way", WAYS)
@given(data=st.binary(max_size=400), times=st.integers(1, 50), begin=st.integers(0, 40))
@example(data=b"\xff" * 64, times=1, begin=0)
@example(data=b"\x00" * 64, times=1, begin=0)
def test_any_bytes_have_the_checksum_of_zlib(way: Callable[..., Any], data: bytes, times: int, begin: int) -> None:
    whole = data * times
    begin = min(begin, len(whole))
    assert way(_buffer(whole), begin, len(whole) - begin) == zlib.crc32(whole[begin:])


def _events(sizes: list[int]) -> tuple[Any, Any, Any, Any, int]:
    begins = np.cumsum([0, *sizes[:-1]]).astype(np.int32)
    buffer = _buffer(np.random.default_rng(2).integers(0, 256, sum(sizes), np.uint8).tobytes())
    for begin, size in zip(begins.tolist(), sizes, strict=True):
        end = begin + size
        checksum = zlib.crc32(buffer[begin : end - 4].tobytes())
        buffer[end - 4 : end] = np.frombuffer(checksum.to_bytes(4, "little"), np.uint8)
    return buffer, begins, np.array(sizes, np.int32), np.full(len(sizes), 4, np.uint8), len(sizes)


def test_checksums_of_zlib_hold() -> None:
    assert checksums_hold(*_events([23, 4, 100, 8211, 79])) == -1


@given(st.integers(0, 3), st.integers(0, 10_000), st.integers(0, 7))
def test_one_changed_bit_is_found_in_its_event(event: int, byte: int, bit: int) -> None:
    buffer, begins, sizes, tails, events = _events([31, 120, 8211, 19])
    buffer[begins[event] + byte % sizes[event]] ^= 1 << bit
    assert checksums_hold(buffer, begins, sizes, tails, events) == event
    tails[event] = 0
    assert checksums_hold(buffer, begins, sizes, tails, events) == -1


def _side_by_side(vectors: int) -> tuple[int, Any]:
    behind = behind_short(vectors)

    @kernel
    def way(buffer: Any, begins: Any, sizes: Any, tails: Any, events: Any) -> Any:
        first, second = memory(begins.view(np.uint8)), memory(sizes.view(np.uint8))
        return behind(memory(buffer), first, second, memory(tails), 0, events)

    return vectors, way


@pytest.mark.parametrize("ways", _folding(_side_by_side))
@given(
    st.lists(st.integers(20, 128), min_size=1, max_size=16),
    st.integers(0, 200),
    st.none() | st.tuples(st.integers(0, 15), st.integers(0, 10_000), st.integers(0, 7)),
)
def test_short_events_side_by_side_hold_up_to_those_with_a_wrong_one(
    ways: tuple[int, Callable[..., Any]], sizes: list[int], room: int, change: tuple[int, int, int] | None
) -> None:
    vectors, way = ways
    buffer, begins, sizes, tails, events = _events(sizes)
    wrong = events
    if change is not None:
        wrong = change[0] % events
        buffer[begins[wrong] + change[1] % sizes[wrong]] ^= 1 << change[2]
    behind = way(np.concatenate((buffer[:-SLACK], np.zeros(room, np.uint8))), begins, sizes, tails, events)
    assert behind % vectors == 0
    # What has no room behind it is looked at alone.
    assert behind <= wrong if room < 128 + 16 else behind == wrong // vectors * vectors


@given(st.lists(st.integers(20, 300), min_size=1, max_size=40), st.data())
def test_the_first_of_many_short_events_with_a_wrong_checksum_is_found(sizes: list[int], data: Any) -> None:
    buffer, begins, sizes, tails, events = _events(sizes)
    assert checksums_hold(buffer, begins, sizes, tails, events) == -1
    event = data.draw(st.integers(0, events - 1))
    buffer[begins[event] + data.draw(st.integers(0, int(sizes[event]) - 1))] ^= 1
    assert checksums_hold(buffer, begins, sizes, tails, events) == event
