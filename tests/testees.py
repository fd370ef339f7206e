"""Programs that drive other people's decoders: as ``make testees`` builds them, or run from here by Python."""

from __future__ import annotations

import importlib.util
import shlex
import sys

import pytest

from forge.check.decoders.table import decoder
from forge.resources import corpora_dir

_HOME = corpora_dir() / "testees"
_BUILT = corpora_dir().parent / "out" / "testees"


def command_of_testee(name: str) -> str:
    """The command line of a testee; skips the test, loudly, where it is not built and cannot run from here."""
    program = _BUILT / name
    if program.exists():
        return shlex.quote(str(program))
    if name == "python-mysql-replication" and importlib.util.find_spec("pymysqlreplication"):
        return shlex.join([sys.executable, str(_HOME / name / "testee.py")])
    if name in ("mysqlbinlog", "mariadb-binlog") and decoder(name).available() is None:
        return shlex.join([sys.executable, str(_HOME / "mysqlbinlog" / "testee.py"), name])
    pytest.skip(f"THE TESTEE {name} IS NOT BUILT: make testees builds it where its toolchain is")
