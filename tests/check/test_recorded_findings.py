"""What foreign decoders get wrong in the recordings of every type (docs/findings.md, at its end)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.binlog import write_binlog
from forge.check.compare.compare import check
from forge.check.compare.differences import Comparison, Decoding, Difference
from forge.check.decoder import Decoder
from forge.check.decoders.table import decoder
from forge.compile import compile_plan
from forge.decode.decode import canonical_events
from forge.decode.reference import read_reference
from forge.errors import UnsupportedError
from forge.plan.session import Session
from forge.resources import corpora_dir
from forge.scenario import Scenario, insert, plan, replace

FOREIGN = "python-mysql-replication"


def present(name: str) -> Decoder:
    """A decoder; a test that asks for a Python package is skipped where the extra [check] is not installed."""
    if name == FOREIGN:
        pytest.importorskip("pymysqlreplication", reason="the extra [check] is not installed")
    return decoder(name)


def recorded(name: str) -> bytes:
    return (Path(corpora_dir()) / "recordings" / "values" / name / "binlog.000001").read_bytes()


def differences(name: str, other: str = FOREIGN) -> Iterator[Difference]:
    data = recorded(name)
    one = present(other)
    return Comparison(read_reference(data), one, Decoding.collect(one.decode(data))).differences()


@pytest.mark.parametrize(
    ("name", "raw", "right", "found"),
    [
        ("timestamps/mariadb-11.8", "80000000", "2038-01-19 03:14:08", "1901-12-13 20:45:52"),
        ("old-temporals/mariadb-10.11", "590a80", "-838:59:59", "839:12:57"),
        ("times/mysql-9.7", "7fffffa6", "-00:00:00.9", "-00:00:00.1"),
        ("years/mariadb-11.8", "00", "0000", "1900"),
        ("lobs/mariadb-10.11", "02000078", "x", "砀"),
        ("binaries/mysql-9.7", "0101", "0x0100", "0x01"),
    ],
)
def test_the_value_is_wrong_there(name: str, raw: str, right: str, found: str) -> None:
    cells = {
        difference.raw: (difference.reference, difference.found)
        for difference in differences(name)
        if difference.what == "value"
    }
    assert cells[raw] == (right, found)


def test_python_codecs_are_not_those_of_the_servers() -> None:
    texts = {
        difference.table: (difference.reference, difference.found)
        for difference in differences("charsets-one-byte/mysql-9.7")
        if difference.what == "value" and difference.column_name == "v"
    }
    for table, right, wrong in [("cp866.t", "ⁿ²", "№¤"), ("greek.t", "ʽʼ", "‘’"), ("koi8u.t", "•", "∙")]:
        ours, theirs = texts[table]
        assert ours is not None
        assert theirs is not None
        assert all(character in ours for character in right)
        assert all(character in theirs for character in wrong)


def test_members_are_read_as_utf_8_whatever_their_character_set() -> None:
    found = [difference for difference in differences("charsets-unicode/mysql-9.7") if difference.what == "columns"]
    assert any("'é', 'ࠀ', '日'" in (d.expected or "") and "'', '\\x08\\x00', ''" in (d.found or "") for d in found)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("compressed/mariadb-10.11", "255 is not a valid MetadataFieldType"),
        ("chars/mariadb-11.8", "StatusVariableMismatch"),
    ],
)
def test_the_file_is_refused_there(name: str, message: str) -> None:
    [verdict] = check(recorded(name), [present(FOREIGN)])
    assert verdict.outcome == "refused"
    assert message in str(verdict.message)


def test_collations_from_2048_on_are_not_known_there() -> None:
    first = next(differences("json/mariadb-11.8"))
    assert (first.expected, first.found) == ("tail COLLATE utf8mb4_uca1400_ai_ci", "tail")


@pytest.mark.servers
@pytest.mark.parametrize("reader", ["mariadb-binlog-10.11", "mariadb-binlog-11.8"])
def test_mariadbs_readers_do_not_know_their_own_old_temporal_types(reader: str) -> None:
    first = next(differences("old-temporals/mariadb-10.11", reader))
    assert "INVALID_TYPE(11)" in str(first.found)
    last = [d for d in differences("old-temporals/mariadb-11.8", reader) if d.raw == "ffffffff"]
    assert [(d.expected, d.found) for d in last] == [("4294967295", "-1")]


@pytest.mark.servers
def test_mariadbs_reader_counts_mysqls_geometry_as_a_character_column() -> None:
    found = {d.column: d.found for d in differences("geometries/mysql-9.7", "mariadb-binlog-11.8")}
    assert found[3] == "`g` GEOMETRY CHARSET utf8mb4 COLLATE utf8mb4_0900_ai_ci"
    assert next(differences("geometries/mysql-9.7", "mariadb-binlog-10.11"), None) is None


def test_fractions_of_old_temporals_cannot_be_read_from_the_file_alone() -> None:
    problem = read_reference(recorded("old-fractions/mariadb-10.11")).problem
    assert isinstance(problem, UnsupportedError)
    assert "the event does not say how many fractional digits they have" in str(problem)


def test_the_unused_bits_of_a_present_bitmap_are_counted_as_columns() -> None:
    scenario = Scenario(
        scenario="t",
        session=Session(row_image="noblob"),
        tables=["CREATE TABLE d.t (a INT PRIMARY KEY, b INT UNIQUE, c INT, d INT, e INT, f INT, g INT, h INT, i TEXT)"],
    )
    rows = insert("d.t", {"a": 1, "b": 2, "i": "x"}), replace("d.t", {"a": 2, "b": 2})
    data = write_binlog(compile_plan(plan(scenario.transaction(*rows))))
    (verdict,) = check(data, [present(FOREIGN)])
    assert (verdict.outcome, "AssertionError" in (verdict.message or "")) == ("refused", True)
    (update,) = [event for event in canonical_events(data) if event["type"] == "UPDATE_ROWS"]
    assert update["fields"]["present"] == "fffe"
