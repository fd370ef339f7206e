"""Devices and pipes as inputs: nothing is read until memory ends."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from forge.binlog.window import MOST_OF_A_STREAM, LogWindow
from forge.cli import app
from forge.errors import FormatError

COMMANDS = (
    "dump", "dump --rows --json", "disasm", "disasm --annotate", "bytes", "bytes --html", "facts", "check", "tables",
    "schema-of", "rows", "rows --format parquet", "rows --format csv", "compat --to mysql-5.7", "asm -o OUT",
    "build -o OUT", "record -o OUT", "encrypt -o OUT", "decrypt -o OUT --keys /dev/zero", "decrypt -o OUT --key 00",
    "verify", "fixture --lang python -o OUT", "shrink -o OUT --decoder forge", "diff /dev/zero",
)  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="it has the devices of Linux")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_device_without_an_end_is_refused(command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = command.replace("OUT", str(tmp_path / "out")).split()
    assert app.run([*words, "/dev/zero"]) in (1, 2, 69)
    assert capfd.readouterr().err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.fixture
def endless() -> Callable[[bytes], int]:
    """A pipe that begins with these bytes and does not end: the descriptor to read."""

    def pipe(begin: bytes) -> int:
        reading, writing = os.pipe()

        def write() -> None:
            try:
                os.write(writing, begin)
                while True:
                    os.write(writing, bytes(1 << 16))
            except OSError:
                os.close(writing)

        threading.Thread(target=write, daemon=True).start()
        return reading

    return pipe


@pytest.mark.parametrize("begin", [b"", b"\xfebin", b"\xfebin" + bytes(9) + b"\xff" * 10])
def test_what_lies_behind_the_events_of_a_pipe_is_held_up_to_a_limit(
    begin: bytes, endless: Callable[[bytes], int]
) -> None:
    with os.fdopen(endless(begin), "rb") as file:
        window = LogWindow(file)
        with pytest.raises(FormatError, match="64 MiB from here on are one event, or none"):
            window.rest(0)
        assert len(window.data) <= MOST_OF_A_STREAM
        with pytest.raises(FormatError, match="64 MiB from here on are one event, or none"):
            LogWindow(file).left(0)
        with pytest.raises(FormatError, match="64 MiB from here on are one event, or none"):
            LogWindow(file).reach(0, 1 << 31)
