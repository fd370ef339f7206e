"""Servers of older lines: what they record is compiled byte for byte, and they apply the first day of every line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("pymysql")

from forge.binlog import write_binlog
from forge.compile import compile_files
from forge.record.builds import BUILD_OF_LINE, BUILDS, LINES_OF_TODAY, how_to_get, is_unpacked
from forge.record.recording import record, verify
from forge.resources import corpora_dir
from forge.scenario import load_scenario, plan
from forge.servers import server_line, server_names
from tests.long.compat.__main__ import applied_by, read_by
from tests.long.compat.logs import Log
from tests.long.vendors.applier import Applier

pytestmark = pytest.mark.servers

FIRST_DAY = corpora_dir() / "scenarios" / "first-day.yaml"
OLD_LINES = [line for line in BUILD_OF_LINE if line not in LINES_OF_TODAY]
SCENARIO = """
scenario: a-day
tables:
  - >-
    CREATE TABLE shop.parts (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, price DECIMAL(9,2),
    size ENUM('s','m','l'), made DATE, body BLOB, KEY (name)) CHARACTER SET latin1
  - CREATE TABLE shop.counts (part INT UNSIGNED, n BIGINT, ratio DOUBLE, UNIQUE KEY (part))
transactions:
  - - insert: {into: shop.parts, rows: [{name: nut, price: 1.25, size: s, made: 2024-02-29, body: 0xff00}]}
    - insert: {into: shop.parts, rows: [{name: bolt, price: -3}]}
    - insert: {into: shop.counts, rows: [{part: 1, n: 9007199254740993, ratio: 0.1}, {part: null, n: -1}]}
  - - update: {table: shop.parts, where: {id: 2}, set: {price: 4.5, size: l}}
    - delete: {from: shop.counts, where: {part: 1}}
  - - ddl: ALTER TABLE shop.parts ADD COLUMN note VARCHAR(20)
  - - insert: {into: shop.parts, rows: [{name: gear, note: new}]}
  - - ddl: DROP TABLE shop.counts
"""


def unpacked(line: str) -> str:
    """The build that stands for the line, or the nearest recorded one of its family."""
    own = server_line(line)
    family = [name for name in BUILD_OF_LINE if server_line(name).family == own.family]
    family.sort(key=lambda name: server_line(name).release)
    later = [name for name in family if server_line(name).release >= own.release]
    build = BUILD_OF_LINE[line if line in BUILD_OF_LINE else (later or family[-1:])[0]]
    if not is_unpacked(build):
        pytest.skip(f"THE SERVER {BUILDS[build].title} IS NOT HERE: {how_to_get(build)} unpacks it")
    return build


@pytest.mark.parametrize("line", OLD_LINES)
def test_what_an_older_server_records_is_compiled_byte_for_byte(line: str, tmp_path: Path) -> None:
    unpacked(line)
    scenario = tmp_path / "a-day.yaml"
    scenario.write_text(SCENARIO)
    record(scenario, tmp_path / "out", parameters={"server": line})
    result = verify(tmp_path / "out")
    assert result.problem is None
    assert (result.tables, result.rows) == (1, 3)


@pytest.fixture(scope="module")
def appliers() -> Iterator[dict[str, Applier]]:
    """Servers that were started, by build; they end with the module."""
    with ExitStack() as stack:
        started = _Appliers(stack)
        yield started


class _Appliers(dict[str, Applier]):
    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def __missing__(self, build: str) -> Applier:
        self[build] = self._stack.enter_context(Applier(build))
        return self[build]


@pytest.mark.parametrize("line", [name for name in server_names() if server_line(name).knows("row_events")])
def test_the_first_day_of_a_line_is_read_and_applied(line: str, appliers: dict[str, Applier]) -> None:
    build = unpacked(line)
    planned = plan(load_scenario(FIRST_DAY, {"server": line}))
    (data,) = (write_binlog(events) for events in compile_files(planned))
    log = Log(line, data, planned)
    assert read_by(build, data) in ("end", "unmeasured")
    assert applied_by(appliers[build], log) == "end"
