"""`forge check --testee`: exit codes for all that a program may do with a file."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from forge.cli.app import run
from tests.cli.test_check import BROKEN, FILE

pytestmark = pytest.mark.slow

#: A testee that ends each file as its argument says.
TESTEE = """
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    if "hello" in request:
        print(json.dumps({"id": 0, "hello": {"name": "small", "version": "2"}}), flush=True)
    elif sys.argv[1] == "dies":
        os._exit(3)
    elif sys.argv[1] == "hangs":
        time.sleep(600)
    else:
        print(json.dumps({"id": request["id"], "end": sys.argv[1], "message": "no"}), flush=True)
"""


@pytest.fixture
def testee(tmp_path: Path) -> str:
    program = tmp_path / "testee.py"
    program.write_text(TESTEE)
    return shlex.join([sys.executable, str(program)])


@pytest.mark.parametrize(
    ("data", "does", "code", "said"),
    [
        (FILE, "ok", 0, ""),
        (FILE, "refused", 1, "small refuses a file that breaks no rule"),
        (FILE, "unsupported", 1, "small does not support the file"),
        (FILE, "crashed", 1, "small crashes"),
        (FILE, "dies", 1, "small crashes"),
        (FILE, "hangs", 1, "small does not end"),
        (BROKEN, "refused", 0, ""),
        (BROKEN, "unsupported", 0, ""),
        (BROKEN, "ok", 1, "small reads on in a file that breaks a rule of the format"),
        (BROKEN, "dies", 1, "small crashes"),
        (BROKEN, "hangs", 1, "small does not end"),
    ],
)
def test_a_testee_that_is_not_right_about_the_file_fails_the_check(
    testee: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], data: bytes, does: str, code: int, said: str
) -> None:
    file = tmp_path / "binlog.000001"
    file.write_bytes(data)
    assert run(["check", str(file), "--testee", f"{testee} {does}", "--timeout", "1"]) == code
    printed = capfd.readouterr()
    assert printed.out.startswith("small 2: ")
    assert said in printed.err


def test_the_result_is_there_as_json(testee: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "binlog.000001"
    file.write_bytes(FILE)
    assert run(["check", str(file), "--testee", f"{testee} refused", "--json"]) == 1
    result = json.loads(capfd.readouterr().out)
    assert (result["testee"], result["outcome"], result["message"]) == ("small", "refused", "no")


def test_a_testee_and_decoders_are_not_asked_together(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "binlog.000001"
    file.write_bytes(FILE)
    assert run(["check", str(file), "--testee", "true", "--decoder", "forge"]) == 2
    assert run(["check", str(file), "--level", "rows"]) == 2
    assert "--level goes with --testee" in capfd.readouterr().err
