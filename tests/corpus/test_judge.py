"""Judging a case never fails: whatever happens becomes its row."""

from __future__ import annotations

import pytest

from forge.binlog import write_binlog
from forge.corpus import judge as judge_module
from forge.corpus.cases import Case
from forge.corpus.judge import Status, judge_bytes, judge_case, jury_here
from forge.errors import ScenarioError, UnsupportedError

CASE = Case(id="a", file="scenarios/a.yaml", text="", server="mysql-9.7")


def judged(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> tuple[Status, str | None]:
    def compile_case(_: Case) -> bytes:
        raise error

    monkeypatch.setattr(judge_module, "compile_case", compile_case)
    found = judge_case(CASE, decoders=["forge"])
    assert (found.case, found.binlog, found.verdicts) == (CASE, None, [])
    return found.status, found.error


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (UnsupportedError("XA is not compiled yet"), "unsupported", "XA is not compiled yet"),
        (ScenarioError("no table t", file="a.yaml", line=2), "invalid", "a.yaml:2: no table t"),
        (ZeroDivisionError("oh\nno"), "crashed", "ZeroDivisionError: oh no"),
        (RecursionError("deep"), "crashed", "RecursionError: deep"),
    ],
)
def test_what_goes_wrong_is_a_status_and_a_sentence(
    monkeypatch: pytest.MonkeyPatch, error: Exception, status: Status, message: str
) -> None:
    assert judged(monkeypatch, error) == (status, message)


def test_a_case_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_case(_: Case) -> bytes:
        while True:
            pass

    monkeypatch.setattr(judge_module, "compile_case", compile_case)
    monkeypatch.setattr(judge_module, "CASE_LIMIT", 0.2)
    assert judge_case(CASE, decoders=["forge"]).status == "timeout"


def test_an_interrupt_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        judged(monkeypatch, KeyboardInterrupt())


def test_a_file_that_our_reader_refuses_is_a_failing_row() -> None:
    found = judge_bytes(CASE, b"no binary log", [])
    assert found.status == "unreadable"
    assert "our own reader stops" in (found.error or "")


def test_an_empty_file_is_judged() -> None:
    found = judge_bytes(CASE, write_binlog([]), [])
    assert (found.status, found.decode, found.error) == ("compiled", "", None)


def test_our_own_decoder_is_always_here() -> None:
    assert next(iter(jury_here().present)) == "forge"
