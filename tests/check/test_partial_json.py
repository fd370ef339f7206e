"""Partial JSON updates are shown as diffs and as the document that they lead to."""

from __future__ import annotations

from pathlib import Path

from forge.decode.decode import canonical_events

RECORDED = Path(__file__).with_name("data") / "partial-json.binlog"


def test_the_document_after_each_update_is_the_one_before_the_next() -> None:
    rows = [row for event in canonical_events(RECORDED.read_bytes()) for row in event.get("rows", ())]
    documents = [row["after"][1]["value"] for row in rows if row["after"]]
    assert documents[0] == '{"b": [1, 2], "n": 123456789, "s": "abcdefghij"}'
    assert documents[1] == '{"b": [1, 2], "n": 1, "s": "X\'Y"}'
    for row, earlier in zip(rows[1:], documents, strict=False):
        assert row["before"][1]["value"] == earlier
    assert [diff["operation"] for diff in rows[1]["after"][1]["diffs"]] == ["REPLACE", "REPLACE"]
