"""What a vendor's command-line reader makes of the files of a case."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from forge.check.decoder import DecodingEnded
from forge.check.decoders.vendors.program import find_program, run_program
from forge.corpus.cases import BinlogFile
from forge.record.builds import BUILDS

_OPTIONS = ("--no-defaults", "--verify-binlog-checksum", "-vv", "--print-table-metadata")
#: Lines of the standard error that are no error.
_HARMLESS = ("WARNING", "Warning", "deprecated")
_LONGEST = 80


def read_by(build: str, files: Sequence[BinlogFile]) -> str:
    """``reads``; ``stops: WHY``; ``says: WHY``, if it goes on behind an error; ``crashes``, ``does not end``."""
    command = find_program(BUILDS[build].reader, build)
    assert command is not None
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            (Path(folder) / file.name).write_bytes(file.data)
        try:
            names = [file.name for file in files]
            size = sum(len(file.data) for file in files)
            printed = run_program([*command, *_OPTIONS, *names], folder=folder, size=size)
        except DecodingEnded as ended:
            return {"crashed": "crashes", "too_long": "reads"}.get(ended.ending, "does not end")
    lines = printed.err.decode("utf-8", "replace").splitlines()
    said = [line for line in lines if line.strip() and not any(word in line for word in _HARMLESS)]
    why = ascii(_reason(said[0]))[1:-1][:_LONGEST] if said else ""
    if printed.code:
        return f"stops: {why}"
    return f"says: {why}" if why else "reads"


def _reason(line: str) -> str:
    """What a line of an error says, without places: what MariaDB's quotes, what stands behind MySQL's place."""
    quoted = re.search(r"'(Found|Event|Error)[^']*'", line)
    if quoted:
        return quoted[0][1:-1]
    line = line.removeprefix("ERROR: ")
    return " ".join((line.partition(": ")[2] or line).split())
