"""What a person sees of a command that fails, and what starting one costs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from forge.cli import app
from forge.errors import CheckFailed, FormatError, ScenarioError


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    """The exit code of a command that raises ``error``."""

    @click.command()
    def command() -> None:
        raise error

    def get_command(_self: app.LazyGroup, _context: click.Context, _name: str) -> click.Command:
        return command

    monkeypatch.setattr(app.LazyGroup, "get_command", get_command)
    return app.run(["dump"])


def forge(*arguments: str, input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "forge", *arguments], input=input, capture_output=True, check=False)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ScenarioError("no table t", file="a.yaml", line=3), 2, "forge: a.yaml:3: no table t"),
        (FormatError("torn", phase="framing", offset=4), 3, "forge: offset 4, framing: torn"),
        (CheckFailed("they differ"), 1, "forge: they differ"),
        (ScenarioError("two\nlines"), 2, "forge: two lines"),
        (FileNotFoundError(2, "No such file or directory", "x"), 2, "forge: x: No such file or directory"),
        (OSError(28, "No space left on device", "x"), 1, "forge: x: No space left on device"),
        (KeyboardInterrupt(), 130, "forge: interrupted"),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], error: BaseException, code: int, line: str
) -> None:
    assert failing(monkeypatch, error) == code
    assert capfd.readouterr() == ("", line + "\n")


def test_an_unexpected_error_asks_for_a_report_and_shows_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FORGE_DEBUG", raising=False)
    assert failing(monkeypatch, ZeroDivisionError("oh")) == 70
    shown = capfd.readouterr().err
    assert shown.count("\n") == 1
    assert "ZeroDivisionError: oh" in shown
    assert "report" in shown


def test_debugging_lets_the_traceback_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        failing(monkeypatch, ZeroDivisionError("oh"))


def test_a_misspelt_command_is_answered_with_the_nearest(capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["disam", "x"]) == 2
    assert "did you mean 'disasm'" in capfd.readouterr().err


@pytest.mark.parametrize("arguments", [["dump"], ["dump", "--what"], ["asm", "listing"], ["--what"]])
def test_wrong_usage_is_one_line_with_exit_code_2(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(arguments) == 2
    out, shown = capfd.readouterr()
    assert out == ""
    assert shown.startswith("forge: ")
    assert shown.count("\n") == 1


@pytest.mark.parametrize("name", list(app.COMMANDS))
def test_the_help_of_every_command_has_an_example(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run([name, "--help"]) == 0
    assert re.search(rf"forge {name}\b", capfd.readouterr().out.partition("Example")[2])


def test_the_help_names_every_command(capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["--help"]) == 0
    shown = capfd.readouterr().out
    assert [name for name in app.COMMANDS if f"  {name} " not in shown] == []


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_the_command_quietly(tmp_path: Path) -> None:
    noise = tmp_path / "noise"
    noise.write_bytes(b"noise" * 200_000)
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "forge", "disasm", str(noise)], stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    os.close(reading)
    _, shown = process.communicate()
    assert (process.returncode, shown) == (141, b"")


@pytest.mark.slow
def test_files_may_come_from_standard_input() -> None:
    listing = forge("disasm", "-", input=b"no binary log").stdout
    assert forge("asm", "-", "-o", "-", input=listing).stdout == b"no binary log"


def test_the_version_is_printed() -> None:
    from forge import __version__

    assert forge("--version").stdout.decode() == f"forge {__version__}\n"
