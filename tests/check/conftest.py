"""Recordings of this folder, whole and broken on purpose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from forge.binlog.reader import frames
from forge.events.event import event_checksum
from forge.events.registry import event_name

DATA = Path(__file__).parent / "data"
NAMES = sorted(path.stem for path in DATA.glob("*.binlog"))

Recording = Callable[[str], bytes]
#: (name, event type, {offset in the first such event: byte}) -> the file, with right checksums.
Broken = Callable[[str, str, Mapping[int, int]], bytes]
#: (name, bytes that stand there once, bytes to put in their place) -> the file, with right checksums.
Replaced = Callable[[str, bytes, bytes], bytes]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "any_recording" in metafunc.fixturenames:
        metafunc.parametrize("any_recording", NAMES)


@pytest.fixture(scope="session")
def recording() -> Recording:
    return lambda name: (DATA / f"{name}.binlog").read_bytes()


@pytest.fixture(scope="session")
def broken(recording: Recording) -> Broken:
    def change(name: str, kind: str, changes: Mapping[int, int]) -> bytes:
        data = bytearray(recording(name))
        frame = next(frame for frame in frames(bytes(data)) if event_name(frame.type_code) == kind)
        for at, byte in changes.items():
            data[frame.offset + at] = byte
        return resummed(data)

    return change


@pytest.fixture(scope="session")
def replaced(recording: Recording) -> Replaced:
    def replace(name: str, old: bytes, new: bytes) -> bytes:
        data = recording(name)
        assert data.count(old) == 1
        assert len(old) == len(new)
        return resummed(bytearray(data.replace(old, new)))

    return replace


def resummed(data: bytearray) -> bytes:
    for frame in frames(bytes(data)):
        end = frame.offset + len(frame.raw) - 4
        data[end : end + 4] = event_checksum(bytes(data[frame.offset : end])).to_bytes(4, "little")
    return bytes(data)
