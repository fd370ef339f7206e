"""What the page about ``forge generate`` shows is run."""

from __future__ import annotations

import doctest
import shlex
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="the extra [rows] is not installed")

from forge.cli.app import run
from forge.scenario.volume_model import GENERATORS, Volume, VolumeTable
from tests.pages import ROOT, blocks_of

pytestmark = pytest.mark.slow

PAGE = "generate.md"


def test_the_page_shows_what_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    answers: list[str] = []
    for block in blocks_of(PAGE):
        if block.language == "yaml":
            assert block.file is not None
            Path(block.file).write_text(block.text)
        elif block.language == "sh":
            for line in block.text.splitlines():
                program, *arguments = shlex.split(line)
                assert program == "forge"
                assert run(arguments) == 0
        elif block.text.startswith(">>>"):
            example = doctest.DocTestParser().get_doctest(block.text, names, PAGE, PAGE, 0)
            doctest.DocTestRunner(verbose=False).run(example, out=answers.append, clear_globs=False)
        else:
            exec(block.text, names)
    assert "".join(answers) == ""
    assert (tmp_path / "shop" / "binlog.000002").exists()


def test_the_page_names_every_word_of_the_section() -> None:
    text = (ROOT / "docs" / PAGE).read_text()
    words = {*Volume.__struct_fields__, *VolumeTable.__struct_fields__, *GENERATORS, "pool", "zipf", "nulls"} - {
        "tables"
    }
    assert [word for word in sorted(words) if f"`{word}" not in text and f"{{{word}" not in text] == []
