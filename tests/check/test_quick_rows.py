"""Rows that are read quickly, held against rows that are read cell by cell: whole, damaged, and unusual ones."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.binlog.reader import frames
from forge.decode.cells import Cell
from forge.decode.decode import canonical_events
from forge.errors import ForgeError, FormatError
from forge.events.row_reader import RowReader
from forge.testing import values
from forge.values.quick import UnusualError
from forge.values.registry import codec_for
from tests.recorded import LOGS

#: Larger ones are left to the test of all recordings.
SMALL = [path for path in LOGS if path.stat().st_size < 20_000]
Outcome = tuple[list[str], str | None, int | None]


def outcome(data: bytes) -> Outcome:
    """The canonical decode as JSON, and the error that ends it with its offset."""
    lines: list[str] = []
    try:
        lines.extend(json.dumps(event) for event in canonical_events(data))
    except ForgeError as error:
        return lines, str(error), error.offset if isinstance(error, FormatError) else None
    return lines, None, None


@pytest.fixture(scope="module")
def slowly() -> Callable[[bytes], Outcome]:
    """The same without the quick reader."""

    def read(self: RowReader, body: Any) -> Any:
        raise UnusualError

    def outcome_slowly(data: bytes) -> Outcome:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RowReader, "read", read)
            return outcome(data)

    return outcome_slowly


def damaged(data: bytes, draw: st.DataObject) -> bytes:
    """The file with bytes of an event changed, taken out or put in, and its sizes and checksums made right again."""
    events = [bytearray(frame.raw) for frame in frames(data)]
    for _ in range(draw.draw(st.integers(1, 3))):
        event = events[draw.draw(st.integers(0, len(events) - 1))]
        place = draw.draw(st.integers(13, max(13, len(event) - 5)))
        match draw.draw(st.sampled_from(("change", "change", "take out", "put in"))):
            case "change":
                event[place] = draw.draw(st.one_of(st.sampled_from((0, 1, 127, 128, 255)), st.integers(0, 255)))
            case "take out":
                del event[max(place, 19) : max(place, 19) + draw.draw(st.integers(1, 9))]
            case "put in":
                event[max(place, 19) : max(place, 19)] = draw.draw(st.binary(min_size=1, max_size=9))
        event[9:13] = len(event).to_bytes(4, "little")
    for event in events:
        event[-4:] = zlib.crc32(event[:-4]).to_bytes(4, "little")
    whole = data[:4] + b"".join(events)
    return whole[: draw.draw(st.one_of(st.just(len(whole)), st.integers(0, len(whole))))]


@given(data=st.data())
def test_damaged_recordings_have_the_same_rows_and_errors(
    slowly: Callable[[bytes], Outcome], data: st.DataObject
) -> None:
    broken = damaged(data.draw(st.sampled_from(SMALL)).read_bytes(), data)
    assert outcome(broken) == slowly(broken)


COLUMNS = st.one_of(
    values.integer_columns(), values.float_columns(), values.decimal_columns(), values.bit_columns(),
    values.temporal_columns(), values.old_temporal_columns(), values.string_columns(), values.blob_columns(),
    values.compressed_columns(), values.member_columns(),
)  # fmt: skip


@given(data=st.data())
def test_the_text_of_any_cell_is_what_its_codec_says(data: st.DataObject) -> None:
    column = data.draw(COLUMNS)
    codec = codec_for(column)
    raw = data.draw(st.one_of(st.binary(max_size=12), values.values_for(column).map(lambda v: codec.encode(column, v))))
    try:
        value = codec.decode(column, raw)
    except FormatError as error:
        with pytest.raises(FormatError, match=re.escape(error.rule)):
            Cell(1, column, raw).text()
        return
    text = codec.text(column, value)
    if text is not None or isinstance(value, bytes):
        assert Cell(1, column, raw).text() == (value if text is None else text)


@pytest.mark.slow
def test_all_recordings_have_the_same_rows(slowly: Callable[[bytes], Outcome]) -> None:
    for path in LOGS:
        data = path.read_bytes()
        assert outcome(data) == slowly(data), path


@pytest.mark.nightly
@pytest.mark.slow
def test_the_rows_of_most_recordings_are_read_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {"quick": 0, "slow": 0}
    read = RowReader.read

    def counted(self: RowReader, body: Any) -> Any:
        try:
            rows = read(self, body)
        except UnusualError:
            counts["slow"] += 1
            raise
        counts["quick"] += 1
        return rows

    monkeypatch.setattr(RowReader, "read", counted)
    for path in LOGS[::4]:
        outcome(path.read_bytes())
    assert counts["quick"] > 10 * counts["slow"], counts
