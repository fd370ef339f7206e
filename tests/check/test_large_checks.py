"""Files of many rows are compared as those of few, though most rows are not kept."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from forge.check.compare import differences
from forge.check.compare.compare import Verdict, check_one, compare
from forge.check.decoder import DecodedRow, Deferred, Item
from forge.check.decoders.forge_decoder import ForgeDecoder
from forge.check.decoders.table import available_decoders
from forge.decode import reference
from forge.decode.reference import read_reference
from forge.resources import corpora_dir

_LOGS = sorted((corpora_dir() / "recordings").rglob("binlog.000001"))


@pytest.fixture(params=["all", "some"])
def keeps_little(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 0 if request.param == "all" else 3
    monkeypatch.setattr(reference, "_MOST_KEPT", most)
    monkeypatch.setattr(differences, "_MOST_KEPT", most)


def _verdicts(paths: list[Path]) -> list[Verdict]:
    files = [path.read_bytes() for path in paths]
    return [check_one(read_reference(data), data, decoder) for data in files for decoder in available_decoders()]


@pytest.fixture(scope="module")
def kept() -> list[Verdict]:
    return _verdicts(_LOGS[::60])


@pytest.mark.slow
def test_every_decoder_gets_the_same_verdict(kept: list[Verdict], keeps_little: None) -> None:
    assert _verdicts(_LOGS[::60]) == kept


@pytest.mark.usefixtures("keeps_little")
def test_rows_that_are_read_again_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for path in _LOGS[::20]:
        again = read_reference(path.read_bytes())
        with monkeypatch.context() as patched:
            patched.setattr(reference, "_MOST_KEPT", 1 << 20)
            kept = read_reference(path.read_bytes())
        assert again.rows == kept.rows
        assert [again.rows.count(place) for place in again.rows] == [len(rows) for rows in kept.rows.values()]


@cache
def _log_of_most_rows() -> bytes:
    return max((path.read_bytes() for path in _LOGS[::7]), key=lambda data: len(read_reference(data).rows))


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [None, 0, 5, 6, -1])
def test_rows_that_are_shown_with_those_of_the_next_event(wrong: int | None, keeps_little: None) -> None:
    """A statement of several row events: some readers show all its rows behind the last."""
    decoder = ForgeDecoder()
    data = _log_of_most_rows()
    known = read_reference(data)
    places = list(known.rows)
    items: list[Item] = []
    waiting: list[DecodedRow] = []
    for item in decoder.decode_known(data, known):
        if not isinstance(item, DecodedRow):
            items.append(item)
            continue
        place = item.place
        last = places.index(place) % 3 == 2 or place == places[-1]
        shown = (
            place
            if last
            else next(p for p in places[places.index(place) :] if places.index(p) % 3 == 2 or p == places[-1])
        )
        if not last and Deferred(place) not in items:
            items.append(Deferred(place))
        waiting.append(DecodedRow(shown, item.database, item.table, item.kind, item.before, item.after))
        items.append(waiting[-1])
    if wrong is not None:
        row = waiting[wrong]
        items[items.index(row)] = DecodedRow(row.place, row.database, "other", row.kind, row.before, row.after)
    items.sort(key=lambda item: (getattr(item, "place", (0, 0)), isinstance(item, DecodedRow)))
    verdict = compare(known, decoder, items)
    assert verdict.outcome == ("agree" if wrong is None else "disagree")
    assert wrong is not None or verdict.rows == sum(map(known.rows.count, known.rows))
