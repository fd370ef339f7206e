"""A chain that the sink wrote is a chain for MySQL 9.7: its reader takes it, its server applies it and owns it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
pytest.importorskip("numba", reason="the extra `rows` is not installed")

import pyarrow as pa

from forge.record.server import RealServer
from forge.spark.chain import Chain, Manifest
from tests.conftest import ServerHome
from tests.spark.sink_writes import Write, logs, rows

pytestmark = [pytest.mark.servers, pytest.mark.slow]

SESSION = "{gtid: true, facts: {server_uuid: 36447c92-e662-11f1-8db3-02fc00000001}}"
GTIDS = ["--gtid-mode=ON", "--enforce-gtid-consistency=ON"]


def _written(folder: Path, partitions: int) -> Manifest:
    """Inserts, then deletes of some rows, then another table: nine files or more in three writes."""
    options: dict[str, Any] = {"session": SESSION, "rows_per_transaction": 25, "max_binlog_size": 9000}
    Write(folder, rows(0, 2000), partitions, **options).run("inserts")
    Write(folder, rows(500, 700), partitions, operation="delete", **options).run("deletes")
    other = pa.table({"id": pa.array(range(300)), "price": pa.array([number / 3 for number in range(300)])})
    Write(folder, other, partitions, **{**options, "table": "shop.prices"}).run("prices")
    manifest = Chain(folder).manifest()
    assert manifest is not None
    return manifest


def _read_by_the_vendor(servers: ServerHome, files: list[Path]) -> str:
    command = [str(servers.run("mysql97")), "mysqlbinlog", "--no-defaults", "--verify-binlog-checksum"]
    done = subprocess.run([*command, *map(str, files)], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def _check(server: RealServer, manifest: Manifest) -> None:
    executed = server.run_sql("SELECT @@GLOBAL.gtid_executed;").strip().replace("\\n", "")
    assert executed == manifest.end.gtid_set


def test_mysql_takes_the_chain(servers: ServerHome, tmp_path: Path) -> None:
    manifest = _written(tmp_path / "3", 3)
    for partitions in (1, 16):
        _written(tmp_path / str(partitions), partitions)
        assert logs(tmp_path / str(partitions)) == logs(tmp_path / "3")
    files = [tmp_path / "3" / file.name for file in manifest.files]
    assert len(files) > 8
    text = _read_by_the_vendor(servers, files)
    with RealServer(options=GTIDS) as server:
        server.run_sql(text)
        _check(server, manifest)
        assert server.run_sql("SELECT COUNT(*), SUM(id) FROM shop.orders;").split() == [
            "1300",
            str(sum(range(500)) + sum(range(1200, 2000))),
        ]
        kept = server.run_sql("SELECT id, who FROM shop.orders ORDER BY id;").splitlines()
        assert kept == [f"{number}\t{'x' * (number % 17)}" for number in (*range(500), *range(1200, 2000))]
        assert server.run_sql("SELECT COUNT(*), ROUND(SUM(price)) FROM shop.prices;").split() == ["300", "14950"]

        # As its own logs, it takes them up where they end.
        server.run_sql("RESET BINARY LOGS AND GTIDS;")
        server.stop()
        for path in (*server.binlog_files(), server.index_file()):
            path.unlink()
        for path in (*files, tmp_path / "3" / "binlog.index"):
            shutil.copy(path, server.folder / "data")
        server.start()
        _check(server, manifest)
        shown = [line.split("\t")[:2] for line in server.run_sql("SHOW BINARY LOGS;").splitlines()]
        assert shown[: len(files)] == [[file.name, str(file.size)] for file in manifest.files]
        assert len(shown) == len(files) + 1
