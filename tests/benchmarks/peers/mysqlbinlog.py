"""``mysqlbinlog -v``: the real server's own reader, which prints every row as pseudo-SQL."""

from __future__ import annotations

from pathlib import Path

from forge.check.decoders.vendors.program import servers_home
from forge.record.builds import is_unpacked
from tests.benchmarks.measure import NotHere, WholeProgram


def mysqlbinlog(path: Path, rows: int) -> WholeProgram:
    """Checksums verified.  Raises NotHere without MySQL 9.7."""
    if not is_unpacked("mysql97"):
        raise NotHere("MySQL 9.7 is not unpacked: run `make servers`, or name the folder with FORGE_SERVERS")
    options = ("--no-defaults", "--verify-binlog-checksum", "-v", "--base64-output=DECODE-ROWS")
    return WholeProgram((str(servers_home() / "mysql97.run"), "mysqlbinlog", *options, str(path)), rows)
