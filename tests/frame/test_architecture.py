"""The walks of docs/architecture.md pass the functions that they name, in that order."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import forge

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "architecture.md").read_text()
#: `room.module.function`, as the page has it; a file or a folder has a slash.
_NAME = re.compile(r"`((?:[a-z_]+\.)+[A-Za-z_.]+)`")

SCENARIO = """
scenario: walk
server: mysql-9.7
session: {rows_query: true}
tables:
  - CREATE TABLE shop.orders (id INT PRIMARY KEY, qty INT, note VARCHAR(20))
transactions:
  - - insert: {into: shop.orders, rows: [{id: 1, qty: 3}]}
"""


def names_in(heading: str) -> list[str]:
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return [name for name in _NAME.findall(section) if not name.endswith((".py", ".md", ".yaml"))]


def found(name: str) -> Any:
    """The module, class or function of that name below ``forge``."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(["forge", *parts[:count]]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            value = getattr(value, part)
        return value
    raise AssertionError(name)


class Called:
    """The functions of ``forge`` that are called within the block, in the order of their first calls."""

    def __enter__(self) -> list[str]:
        self._order: dict[str, None] = {}
        sys.setprofile(self._note)
        self.names: list[str] = []
        return self.names

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        module = str(frame.f_globals.get("__name__", ""))
        if event == "call" and module.startswith("forge."):
            self._order.setdefault(f"{module.removeprefix('forge.')}.{frame.f_code.co_qualname}")

    def __exit__(self, *_error: object) -> None:
        sys.setprofile(None)
        self.names += self._order


def test_an_insert_passes_the_functions_that_the_page_names() -> None:
    named = names_in("One INSERT, from YAML to bytes")
    forge.build(SCENARIO)
    with Called() as called:
        forge.build(SCENARIO)
    assert len(named) > 15
    assert [name for name in named if name not in called] == []
    in_order = [name for name in named if name not in ("binlog.writer.write_binlog", "events.event.encode_event")]
    assert sorted(in_order, key=called.index) == in_order


def test_a_row_passes_the_functions_that_the_page_names(tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="the extra `rows` is not installed")
    pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")
    (tmp_path / "binlog.000001").write_bytes(forge.build(SCENARIO).data)
    list(forge.read_rows(tmp_path / "binlog.000001"))
    with Called() as called:
        list(forge.read_rows(tmp_path / "binlog.000001"))
    named = [name for name in names_in("One row, from a file to Arrow") if not name.startswith("forge.")]
    assert len(named) > 5
    assert [name for name in named if name not in called] == []
    assert sorted(named, key=called.index) == named


def test_what_the_page_says_to_be_somewhere_is_there() -> None:
    named = names_in("Where things are")
    assert len(named) > 8
    for name in named:
        if "." in name and not name.startswith("forge/"):
            found(name)
