"""The text of a log, whose rows are shown in bulk, is that of the reference path, to the byte; its errors are, too."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba", reason="the extra `rows` is not installed")
pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")

import pyarrow as pa

from forge import build
from forge.binlog.selection import ALL
from forge.cli.commands import dump
from forge.cli.inputs import open_log
from forge.decode.in_bulk.bulk_rows import shown_floats, shown_texts
from forge.decode.in_bulk.numbered import form_of, said_of
from forge.errors import ForgeError
from forge.events.event import Event, RawBody, decode_event_strictly, encode_event
from forge.events.format import FormatContext
from forge.events.gtid import Gtid
from forge.events.plain import printable
from forge.values.numeric.floats import float_text
from tests.recorded import LOGS, RECORDINGS

pytestmark = pytest.mark.slow


def printed(log: Path, rows_only: bool) -> tuple[str, str]:
    """All lines that the command makes, and what is wrong behind them."""
    found = ""
    try:
        with open_log(str(log)) as window:
            for part in dump._text(window, str(log), ALL, None, rows_only, is_named=False):
                found += part if isinstance(part, str) else bytes(part.data).decode()
    except ForgeError as error:
        return found, str(error)
    return found, ""


def is_same(log: Path, monkeypatch: pytest.MonkeyPatch, *, rows_only: bool = False) -> None:
    monkeypatch.setattr("forge.cli.inputs.MANY", 1 << 62)
    by_reference = printed(log, rows_only)
    monkeypatch.setattr("forge.cli.inputs.MANY", 0)
    for few in (0, 256):
        monkeypatch.setattr("forge.decode.in_bulk.file_text._FEW", few)
        assert printed(log, rows_only) == by_reference


@pytest.mark.parametrize("log", LOGS, ids=lambda log: str(log.relative_to(RECORDINGS)))
def test_the_text_of_a_recording_is_that_of_the_reference_path(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    is_same(log, monkeypatch, rows_only=len(log.name + log.parent.name) % 2 == 0)


def damaged(data: bytes, seed: int) -> Iterator[bytes]:
    """Cut off, and with other bytes, whose checksums are not mended."""
    chance = random.Random(seed)
    yield data[: chance.randrange(4, len(data))]
    for _ in range(3):
        changed = bytearray(data)
        changed[chance.randrange(4, len(data))] ^= 1 << chance.randrange(8)
        yield bytes(changed)


@pytest.mark.parametrize("log", LOGS[::3], ids=lambda log: str(log.relative_to(RECORDINGS)))
def test_the_text_of_a_damaged_log_ends_where_that_of_the_reference_path_does(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, data in enumerate(damaged(log.read_bytes(), len(log.parts[-2]))):
        path = tmp_path / f"{number}.000001"
        path.write_bytes(data)
        is_same(path, monkeypatch)


SEVERAL = """\
scenario: several
server: mysql-9.7
session: {row_metadata: full, sql_mode: "", row_image: minimal}
tables:
  - CREATE TABLE d.t (id INT PRIMARY KEY, e ENUM('it''s','z'), n DOUBLE, f FLOAT, t VARCHAR(20), b BLOB, u DATE)
  - CREATE TABLE d.`a 'b', 0 rows` (x INT)
transactions:
  - - insert:
        into: d.t
        rows:
          - {id: 1, e: "it's", n: 1.0e+300, f: 0.00001}
          - {id: 4, t: "a \\"b\\", 'c' \\\\ \\n\\t\\u0001 ü\\u00a0", b: {hex: "00ff"}}
          - {id: 2, e: "", n: 3, f: -0.0, t: "'", u: "0000-00-00"}
          - {id: 3, u: "2024-02-30"}
    - insert: {into: "d.`a 'b', 0 rows`", rows: [{x: 1}, {x: null}]}
  - - update: {table: d.t, set: {t: "it's"}, where: {id: 2}}
    - delete: {from: d.t, where: {id: 1}}
"""


def test_several_tables_odd_values_and_minimal_images_are_as_the_reference_path_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "several.000001"
    log.write_bytes(build(SEVERAL).data)
    is_same(log, monkeypatch)
    is_same(log, monkeypatch, rows_only=True)


def test_the_reference_path_shows_a_log_of_very_many_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "several.000001"
    log.write_bytes(build(SEVERAL).data)
    monkeypatch.setattr("forge.decode.in_bulk.file_text._MOST_TABLES", 1)
    is_same(log, monkeypatch)


@given(st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), max_size=20))
def test_doubles_are_as_the_codec_writes_them(values: list[float | None]) -> None:
    expected = [None if value is None else float_text(value) for value in values]
    assert shown_floats(pa.array(values, pa.float64()), single=False).to_pylist() == expected


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=20))
def test_floats_are_as_the_codec_writes_them(values: list[float]) -> None:
    expected = [float_text(value, True) for value in values]
    assert shown_floats(pa.array(values, pa.float32()), single=True).to_pylist() == expected


@given(st.lists(st.none() | st.text("ab'\\\n\x00ü\u00a0\U0001f600"), max_size=20))
def test_texts_are_printable(texts: list[str | None]) -> None:
    expected = [None if text is None else printable(text) for text in texts]
    assert shown_texts(pa.array(texts, pa.string())).to_pylist() == expected


NUMBER = st.integers(0, 2**63 - 1)
PAIR = st.tuples(st.integers(0, 2**31 - 1), st.none() | st.integers(0, 2**31 - 1))
GTIDS = st.builds(
    Gtid, uuid=st.uuids().map(str), gno=NUMBER, last_committed=NUMBER, sequence_number=NUMBER, commit_timestamp=PAIR,
    transaction_length=st.sampled_from([1, 250, 251, 65535, 65536, 2**24 - 1, 2**24, 2**63]), server_version=PAIR,
    commit_group_ticket=st.none() | NUMBER,
)  # fmt: skip


@given(GTIDS, st.binary(max_size=80))
def test_bodies_of_one_form_are_read_alike(gtid: Gtid, other: bytes) -> None:
    format = FormatContext()
    body = gtid.build(format)
    form = form_of(Gtid.type_code, body)
    assert form is not None
    assert said_of(Gtid.type_code, body) == gtid.gtid()
    mixed = (other + body[len(other) :])[: len(body)]
    if form_of(Gtid.type_code, mixed) == form:
        event = Event(body=RawBody(Gtid.type_code, mixed))
        read = decode_event_strictly(encode_event(event, 4, format), 4, format).body
        assert isinstance(read, Gtid)
        assert said_of(Gtid.type_code, mixed) == read.gtid()
