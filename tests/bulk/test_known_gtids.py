"""A stream starts behind the GTIDs that are known already."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the extra `rows` is not installed")
pytest.importorskip("pyarrow", reason="the extra `rows` is not installed")

import numpy as np
import pyarrow as pa

import forge
from forge.bulk.reading.followed import FollowedLog
from forge.bulk.reading.known_gtids import known_gtids
from forge.bulk.reading.splits import GtidRange
from forge.errors import ScenarioError
from forge.plan.facts import Facts

UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
OTHER = "3e11fa47-71ca-11e1-9e33-c80aa9429563"


@pytest.fixture
def log(tmp_path: Path, request: pytest.FixtureRequest) -> FollowedLog:
    """Transactions of 5 rows, in files of about 20; the first two GTIDs are of CREATE DATABASE and CREATE TABLE."""
    session = forge.Session(gtid=True, row_metadata="full", max_binlog_size=6000, facts=Facts(server_uuid=UUID))
    rows = pa.table({"id": range(500)})
    forge.write_rows(
        rows, "db.t", tmp_path / "binlog.000001", server=request.param, session=session, rows_per_transaction=5
    )
    return FollowedLog(tmp_path, lambda split: np.zeros(0, np.int64))


def ids_behind(log: FollowedLog, known: str) -> list[int]:
    splits = log.splits(log.behind(known_gtids(known)), log.latest())
    return [id for split in splits for _, batch in forge.read_rows(split) for id in batch["id"].to_pylist()]


@pytest.mark.parametrize(
    ("log", "last"), [("mysql-9.7", f"{UUID}:1-{{}}"), ("mariadb-11.8", "0-1-{}")], indirect=["log"]
)
@pytest.mark.parametrize("transactions", [0, 1, 2, 3, 50, 101, 102])
def test_a_log_goes_on_behind_what_is_known(log: FollowedLog, last: str, transactions: int) -> None:
    known = last.format(transactions) if transactions else ""
    first = max(transactions - 2, 0) * 5
    assert ids_behind(log, known) == list(range(first, 500))


@pytest.mark.parametrize("log", ["mysql-9.7"], indirect=True)
def test_a_gap_in_what_is_known_is_where_the_log_goes_on(log: FollowedLog) -> None:
    assert ids_behind(log, f"{OTHER}:1-7, {UUID.upper()}:1-12:14-200")[0] == 50
    assert ids_behind(log, f"{UUID}:40-200:1-39") == []


@pytest.mark.parametrize("log", ["mysql-9.7", "mariadb-11.8"], indirect=True)
def test_transactions_that_were_purged_and_are_not_known_are_missed(log: FollowedLog, tmp_path: Path) -> None:
    (tmp_path / "binlog.000001").unlink()
    with pytest.raises(ScenarioError, match=r"not in the GTID set are gone: .*binlog\.000002 is the oldest file"):
        log.behind(known_gtids(""))


def test_sets_hold_what_is_in_one_interval() -> None:
    known = known_gtids(f"{UUID}:1-3:4-5:9")
    assert [known.has(GtidRange(UUID, *numbers)) for numbers in ((1, 5), (9, 9), (5, 6), (9, 10))] == [
        True,
        True,
        False,
        False,
    ]
    assert not known.has(GtidRange(OTHER, 1, 1))
    position = known_gtids("0-1-100,5-2-7")
    assert [position.has(GtidRange(*gtids)) for gtids in (("0-3", 1, 100), ("5-2", 8, 8), ("1-1", 1, 1))] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("text", ["x", "0-1", f"{UUID}:tag:1-3", f"{UUID}:1-", f"{UUID}:1,0-1-5"])
def test_what_is_no_set_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="is no GTID set"):
        known_gtids(text)
