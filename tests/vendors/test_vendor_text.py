"""The vendors' text held against what their programs printed."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from forge.binlog.writer import write_binlog
from forge.cli import app
from forge.events.event import Event
from forge.events.format_description import FormatDescription
from forge.events.query import Query
from forge.resources import corpora_dir
from forge.servers import server_line
from forge.vendors.call import Call
from forge.vendors.column_forms import Flavour
from tests.vendors.comparing import PROGRAMS, drawn_options, ours, theirs, zone

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
    draws = random.Random(flavour)
    for path in draws.sample(logs, 20):
        options = drawn_options(draws, flavour, theirs(flavour, path, []).out)
        assert ours(flavour, path, options) == theirs(flavour, path, options), (path, options)


def test_an_unknown_option_is_refused_as_the_program_refuses_it(capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["dump", "log", "--as", "mysqlbinlog", "--", "--foo"]) == 2
    assert capfd.readouterr().err == "mysqlbinlog: [ERROR] unknown option '--foo'.\n"


def one_statement(tmp_path: Path, text: str) -> str:
    """A log of MySQL 9.7 with one statement."""
    line = server_line("mysql-9.7")
    description = FormatDescription(
        server_version=line.server_version, post_header_lengths=line.post_header_bytes, checksum_algorithm=0
    )
    log = tmp_path / "binlog.000001"
    log.write_bytes(write_binlog([Event(body=description), Event(body=Query(query=text))]))
    return str(log)


@pytest.mark.parametrize(("safe", "delimiter"), [([], "/*!*/;"), (["--safe"], "/*!1*/;")])
def test_with_safe_no_text_ends_its_own_statement(
    safe: list[str], delimiter: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = one_statement(tmp_path, "CREATE PROCEDURE d.p() SELECT 1 /* /*!*/; */")
    assert app.run(["dump", log, "--as", "mysqlbinlog", *safe]) == 0
    printed = capfd.readouterr().out
    assert f"CREATE PROCEDURE d.p() SELECT 1 /* /*!*/; */\n{delimiter}\n" in printed
    assert ("DELIMITER /*!1*/;\n" in printed) == bool(safe)


def test_files_of_load_data_go_to_the_folder_that_is_named(tmp_path: Path) -> None:
    path = RECORDINGS / "statements" / "load-ends" / "mysql-9.7" / "binlog.000001"
    call = Call("mysql", [f"--local-load={tmp_path}"], lambda message: None)
    printed = b"".join(call.text([str(path)]))
    names = [name.name for name in sorted(tmp_path.iterdir())]
    assert names
    assert all(name.encode() in printed for name in names)
    assert all((tmp_path / name).read_bytes() for name in names[:1])


def test_several_files_are_one_call(capfd: pytest.CaptureFixture[str]) -> None:
    path = str(RECORDINGS / "values/dates/mysql-9.7" / "binlog.000001")
    assert app.run(["dump", path, path, "--as", "mysqlbinlog"]) == 0
    printed = capfd.readouterr().out
    assert printed.count("# at 4\n") == 2
    assert printed.count("SET @@session.pseudo_thread_id=") == 1
    assert printed.count("DELIMITER ;\n") == 1
