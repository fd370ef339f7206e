"""What a command imports, which is what its start takes: rooms and packages that it has no use for stay outside."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

RUN = """\
import json, sys
from forge.cli.app import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""
SCENARIO = """\
scenario: small
server: mysql-9.7
tables: ["CREATE TABLE d.t (i INT)"]
transactions: [[insert: {into: d.t, rows: [{i: 1}]}]]
"""
#: Rooms and packages that no command below needs.
HEAVY = {
    "forge.spark", "forge.corpus", "forge.record", "forge.render", "forge.testing",
    "faker", "jinja2", "jsonschema", "numpy", "pandas", "pyarrow", "pyspark", "tqdm",
}  # fmt: skip
#: Rooms that reading and writing a file needs neither.
ABOVE_FILES = {"forge.scenario", "forge.engine", "forge.compile", "forge.sql"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("commands")
    (folder / "small.yaml").write_text(SCENARIO)
    (folder / "listing").write_text("file: fe62696e\n")
    (folder / "file").write_bytes(b"\xfebin")
    return folder


@pytest.mark.parametrize(
    ("arguments", "outside"),
    [
        (["--help"], HEAVY | ABOVE_FILES | {"forge.binlog", "construct", "msgspec", "yaml"}),
        (["asm", "listing", "-o", "made"], HEAVY | ABOVE_FILES),
        (["disasm", "file"], HEAVY | ABOVE_FILES),
        (["dump", "file"], HEAVY | ABOVE_FILES | {"yaml"}),
        (["build", "small.yaml", "-o", "built"], HEAVY),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_imports_nothing_that_it_has_no_use_for(
    arguments: list[str], outside: set[str], folder: Path
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", RUN, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    code, modules = json.loads(ran.stderr.splitlines()[-1])
    assert code == 0, ran.stderr
    assert outside & set(modules) == set()
