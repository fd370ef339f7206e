"""``forge bytes`` and its page."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from forge.cli.app import run
from tests.pages import blocks_of


def carry_out(page: str, capfd: pytest.CaptureFixture[str]) -> int:
    """Write the files of a page, run its commands in the current folder, compare what they print."""
    steps = 0
    for block in blocks_of(page):
        if block.language == "yaml" and block.file is not None:
            Path(block.file).write_text(block.text)
        if block.language != "console":
            continue
        for step in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, expected = step.partition("\n")
            run(shlex.split(command)[1:])
            said = capfd.readouterr()
            assert said.out + said.err == expected, command
            steps += 1
    return steps


def test_the_page_about_bytes_shows_what_the_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert carry_out("bytes.md", capfd) > 3


def test_a_number_beyond_the_last_event_is_a_wrong_request(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "a.000001"
    log.write_bytes(b"\xfebin")
    assert run(["bytes", str(log), "--event", "3"]) == 2
    assert "has no event 3" in capfd.readouterr().err


def test_a_file_that_is_no_log_is_raw_and_exits_with_3(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    log = tmp_path / "a.000001"
    log.write_bytes(b"PAR1 and more")
    assert run(["bytes", str(log), "--json"]) == 3
    (section,) = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert [run["field"] for run in section["runs"]] == ["raw"]
