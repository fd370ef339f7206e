"""The walks of docs/architecture.md pass the functions that they name, in that order."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
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


#: Runs a statement twice, and prints the functions of ``forge`` that the second run calls, in the order of first calls.
#: In a process of its own: what is told of calls has hung CPython 3.11.2 beside the threads of Spark.
_WALK = """
import json, sys
import forge
statement, order = compile(sys.argv[1], "walk", "exec"), {}

def note(frame, event, argument):
    module = str(frame.f_globals.get("__name__", ""))
    if event == "call" and module.startswith("forge."):
        order.setdefault(f"{module.removeprefix('forge.')}.{frame.f_code.co_qualname}")

exec(statement)
sys.setprofile(note)
exec(statement)
sys.setprofile(None)
print(json.dumps(list(order)))
"""


def called_by(statement: str) -> list[str]:
    """The functions of ``forge`` that a statement calls, in the order of their first calls."""
    done = subprocess.run(
        [sys.executable, "-c", _WALK, statement], capture_output=True, text=True, check=True, timeout=240
    )
    names: list[str] = json.loads(done.stdout)
    return names


@pytest.mark.slow
def test_an_insert_passes_the_functions_that_the_page_names() -> None:
    named = names_in("One INSERT, from YAML to bytes")
    called = called_by(f"forge.build({SCENARIO!r})")
    assert len(named) > 15
    assert [name for name in named if name not in called] == []
    in_order = [name for name in named if name not in ("binlog.writer.write_binlog", "events.event.encode_event")]
    assert sorted(in_order, key=called.index) == in_order


@pytest.mark.slow
def test_a_row_passes_the_functions_that_the_page_names(tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="the extra `rows` is not installed")
    pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")
    (tmp_path / "binlog.000001").write_bytes(forge.build(SCENARIO).data)
    called = called_by(f"list(forge.read_rows({str(tmp_path / 'binlog.000001')!r}))")
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
