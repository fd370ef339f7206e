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

from forge.bulk.printing import words
from forge.errors import ForgeError
from forge.vendors import kernel_events
from forge.vendors.column_forms import Flavour
from forge.vendors.kernel_events import KernelEvents
from forge.vendors.shown_events import ShownEvent
from tests.bulk.damage import damaged
from tests.bulk.test_generated import logs
from tests.recorded import LOGS, RECORDINGS
from tests.vendors.comparing import Text, ours

pytestmark = pytest.mark.slow

OPTIONS: tuple[list[str], ...] = (
    ["-v", "--base64-output=decode-rows"], ["-vv", "--print-table-metadata"], [],
    ["-vv", "--base64-output=decode-rows"], ["-v"],
)  # fmt: skip


def printed(log: Path, flavour: Flavour, options: list[str], *, by_kernel: bool) -> Text | type[Exception]:
    """What we print of a log of any size; the class of an error."""
    least = 0 if by_kernel else 1 << 60
    with pytest.MonkeyPatch.context() as patch:
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
        assert printed(log, flavour, options, by_kernel=True) == printed(log, flavour, options, by_kernel=False)


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
        by_kernel = printed(path, flavour, options, by_kernel=True)
        assert by_kernel == printed(path, flavour, options, by_kernel=False)


def test_words_of_records_are_counted() -> None:
    assert words.LAYOUT_WORDS == words.AFTER_COUNT + 1
    assert words.MAP_WORDS == words.USABLE + 1
