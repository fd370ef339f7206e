"""`forge check`: what it prints at the end, and its exit code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.binlog import write_binlog
from forge.check.decoder import Decoder, DecodingEnded, Ending, Expected, Item
from forge.check.decoders import table
from forge.check.decoders.forge_decoder import ForgeDecoder
from forge.cli.commands.check import command
from forge.decode.cells import Cell
from forge.errors import CheckFailed, FormatError
from forge.events.event import Event
from forge.events.format_description import FormatDescription
from forge.events.query import Query

DESCRIPTION = FormatDescription(server_version="9.7.4", post_header_lengths=bytes(42))
FILE = write_binlog([Event(body=DESCRIPTION), Event(body=Query(query="BEGIN"))])
BROKEN = FILE[:-1] + bytes([FILE[-1] ^ 1])


class Ended(Decoder):
    """A decoder that gives up at once."""

    def __init__(self, ending: Ending | None) -> None:
        self.name = f"x-{ending}"
        self.ending = ending

    def available(self) -> str | None:
        return "it is a made-up decoder" if self.ending is None else None

    def version(self) -> str:
        return "1"

    def decode(self, data: bytes) -> Iterator[Item]:
        yield from ()
        assert self.ending is not None
        raise DecodingEnded(self.ending, "no")

    def normalise(self, cell: Cell) -> Expected:
        return cell.text()


class Check:
    """Runs the command with made-up decoders beside ours."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch = monkeypatch
        self.file = folder / "binlog.000001"
        self.capfd = capfd

    def __call__(self, data: bytes, *endings: Ending | None, options: tuple[str, ...] = ()) -> str:
        """The last line that it prints.  Raises what the command raises."""
        decoders = [ForgeDecoder(), *map(Ended, endings)]
        self.monkeypatch.setattr(table, "available_decoders", lambda: decoders)
        self.file.write_bytes(data)
        try:
            command.main([str(self.file), *options], standalone_mode=False)
        finally:
            self.printed = self.capfd.readouterr().out.splitlines()
        return self.printed[-1]


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Check:
    return Check(monkeypatch, tmp_path, capfd)


def test_a_decoder_that_refuses_a_file_that_is_right_fails_the_check(check: Check) -> None:
    with pytest.raises(CheckFailed, match="x-refused refuses a file that breaks no rule"):
        check(FILE, "refused")
    assert CheckFailed.exit_code == 1


@pytest.mark.parametrize("ending", ["crashed", "timeout"])
@pytest.mark.parametrize("data", [FILE, BROKEN])
def test_a_decoder_that_crashes_or_does_not_end_fails_the_check_of_any_file(
    check: Check, ending: Ending, data: bytes
) -> None:
    with pytest.raises(CheckFailed, match=f"x-{ending}"):
        check(data, ending)


def test_a_decoder_that_refuses_a_broken_file_is_right_and_the_files_error_is_told(check: Check) -> None:
    with pytest.raises(FormatError, match="checksum"):
        check(BROKEN, "refused")


@pytest.mark.parametrize("ending", ["unsupported", "too_long", None])
def test_a_decoder_that_does_not_know_something_or_prints_too_much_or_is_not_here_does_not_fail_the_check(
    check: Check, ending: Ending | None
) -> None:
    assert check(FILE, ending).startswith("2 decoders: 1 agree, 1 ")


def test_every_verdict_is_counted_in_the_last_line(check: Check) -> None:
    endings: tuple[Ending | None, ...] = (
        "refused",
        "unsupported",
        "unsupported",
        "crashed",
        "timeout",
        "too_long",
        None,
    )
    with pytest.raises(CheckFailed):
        check(FILE, *endings)
    assert check.printed[-1] == (
        "8 decoders: 1 agree, 1 refused, 2 unsupported, 1 crashed, 1 timed out, 1 too long, 1 not here"
    )
    with pytest.raises(CheckFailed):
        check(FILE, *endings, options=("--json",))
    assert json.loads(check.printed[-1]) == {
        "summary": {
            "agree": 1, "disagree": 0, "refused": 1, "unsupported": 2, "crashed": 1, "timeout": 1, "too_long": 1,
            "not_here": 1,
        }
    }  # fmt: skip
