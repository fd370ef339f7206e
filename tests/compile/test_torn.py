"""What a crash leaves of the last file."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.binlog import frames, read_events
from forge.compile import compile_files, write_files
from forge.errors import FormatError, ScenarioError
from forge.plan.session import Session, Torn
from forge.scenario import Scenario, insert, plan


def written(**session: Any) -> list[bytes]:
    scenario = (
        Scenario(
            "torn",
            session=Session(ends_with="nothing", **session),
            verdict="may" if "torn" in session else "accept",
            tables=["CREATE TABLE d.t (a INT)"],
        )
        .transaction(insert("d.t", {"a": 1}))
        .transaction(insert("d.t", {"a": 2}))
    )
    planned = plan(scenario)
    return write_files(planned, compile_files(planned))


WHOLE = written()[0]
EVENTS = list(frames(WHOLE))


@given(st.integers(0, len(EVENTS)))
def test_events_are_counted_from_either_end(kept: int) -> None:
    (front,) = written(torn=Torn(events=kept))
    assert len(list(frames(front))) == kept
    assert WHOLE.startswith(front)
    if kept < len(EVENTS):
        assert written(torn=Torn(events=kept - len(EVENTS))) == [front]


def test_what_is_left_is_that_of_the_whole_file() -> None:
    """Cutting a group does not change the length that its GTID says."""
    (cut,) = written(torn=Torn(events=-1, bytes=20))
    assert len(cut) == EVENTS[-1].offset + 20
    assert WHOLE.startswith(cut)
    assert cut[21] & 1  # IN_USE
    with pytest.raises(FormatError, match="has 31 bytes, but only 20 are left"):
        list(read_events(cut))


def test_zeros_and_sizes() -> None:
    assert written(torn=Torn(zeros=100)) == [WHOLE + bytes(100)]
    assert written(torn=Torn(size=3)) == [WHOLE[:3]]
    assert written(torn=Torn(size=0)) == [b""]


@pytest.mark.parametrize(
    ("torn", "sentence"),
    [
        (Torn(events=99), "events is 99, but the file has 16 events; expected -16 to 16"),
        (Torn(events=-17), "events is -17"),
        (Torn(events=-1, bytes=32), "bytes is 32, but the next event has 31 bytes; expected 0 to 31"),
        (Torn(bytes=1), "bytes is 1, but the next event has 0 bytes"),
        (Torn(size=10**6), "size is 1000000"),
        (Torn(size=1, events=1), "torn.size replaces torn.events and torn.bytes"),
        (Torn(zeros=-1), "torn.zeros is -1; expected 0 to 67108864"),
    ],
)
def test_what_cannot_be_left_is_refused(torn: Torn, sentence: str) -> None:
    with pytest.raises(ScenarioError, match=sentence):
        written(torn=torn)


def test_a_closed_file_is_not_torn_and_a_torn_one_needs_a_verdict() -> None:
    scenario = Scenario("torn", session=Session(torn=Torn()), verdict="may")
    with pytest.raises(ScenarioError, match=r"session\.ends_with: nothing"):
        write_files(plan(scenario), compile_files(plan(scenario)))
    with pytest.raises(ValueError, match="`verdict` must say"):
        Scenario("torn", session=Session(torn=Torn()))
