"""The kernel that prints as the vendors' programs do: what the printers print without it, to the byte."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the extra `rows` is not installed")

from hypothesis import given
from hypothesis import strategies as st

from forge import build
from forge.bulk.printing import words
from forge.errors import ForgeError
from forge.vendors.column_forms import Flavour
from forge.vendors.kernel import kernel_buffer, kernel_events, kernel_knowledge
from forge.vendors.kernel.kernel_events import KernelEvents
from forge.vendors.shown_events import ShownEvent
from tests.bulk.damage import damaged
from tests.bulk.test_generated import logs
from tests.recorded import LOGS, RECORDINGS
from tests.vendors.comparing import Text, ours

pytestmark = pytest.mark.slow

#: Bytes of a text that the kernel leaves free.
ROOM = 1 << 14
OPTIONS: tuple[list[str], ...] = (
    ["-v", "--base64-output=decode-rows"], ["-vv", "--print-table-metadata"], [],
    ["-vv", "--base64-output=decode-rows"], ["-v"],
)  # fmt: skip


def printed(
    log: Path, flavour: Flavour, options: list[str], *, by_kernel: bool, little_room: bool = False
) -> Text | type[Exception]:
    """What we print of a log of any size; the class of an error.  With ``little_room`` few rows fit a text."""
    least = 0 if by_kernel else 1 << 60
    with pytest.MonkeyPatch.context() as patch:
        if little_room:
            patch.setattr(kernel_knowledge, "TEXT", ROOM + 1500)
            patch.setattr(kernel_knowledge, "_LARGEST_TEXT", ROOM + 1500)
            patch.setattr(kernel_buffer, "_TOGETHER", 1 << 11)
        patch.setattr(kernel_events, "_MANY", least)
        patch.setattr(kernel_events, "_VERY_MANY", least)
        try:
            return ours(flavour, log, options)
        except ForgeError as error:
            return type(error)


def flavour_of(log: Path) -> Flavour:
    return "mysql" if "mysql" in str(log.relative_to(RECORDINGS)) else "mariadb-11.8"


@pytest.mark.parametrize("log", LOGS, ids=lambda log: str(log.relative_to(RECORDINGS)))
def test_a_recording_is_printed_alike_with_and_without_the_kernel(log: Path) -> None:
    options = random.Random(str(log.relative_to(RECORDINGS))).choice(OPTIONS)
    for flavour in {flavour_of(log), "mysql"}:
        expected = printed(log, flavour, options, by_kernel=False)
        for little_room in (False, True):
            assert printed(log, flavour, options, by_kernel=True, little_room=little_room) == expected


def test_the_kernel_prints_nearly_all_events_of_a_usual_log(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[int] = []
    learned = kernel_events.KernelEvents.learned

    def noted(self: KernelEvents, event: ShownEvent, pieces: Iterator[bytes]) -> Iterator[bytes]:
        left.append(event.type_code)
        return learned(self, event, pieces)

    monkeypatch.setattr(KernelEvents, "learned", noted)
    log = RECORDINGS / "values" / "dates" / "mysql-9.7" / "binlog.000001"
    assert isinstance(printed(log, "mysql", OPTIONS[0], by_kernel=True), Text)
    assert left
    assert not set(left) & {30, 31, 32}


@given(st.sampled_from(LOGS), st.randoms(use_true_random=False), st.sampled_from(OPTIONS))
def test_a_damaged_log_is_printed_alike(log: Path, draws: random.Random, options: list[str]) -> None:
    data = damaged(log.read_bytes(), draws)
    if data is not None:
        _alike(data, flavour_of(log), options)


@given(logs(damaged=False), st.sampled_from(OPTIONS))
def test_generated_tables_are_printed_alike(log: bytes, options: list[str]) -> None:
    _alike(log, "mysql", options)
    _alike(log, "mariadb-11.8", options)


@given(logs(damaged=True), st.sampled_from(OPTIONS))
def test_generated_tables_with_damaged_cells_are_printed_alike(log: bytes, options: list[str]) -> None:
    _alike(log, "mysql", options)


def _alike(log: bytes, flavour: Flavour, options: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "binlog.000001"
        path.write_bytes(log)
        expected = printed(path, flavour, options, by_kernel=False)
        for little_room in (False, True):
            assert printed(path, flavour, options, by_kernel=True, little_room=little_room) == expected


MANY = """\
scenario: many
server: mysql-9.7
session: {binlog_row_event_max_size: 256}
tables: ["CREATE TABLE d.t (id INT, t TEXT, d DATE, j JSON)"]
transactions:
  - - insert:
        into: d.t
        rows:
"""


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_rows_of_a_long_statement_are_printed_from_events_that_are_read_again(
    options: list[str], tmp_path: Path
) -> None:
    # A few rows are left to the reference path: a text of 3000 bytes is more than there is room for.
    rows = (
        f"          - {{id: {number}, t: {'x' * (3000 if number % 50 == 7 else number)}, j: '[{number}]'}}\n"
        for number in range(200)
    )
    path = tmp_path / "binlog.000001"
    path.write_bytes(build(MANY + "".join(rows)).data)
    expected = printed(path, "mysql", options, by_kernel=False)
    assert isinstance(expected, Text)
    assert expected.out.count(b"_rows: table id") > 50
    assert printed(path, "mysql", options, by_kernel=True, little_room=True) == expected


def test_words_of_records_are_counted() -> None:
    assert words.LAYOUT_WORDS == words.AFTER_COUNT + 1
    assert words.MAP_WORDS == words.USABLE + 1
