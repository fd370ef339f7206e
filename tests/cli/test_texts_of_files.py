"""Names and values of a file are shown so that no terminal obeys them, and that no line of theirs is another's."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import struct
from pathlib import Path

import pytest

from forge.binlog.reader import frames
from forge.cli import app
from forge.resources import corpora_dir

FIRST = (corpora_dir() / "recordings" / "integers-full-no-gtid-no-checksum" / "binlog.000001").read_bytes()
EVIL = "\x1b]0;T\x07\x1b[31mR\x1b[2J\r\nFORGED \x08\x7f\x9b31m\u202e\u2066"
#: What a terminal obeys, or what turns the direction of text.
OBEYED = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
COMMANDS = (
    ["dump"], ["dump", "--json"], ["dump", "--rows"], ["dump", "--rows", "--json"], ["tables"], ["tables", "--json"],
    ["schema-of"], ["schema-of", "--columns"], ["schema-of", "--json"], ["bytes"], ["bytes", "--json"],
    ["bytes", "--html"], ["disasm"], ["disasm", "--json"], ["disasm", "--annotate"], ["facts"],
    ["check", "--decoder", "forge"], ["check", "--decoder", "forge", "--json"], ["compat", "--to", "mysql-5.7"],
    ["compat", "--to", "mysql-5.7", "--json"], ["compat", "--to", "mysql-5.7", "--table", EVIL],
    ["rows"], ["rows", "--columns", EVIL], ["rows", "--table", EVIL], ["dump", "--type", EVIL],
)  # fmt: skip


def event(type_code: int, body: bytes) -> bytes:
    return struct.pack("<IBIIIH", 1_700_000_000, type_code, 1, 19 + len(body), 0, 0) + body


def log(database: bytes, names: list[bytes], row: bytes) -> bytes:
    """A log of MySQL 9.7 without checksums: a table ``t`` of VARCHAR(200) columns, and a row that is inserted."""
    types = b"\x0f" * len(names)
    columns = b"".join(bytes([len(name)]) + name for name in names)
    records = b"\x02\x01\x2d" + b"\x04" + bytes([len(columns)]) + columns
    head = b"\1\0\0\0\0\0\1\0" + bytes([len(database)]) + database + b"\0\1t\0"
    table = head + bytes([len(names)]) + types + bytes([2 * len(names)]) + b"\xc8\0" * len(names) + b"\xff" + records
    rows = b"\1\0\0\0\0\0\1\0\2\0" + bytes([len(names)]) + b"\xff\0" + row
    description = next(frames(FIRST, 4)).raw
    return b"\xfebin" + description + event(19, table) + event(30, rows)


@pytest.fixture
def evil(tmp_path: Path) -> str:
    text = EVIL.encode()
    path = tmp_path / os.fsdecode(b"log-\x1b[31m-\xc3(.000001")
    path.write_bytes(log(text, [text, b"b"], (bytes([len(text)]) + text) * 2))
    return str(path)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_output_has_what_a_terminal_obeys_or_a_line_of_a_name(
    command: list[str], evil: str, capfd: pytest.CaptureFixture[str]
) -> None:
    code = app.run([*command, evil])
    out, err = capfd.readouterr()
    assert code in (0, 1, 2, 3), err
    assert out + err
    assert OBEYED.search(out + err) is None
    assert not re.search("^FORGED", out + err, re.MULTILINE)


def test_a_difference_of_two_logs_has_nothing_that_a_terminal_obeys(
    evil: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other").write_bytes(FIRST)
    assert app.run(["diff", "--all", evil, str(tmp_path / "other")]) == 1
    out, err = capfd.readouterr()
    assert OBEYED.search(out + err) is None
    assert not re.search("^FORGED", out + err, re.MULTILINE)


def test_csv_and_json_lines_have_the_exact_texts(evil: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert app.run(["rows", "--format", "csv", evil]) == 0
    header, row = csv.reader(io.StringIO(capfd.readouterr().out, newline=""))
    assert (header[0], row[0], row[1]) == (EVIL, EVIL, EVIL)
    assert app.run(["rows", evil]) == 0
    assert json.loads(capfd.readouterr().out)[EVIL] == EVIL


def test_a_name_that_is_not_utf8_is_shown_as_its_bytes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("numba", reason="the extra `rows` is not installed")
    path = tmp_path / "latin"
    path.write_bytes(log(b"\xc3(", [b"\xed\xa0\x80", b"b"], b"\1x\1y"))
    shown = {"rows": '"0xeda080": "x"', "tables": "0xc328.t", "dump": "insert 0xc328.t", "schema-of": "`0xeda080`"}
    for command in COMMANDS[:20]:
        assert app.run([*command, str(path)]) in (0, 3)
        out, err = capfd.readouterr()
        assert "error of ours" not in err
        assert shown.get(command[-1], "") in out
    assert app.run(["rows", "--table", "0xc328.t", str(path)]) == 0
    assert app.run(["dump", "--rows", "--table", "0xc328.t", str(path)]) == 0
    assert "0xeda080='x'" in capfd.readouterr().out


@pytest.mark.parametrize("form", ["jsonl", "csv", "arrow", "parquet"])
def test_a_column_whose_name_is_taken_is_called_by_its_number(
    form: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if form in ("arrow", "parquet"):
        pytest.importorskip("numba", reason="the extra `rows` is not installed")
    path, out = tmp_path / "taken", tmp_path / "out"
    path.write_bytes(log(b"d", [b"_operation", b"a", b"a", b"@1", b"_file"], b"\1v\1w\1x\1y\1z"))
    assert app.run(["rows", "--format", form, "-o", str(out), str(path)]) == 0
    if form == "jsonl":
        row = json.loads(out.read_text())
    elif form == "csv":
        row = next(csv.DictReader(io.StringIO(out.read_text())))
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pq.read_table(out) if form == "parquet" else pa.ipc.open_file(out).read_all()
        [row] = table.to_pylist()
    assert list(row)[:6] == ["@1", "a", "@3", "@4", "@5", "_operation"]
    assert [row[name] for name in list(row)[:6]] == ["v", "w", "x", "y", "z", "insert"]
