"""A listing with comments that have the bytes: all of them, and the same file again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.binlog.listing import assemble, listing_text
from forge.binlog.writer import Item, write_binlog
from forge.cli.app import run
from forge.decode.annotated import annotated_listing
from forge.testing.events import files
from tests.recorded import LOGS

RECORDED = [path for path in LOGS if path.stat().st_size < 8000][::18]
#: Offset, bytes, and the field's name.
ROW = re.compile(r"^# +(\d+)  ((?:[0-9a-f]{2} ?)+)", re.MULTILINE)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_without_its_comments_it_is_the_listing_and_it_gives_the_file_again(path: Path) -> None:
    data = path.read_bytes()
    text = "".join(annotated_listing(data))
    assert assemble(text) == data
    kept = [line for line in text.splitlines() if not line.startswith("#")]
    assert kept == [line for line in "".join(listing_text(data)).splitlines() if not line.startswith("#")]
    for offset, digits in ROW.findall(text):
        assert data[int(offset) :].startswith(bytes.fromhex(digits.strip())) or "PAYLOAD" in text


@given(items=files(max_events=3), cut=st.integers(0, 40))
def test_any_log_comes_back_from_its_annotated_listing(items: list[Item], cut: int) -> None:
    data = write_binlog(items)
    data = data[: len(data) - cut]
    assert assemble("".join(annotated_listing(data))) == data


def test_the_command_writes_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log, listing = str(RECORDED[0]), str(tmp_path / "listing")
    assert run(["disasm", log, "--annotate", "-o", listing]) == 0
    assert "header.type_code" in Path(listing).read_text()
    assert run(["asm", listing, "-o", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again").read_bytes() == RECORDED[0].read_bytes()
    assert run(["disasm", log, "--annotate", "--json"]) == 2
    assert "JSON has no comments" in capfd.readouterr().err
