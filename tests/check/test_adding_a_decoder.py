"""docs/add-a-decoder.md is carried out: one module and one line add a decoder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import Tree, blocks_of

pytestmark = pytest.mark.slow

TABLE = "forge/check/decoders/table.py"


def test_the_page_is_what_happens(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    module, line, scenario, console = blocks_of("add-a-decoder.md")
    assert (module.file, line.file, scenario.file) == ("forge/check/decoders/ints.py", TABLE, "numbers.yaml")
    tree.write("forge/check/decoders/ints.py", module.text)
    tree.add_line(TABLE, line.text, before=")")
    tree.write("numbers.yaml", scenario.text)
    tree.carry_out(console.text)
