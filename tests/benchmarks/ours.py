"""Ours: rows of a log as record batches, and record batches as a log, through the public API."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

import forge
from tests.benchmarks.measure import InProcess
from tests.benchmarks.tables import DATABASE


def decode(path: Path, table: str, **options: Any) -> InProcess:
    """Every batch is made and dropped."""

    def run() -> int:
        return sum(batch.num_rows for batch in forge.read_rows(path, table=f"{DATABASE}.{table}", **options))

    return InProcess(run)


def encode(source: Callable[[], pa.Table], definition: str, path: Path, rows_per_transaction: int | None) -> InProcess:
    """A closed file from a table in memory; one transaction unless a number is given.

    The disk is not waited for: the server that it is compared with runs with ``sync_binlog=0``.
    """
    rows = cache(source)

    def run() -> int:
        path.unlink(missing_ok=True)
        forge.write_rows(
            rows(), definition, path, server="mysql-9.7", rows_per_transaction=rows_per_transaction, sync=False
        )
        return int(rows().num_rows)

    return InProcess(run)


def parquet(path: Path, table: str, target: Path) -> InProcess:
    """``forge rows --format parquet``, without the start of a process."""
    from forge.cli.app import run as run_forge

    arguments = ("rows", str(path), "--table", f"{DATABASE}.{table}", "--format", "parquet", "-o", str(target))

    def run() -> int:
        target.unlink(missing_ok=True)
        code = run_forge(arguments)
        if code:
            raise RuntimeError(f"forge rows ended with {code}")
        return 0

    return InProcess(run)
