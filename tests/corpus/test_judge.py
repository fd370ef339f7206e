"""Judging a case never fails: whatever happens becomes its row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from forge.binlog import write_binlog
from forge.check.decoder import DecodedTable, Decoder, DecodingEnded, Ending, Item
from forge.check.decoders.forge_decoder import ForgeDecoder
from forge.corpus import judge as judge_module
from forge.corpus.cases import BinlogFile, Case, CompiledCase
from forge.corpus.judge import Status, judge_case, judge_compiled, jury_here
from forge.decode.cells import Cell
from forge.errors import Phase, ScenarioError, UnsupportedError, Verdict

CASE = Case(id="a", file="scenarios/a.yaml", text="", server="mysql-9.7")


def files(*data: bytes) -> CompiledCase:
    return CompiledCase([BinlogFile(f"binlog.{number:06}", one) for number, one in enumerate(data, start=1)])


def judged(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> tuple[Status, str | None]:
    def compile_case(_: Case) -> bytes:
        raise error

    monkeypatch.setattr(judge_module, "compile_case", compile_case)
    found = judge_case(CASE, decoders=["forge"])
    assert (found.case, found.files, found.verdicts) == (CASE, [], [])
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
    found = judge_compiled(CASE, files(b"no binary log"), [])
    assert found.status == "unreadable"
    assert "our own reader stops" in (found.error or "")


class Stub(Decoder):
    """A decoder that shows nothing, and ends as it is told."""

    name = "stub"

    def __init__(self, ended: Ending | None, shown: tuple[Item, ...] = ()) -> None:
        self.ended = ended
        self.shown = shown

    def available(self) -> None:
        return None

    def version(self) -> str:
        return "1"

    def decode(self, data: bytes) -> Iterator[Item]:
        yield from self.shown
        if self.ended is not None:
            raise DecodingEnded(self.ended, "no more")

    def normalise(self, cell: Cell) -> None:
        return None


SURPLUS = (DecodedTable((4, 0), "a.b"),)
EMPTY = write_binlog([])
TORN = EMPTY + b"torn"


@pytest.mark.parametrize(
    ("verdict", "data", "decoder", "outcome"),
    [
        ("reject", TORN, Stub("refused"), "rejects"),
        ("reject", TORN, Stub("unsupported"), "rejects"),
        ("reject", TORN, Stub("refused", SURPLUS), "rejects"),
        ("reject", TORN, Stub("crashed"), "crashed"),
        ("reject", TORN, Stub("timeout"), "timeout"),
        ("reject", TORN, Stub(None), "accepts"),
        ("reject", EMPTY, Stub(None), "accepts"),
        ("may", TORN, Stub("refused"), "rejects"),
        ("may", TORN, Stub(None), "agree"),
        ("may", EMPTY, Stub(None), "agree"),
        ("may", EMPTY, Stub(None, SURPLUS), "disagree"),
        ("may", EMPTY, Stub("refused", SURPLUS), "rejects"),
        ("accept", EMPTY, Stub("refused"), "refused"),
        ("accept", TORN, Stub(None), "disagree"),
    ],
)
def test_a_decoder_is_judged_against_the_verdict_of_the_case(
    verdict: Verdict, data: bytes, decoder: Stub, outcome: str
) -> None:
    case = replace(CASE, verdict=verdict, phase=None if verdict == "accept" else "framing")
    assert [one.outcome for one in judge_compiled(case, files(data), [decoder]).verdicts] == [outcome]


@pytest.mark.parametrize(
    ("verdict", "phase", "data", "against"),
    [
        ("accept", None, EMPTY, None),
        ("accept", None, TORN, "it must be accepted, but our reader stops: .*framing"),
        ("reject", "framing", TORN, None),
        ("reject", "row", TORN, r"must be rejected in the phase row, but our reader stops elsewhere: .*framing"),
        ("reject", "framing", EMPTY, r"it must be rejected \(framing\), but our reader accepts it"),
        ("may", None, EMPTY, None),
        ("may", None, TORN, None),
        ("may", "framing", TORN, None),
        ("may", "row", TORN, "must be rejected in the phase row"),
    ],
)
def test_our_own_reader_is_held_to_the_verdict(
    verdict: Verdict, phase: Phase | None, data: bytes, against: str | None
) -> None:
    found = judge_compiled(replace(CASE, verdict=verdict, phase=phase), files(data), [])
    assert found.status == ("unreadable" if data == TORN else "compiled")
    assert (found.against is None) if against is None else re.search(against, str(found.against))


@pytest.mark.parametrize(
    ("verdict", "chain", "outcome", "status"),
    [
        ("accept", (EMPTY, EMPTY), "agree", "compiled"),
        ("accept", (EMPTY, TORN), "refused", "unreadable"),
        ("reject", (EMPTY, TORN), "rejects", "unreadable"),
        ("reject", (EMPTY, EMPTY), "accepts", "compiled"),
        ("may", (TORN, EMPTY), "rejects", "unreadable"),
    ],
)
def test_several_files_are_one_case_with_one_verdict_a_decoder(
    verdict: Verdict, chain: tuple[bytes, ...], outcome: str, status: str
) -> None:
    case = replace(CASE, verdict=verdict, phase="framing" if verdict == "reject" else None)
    found = judge_compiled(case, files(*chain), [ForgeDecoder()])
    assert (found.status, [one.outcome for one in found.verdicts]) == (status, [outcome])
    if TORN in chain:
        broken = f"binlog.{chain.index(TORN) + 1:06}"
        assert f"our own reader stops: {broken}: " in (found.error or "")
        assert (found.verdicts[0].detail or "").startswith(f"{broken}: ")


def test_an_empty_file_is_judged() -> None:
    found = judge_compiled(CASE, files(EMPTY), [])
    assert (found.status, found.files[0].decode, found.error) == ("compiled", "", None)


def test_our_own_decoder_is_always_here() -> None:
    assert next(iter(jury_here().present)) == "forge"
