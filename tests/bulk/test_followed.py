"""A log that grows is read in steps: every row once, whatever the steps are, and the same rows again."""

from __future__ import annotations

import random
import tempfile
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the extra `rows` is not installed")
pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

import forge
from forge.binlog.folder import log_files, log_name
from forge.binlog.reader import MAGIC, frames
from forge.bulk.reading.followed import BEGINNING, FollowedLog, Limits, Place
from forge.bulk.reading.splits import Split
from forge.errors import FormatError, ScenarioError
from forge.events.event import Event, encode_event
from forge.events.format import FormatContext
from forge.events.start_encryption import StartEncryption
from tests.bulk.growing import Ending, GrowingFolder, LogFile, server_runs
from tests.recorded import RECORDINGS

ROWS_PER_TRANSACTION = 3
ENDINGS: tuple[Ending, ...] = ("stop", "crash", "rotate", "crash", "stop")


def positions(split: Split) -> npt.NDArray[np.int64]:
    batches = [batch["_position"] for _, batch in forge.read_rows(split, columns=[], beside=["_position"])]
    return np.concatenate([np.zeros(0, np.int64), *(batch.to_numpy() for batch in batches)])


def ids(splits: list[Split]) -> list[int]:
    found: list[int] = []
    for split in splits:
        for _, batch in forge.read_rows(split, columns=["id"], beside=[]):
            found += batch["id"].to_pylist()
    return found


def followed(path: Path) -> FollowedLog:
    return FollowedLog(path, positions)


@cache
def made(server: str) -> list[LogFile]:
    with tempfile.TemporaryDirectory() as folder:
        return server_runs(Path(folder), ENDINGS, rows=120, file_size=6000, server=server)


def inserted(server: str) -> list[int]:
    return [id for file in made(server) for id in file.ids]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "log").mkdir()
    return tmp_path / "log"


def whole(folder: Path) -> FollowedLog:
    GrowingFolder(folder, made("mysql-9.7")).grow()
    return followed(folder)


@settings(max_examples=8)
@given(seed=st.integers(0, 1 << 20), index=st.booleans())
@pytest.mark.parametrize("server", ["mysql-9.7", "mariadb-11.8"])
def test_every_row_comes_once_and_a_batch_is_the_same_again(server: str, seed: int, index: bool) -> None:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        growing = GrowingFolder(folder, made(server), seed=seed, index=index)
        growing.grow(2)
        path = folder / "binlog.index" if index else folder
        log = followed(path)
        place = log.earliest()
        batches: list[tuple[Place, Place, list[int]]] = []
        more = True
        while True:
            limits = Limits(*(chance.choice([None, chance.randint(1, most)]) for most in (3, 5000, 100)))
            end = log.after(place, limits)
            if end != place:
                splits = log.splits(place, end)
                rows = ids(splits)
                assert len(rows) <= ROWS_PER_TRANSACTION or is_within(limits, splits, len(rows))
                batches.append((place, end, rows))
                place = end
            elif not more:
                break
            if chance.random() < 0.1:
                log = followed(path)  # As after a restart.
            if chance.random() < 0.6:
                more = growing.grow(chance.randint(1, 8))
        assert [id for _, _, rows in batches for id in rows] == inserted(server)
        again = followed(path)
        for start, end, rows in chance.sample(batches, min(len(batches), 10)):
            assert ids(again.splits(start, end, target=2000)) == rows


def is_within(limits: Limits, splits: list[Split], rows: int) -> bool:
    found = (len({split.path for split in splits}), sum(split.end - split.begin for split in splits), rows)
    allowed = (limits.files, limits.bytes, limits.rows)
    return all(most is None or count <= most for count, most in zip(found, allowed, strict=True))


def test_nothing_is_read_behind_the_place_that_was_the_latest(folder: Path) -> None:
    growing = GrowingFolder(folder, made("mysql-9.7"))
    growing.grow(40)
    log = followed(folder)
    until = log.latest()
    found: list[int] = []
    place = log.earliest()
    while (end := log.after(place, Limits(rows=20), until)) != place:
        found += ids(log.splits(place, end))
        place = end
        growing.grow(10)
    assert place == until
    assert found == inserted("mysql-9.7")[: len(found)]
    assert len(found) > 100
    assert ids(log.splits(until, log.latest())) == inserted("mysql-9.7")[len(found) :]


def test_a_folder_may_be_empty_at_first(folder: Path) -> None:
    log = followed(folder)
    start = log.earliest()
    assert start == log.latest() == log.after(start) == Place()
    GrowingFolder(folder, made("mysql-9.7")).grow()
    assert ids(log.splits(start, log.after(start))) == inserted("mysql-9.7")


def test_one_file_is_a_log_too(folder: Path) -> None:
    [first, *_] = made("mysql-9.7")
    (folder / "saved.binlog").write_bytes(first.data[:3000])
    log = followed(folder / "saved.binlog")
    start = log.earliest()
    middle = log.after(start)
    (folder / "saved.binlog").write_bytes(first.data)
    end = log.after(middle)
    assert end == log.after(end) == Place("saved.binlog", len(first.data), middle.began)
    assert ids(log.splits(start, middle)) + ids(log.splits(middle, end)) == list(first.ids)


def test_reading_may_begin_where_a_transaction_ends(folder: Path) -> None:
    log = whole(folder)
    middle = log.after(log.earliest(), Limits(rows=100))
    assert log.at(middle.file, middle.position) == middle
    with pytest.raises(
        FormatError, match=rf"binlog.00000\d, offset {middle.position + 1}, framing: no transaction ends"
    ):
        log.at(middle.file, middle.position + 1)
    with pytest.raises(ScenarioError, match=r"has no file 'binlog\.000099'"):
        log.at("binlog.000099", 4)


def test_behind_a_file_that_is_closed_the_next_one_begins(folder: Path) -> None:
    log = whole(folder)
    [*_, last] = made("mysql-9.7")
    assert log.latest() == Place(f"binlog.{int(last.name[-6:]) + 1:06d}", BEGINNING)
    assert log.after(log.latest()) == log.latest()


def test_files_that_were_purged_are_missed(folder: Path) -> None:
    log = whole(folder)
    start = log.after(log.earliest(), Limits(rows=100))
    for path in log_files(folder)[:3]:
        path.unlink()
    with pytest.raises(
        ScenarioError, match=f"{start.file} is gone from .*, where position {start.position} of it comes"
    ):
        followed(folder).after(start)
    assert ids(log.splits(log.earliest(), log.latest())) == [id for file in made("mysql-9.7")[3:] for id in file.ids]


def test_a_file_that_is_missing_in_the_middle_is_named(folder: Path) -> None:
    log = whole(folder)
    (folder / "binlog.000003").unlink()
    with pytest.raises(ScenarioError, match=r"binlog.000002 is followed by binlog.000004: a file between them"):
        log.after(Place("binlog.000001"))
    assert log.after(Place("binlog.000004")) == log.latest()
    # An index says which files the log has.
    (folder / "binlog.index").write_text("".join(f"./{path.name}\n" for path in log_files(folder)))
    indexed = followed(folder / "binlog.index")
    rest = [id for file in made("mysql-9.7") if file.name != "binlog.000003" for id in file.ids]
    assert ids(indexed.splits(indexed.earliest(), indexed.latest())) == rest


def test_a_copy_that_is_not_whole_is_not_passed_over(folder: Path) -> None:
    log = whole(folder)
    path = folder / "binlog.000001"
    path.write_bytes(path.read_bytes()[:-200])
    end = log.after(log.earliest(), Limits(files=2))
    with pytest.raises(ScenarioError, match=r"binlog\.000001 ends at offset .* without ROTATE or STOP"):
        log.splits(log.earliest(), end)


def test_another_file_of_the_same_name_is_refused(folder: Path) -> None:
    log = whole(folder)
    start = log.after(log.earliest(), Limits(rows=10))
    path = folder / start.file
    path.write_bytes(path.read_bytes()[: start.position - 1])
    with pytest.raises(
        ScenarioError, match=f"was read up to offset {start.position}, and has {start.position - 1} bytes"
    ):
        log.after(start)
    path.write_bytes(path.read_bytes()[:4] + b"\1" + path.read_bytes()[5:])
    with pytest.raises(ScenarioError, match="is another file than the one that was read"):
        log.after(start)


def test_encrypted_files_are_refused(folder: Path) -> None:
    [log, *_] = made("mariadb-11.8")
    head = next(frames(log.data))
    encrypted = encode_event(Event(body=StartEncryption(scheme=1, key_version=1, nonce=bytes(12))), 0, FormatContext())
    (folder / "binlog.000001").write_bytes(MAGIC + head.raw + encrypted)
    with pytest.raises(FormatError, match="the events are encrypted; decrypt the file first"):
        followed(folder).latest()
    (folder / "binlog.000001").write_bytes(b"\xfdbin" + log.data[4:])
    with pytest.raises(FormatError, match="the file is encrypted; decrypt it first"):
        followed(folder).latest()


@pytest.mark.parametrize(
    "case", ["files/mysql-9.7", "files/mariadb-11.8", "relay-log/files-mysql-9.7", "relay-log/files-mariadb-11.8"]
)
def test_the_files_of_servers_are_followed_to_their_end(case: str) -> None:
    log = followed(RECORDINGS / case)
    splits = log.splits(log.earliest(), log.latest())
    files = log_files(RECORDINGS / case)
    assert sum(split.end - split.begin for split in splits) == sum(path.stat().st_size - 4 for path in files)
    name = log_name(files[-1].name)
    assert name is not None
    assert log.latest() == Place(str(name.following))
