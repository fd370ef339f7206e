"""Vendors' readers print of many files in one call what they print of each alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from forge.binlog.reader import frames
from forge.check.compare.differences import Decoding
from forge.check.decoders.table import available_decoders
from forge.check.decoders.vendors import many
from forge.check.decoders.vendors.program import Printed
from forge.check.decoders.vendors.reader import OPTIONS, CommandLineReader
from forge.compile import compile_files, write_files
from forge.scenario import Scenario, Session, insert, load_data, plan

Recording = Callable[[str], bytes]

READERS = [reader for reader in available_decoders() if isinstance(reader, CommandLineReader)]
#: Among them: what one vendor's reader stops at, GTIDs that begin anew, what is printed on standard error.
RECORDINGS = ("types-full", "partitions", "vector", "invisible", "types-minimal", "mariadb-compressed-column")
#: A reader that prints a mark as the real ones do, fails at a file that ends in "bad", and is killed by one in "dead".
FAKE = r"""
for file do
  case "$(tail -c 4 "$file")" in *dead) kill -9 $$;; esac
  printf '\n# at 4\n'
  printf 'a header\n'
  case $file in mark) printf '%s\n' "$(strings -n 32 mark | grep -v MariaDB | head -1)"; continue;; esac
  printf 'printed %s\n' "$file"
  case "$(tail -c 4 "$file")" in *bad) echo "ERROR: in $file" >&2; exit 1;; esac
done
"""


def shown(decoding: Decoding) -> tuple[Any, ...]:
    ended = None if decoding.ended is None else (decoding.ended.ending, str(decoding.ended))
    return decoding.tables, decoding.rows, decoding.statements, decoding.gaps, decoding.warnings, ended


@pytest.mark.servers
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_files_together_are_read_as_each_alone(reader: CommandLineReader, recording: Recording) -> None:
    if reader.available() is not None:
        pytest.skip(str(reader.available()))
    files = [recording(name) for name in RECORDINGS] * 2
    files += [files[0][:-10], files[1], files[1][: len(files[1]) // 2], files[0]]
    together = [shown(Decoding.collect(items)) for items in reader.decode_files(files)]
    assert together == [shown(Decoding.collect(reader.decode(data))) for data in files]


def log(value: int) -> bytes:
    scenario = Scenario("a", tables=["CREATE TABLE a.b (c INT PRIMARY KEY)"])
    planned = plan(scenario.transaction(insert("a.b", {"c": value})))
    [data] = write_files(planned, compile_files(planned))
    return data


def outcomes(files: Sequence[bytes], monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[int]]:
    """What is printed of each file, or how it ended, and how many files each call had."""
    calls: list[int] = []
    one_call = many._one_call

    def counted(command: Sequence[str], some: Sequence[bytes], family: many.Family) -> list[many.Outcome]:
        calls.append(len(some))
        return one_call(command, some, family)

    monkeypatch.setattr(many, "_one_call", counted)
    monkeypatch.setattr(many, "is_for_itself", lambda data, foreign: False)
    found = many.run_on_files(["sh", "-c", FAKE, "fake"], files, "mysql", frozenset())
    return [show(one) for one in found], calls


def show(outcome: many.Outcome) -> str:
    if isinstance(outcome, Printed):
        return f"{outcome.code} {outcome.out.decode().split()[-1]} {outcome.err.decode()}".strip()
    return outcome.ending


def test_a_file_that_stops_the_reader_has_the_rest_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [log(1), log(2) + b"bad", log(3), log(4) + b"bad", log(5)]
    found, calls = outcomes(files, monkeypatch)
    right, wrong = "0 binlog.000001", "1 binlog.000001 ERROR: in binlog.000001"
    assert (found, calls) == ([right, wrong, right, wrong, right], [5, 3, 1])


def test_a_file_that_kills_the_reader_is_found_by_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [log(1), log(2), log(3) + b"dead", log(4)]
    found, _ = outcomes(files, monkeypatch)
    assert found == ["0 binlog.000001", "0 binlog.000001", "crashed", "0 binlog.000001"]


def test_a_file_that_ends_inside_something_is_read_alone() -> None:
    whole = log(1)
    assert not many.is_for_itself(whole, frozenset())
    assert many.is_for_itself(whole[:-1], frozenset())
    assert many.is_for_itself(whole[:-23], frozenset()) is False  # Without STOP it ends with XID.
    assert many.is_for_itself(whole[: -23 - 31], frozenset())
    assert many.is_for_itself(whole, frozenset((30,)))


def foreign_log(value: int) -> bytes:
    """A log of MariaDB, which begins with an event of type 163."""
    planned = plan(
        Scenario("a", server="mariadb-11.8", tables=["CREATE TABLE a.b (c INT PRIMARY KEY)"]).transaction(
            insert("a.b", {"c": value})
        )
    )
    [data] = write_files(planned, compile_files(planned))
    return data


@pytest.mark.parametrize(("code", "started"), [(1, 1), (0, 4)])
def test_logs_that_begin_alike_up_to_where_the_reader_stops_start_it_once(
    code: int, started: int, tmp_path: Path
) -> None:
    logs = [foreign_log(value) for value in (1, 2, 3)]
    stop = next(frame.offset for frame in frames(logs[0]) if frame.type_code == 163)
    fake = f"echo >> {tmp_path}/calls; echo 'ERROR: unread entry at offset {stop}: why' >&2; exit {code}"
    found = [many.run_alone(["sh", "-c", fake], data, frozenset({163})) for data in logs]
    assert [one.code for one in found] == [code] * 3
    assert len((tmp_path / "calls").read_text()) == started


@pytest.mark.servers
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_files_of_load_data_lie_where_they_go_with_the_call(reader: CommandLineReader) -> None:
    if reader.available() is not None:
        pytest.skip(str(reader.available()))
    scenario = Scenario(
        "a", session=Session(binlog_format="statement"), tables=["CREATE TABLE a.b (c INT PRIMARY KEY)"]
    )
    planned = plan(scenario.transaction(load_data("a.b", [[1]])))
    [data] = write_files(planned, compile_files(planned))
    printed = many.run_alone([*(reader.command() or ()), "--no-defaults", *OPTIONS], data, frozenset())
    assert b"LOAD DATA LOCAL INFILE './SQL_LOAD_MB-" in printed.out
