"""Real servers take what ``forge generate`` writes, and have the state that stands beside it."""

from __future__ import annotations

import datetime as dt
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="the extra [rows] is not installed")

from forge.bulk.generating.generate import generate
from forge.check.decoders.vendors.program import servers_home
from forge.record.builds import BUILDS
from forge.record.server import RealServer
from tests.bulk.generating.shop import KEYS, declared, logs, shop

pytestmark = [pytest.mark.slow, pytest.mark.servers]

OPTIONS = {
    "mysql97": ["--gtid-mode=ON", "--enforce-gtid-consistency=ON"],
    "maria118": ["--binlog-format=ROW"],
}
#: Digits of a second's fraction, by column.
FRACTIONS = {"updated_at": 6}


def as_selected(name: str, value: Any) -> str:
    """A cell as the servers' clients print it."""
    if isinstance(value, dt.datetime):
        digits = FRACTIONS.get(name, 0)
        return value.strftime("%Y-%m-%d %H:%M:%S") + (f".{value.microsecond:06}"[: digits + 1] if digits else "")
    return "NULL" if value is None else str(value)


@pytest.mark.parametrize(
    ("build", "line", "image"),
    [("mysql97", "mysql-9.7", "full"), ("mysql97", "mysql-9.7", "minimal"), ("maria118", "mariadb-11.8", "full")],
)
def test_a_fresh_server_has_the_state_after_the_whole_chain(tmp_path: Path, build: str, line: str, image: str) -> None:
    gtid = line.startswith("mysql")
    scenario = shop(**{"server": line, "session.gtid": gtid, "session.row_image": image})
    made = generate(scenario, tmp_path / "out", rows=2000, files=3).manifest
    program = str(servers_home() / f"{build}.run")
    command = [program, BUILDS[build].reader, "--verify-binlog-checksum", *map(str, logs(tmp_path / "out"))]
    read = subprocess.run(command, capture_output=True, check=True, timeout=120)
    assert b"WARNING" not in read.stdout + read.stderr
    assert b"ERROR" not in read.stderr
    groups = 4 + sum(record.transactions for record in made.files)
    pattern = rb"GTID_NEXT= '[^':]+:(\d+)'" if gtid else rb"gtid_seq_no=(\d+)"
    assert [int(number) for number in re.findall(pattern, read.stdout)] == list(range(1, groups + 1))
    with RealServer(name=build, options=OPTIONS[build]) as server:
        if gtid:
            server.run_sql("RESET BINARY LOGS AND GTIDS")
        asked = BUILDS[build]
        client = [program, asked.client, "--no-defaults", "-uroot", "-S", str(server.socket), *asked.client_options]
        subprocess.run(client, input=read.stdout, check=True, capture_output=True, timeout=300)
        for table, rows in declared(tmp_path / "out").items():
            selected = server.run_sql(f"SELECT * FROM {table} ORDER BY {', '.join(KEYS[table])}").splitlines()
            ordered = [row for _, row in sorted(rows.items())]
            assert selected == ["\t".join(as_selected(*cell) for cell in row.items()) for row in ordered]
