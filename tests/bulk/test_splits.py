"""Files are cut where transactions end, and a piece reads as the same part of the whole file."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba", reason="the extra `rows` is not installed")
pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")

from forge.binlog.reader import MAGIC, read_events
from forge.bulk.reading.rows import Paths, read_rows
from forge.bulk.reading.splits import GtidRange, Mark, last_transaction_end, splits_of
from forge.errors import ForgeError, FormatError
from forge.events.event import Event, RawBody, encode_event
from forge.events.format import FormatContext
from forge.events.query import Query
from forge.events.start_encryption import StartEncryption
from forge.events.stop import Stop
from tests.recorded import LOGS, RECORDINGS

MYSQL = RECORDINGS / "compressed" / "binlog.000001"
MARIADB = RECORDINGS / "compressed-events" / "mariadb-11.8" / "binlog.000001"
ENGINES = RECORDINGS / "transactions" / "compressed-engines" / "binlog.000001"
FEW = [MYSQL, MARIADB, ENGINES, RECORDINGS / "ends-with-nothing" / "binlog.000001", *LOGS[::40]]


@pytest.fixture(scope="module", autouse=True)
def _in_a_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with contextlib.chdir(tmp_path_factory.mktemp("logs")):
        yield


def log_of(data: bytes) -> Path:
    path = Path("binlog.000001")
    path.write_bytes(data)
    return path


def rows_of(path: Paths) -> tuple[dict[str, list[Any]], str | None]:
    rows: dict[str, list[Any]] = defaultdict(list)
    try:
        for name, batch in read_rows(path, on_odd="text"):
            rows[name].extend(batch.to_pylist())
    except ForgeError as error:
        return dict(rows), str(error)
    return dict(rows), None


def check_cuts(log: Path, target: int) -> None:
    splits = splits_of(log, target=target)
    assert (splits[0].begin, splits[-1].end) == (4, log.stat().st_size)
    events = list(read_events(log.read_bytes(), strict=False))
    offsets = {placed.offset: placed.index for placed in events}
    for split, following in pairwise(splits):
        assert split.end == following.begin
        assert offsets[following.begin] == following.mark.number == split.mark.number + split.events
    for split in splits:
        inside = [placed.event for placed in events if split.begin <= placed.offset < split.end]
        assert split.types == tuple(sorted({event.type_code for event in inside}))
        times = [event.timestamp for event in inside]
        assert (split.first_time, split.last_time) == (min(times), max(times))
    assert str(rows_of(splits)) == str(rows_of(log))


@pytest.mark.parametrize("log", FEW, ids=lambda log: str(log.relative_to(RECORDINGS).parent))
def test_splits_cover_the_file_and_read_as_it_does(log: Path) -> None:
    for target in (1, 3000):
        check_cuts(log, target)


@pytest.mark.slow
def test_splits_of_many_recordings_read_as_the_files_do() -> None:
    for log in LOGS[::4]:
        check_cuts(log, 1)


def test_a_split_is_no_longer_than_the_target_and_one_transaction() -> None:
    single = splits_of(MARIADB, target=1)
    longest = max(split.end - split.begin for split in single)
    for target in (500, 5000):
        splits = splits_of(MARIADB, target=target)
        assert all(target <= split.end - split.begin < target + longest for split in splits[:-1])
        assert {split.begin for split in splits} <= {split.begin for split in single}
    assert len(splits_of(MARIADB)) == 1


def test_gtids_are_known_by_source() -> None:
    [split] = splits_of(MARIADB)
    assert split.gtids == (GtidRange("0-1", 1, 22),)
    assert split.mark.gtid is None
    splits = splits_of(MYSQL, target=1)
    source = "054930bc-e52a-11f1-9d7b-02fc00000001"
    assert [split.gtids for split in splits[2:5]] == [(GtidRange(source, gno, gno),) for gno in (1, 2, 3)]
    assert splits[4].mark.gtid == f"{source}:2"


@settings(max_examples=60)
@given(st.sampled_from([MYSQL, MARIADB, ENGINES]), st.data())
def test_a_file_that_is_being_written_ends_with_its_last_whole_transaction(log: Path, data: st.DataObject) -> None:
    whole = log.read_bytes()
    ends = [4, *(split.end for split in splits_of(log, target=1))]
    size = data.draw(st.integers(4, len(whole)))
    torn = log_of(whole[:size])
    last = max(end for end in ends if end <= size)
    mark = last_transaction_end(torn)
    assert mark.position == last
    covered = splits_of(torn, target=1, whole=False)
    assert [split.end for split in covered] == [end for end in ends[1:] if end <= size]
    if last < size:
        with pytest.raises(FormatError) as met:
            splits_of(torn)
        assert met.value.offset is not None
        assert met.value.offset >= last
    torn.write_bytes(whole)
    rest = splits_of(torn, begin=mark, target=1)
    assert rest == splits_of(torn, begin=last, target=1) if last > 4 else rest == splits_of(torn, target=1)
    assert [split.end for split in rest] == [end for end in ends if end > last]


def test_a_walk_stops_where_it_is_told_to() -> None:
    single = splits_of(MARIADB, target=1)
    part = splits_of(MARIADB, begin=single[5].begin, stop=single[9].end, target=1)
    assert part == single[5:10]
    assert last_transaction_end(MARIADB, single[5].mark, most=1) == single[6].mark
    with pytest.raises(FormatError, match="no transaction ends at offset"):
        splits_of(MARIADB, begin=single[7].begin + 1)
    with pytest.raises(FormatError, match=r"inside the transaction|are left"):
        splits_of(MARIADB, stop=single[9].end - 1)


def log_with(*bodies: Any) -> Path:
    """The log that a server has begun, with these events behind FORMAT_DESCRIPTION; no checksums."""
    beginning = (RECORDINGS / "ends-with-rotate-no-checksum" / "binlog.000001").read_bytes()
    data = beginning[: next(iter(splits_of(log_of(beginning), target=1))).end]
    format = FormatContext(server_version="9.7.0", post_header_lengths=bytes([56, 13]))
    for body in bodies:
        data += encode_event(Event(body=body), len(data), format)
    return log_of(data)


def query(text: str) -> Query:
    return Query(query=text)


@pytest.mark.parametrize(
    ("texts", "transactions"),
    [
        (["CREATE TABLE t (a INT)", "DROP TABLE t"], [1, 1]),
        (["BEGIN", "INSERT INTO t VALUES (1)", "COMMIT", "DROP TABLE t"], [3, 1]),
        (["begin", "SAVEPOINT a", "ROLLBACK TO a", "ROLLBACK to b", "rollback", "DROP TABLE t"], [5, 1]),
        (["XA START X'61',X'',1", "XA END X'61',X'',1", "COMMIT"], [3]),
        (["BEGINNING", "COMMITTED"], [1, 1]),
    ],
)
def test_statements_end_transactions_as_servers_say(texts: list[str], transactions: list[int]) -> None:
    log = log_with(*map(query, texts), Stop())
    assert [split.events for split in splits_of(log, target=1)] == [1, *transactions, 1]


def test_a_transaction_that_has_no_end_is_an_error_that_says_where() -> None:
    log = log_with(query("DROP TABLE t"), query("BEGIN"), query("INSERT INTO t VALUES (1)"))
    [_, drop] = splits_of(log, target=1, whole=False)
    with pytest.raises(FormatError, match="ends inside the transaction that begins here") as met:
        splits_of(log)
    assert (met.value.offset, met.value.event_index, met.value.file) == (drop.end, 2, str(log))


def test_what_is_encrypted_is_not_walked_over() -> None:
    encrypted = StartEncryption(scheme=1, key_version=1, nonce=bytes(12))
    log = log_with(query("DROP TABLE t"), encrypted, RawBody(code=77, data=b"????"))
    with pytest.raises(FormatError, match="encrypted"):
        splits_of(log)
    assert len(splits_of(log, target=1, whole=False)) == 2
    for data, rule in ((b"\xfdbin" + bytes(600), "encrypted"), (b"", "empty"), (MAGIC + bytes(30), "first event")):
        with pytest.raises(FormatError, match=rule):
            splits_of(log_of(data), whole=False)


def test_a_file_without_events_has_no_splits() -> None:
    assert splits_of(log_of(MAGIC)) == []
    assert last_transaction_end(log_of(MAGIC)) == Mark()
