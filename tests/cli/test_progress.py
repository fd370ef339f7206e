"""Progress bars are for people who look at a terminal."""

from __future__ import annotations

import io
import sys

import pytest

from forge.cli import progress as bars


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stderr", [io.StringIO(), Terminal()], ids=["pipe", "terminal"])
def test_a_terminal_gets_bars_and_nothing_else_does(monkeypatch: pytest.MonkeyPatch, stderr: io.StringIO) -> None:
    monkeypatch.setattr(bars, "DELAY", 0.0)
    monkeypatch.setattr(sys, "stderr", stderr)
    with bars.progress_to("tasks") as report:
        report(1, 2)
        report(2, 2)
    assert list(bars.progress([1, 2], total=2, label="items")) == [1, 2]
    labels = [label for label in ("tasks", "items") if label in stderr.getvalue()]
    assert labels == (["tasks", "items"] if stderr.isatty() else [])
    assert stderr.isatty() or not stderr.getvalue()
