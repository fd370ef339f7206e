"""Cases put to the programs of both families, a process a family."""

from __future__ import annotations

import re
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any

from pymysql.err import MySQLError  # type: ignore[import-untyped]

from forge.corpus.cases import BinlogFile
from forge.corpus.manifest import read_bytes_of
from forge.servers.features import Family
from tests.long.vendors.applier import Applier, ServerEnded
from tests.long.vendors.listed import asked_families
from tests.long.vendors.readers import read_by

_BUILDS: dict[Family, str] = {"mysql": "mysql97", "mariadb": "maria118"}
#: Larger cases are read, and not applied: bytes.
_LARGEST = 4 << 20


def asked(corpus: Path, wanted: set[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """What the programs of each family did with each case, a process a family."""
    context = get_context("spawn")
    answers: SimpleQueue[Any] = context.SimpleQueue()
    processes = [context.Process(target=_ask, args=(family, corpus, wanted, answers)) for family in _BUILDS]
    for process in processes:
        process.start()
    left = len(processes)
    while left:
        answer = answers.get()
        if answer is None:
            left -= 1
        else:
            yield answer
    for process in processes:
        process.join()


def _ask(family: Family, corpus: Path, wanted: set[str], answers: SimpleQueue[Any]) -> None:
    build = _BUILDS[family]
    reader, server = ("mysqlbinlog", "mysql") if family == "mysql" else ("mariadb_binlog", "mariadb")
    try:
        with Applier(build) as applier:
            for row in read_bytes_of(corpus, wanted):
                files = [BinlogFile(file["name"], file["bytes"]) for file in row["files"]]
                applied = "-"
                if family in asked_families(row["server"]) and sum(len(file.data) for file in files) <= _LARGEST:
                    applied = _applied(applier, files)
                answers.put((row["case"], {reader: read_by(build, files), server: applied}))
    finally:
        answers.put(None)


def _applied(applier: Applier, files: list[BinlogFile]) -> str:
    try:
        applied = applier.apply([file.data for file in files])
    except ServerEnded:
        return "ends"
    except MySQLError:
        # It is out of step with its client.
        applier.renew()
        applied = applier.apply([file.data for file in files])
    if applied.number == -1:
        return "does not end"
    if applied.number:
        return f"stops: {applied.number}{_named(applied.error)}"
    return f"applies, SELECT stops: {applied.selected}" if applied.selected else "applies"


def _named(error: str) -> str:
    """The reason that an error of the applier's quotes, without the names and places of the case."""
    known = re.search(r"handler error (HA_ERR_\w+)", error)
    return f" {known[1]}" if known else ""
