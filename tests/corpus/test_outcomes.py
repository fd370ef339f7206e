"""What a decoder did, seen from the verdict of the case."""

from __future__ import annotations

import pytest

from forge.corpus.outcomes import Outcome, judged
from forge.errors import Verdict


@pytest.mark.parametrize(
    ("did", "verdict", "facts", "outcome"),
    [
        ("agree", "accept", {}, "agree"),
        ("disagree", "accept", {"stopped": True}, "disagree"),
        ("refused", "accept", {"stopped": True}, "refused"),
        ("agree", "reject", {}, "accepts"),
        ("disagree", "reject", {}, "accepts"),
        ("agree", "reject", {"marked": True}, "rejects"),
        ("disagree", "reject", {"marked": True}, "accepts"),
        ("disagree", "reject", {"stopped": True}, "rejects"),
        ("refused", "reject", {"stopped": True}, "rejects"),
        ("agree", "may", {}, "agree"),
        ("disagree", "may", {}, "disagree"),
        ("disagree", "may", {"passes": True}, "agree"),
        ("disagree", "may", {"stopped": True}, "rejects"),
        ("unsupported", "may", {}, "rejects"),
        ("crashed", "reject", {}, "crashed"),
        ("timeout", "may", {"stopped": True}, "timeout"),
        ("not_here", "reject", {}, "not_here"),
    ],
)
def test_an_outcome_follows_from_what_a_reader_did_and_what_it_has_to_do(
    did: Outcome, verdict: Verdict, facts: dict[str, bool], outcome: Outcome
) -> None:
    all_facts = {"stopped": False, "marked": False, "passes": False} | facts
    assert judged(did, verdict, **all_facts) == outcome
