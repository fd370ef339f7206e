"""The vendors' text back into a log: the events whose bytes or words it holds are the same."""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings

from forge import Log, strategies
from forge.binlog.reader import MAGIC, frames
from forge.cli import app
from forge.errors import ScenarioError
from forge.vendors.assembling.text_assembly import AssembledLog, assemble_text
from forge.vendors.assembling.text_scanner import is_vendor_text
from forge.vendors.call import Call
from forge.vendors.column_forms import Flavour
from tests.recorded import LOGS, RECORDINGS
from tests.vendors.comparing import PROGRAMS, ours, theirs, zone

#: mysqlbinlog 9.7 refuses rows as servers before 5.6 wrote them; encrypted logs hold no text.
_REFUSED = re.compile(r"mysql-5\.5|encrypted|-v1-|old-fractions")
#: What no text holds: the files of LOAD DATA, and the names that they had.
_OF_FILES = {"BEGIN_LOAD_QUERY", "APPEND_BLOCK", "EXECUTE_LOAD_QUERY"}
PLAIN = [log for log in LOGS if log.read_bytes().startswith(MAGIC) and not _REFUSED.search(str(log))]


def flavour_of(log: Path) -> Flavour:
    return "mariadb-11.8" if "mariadb" in str(log.relative_to(RECORDINGS)) else "mysql"


def again(text: bytes) -> AssembledLog:
    """The only file that a text was printed of."""
    (log,) = assemble_text(text, file="dump.txt")
    return log


def differing(data: bytes, made: AssembledLog) -> list[int]:
    """The offsets of events that are not the same, and not said not to be."""
    listed = {one.position: one for one in made.not_in_text}
    assembled = [frame.raw for frame in frames(made.data)]
    different = []
    for frame in frames(data):
        one = listed.get(frame.offset)
        if one is not None and not one.written:
            continue
        raw = assembled.pop(0) if assembled else b""
        if raw != frame.raw and one is None:
            different.append(frame.offset)
    return different


@pytest.mark.parametrize("log", PLAIN, ids=lambda log: str(log.relative_to(RECORDINGS)))
def test_the_text_of_a_recording_is_the_recording_again(log: Path) -> None:
    data = log.read_bytes()
    made = again(ours(flavour_of(log), log, ["-vv"]).out)
    different = differing(data, made)
    if made.by_checksum:
        assert different == []
    else:
        # Forms of one size: nothing tells a table_map_for_update of 1 from one of 2.
        assert len(different) <= 1
    if not {one.type for one in made.not_in_text} & _OF_FILES:
        named = "xa-sessions" in str(log) or "statement-tables" in str(log)
        assert made.not_in_text == () or named
    if not made.not_in_text and not different:
        assert made.data == data


@pytest.mark.servers
@pytest.mark.parametrize("flavour", PROGRAMS)
def test_text_of_the_programs_on_this_machine_is_the_log_again(flavour: Flavour) -> None:
    for log in [log for log in PLAIN if flavour_of(log)[:5] == flavour[:5]][::12]:
        assert differing(log.read_bytes(), again(theirs(flavour, log, ["-vv"]).out)) == [], log


@pytest.mark.parametrize("line", ["mysql-9.7", "mysql-8.0", "mysql-5.7", "mysql-5.6", "mariadb-10.11", "mariadb-11.8"])
def test_the_text_of_a_drawn_log_is_the_log_again(line: str) -> None:
    @settings(max_examples=15, deadline=None)
    @given(strategies.logs(line))
    def same(log: Log) -> None:
        data = log.files[0].data
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "binlog.000001"
            path.write_bytes(data)
            made = again(ours("mysql" if line.startswith("mysql") else "mariadb-11.8", path, ["-vv"]).out)
        assert (made.data, made.not_in_text) == (data, ())

    same()


@pytest.mark.parametrize("options", [
    ["-vv", "-H"], ["-vv", "--print-table-metadata"], ["-v", "-D", "--set-charset=latin1"],
    ["-vv", "--rewrite-db=x->y"],
])  # fmt: skip
@pytest.mark.parametrize("recording", ["values/dates/mysql-9.7", "mariadb-domains-mariadb-11.8"])
def test_other_options_say_as_much(recording: str, options: list[str]) -> None:
    log = RECORDINGS / recording / "binlog.000001"
    made = again(ours(flavour_of(log), log, options).out)
    assert (made.data, made.not_in_text) == (log.read_bytes(), ())


@pytest.mark.parametrize("options", [["-v", "--base64-output=decode-rows"], ["-vv", "--base64-output=never"]])
def test_rows_without_their_bytes_are_listed(options: Sequence[str]) -> None:
    log = RECORDINGS / "values/dates/mariadb-10.11" / "binlog.000001"
    made = again(ours("mariadb-10.11", log, options).out)
    assert differing(log.read_bytes(), made) == []
    assert {one.type for one in made.not_in_text} == {"TABLE_MAP", "ROWS"}
    assert not any(one.written for one in made.not_in_text)


def test_what_has_a_place_alone_is_listed() -> None:
    log = RECORDINGS / "values/moment-forms/mysql-9.7" / "binlog.000001"
    made = again(ours("mysql", log, ["-v"]).out)
    assert differing(log.read_bytes(), made) == []
    assert {one.reason for one in made.not_in_text} == {"the text has its place alone"}


def test_text_of_another_time_zone_is_the_same_log() -> None:
    log = RECORDINGS / "values/dates/mysql-9.7" / "binlog.000001"
    with zone("Asia/Kolkata"):
        text = b"".join(Call("mysql", ["-vv"], lambda message: None).text([str(log)]))
    with zone("America/New_York"):
        assert again(text).data == log.read_bytes()


def test_text_of_several_files_makes_several(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log = RECORDINGS / "values/dates/mysql-9.7" / "binlog.000001"
    text = tmp_path / "dump.txt"
    text.write_bytes(b"".join(Call("mysql", ["-vv"], lambda message: None).text([str(log), str(log)])))
    assert app.run(["asm", str(text), "-o", f"{tmp_path}/again/", "--json"]) == 0
    told = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [Path(one["path"]).read_bytes() for one in told] == [log.read_bytes()] * 2
    assert [one["not_in_text"] for one in told] == [[], []]


def test_what_is_not_in_the_text_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log = RECORDINGS / "statements/load-ends/mysql-9.7" / "binlog.000001"
    text = tmp_path / "dump.txt"
    text.write_bytes(ours("mysql", log, []).out)
    assert app.run(["asm", str(text), "-o", str(tmp_path / "again")]) == 0
    told = capfd.readouterr().err
    assert "BEGIN_LOAD_QUERY, line" in told
    assert "the text does not hold the file of LOAD DATA" in told


def test_a_changed_statement_is_made_of_what_the_text_says() -> None:
    log = RECORDINGS / "values/dates/mysql-9.7" / "binlog.000001"
    text = ours("mysql", log, ["-vv"]).out.replace(b"CREATE TABLE", b"CREATE  TABLE")
    made = again(text)
    assert {one.reason for one in made.not_in_text} == {"the text does not say all of it: made of what it says"}
    assert b"CREATE  TABLE" in made.data


@pytest.mark.parametrize(("change", "problem"), [
    ((b"BINLOG '\n", b"BINLOG '\n!"), "dump.txt:10: this line of a BINLOG statement is not base64"),
    ((b"\tStop", b"\tNothing"), r"an event of the kind 'Nothing' is not known here"),
    ((b"# at 4\n", b"hello\n"), "dump.txt:6: no line of mysqlbinlog or mariadb-binlog begins like this"),
])  # fmt: skip
def test_text_of_another_form_is_refused_with_its_line(change: tuple[bytes, bytes], problem: str) -> None:
    log = RECORDINGS / "values/dates/mysql-9.7" / "binlog.000001"
    text = ours("mysql", log, ["-vv"]).out.replace(*change, 1)
    with pytest.raises(ScenarioError, match=problem):
        again(text)


def test_short_text_is_refused() -> None:
    log = RECORDINGS / "values/dates/mysql-9.7" / "binlog.000001"
    with pytest.raises(ScenarioError, match="no event has a header here"):
        again(ours("mysql", log, ["-s"]).out)


@pytest.mark.parametrize("text", [b"", b"event: STOP\n", b'{"event": "STOP"}\n', b"SELECT 1;\n", b"\xfebin"])
def test_what_is_no_vendor_s_text_is_not_taken_for_one(text: bytes) -> None:
    assert not is_vendor_text(text)


def test_damaged_text_is_assembled_or_refused_with_its_line() -> None:
    log = RECORDINGS / "values/dates/mysql-9.7" / "binlog.000001"
    draws = random.Random(14)
    for options in (["-vv"], ["-H"]):
        lines = ours("mysql", log, options).out.split(b"\n")
        for _ in range(40):
            changed, place = list(lines), draws.randrange(len(lines))
            changed[place : place + draws.randrange(3)] = draws.sample(lines, draws.randrange(3))
            try:
                assemble_text(b"\n".join(changed), file="dump.txt")
            except ScenarioError as error:
                assert str(error).startswith("dump.txt")
