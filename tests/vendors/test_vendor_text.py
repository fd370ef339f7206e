"""The vendors' text held against what their programs printed."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from forge.cli import app
from forge.resources import corpora_dir
from forge.vendors.column_forms import Flavour
from tests.vendors.comparing import PROGRAMS, ours, theirs, zone

HERE = Path(__file__).parent
RECORDINGS = corpora_dir() / "recordings"
#: [recording, flavour, options, digest of what the program printed].
DIGESTS: list[tuple[str, Flavour, list[str], str]] = json.loads((HERE / "digests.json").read_text())


@pytest.mark.parametrize(("program", "recording"), [
    ("mysqlbinlog", "values/dates/mysql-9.7"),
    ("mariadb-binlog", "mariadb-domains-mariadb-11.8"),
    ("show-binlog-events", "mariadb-domains-mariadb-11.8"),
])  # fmt: skip
def test_a_log_is_printed_as_the_vendor_prints_it(
    program: str, recording: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    options = ["--", "-vv", "--print-table-metadata"] if program != "show-binlog-events" else []
    with zone("UTC"):
        assert app.run(["dump", str(RECORDINGS / recording / "binlog.000001"), "--as", program, *options]) == 0
    assert capfdbinary.readouterr().out == (HERE / "texts" / f"{program}.txt").read_bytes()


@pytest.mark.parametrize(
    ("recording", "flavour", "options", "digest"), DIGESTS, ids=lambda value: " ".join(value) if value else ""
)
def test_text_messages_and_exit_code_are_those_of_the_program(
    recording: str, flavour: Flavour, options: list[str], digest: str
) -> None:
    assert ours(flavour, RECORDINGS / recording, options).digest == digest


@pytest.mark.servers
@pytest.mark.parametrize("flavour", PROGRAMS)
def test_the_programs_on_this_machine_print_the_same(flavour: Flavour) -> None:
    logs = sorted(path for path in RECORDINGS.rglob("*.000001") if flavour[:5] in str(path.relative_to(RECORDINGS)))
    for path in random.Random(flavour).sample(logs, 20):
        options = ["-vv", "--print-table-metadata"]
        assert ours(flavour, path, options) == theirs(flavour, path, options), path


def test_an_unknown_option_is_refused_as_the_program_refuses_it(capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["dump", "log", "--as", "mysqlbinlog", "--", "--foo"]) == 2
    assert capfd.readouterr().err == "mysqlbinlog: [ERROR] unknown option '--foo'.\n"
