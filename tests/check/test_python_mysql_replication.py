"""python-mysql-replication fed from recordings: where it agrees, and every finding of docs/findings.md about it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest

from forge.check.compare.compare import Verdict, check
from forge.check.decoder import DecodedRow
from forge.check.decoders.python_mysql_replication import PythonMysqlReplication
from forge.check.time_limit import TimeLimitPassed, time_limit

pytest.importorskip("pymysqlreplication", reason="the extra [check] is not installed")

Recording = Callable[[str], bytes]
Broken = Callable[[str, str, Mapping[int, int]], bytes]

#: Recording -> (outcome, words of the message).
FINDINGS = {
    "binary-padded": ("disagree", "is 0x61000000, python-mysql-replication shows 0x61;"),
    "column-name-long": ("refused", "AssertionError: Result length not requested length"),
    "compressed": ("disagree", "TABLE_MAP of p.a: python-mysql-replication does not show the table"),
    "enum-latin1": ("disagree", "['grün', 'ß']"),
    "enum-long-label": ("refused", "AssertionError: Result length not requested length"),
    "images-no-checksum": ("disagree", "should be 'id visible', python-mysql-replication shows 'id'"),
    "json-bytes": ("disagree", "should be shown as '[0x0102ff]'"),
    "json-time-long": ("refused", "ValueError: hour must be in 0..23"),
    "json-time-negative": ("disagree", """shows '["12:34:56.789000"]'"""),
    "json-timestamp": ("disagree", """is '["2024-02-29 12:34:56.500000"]'"""),
    "latin1-81": ("refused", "UnicodeDecodeError: 'charmap' codec can't decode byte 0x81"),
    "mariadb-compressed-rows": ("disagree", "there should be 1 row, python-mysql-replication shows 0"),
    "no-columns": ("disagree", "there should be 1 row, python-mysql-replication shows 0"),
    "partial-json": ("disagree", "should be shown as 'REPLACE $.s \"X\\'Y\"; REPLACE $.n 1'"),
    "previous-gtids-tagged": ("refused", "AssertionError: Result length not requested length"),
    "statement": ("refused", "StatusVariableMismatch"),
    "time-negative": ("disagree", "is '-00:00:00.1', python-mysql-replication shows '-00:00:00.9'"),
    "timestamp-zero": ("disagree", "is '0000-00-00 00:00:00', python-mysql-replication shows '1970-01-01 00:00:00'"),
    "utf16": ("disagree", "is 'ab', python-mysql-replication shows '愀戀'"),
    "utf32": ("refused", "UnicodeDecodeError: 'utf-32-le' codec"),
    "vector": ("refused", "ValueError: 64 is not a valid MetadataFieldType"),
    "vector-empty": ("refused", "ValueError: 0 is not a valid MetadataFieldType"),
    "year-zero": ("disagree", "is '0000', python-mysql-replication shows '1900'"),
}
AGREES = (
    "geometry", "gtid-tagged", "invisible", "odd-names", "partitions", "prefix-key", "year-signed",
)  # fmt: skip


def verdict(data: bytes) -> Verdict:
    return check(data, [PythonMysqlReplication()])[0]


@pytest.mark.parametrize("name", AGREES)
def test_it_yields_our_rows(recording: Recording, name: str) -> None:
    found = verdict(recording(name))
    assert (found.outcome, found.cells_not_shown) == ("agree", 0)
    assert found.rows > 0


@pytest.mark.parametrize("name", FINDINGS)
def test_every_finding_still_stands(recording: Recording, name: str) -> None:
    found = verdict(recording(name))
    outcome, words = FINDINGS[name]
    assert found.outcome == outcome
    assert words in str(found.message)


@pytest.mark.parametrize("table", ["ints", "reals", "chg"])
@pytest.mark.parametrize("name", ["types-full", "types-minimal"])
def test_all_numbers_but_the_year_zero_agree(recording: Recording, name: str, table: str) -> None:
    library = PythonMysqlReplication()
    data = recording(name)
    shown = [item for item in _until_it_ends(library, data) if isinstance(item, DecodedRow) and item.table == table]
    if table == "chg":
        assert shown == []  # text that it cannot decode stops it before
        return
    assert len(shown) == {"ints": 4, "reals": 6}[table]
    difference = verdict(data).difference
    assert difference is not None
    assert (difference.table, difference.column) == ("p.ints", 11)


def _until_it_ends(library: PythonMysqlReplication, data: bytes) -> list[object]:
    items: list[object] = []
    with pytest.raises(Exception, match="UnicodeDecodeError"):
        items.extend(library.decode(data))
    return items


def test_a_wrong_checksum_is_refused(recording: Recording) -> None:
    data = bytearray(recording("partitions"))
    data[-1] ^= 1
    found = verdict(bytes(data))
    assert found.outcome == "refused"
    assert "CRC32" in str(found.message)


def test_a_loop_that_would_not_end_is_a_timeout(broken: Broken) -> None:
    # No column is present, and there are bytes left in the event.
    found = verdict(broken("year-zero", "WRITE_ROWS", {30: 0x00}))
    assert found.outcome == "timeout"
    assert "does not end" in str(found.message)


def test_what_no_server_would_send_is_refused_before_the_library_sees_it(recording: Recording) -> None:
    assert verdict(b"not a binary log").outcome == "refused"
    found = verdict(recording("partitions")[:-1])
    assert (found.outcome, "no server would send it" in str(found.message)) == ("refused", True)


def test_the_time_limit_stops_code_that_catches_everything() -> None:
    def endless() -> None:
        while True:
            with suppress(Exception):
                time.sleep(0.001)

    with pytest.raises(TimeLimitPassed), time_limit(0.05):
        endless()


def test_the_time_limit_leaves_no_trace_behind() -> None:
    with time_limit(0.05):
        pass
    time.sleep(0.1)
