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

from forge.columnar.crc32 import (
    checksums_hold,
    crc32_by_folding,
    crc32_by_folding_two,
    crc32_by_tables,
    multiplies_without_carries,
)
from forge.columnar.machine import SLACK, kernel

pytestmark = pytest.mark.slow


@kernel
def _by_tables(buffer: Any, begin: Any, count: Any) -> Any:
    return crc32_by_tables(buffer, begin, count)


@kernel
def _by_folding(buffer: Any, begin: Any, count: Any) -> Any:
    return crc32_by_folding(buffer, begin, count)


@kernel
def _by_folding_two(buffer: Any, begin: Any, count: Any) -> Any:
    return crc32_by_folding_two(buffer, begin, count)


WAYS = [
    pytest.param(_by_tables, id="tables"),
    pytest.param(
        _by_folding,
        id="folding",
        marks=pytest.mark.skipif(not multiplies_without_carries(), reason="this CPU has no PCLMULQDQ"),
    ),
    pytest.param(
        _by_folding_two,
        id="folding-two",
        marks=pytest.mark.skipif(not multiplies_without_carries(two_at_once=True), reason="this CPU has no VPCLMULQDQ"),
    ),
]


def _buffer(data: bytes) -> Any:
    return np.frombuffer(data + bytes(SLACK), np.uint8).copy()


@pytest.mark.parametrize("way", WAYS)
def test_every_size_up_to_700_bytes_has_the_checksum_of_zlib(way: Callable[..., Any]) -> None:
    data = np.random.default_rng(1).integers(0, 256, 800, np.uint8)
    buffer = _buffer(data.tobytes())
    for begin in (0, 1, 7, 19):
        for size in range(700):
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
    begins = np.cumsum([0, *sizes[:-1]]).astype(np.int64)
    buffer = _buffer(np.random.default_rng(2).integers(0, 256, sum(sizes), np.uint8).tobytes())
    for begin, size in zip(begins.tolist(), sizes, strict=True):
        end = begin + size
        checksum = zlib.crc32(buffer[begin : end - 4].tobytes())
        buffer[end - 4 : end] = np.frombuffer(checksum.to_bytes(4, "little"), np.uint8)
    return buffer, begins, np.array(sizes, np.int64), np.full(len(sizes), 4, np.int64), len(sizes)


def test_checksums_of_zlib_hold() -> None:
    assert checksums_hold(*_events([23, 4, 100, 8211, 79])) == -1


@given(st.integers(0, 3), st.integers(0, 10_000), st.integers(0, 7))
def test_one_changed_bit_is_found_in_its_event(event: int, byte: int, bit: int) -> None:
    buffer, begins, sizes, tails, events = _events([31, 120, 8211, 19])
    buffer[begins[event] + byte % sizes[event]] ^= 1 << bit
    assert checksums_hold(buffer, begins, sizes, tails, events) == event
    tails[event] = 0
    assert checksums_hold(buffer, begins, sizes, tails, events) == -1
