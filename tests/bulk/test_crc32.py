"""CRC32 in kernels: zlib is the judge."""

from __future__ import annotations

import zlib
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

np = pytest.importorskip("numpy")
pytest.importorskip("numba")

from forge.bulk.crc32 import checksums_hold, crc32
from forge.bulk.machine import SLACK, kernel, memory

pytestmark = pytest.mark.slow


@kernel
def _of_part(buffer: Any, begin: Any, count: Any) -> Any:
    return crc32(memory(buffer), begin, count)


def _buffer(data: bytes) -> Any:
    return np.frombuffer(data + bytes(SLACK), np.uint8).copy()


@given(data=st.binary(max_size=400), times=st.integers(1, 50), begin=st.integers(0, 40))
@example(data=b"\xff" * 64, times=1, begin=0)
@example(data=b"\x00" * 64, times=1, begin=0)
@example(data=b"", times=1, begin=0)
def test_any_bytes_have_the_checksum_of_zlib(data: bytes, times: int, begin: int) -> None:
    whole = data * times
    begin = min(begin, len(whole))
    assert _of_part(_buffer(whole), begin, len(whole) - begin) == zlib.crc32(whole[begin:])


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
