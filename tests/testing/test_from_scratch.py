"""What ``@given(logs())`` finds of a decoder, from nothing: known defects, each in a log of one table and one row.

The decoder is python-mysql-replication 1.0.17.  A cause is an outcome, the kind of the first difference or message, and
the type of the event; what was found is passed over in the next round, as if it were mended.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

pytest.importorskip("pymysqlreplication", reason="the extra [check] is not installed")

import forge
from forge import strategies
from forge.conform.findings.records import findings_dir
from forge.conform.one_file import FileResult, ask
from forge.conform.shrink.outcomes import finding_of
from forge.conform.testee import Testee
from forge.logs import Log
from forge.resources import corpora_dir

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

#: Rounds at most, logs of a round, and the defects that are enough.
ROUNDS, LOGS, ENOUGH = 40, 500, 10
_TEXT = r"value of type (15|252|253|254)$"
#: The record of a defect, ``corpora/findings/pymysqlreplication-NAME.toml``, and what its causes look like.
DEFECTS = {
    "gtid-5-6": r"refused GTID .*AssertionError",
    "status-variables": r"refused QUERY .*StatusVariableMismatch",
    "payload": r"disagree TRANSACTION_PAYLOAD .*does not show the row",
    "mariadb-row-compression": r"disagree \w+_ROWS_COMPRESSED_V1 .*does not show the row",
    "metadata-unknown-record": r"refused TABLE_MAP .*ValueError: # is not a valid MetadataFieldType",
    "metadata-left-out": r"refused TABLE_MAP .*(IndexError|TypeError)",
    "utf16-order": rf"refused \w+ named .*UnicodeDecodeError: 'utf-#-[lb]e'|disagree \w+ named {_TEXT}",
    "charset-without-names": rf"refused \w+ unnamed .*UnicodeDecodeError|disagree \w+ unnamed {_TEXT}",
    "codecs": r"refused \w+ named .*UnicodeDecodeError: '(?!utf)",
    "signs-without-names": r"disagree \w+ unnamed value of type (1|2|3|8|9)$",
    "year-zero": r"disagree \w+ \w+ value of type 13$",
    "old-time-negative": r"disagree \w+ \w+ value of type 11$",
    "time-negative-fraction": r"disagree \w+ \w+ value of type 19$",
    "bitmap-unused-bits": r"refused \w+_ROWS\w* .*AssertionError: Result length",
}


@dataclass(frozen=True, slots=True)
class Found:
    """The smallest log that shows a cause."""

    log: Log
    result: FileResult

    def __str__(self) -> str:
        rows = [dict(row.after or row.before or {}) for row in self.log.rows]
        return f"{self.log.server}, rows {rows}: {self.result.outcome}, {self.result.message}"


def cause_of(log: Log, result: FileResult) -> str:
    """Outcome, type of the event, whether the log names its columns, and the kind of difference or message."""
    message = result.message or ""
    place = re.match(r"(?:the event at|it shows a row of event at) (\d+)", message)
    number = None if result.difference is None else result.difference.event_index
    at = next(
        (event for event in log.events if event["index"] == number or (place and event["offset"] == int(place[1]))), {}
    )
    named = not any(
        name.startswith("@") for row in forge.read(log.data, "lenient").rows for name in row.after or row.before or {}
    )
    said = finding_of(result).kind if result.difference is not None else re.sub(r"\d+", "#", message.partition("\n")[0])
    return f"{result.outcome} {at.get('type', 'file')} {'named' if named else 'unnamed'} {said}"


def defect_of(cause: str) -> str:
    """The name of the record, or the cause itself."""
    return next((name for name, words in DEFECTS.items() if re.match(words, cause)), cause)


def test_ten_known_defects_are_found_from_scratch_each_in_one_row_of_one_or_two_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found: dict[str, Found] = {}
    path, started, asked = tmp_path / "binlog.000001", seconds(), 0
    with Testee(f"{sys.executable} {corpora_dir() / 'testees' / 'python-mysql-replication' / 'testee.py'}") as testee:

        def failure(log: Log) -> tuple[str, Found] | None:
            path.write_bytes(log.data)
            result = ask(testee, path, log.data)
            return (
                None if result.right or result.outcome == "unsupported" else (cause_of(log, result), Found(log, result))
            )

        for start in range(ROUNDS):
            known, causes = set(found), dict[str, type[AssertionError]]()
            smallest: dict[str, Found] = {}

            @seed(start)
            @settings(max_examples=LOGS, deadline=None, database=None, phases=[Phase.generate, Phase.shrink],
                      suppress_health_check=list(HealthCheck), report_multiple_bugs=True)  # fmt: skip
            @given(strategies.logs(server=()))
            def reads_as_it_should(log: Log) -> None:
                nonlocal asked
                asked += 1
                failed = failure(log)
                if failed is None or (name := defect_of(failed[0])) in known:  # noqa: B023
                    return
                smallest[name] = failed[1]  # noqa: B023
                # Failures are one for Hypothesis if they are of one class.
                raise causes.setdefault(name, type("Cause", (AssertionError,), {}))(name)  # noqa: B023

            with contextlib.suppress(AssertionError, BaseExceptionGroup):
                reads_as_it_should()
            found |= smallest
            told = [f"round {start}: {asked} logs, {seconds() - started:.0f} s of CPU, {len(found)} causes"]
            told += [f"  {name}: {one}" for name, one in smallest.items()]
            with capsys.disabled():
                sys.stdout.write("\n".join(told) + "\n")
            if len(small(found)) >= ENOUGH:
                break
    assert len(small(found)) >= ENOUGH, [str(one) for one in found.values()]


def small(found: Mapping[str, Found]) -> list[str]:
    """The known defects that one row of one or two columns shows."""
    logs = {name: one.log for name, one in found.items() if name in DEFECTS}
    return [name for name, log in logs.items() if len(log.rows) == 1 and widths(log) <= {1, 2}]


def widths(log: Log) -> set[int]:
    """Numbers of columns of the log's rows; every log has one table."""
    return {len(row.after or row.before or {}) for row in log.rows}


def seconds() -> float:
    """CPU time of this process and of testees that have ended; those of the running one are left out."""
    return sum(os.times()[:4])


def test_each_defect_has_its_record() -> None:
    names = {path.stem for path in findings_dir().glob("pymysqlreplication-*.toml")}
    assert {f"pymysqlreplication-{name}" for name in DEFECTS} <= names
