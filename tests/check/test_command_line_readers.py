"""The vendors' command-line readers: how they are run, and what the installed ones make of the recordings."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import forge
from forge.check.compare.compare import Verdict, check
from forge.check.decoder import DecodingEnded
from forge.check.decoders.table import decoder
from forge.check.decoders.vendors import program as cli_reader
from forge.check.decoders.vendors.program import find_program, run_on_file, run_program

Recording = Callable[[str], bytes]
Broken = Callable[[str, str, Mapping[int, int]], bytes]
Replaced = Callable[[str, bytes, bytes], bytes]


def test_a_program_gets_the_file_and_its_output_and_code_are_kept() -> None:
    printed = run_on_file(["sh", "-c", 'cat "$0"; echo oops >&2; exit 3'], b"\xfebin")
    assert (printed.out, printed.err, printed.code) == (b"\xfebin", b"oops\n", 3)


@pytest.mark.parametrize("script", ["kill -SEGV $$", "sh -c 'kill -SEGV $$'; exit $?"])
def test_a_crash_is_told_from_an_error(script: str) -> None:
    with pytest.raises(DecodingEnded, match="SIGSEGV") as caught:
        run_program(["sh", "-c", script])
    assert caught.value.ending == "crashed"


def test_a_program_that_does_not_end_is_ended() -> None:
    started = time.monotonic()
    with pytest.raises(DecodingEnded, match="had not ended") as caught:
        run_program(["sh", "-c", "sleep 60 & wait"], time_limit=0.1)
    assert caught.value.ending == "timeout"
    assert time.monotonic() - started < 30


def test_a_program_that_prints_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_reader, "OUTPUT_LIMIT", 1 << 16)
    with pytest.raises(DecodingEnded, match="printed more than") as caught:
        run_program(["sh", "-c", "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done"])
    assert caught.value.ending == "crashed"


def test_a_program_that_prints_much_of_a_large_file_is_stopped_but_has_not_crashed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cli_reader, "OUTPUT_LIMIT", 1 << 16)
    with pytest.raises(DecodingEnded, match="which is all that is read of it") as caught:
        run_program(["sh", "-c", "yes"], size=1 << 10)
    assert caught.value.ending == "too_long"


def test_a_program_that_cannot_be_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DecodingEnded, match="cannot run"):
        run_program([str(tmp_path / "nothing")])


def test_an_unpacked_server_goes_before_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGE_SERVERS", str(tmp_path))
    assert find_program("sh", "mysql97") == (shutil.which("sh"),)
    (tmp_path / "mysql97.run").touch()
    assert find_program("sh", "mysql97") == (str(tmp_path / "mysql97.run"), "sh")


MYSQLBINLOG = {
    "geometry": ("unsupported", "column type 255"),
    "mariadb-compressed-column": ("unsupported", "GTID_LIST events"),
    "mariadb-compressed-rows": ("unsupported", "GTID_LIST events"),
    "mariadb-types": ("unsupported", "GTID_LIST events"),
    "vector-empty": ("crashed", "it was ended by SIGSEGV"),
}
MARIADB_BINLOG = {
    "compressed": ("unsupported", "TRANSACTION_PAYLOAD events"),
    "gtid-tagged": ("unsupported", "GTID_TAGGED events"),
    "json-bytes": ("unsupported", "column type 245"),
    "json-time-long": ("unsupported", "column type 245"),
    "json-time-negative": ("unsupported", "column type 245"),
    "json-timestamp": ("unsupported", "column type 245"),
    "mariadb-compressed-column": ("disagree", "INVALID_TYPE(141)"),
    "odd-names": ("disagree", "shows '`x`y` INT'"),
    "partial-json": ("unsupported", "column type 245"),
    "types-full": ("unsupported", "column type 245"),
    "types-minimal": ("unsupported", "column type 245"),
    "vector": ("unsupported", "column type 242"),
    "vector-empty": ("unsupported", "column type 242"),
    "year-signed": ("disagree", "column 2 should be '`i` TINYINT'"),
}


def verdict(name: str, data: bytes) -> Verdict:
    return check(data, [decoder(name)])[0]


def expect(found: Verdict, expected: Mapping[str, tuple[str, str]], recording_name: str) -> None:
    outcome, words = expected.get(recording_name, ("agree", "row"))
    assert (found.outcome, words in str(found.message)) == (outcome, True), found.message
    if outcome == "agree":
        assert found.cells_not_shown == 0


@pytest.mark.servers
def test_mysqlbinlog_agrees_without_a_warning(any_recording: str, recording: Recording) -> None:
    found = verdict("mysqlbinlog", recording(any_recording))
    expect(found, MYSQLBINLOG, any_recording)
    assert found.warnings == ()
    assert str(found.version).startswith("9.7")


@pytest.mark.servers
@pytest.mark.parametrize("version", ["10.11", "11.8"])
def test_mariadb_binlog_agrees_where_it_knows_the_types(any_recording: str, recording: Recording, version: str) -> None:
    found = verdict(f"mariadb-binlog-{version}", recording(any_recording))
    expect(found, MARIADB_BINLOG, any_recording)
    assert str(found.version).startswith(version)


@pytest.mark.servers
def test_mysqlbinlog_reads_a_changed_value_as_we_do(replaced: Replaced) -> None:
    changed = replaced("types-full", bytes.fromhex("7ffb2de9d1"), bytes.fromhex("7ffb2de9d2"))
    found = verdict("mysqlbinlog", changed)
    assert found.outcome == "agree"
    assert found.rows == 45


@pytest.mark.servers
@pytest.mark.parametrize("name", ["mysqlbinlog", "mariadb-binlog-11.8"])
def test_a_wrong_checksum_and_a_torn_tail_are_refused(recording: Recording, name: str) -> None:
    data = bytearray(recording("partitions"))
    data[-1] ^= 1
    assert verdict(name, bytes(data)).outcome == "refused"
    assert verdict(name, recording("partitions")[:-1]).outcome == "refused"


@pytest.mark.servers
@pytest.mark.parametrize(
    ("line", "name", "outcome", "words"),
    [
        ("mysql-5.5", "mysqlbinlog", "unsupported", "WRITE_ROWS_V1 events"),
        ("mysql-4.0", "mysqlbinlog", "unsupported", "START_V3 events"),
        ("mysql-5.5", "mariadb-binlog-11.8", "agree", "row"),
        ("mysql-4.0", "mariadb-binlog-11.8", "unsupported", "START_V3 events"),
        ("mysql-4.0", "mariadb-binlog-10.11", "agree", "row"),
    ],
)
def test_what_a_reader_has_given_up_is_not_refused_by_it(line: str, name: str, outcome: str, words: str) -> None:
    row_format = "statement" if line == "mysql-4.0" else "row"
    log = forge.build(
        f"scenario: old\nserver: {line}\nsession: {{binlog_format: {row_format}}}\n"
        "tables: [CREATE TABLE d.t (id INT)]\n"
        "transactions: [[insert: {into: d.t, rows: [{id: 1}]}]]\n"
    )
    found = verdict(name, log.data)
    assert (found.outcome, words in str(found.message)) == (outcome, True), found.message


@pytest.mark.servers
def test_an_open_file_is_warned_of(broken: Broken) -> None:
    found = verdict("mysqlbinlog", broken("partitions", "FORMAT_DESCRIPTION", {17: 1}))
    assert found.outcome == "agree"
    assert [warning.partition(":")[0] for warning in found.warnings] == ["Warning"]


@pytest.mark.servers
@pytest.mark.parametrize(
    ("name", "case", "kind", "changes"),
    [
        ("mariadb-binlog-11.8", "year-zero", "TABLE_MAP", {38: 0xFF}),
        ("mariadb-binlog-11.8", "mariadb-compressed-rows", "TABLE_MAP", {34: 0xFF}),
    ],
)
def test_the_crashes_of_the_findings_are_crashes(
    broken: Broken, name: str, case: str, kind: str, changes: dict[int, int]
) -> None:
    found = verdict(name, broken(case, kind, changes))
    assert (found.outcome, found.message) == ("crashed", "it was ended by SIGSEGV")
