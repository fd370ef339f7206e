"""Payloads that are larger than the window: read twice and never held, with the same rows and the same refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the extra [rows] is not installed")
pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import forge
from forge.binlog.reader import frames
from forge.bulk import file_sums
from forge.bulk.reading import long_payload, window_size
from forge.bulk.reading.lister import EventLister
from forge.errors import FormatError
from forge.events.transaction_payload import TransactionPayload
from forge.scenario import Session
from tests.bulk.damage import with_checksum

pytestmark = pytest.mark.slow

TABLE = "CREATE TABLE shop.orders (id INT PRIMARY KEY, who VARCHAR(60))"
#: Digits that zstd cannot make much smaller, in two payloads with small events between.
ROWS = pa.table({"id": list(range(400)), "who": [str(7919**12 * (n + 1))[:50] for n in range(400)]})


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("payloads") / "binlog.000001"
    session = Session(row_metadata="full", compression=True)
    forge.write_rows(ROWS, TABLE, path, server="mysql-9.7", rows_per_transaction=200, session=session)
    return path.read_bytes()


def _payload_at(log: bytes) -> tuple[int, int]:
    """Where the first payload begins, and where it ends."""
    frame = next(frame for frame in frames(log, 4) if frame.type_code == TransactionPayload.type_code)
    return frame.offset, frame.offset + len(frame.raw)


def _read(path: Path) -> pa.Table:
    return forge.read_rows(path, "shop.orders").read_all().select(["id", "who"])


def _refused(path: Path) -> str:
    with pytest.raises(FormatError) as refused:
        _read(path)
    return str(refused.value)


def test_the_window_does_not_grow_for_a_payload(log: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin, end = _payload_at(log)
    assert end - begin > 2000
    monkeypatch.setattr(window_size, "WINDOW", 1000)
    monkeypatch.setattr(EventLister, "_widen", None)
    path = tmp_path / "binlog.000001"
    path.write_bytes(log)
    assert _read(path).to_pydict() == ROWS.to_pydict()


@pytest.mark.parametrize("summed", [True, False])
@pytest.mark.parametrize("from_end", [5, 500])
def test_a_byte_that_is_wrong_is_refused_as_where_the_payload_is_held(
    from_end: int, summed: bool, log: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, end = _payload_at(log)
    event = bytearray(log[begin:end])
    event[-from_end] ^= 0x40
    path = tmp_path / "binlog.000001"
    path.write_bytes(log[:begin] + (with_checksum(bytes(event)) if summed else bytes(event)) + log[end:])
    held = _refused(path)
    monkeypatch.setattr(window_size, "WINDOW", 1000)
    assert _refused(path) == held


def test_a_payload_that_is_cut_off_is_refused_as_where_it_is_held(
    log: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "binlog.000001"
    path.write_bytes(log[: _payload_at(log)[1] - 100])
    held = _refused(path)
    monkeypatch.setattr(window_size, "WINDOW", 1000)
    assert _refused(path) == held


def test_a_log_that_begins_with_a_long_payload_is_refused(
    log: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, end = _payload_at(log)
    path = tmp_path / "binlog.000001"
    path.write_bytes(log[:4] + log[begin:end])
    monkeypatch.setattr(window_size, "WINDOW", 1000)
    assert "the first event is TRANSACTION_PAYLOAD" in _refused(path)


@given(body=st.binary(max_size=40), piece=st.integers(4, 11), place=st.integers(0, 3), wrong=st.booleans())
def test_a_sum_is_the_same_in_pieces_of_any_size(
    body: bytes, piece: int, place: int, wrong: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    event = bytearray(with_checksum(body + bytes(4)))
    event[-1] ^= wrong
    path = tmp_path_factory.getbasetemp() / "sum"
    path.write_bytes(bytes(place) + event + b"more")
    with pytest.MonkeyPatch.context() as patch, path.open("rb", buffering=0) as file:
        patch.setattr(file_sums, "_PIECE", piece)
        assert long_payload._sum_holds(file, place, len(event)) is not wrong
