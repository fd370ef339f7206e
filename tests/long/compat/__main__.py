"""What real consumers do with logs of other lines, into corpora/compat: ``python -m tests.long.compat``.

Recordings of each recorded line, a few of each, are read by the vendor's reader of each line and applied by its real
server in the place of relay logs.  tests/check/compat/test_matrix.py holds ``forge compat`` to the table.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from forge.check.decoders.vendors.program import find_program
from forge.cli.progress import progress
from forge.errors import ForgeError
from forge.record.builds import BUILD_OF_LINE, BUILDS, is_unpacked
from forge.record.contents import answered, questions
from forge.record.contents_difference import first_contents_difference
from forge.record.recording import BINLOG
from tests.long.compat.logs import Log, logs
from tests.long.compat.page import PAGE, matrix_page
from tests.long.compat.table import Measured, matrix_path, read_matrix, write_matrix
from tests.long.vendors.applier import Applied, Applier, ServerEnded

#: Seconds that a reader may take.
_LIMIT = 20.0
_SHOWN = re.compile(rb"^# at (\d+)$", re.MULTILINE)
_PATH = re.compile(r"'?/[^' ]+/[^' ]*'?")
#: A server whose GTID mode is not that of the log stops at once: it gets the mode of the log where there is no third.
_GTID_MODE = {"mysql56": True, "mysql5624": True}
_WITH_GTIDS = ("--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--log-slave-updates")
_WITHOUT = ("--replicate-same-server-id", "--skip-log-slave-updates")


#: Builds that have no reader of their own.
_READERLESS = ("mysql5624", "maria101", "maria102")


def read_by(build: str, data: bytes) -> str:
    """What the vendor's reader of a build makes of a log."""
    if build in _READERLESS:
        return "unmeasured"
    command = find_program(BUILDS[build].reader, build)
    assert command is not None
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / BINLOG).write_bytes(data)
        try:
            done = subprocess.run(
                [*command, "--no-defaults", "-v", BINLOG], cwd=folder, capture_output=True, timeout=_LIMIT, check=False
            )
        except subprocess.TimeoutExpired:
            return "stop 4 it does not end"
    if done.returncode < 0:
        return "withheld"
    if done.returncode == 0 and b"ERROR" not in done.stderr:
        return "end"
    said = next((line for line in done.stderr.decode("utf-8", "replace").splitlines() if "ERROR" in line), "")
    shown = [int(match[1]) for match in _SHOWN.finditer(done.stdout)]
    return f"stop {max(shown, default=4)} {_words(said) or f'code {done.returncode}'}"


def applied_by(applier: Applier, log: Log) -> str:
    """What a replica of the applier's build makes of a log."""
    try:
        applied: Applied = applier.apply([log.data])
    except ServerEnded:
        return "stop 4 its server ends"
    if applied.number:
        return f"stop {applied.place[1]} {applied.number} {_words(applied.error)}"
    try:
        selected = answered(log.plan, applier.server.run_sql(questions(log.plan)))
    except ForgeError as error:
        return f"misread {_words(str(error))}"
    difference = first_contents_difference(log.plan, selected, [log.data])
    return "end" if difference is None else f"misread {_words(str(difference))}"


def _words(text: str) -> str:
    """The beginning of a message, without what names a place on this machine."""
    return ascii(_PATH.sub("its folder", " ".join(text.split())))[1:-1][:120]


def measured(build: str, given: Sequence[Log]) -> Iterator[Measured]:
    """Each log with one consumer."""
    for with_gtids in (False, True) if build in _GTID_MODE else (None,):
        options = None if with_gtids is None else _WITH_GTIDS if with_gtids else _WITHOUT
        wanted = [log for log in given if with_gtids is None or log.plan.session.gtid == with_gtids]
        with Applier(build, *([options] if options else [])) as applier:
            for log in wanted:
                reader, replica = read_by(build, log.data), applied_by(applier, log)
                yield Measured(log.plan.server, log.name, BUILDS[build].line, reader, replica)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.long.compat", description=__doc__)
    parser.add_argument("--consumer", choices=BUILD_OF_LINE, action="append", help="default: all that are unpacked")
    parser.add_argument("--each", type=int, default=8, help="logs of each line (8)")
    parser.add_argument("--page", action="store_true", help="only write the page of the table again")
    given = parser.parse_args()
    if given.page:
        PAGE.write_text(matrix_page(read_matrix()), "utf-8")
        return 0
    consumers = given.consumer or [line for line, build in BUILD_OF_LINE.items() if is_unpacked(build)]
    asked = list(logs(given.each))
    rows = read_matrix() if matrix_path().is_file() else []
    for consumer in consumers:
        found = progress(measured(BUILD_OF_LINE[consumer], asked), total=len(asked), label=consumer)
        rows = [row for row in rows if row.consumer != consumer] + list(found)
        write_matrix(rows)
        sys.stdout.write(f"{consumer}: {len(asked)} logs\n")
    PAGE.write_text(matrix_page(rows), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
