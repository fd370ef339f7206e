"""What an outcome says: nothing hides behind a difference, and a refusal counts where a reader would have read on."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forge.conform.comparison import Comparison, Ended, Reading
from forge.conform.forms import Forms
from forge.conform.judgement import judged
from forge.conform.kit.protocol import Gap, RowAnswer, parse_answer
from forge.conform.kit.reading import ExpectedLog, open_kit
from forge.conform.testee import said_in_a_line
from forge.corpus.outcomes import Outcome
from forge.errors import Verdict

IDLE = Path(__file__).with_name("idle_testee.py")


def row(offset: int, *values: int | None) -> dict[str, Any]:
    """A row of an INSERT; None is bytes that are no value."""
    cells = [
        {
            "column": number,
            "type_code": 3 if value is not None else 245,
            "raw": "00" if value is None else value.to_bytes(4, "little").hex(),
            "value": {"broken": "no document"} if value is None else {"integer": str(value)},
        }
        for number, value in enumerate(values, start=1)
    ]
    return {
        "event": offset // 100, "offset": offset, "row": 1, "kind": "insert", "database": "d", "table": "t",
        "before": None, "after": cells,
    }  # fmt: skip


def answer(offset: int | None, *values: Any) -> RowAnswer:
    cells = [{"column": number, "value": value} for number, value in enumerate(values, start=1)]
    plain = {"kind": "insert", "database": "d", "table": "t", "after": cells, "offset": offset}
    return msgspec.convert(plain, RowAnswer)


def comparison(
    rows: Sequence[Mapping[str, Any]],
    answers: Sequence[RowAnswer],
    ended: Ended = "ok",
    *,
    stops_at: int | None = None,
    gaps: Sequence[int] = (),
) -> Comparison:
    events = [
        {"index": one["event"], "offset": one["offset"], "type": "WRITE_ROWS", "fields": {}} for one in rows
    ]  # fmt: skip
    reading = Reading(rows=list(answers), ended=ended, gaps={(at, 0): "it gives up" for at in gaps})
    return Comparison(ExpectedLog(events, rows, stops_at), Forms({"integer": "number"}), reading)


def test_a_wrong_value_hides_none_behind_it() -> None:
    rows = [row(100, 1, 2), row(200, 3, 4), row(300, 5, 6)]
    result = judged(comparison(rows, [answer(100, 9, 2), answer(200, 9, 8), answer(300, 5, 6)]), "accept")
    assert (result.outcome, result.count) == ("disagree", 3)
    assert [(one.offset, one.column) for one in result.differences] == [(100, 1), (200, 2)]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([answer(200, 2)], ["it does not show the row"]),
        ([answer(100, 1), answer(100, 1), answer(200, 2)], ["it shows one row too many in the event at 100"]),
        ([answer(100, 1), answer(150, 1), answer(200, 2)], ["it shows a row of"]),
        ([answer(200, 9)], ["it does not show the row", "the value is 2, it shows 9"]),
        ([answer(100, 1), answer(100, 1), answer(200, 9)], ["one row too many", "the value is 2, it shows 9"]),
    ],
)
def test_a_row_that_is_missing_or_one_too_many_hides_none_behind_it(answers: list[RowAnswer], said: list[str]) -> None:
    result = judged(comparison([row(100, 1), row(200, 2)], answers), "accept")
    assert result.outcome == "disagree"
    assert len(result.differences) == len(said)
    assert all(words in one.sentence for words, one in zip(said, result.differences, strict=True))


def test_rows_that_are_shown_before_a_gap_are_compared() -> None:
    rows = [row(100, 1), row(100, 2), row(200, 3)]
    right = [answer(100, 1), answer(200, 3)]
    assert judged(comparison(rows, right, gaps=[100]), "accept").outcome == "unsupported"
    assert judged(comparison(rows, [answer(100, 7), answer(200, 3)], gaps=[100]), "accept").outcome == "disagree"
    assert judged(comparison(rows, [answer(None, 3)], gaps=[100]), "accept").outcome == "unsupported"


@pytest.mark.parametrize(
    ("shown", "outcome"),
    [
        (({"broken": "no"}, 2), "rejects"),
        ((None, 2), "rejects"),
        (({"broken": "no"}, 9), "disagree"),
        (("[]", 2), "accepts"),
    ],
)
def test_a_cell_that_is_no_value_hides_no_other_cell(shown: tuple[Any, ...], outcome: Outcome) -> None:
    result = judged(comparison([row(100, None, 2)], [answer(100, *shown)]), "reject", "value", sound_to=100)
    assert result.outcome == outcome


@pytest.mark.parametrize(
    ("answers", "verdict", "outcome"),
    [
        ([answer(100, 1)], "reject", "rejects"),
        ([answer(None, 1)], "reject", "rejects"),
        ([answer(100, 1), answer(200, 9)], "reject", "rejects"),
        ([], "reject", "refused"),
        ([], "may", "refused"),
        ([answer(100, 9)], "reject", "disagree"),
        ([answer(100, 9)], "may", "disagree"),
        ([], "accept", "refused"),
    ],
)
def test_a_reader_that_stops_has_to_read_what_lies_before_the_fault(
    answers: list[RowAnswer], verdict: Verdict, outcome: Outcome
) -> None:
    stopped = comparison([row(100, 1)], answers, "refused")
    end = {"index": 2, "offset": 150, "type": "XID", "fields": {}}
    whole = replace(stopped, expected=replace(stopped.expected, events=[*stopped.expected.events, end]))
    assert judged(whole, verdict, "body", sound_to=200).outcome == outcome


def test_a_reader_may_keep_rows_back_until_their_transaction_is_whole() -> None:
    for answers, outcome in (([], "rejects"), ([answer(100, 9)], "disagree")):
        stopped = comparison([row(100, 1)], answers, "refused")
        assert judged(stopped, "reject", "body", sound_to=200).outcome == outcome


def test_where_no_fault_is_known_a_reader_may_stop_anywhere() -> None:
    assert judged(comparison([row(100, 1)], [], "refused"), "may").outcome == "rejects"


def test_a_reader_that_reads_on_where_it_has_to_stop_is_told_where() -> None:
    result = judged(comparison([row(100, 1)], [answer(100, 1)], stops_at=200), "reject", "body", sound_to=200)
    assert (result.outcome, result.message) == ("accepts", "it reads on behind 200, where a correct reader stops")


def test_the_words_of_a_testee_are_one_short_line() -> None:
    assert said_in_a_line("no\n\tsuch \x1b[31mtype\x07\u202e") == "no such \\x1b[31mtype\\x07\\u{202e}"
    assert len(said_in_a_line("x" * 10_000)) == 400
    assert len(said_in_a_line("\x1b" * 10_000)) == 400


def test_a_gap_has_the_place_of_an_event() -> None:
    assert parse_answer(b'{"gap": {"offset": 7, "what": "no"}}').gap == Gap(offset=7, what="no")
    with pytest.raises(ValueError, match="no answer of the protocol"):
        parse_answer(b'{"gap": {"offset": [7]}}')


@pytest.fixture(scope="module")
def faulty_kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("pyarrow")
    from forge.conform.kit.export import export_kit
    from tests.small_corpus import write_corpus

    home = tmp_path_factory.mktemp("faulty")
    names = ("first-day", "faults/bodies", "faults/compressed-values", "torn-files", "rare/old-files")
    export_kit(write_corpus(home / "corpus", names), home / "kit", jobs=1)
    return home / "kit"


@pytest.mark.slow
@pytest.mark.parametrize("level", ["rows", "events", "frames"])
@pytest.mark.parametrize("ended", ["refused", "ok"])
def test_a_reader_that_refuses_everything_and_one_that_answers_nothing_score_nothing(
    faulty_kit: Path, capfd: pytest.CaptureFixture[str], ended: str, level: str
) -> None:
    from forge.cli.app import run

    testee = shlex.join([sys.executable, str(IDLE), ended])
    assert run(["conform", testee, "--kit", str(faulty_kit), "--level", level, "--json"]) == 1
    *lines, last = map(msgspec.json.decode, capfd.readouterr().out.splitlines())
    score = last["summary"]["score"]
    assert [line["id"] for line in lines if line["outcome"] in ("agree", "rejects")] == []
    assert {verdict: share["percent"] for verdict, share in score.items()} == {"accept": 0, "reject": 0, "may": 0}


@pytest.mark.slow
def test_a_reader_that_supports_nothing_has_no_score(faulty_kit: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from forge.cli.app import run

    run(["conform", shlex.join([sys.executable, str(IDLE), "unsupported"]), "--kit", str(faulty_kit)])
    assert "– of 0 accept cases (" in capfd.readouterr().out


@pytest.mark.slow
def test_cases_with_a_fault_have_a_twin_without_it(faulty_kit: Path) -> None:
    kit = open_kit(faulty_kit)
    for case in kit.cases:
        has_rows = any(file.rows for file in case.files)
        assert (case.twin is None) == (case.verdict == "accept" and has_rows), case.case
        twin = kit.twin(case)
        if twin is None:
            continue
        [whole] = twin.cases
        assert (whole.verdict, whole.flavor) == ("accept", case.flavor)
        assert all(file.stops_at is None for file in whole.files)
        for file in case.files:
            if file.fault_at is not None:
                same = next(one for one in whole.files if one.name == file.name)
                broken, unbroken = kit.path(case, file).read_bytes(), twin.path(whole, same).read_bytes()
                assert broken[: file.fault_at] == unbroken[: file.fault_at]
                assert file.stops_at is None or file.stops_at in (0, *range(file.fault_at, file.size + 1))
    assert any(file.fault_at is not None for case in kit.cases for file in case.files)
