"""``forge replay --format parquet``: the end state with numbers as numbers and bytes as bytes."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

import forge
from forge.cli.app import run

pq = pytest.importorskip("pyarrow.parquet")

TABLE = """\
CREATE DATABASE d;
CREATE TABLE d.t (
  id BIGINT UNSIGNED PRIMARY KEY, small TINYINT, paid DECIMAL(65,30), half DOUBLE, y YEAR, day DATE, raw VARBINARY(4),
  place POINT, who VARCHAR(9), bits BIT(3), doc JSON, kind ENUM('a', 'b'));
"""
ROW = """\
INSERT INTO d.t VALUES (18446744073709551615, -128, -1.5, 0.25, 1999, '2024-02-29', x'00FF',
  ST_GeomFromText('POINT(1 2)'), 'Zoë', b'101', '{"a": 1}', 'b');
"""


def test_the_end_state_has_the_types_of_its_columns(tmp_path: Path) -> None:
    (tmp_path / "onto.sql").write_text(TABLE)
    forge.build(TABLE + ROW + "INSERT INTO d.t (id) VALUES (0);\n").write(tmp_path / "log")
    command = ["replay", str(tmp_path / "log"), "--onto", str(tmp_path / "onto.sql"), "--rows-only"]
    assert run([*command, "--format", "parquet", "-o", str(tmp_path / "end")]) == 0
    empty, full = pq.read_table(tmp_path / "end/d.t.parquet").to_pylist()
    assert empty == dict.fromkeys(empty) | {"id": 0}
    place = full.pop("place")
    assert place[-8:] == b"\0\0\0\0\0\0\0@"
    assert full == {
        "id": 2**64 - 1, "small": -128, "paid": Decimal("-1.5"), "half": 0.25, "y": 1999, "day": "2024-02-29",
        "raw": b"\0\xff", "who": "Zoë", "bits": full["bits"], "doc": '{"a": 1}', "kind": "b",
    }  # fmt: skip
