"""Files that are read a window at a time, held against files that are read whole."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import forge
from forge.binlog import PlacedEvent, frames, read_events, window
from forge.binlog.window import LogSource, LogWindow
from forge.errors import FormatError
from forge.resources import corpora_dir

FILE = (corpora_dir() / "recordings" / "first-day" / "binlog.000001").read_bytes()


class Pipe(io.BytesIO):
    """Bytes whose number nobody knows, and that come in pieces."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(size if size is None or size < 0 else max(1, size // 3))

    def fileno(self) -> int:
        raise OSError("no file")


def outcome(source: LogSource, *, strict: bool) -> tuple[list[PlacedEvent], tuple[object, ...]]:
    found: list[PlacedEvent] = []
    try:
        found.extend(read_events(source, strict=strict))
    except FormatError as error:
        return found, (str(error), error.offset, error.event_index, error.phase)
    return found, ()


@given(
    cut=st.integers(0, len(FILE)),
    place=st.integers(0, len(FILE) - 1),
    byte=st.integers(0, 255),
    size=st.integers(1, 2 * len(FILE)),
    strict=st.booleans(),
)
def test_a_window_of_any_size_reads_what_all_bytes_give(
    tmp_path_factory: pytest.TempPathFactory, cut: int, place: int, byte: int, size: int, strict: bool
) -> None:
    data = (FILE[:place] + bytes([byte]) + FILE[place + 1 :])[:cut]
    path = tmp_path_factory.getbasetemp() / "log"
    path.write_bytes(data)
    whole = outcome(data, strict=strict)
    with pytest.MonkeyPatch.context() as patch, path.open("rb") as file:
        patch.setattr(window, "WINDOW", size)
        assert outcome(LogWindow(file), strict=strict) == whole
        found, refusal = outcome(LogWindow(Pipe(data)), strict=strict)
    if refusal and "are held at once" in str(refusal[0]):
        # A size beyond what is held of a pipe is not looked for in it.
        assert found == whole[0][: len(found)]
    else:
        assert (found, refusal) == whole


def test_events_of_a_file_have_their_places_and_those_of_payloads_follow() -> None:
    path = sorted(corpora_dir().glob("recordings/**/*compress*/**/binlog.000001"))[0]
    logged = list(forge.read_events(path))
    assert [item.placed for item in logged if not item.inner] == list(read_events(path.read_bytes()))
    assert any(item.inner for item in logged)
    assert {(item.index, item.offset) for item in logged} == {(f.index, f.offset) for f in frames(path.read_bytes())}


def test_an_error_names_the_file_and_comes_behind_the_events_before_it(tmp_path: Path) -> None:
    path = tmp_path / "torn.000001"
    path.write_bytes(FILE[:-1])
    events = forge.read_events(path)
    types: list[str] = []
    with pytest.raises(FormatError, match=rf"{path.name}, event \d+, offset \d+, framing: the event says it has"):
        types.extend(item.event.type_name for item in events)
    assert types == [placed.event.type_name for placed in read_events(FILE)][:-1]


def test_a_file_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        next(forge.read_events(tmp_path / "binlog.000001"))


def test_memory_does_not_grow_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "WINDOW", 1 << 16)
    placed = list(read_events(FILE))
    middle = b"".join(item.raw for item in placed[1:-1])

    def peak(windows: int) -> int:
        path = tmp_path / f"{windows}.000001"
        path.write_bytes(FILE[: placed[1].offset] + middle * (windows * window.WINDOW // len(middle)))
        tracemalloc.start()
        try:
            assert sum(1 for _ in forge.read_events(path)) > 400 * windows
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)  # what is loaded and kept once
    # Python 3.14 collects what refers to itself later than others do, but no later for more of it.
    assert peak(20) < peak(10) + 4 * window.WINDOW


def test_a_size_beyond_the_end_of_a_file_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "lies.000001"
    first = next(frames(FILE)).raw
    lie = bytearray(first)
    lie[9:13] = b"\xff\xff\xff\xff"
    path.write_bytes(FILE[:4] + first + bytes(lie) + bytes(6 * window.WINDOW))
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match="the event says it has 4294967295 bytes, but only"):
            list(forge.read_events(path))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * window.WINDOW
