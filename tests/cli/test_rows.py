"""``forge rows`` and ``forge tables``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from forge import build
from forge.compile import compile_files, write_files
from forge.scenario import Scenario, Session, delete, insert, plan, update

pytestmark = pytest.mark.slow

#: Runs the command where the packages of the extra cannot be imported.
WITHOUT_EXTRA = """\
import sys
for name in ("pyarrow", "numpy", "numba"):
    sys.modules[name] = None
from forge.cli.app import run
raise SystemExit(run(sys.argv[1:]))
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    scenario = (
        Scenario(
            "orders",
            server="mysql-9.7",
            session=Session(row_metadata="full", row_image="minimal"),
            tables=[
                "CREATE TABLE shop.orders (id INT PRIMARY KEY, who VARCHAR(9), price DECIMAL(5,2), raw VARBINARY(4))"
            ],
        )
        .transaction(insert("shop.orders", {"id": 1, "who": 'a "b", c', "price": "1.50", "raw": {"hex": "00ff"}}))
        .transaction(insert("shop.orders", {"id": 2, "who": "", "price": None}))
        .transaction(update("shop.orders", where={"id": 1}, set={"price": "2.00"}))
        .transaction(delete("shop.orders", where={"id": 2}))
    )
    planned = plan(scenario)
    [data] = write_files(planned, compile_files(planned))
    path = tmp_path / "binlog.000001"
    path.write_bytes(data)
    return path


def forge(*arguments: object, without_extra: bool = False) -> subprocess.CompletedProcess[str]:
    program = ["-c", WITHOUT_EXTRA] if without_extra else ["-m", "forge"]
    command = [sys.executable, *program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_json_lines_have_exact_values_and_leave_out_what_the_image_does(log: Path) -> None:
    ran = forge("rows", log, without_extra=True)
    assert ran.returncode == 0, ran.stderr
    records = [json.loads(line) for line in ran.stdout.splitlines()]
    first = {"id": 1, "who": 'a "b", c', "price": "1.50", "raw": "0x00ff", "_operation": "insert"}
    assert records[0].items() >= first.items()
    assert {name for name in records[2] if not name.startswith("_")} == {"price"}
    assert [record["_operation"] for record in records] == ["insert", "insert", "update", "delete"]


def test_csv_tells_null_from_the_empty_text(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    ran = forge("rows", log, "--columns", "id,who,price", "--format", "csv", "-o", out, without_extra=True)
    assert ran.returncode == 0, ran.stderr
    lines = out.read_bytes().decode().split("\r\n")
    assert lines[0].startswith("id,who,price,_operation,_file,")
    assert lines[1].startswith('1,"a ""b"", c",1.50,insert,')
    assert lines[2].startswith('2,"",,insert,')


def test_both_images_stand_beside_each_other(log: Path) -> None:
    records = [json.loads(line) for line in forge("rows", log, "--images", "both").stdout.splitlines()]
    assert (records[2]["before.id"], records[2]["after.price"]) == (1, "2.00")


def test_what_needs_the_extra_says_so(log: Path, tmp_path: Path) -> None:
    for arguments in (("rows", log, "--format", "parquet", "-o", tmp_path / "o"), ("warm-up",)):
        ran = forge(*arguments, without_extra=True)
        assert ran.returncode == 69
        assert ran.stderr.count("\n") == 1
        assert "its extra `rows`" in ran.stderr
    assert not (tmp_path / "o").exists()
    assert forge("tables", log, without_extra=True).stdout == forge("tables", log).stdout != ""


def test_a_table_that_is_not_there_or_not_the_only_one_is_refused_and_nothing_is_written(
    log: Path, tmp_path: Path
) -> None:
    for form in ("jsonl", "csv", "parquet", "arrow"):
        if form in ("parquet", "arrow"):
            pytest.importorskip("numba", reason="the extra [rows] is not installed")
        ran = forge("rows", log, "--table", "shop.order", "--format", form, "-o", tmp_path / "o")
        assert (ran.returncode, ran.stdout) == (2, "")
        assert ran.stderr.endswith("did you mean 'shop.orders'?\n")
    assert [path.name for path in tmp_path.iterdir()] == [log.name]


def test_parquet_and_arrow_hold_what_the_reader_gives(log: Path, tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="the extra [rows] is not installed")
    import pyarrow as pa
    import pyarrow.parquet as pq

    import forge as library

    expected = library.read_rows(log, "shop.orders").read_all().to_pylist()
    assert forge("rows", log, "--format", "parquet", "-o", tmp_path / "o.parquet").returncode == 0
    assert pq.read_table(tmp_path / "o.parquet").to_pylist() == expected
    assert forge("rows", log, "--format", "arrow", "-o", tmp_path / "o.arrow").returncode == 0
    with pa.ipc.open_file(tmp_path / "o.arrow") as file:
        assert file.read_all().to_pylist() == expected


def test_tables_are_listed_with_what_happened_to_them(log: Path) -> None:
    pytest.importorskip("numba", reason="the extra [rows] is not installed")
    [shown] = [json.loads(line) for line in forge("tables", log, "--json").stdout.splitlines()]
    assert shown["table"] == "shop.orders"
    assert {word: shown[word]["rows"] for word in ("insert", "update", "delete")} == {
        "insert": 2,
        "update": 1,
        "delete": 1,
    }
    lines = forge("tables", log).stdout.splitlines()
    assert lines[0].split() == ["table", "operation", "rows", "events", "bytes"]
    assert len(lines) == 4


def test_bulk_reads_files_only() -> None:
    pytest.importorskip("numba", reason="the extra [rows] is not installed")
    for arguments in (("tables", "-"), ("rows", "-", "--format", "parquet", "-o", "o")):
        ran = forge(*arguments)
        assert ran.returncode == 2
        assert ran.stderr == (
            "forge: rows in bulk are read from files, not from standard input; expected the path of a file\n"
        )


CHANGING = """\
scenario: changing
server: mysql-9.7
session: {row_metadata: full}
tables: ["CREATE TABLE d.t (id INT PRIMARY KEY, e ENUM('a','b'), w INT)", "CREATE TABLE d.other (id INT)"]
transactions:
  - - insert: {into: d.t, rows: [{id: 1, e: b, w: 7}]}
  - - ddl: ALTER TABLE d.t MODIFY e ENUM('c','b')
  - - insert: {into: d.t, rows: [{id: 2, e: c, w: 8}]}
  - - ddl: ALTER TABLE d.t DROP COLUMN w, ADD COLUMN x BIGINT UNSIGNED NOT NULL DEFAULT 18446744073709551615 FIRST
  - - delete: {from: d.t, where: {id: 1}}
"""


@pytest.fixture
def changing(tmp_path: Path) -> Path:
    path = tmp_path / "changing.000001"
    path.write_bytes(build(CHANGING).data)
    return path


def test_csv_has_the_columns_of_all_definitions_and_json_lines_those_of_each_row(changing: Path) -> None:
    ran = forge("rows", changing, "--table", "d.t", "--format", "csv", without_extra=True)
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("id,e,w,x,_operation")
    assert [line.split(",")[:4] for line in lines[1:]] == [
        ["1", "b", "7", ""], ["2", "c", "8", ""], ["1", "b", "", "18446744073709551615"]
    ]  # fmt: skip
    ran = forge("rows", changing, "--table", "d.t", without_extra=True)
    records = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [[name for name in record if name[0] != "_"] for record in records] == [["id", "e", "w"]] * 2 + [
        ["x", "id", "e"]
    ]
    ran = forge("rows", changing, "--table", "d.t", "--columns", "x,id", without_extra=True)
    assert [json.loads(line).get("x") for line in ran.stdout.splitlines()] == [None, None, 18446744073709551615]
    ran = forge("rows", changing, "--table", "d.t", "--columns", "id,y", without_extra=True)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "d.t has no column 'y'; expected id, e, w, x" in ran.stderr


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_table_whose_columns_change_is_a_file_for_each_definition(changing: Path, tmp_path: Path, form: str) -> None:
    pq, ipc = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow.ipc")
    pytest.importorskip("numba")
    for table in ([], ["--table", "d.t"]):
        out = tmp_path / f"rows{len(table)}.{form}"
        ran = forge("rows", changing, *table, "--format", form, "-o", out)
        second = tmp_path / f"rows{len(table)}.2.{form}"
        assert ran.stderr == f"{second}: rows from where the columns of the table change\n"
        first, then = (
            (pq.read_table(path) if form == "parquet" else ipc.open_file(path).read_all()) for path in (out, second)
        )
        assert first["e"].to_pylist() == ["b", "c"]
        assert then.column_names[:3] == ["x", "id", "e"]
    ran = forge("rows", changing, "--format", form, "-o", "/dev/null")
    assert ran.returncode == 2
    assert "the columns of the table change, and there is one output for all; expected -o FILE" in ran.stderr


def test_a_header_from_standard_input_is_that_of_the_first_definition(changing: Path) -> None:
    with changing.open("rb") as file:
        ran = subprocess.run(
            [sys.executable, "-m", "forge", "rows", "-", "--format", "csv"], stdin=file, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
    assert ran.returncode == 2
    assert re.search(r"the columns of d\.t change at event \d+, offset \d+; expected a file in the place", ran.stderr)
