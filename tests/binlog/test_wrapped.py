"""Archived logs: gzip and zstd files are read as the log inside, and listed as they are."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard

import forge
from forge.cli import app
from forge.errors import FormatError
from forge.resources import corpora_dir

LOG = (corpora_dir() / "recordings" / "first-day" / "binlog.000001").read_bytes()
WRAPPED = {
    "gz": gzip.compress(LOG),
    "zst": zstandard.compress(LOG),
    "twice.zst": zstandard.compress(LOG[:99]) + zstandard.compress(LOG[99:]),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_a_wrapped_log_is_read_as_the_log(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"binlog.{name}"
    path.write_bytes(WRAPPED[name])
    assert [event.raw for event in forge.read_events(path)] == [
        event.raw for event in forge.read_events(corpora_dir() / "recordings" / "first-day" / "binlog.000001")
    ]
    assert forge.read(path).rows == forge.read(LOG).rows
    assert app.run(["dump", "--json", str(path)]) == 0
    assert len(capfd.readouterr().out.splitlines()) == len(forge.read(LOG).events)


@pytest.mark.parametrize("name", WRAPPED)
def test_a_damaged_wrapping_is_a_sentence(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken"
    path.write_bytes(WRAPPED[name][:-9])
    assert app.run(["dump", str(path)]) == 3
    assert capfd.readouterr().err.startswith("forge: ")
    with pytest.raises(FormatError):
        forge.read(path)


def test_the_listing_of_a_wrapped_log_is_of_its_bytes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log.gz").write_bytes(WRAPPED["gz"])
    assert app.run(["disasm", str(tmp_path / "log.gz"), "-o", str(tmp_path / "listing")]) == 0
    assert app.run(["asm", str(tmp_path / "listing"), "-o", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again").read_bytes() == WRAPPED["gz"]
