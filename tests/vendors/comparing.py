"""What the vendors' programs print of a log, and what we print in their place."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from forge.check.decoders.vendors.program import find_program, run_program
from forge.vendors.call import Call
from forge.vendors.column_forms import Flavour

#: The program of each flavour, and the server that it is from.
PROGRAMS: dict[Flavour, tuple[str, str]] = {
    "mysql": ("mysqlbinlog", "mysql97"),
    "mariadb-11.8": ("mariadb-binlog", "maria118"),
    "mariadb-10.11": ("mariadb-binlog", "maria1011"),
}


@dataclass(frozen=True, slots=True)
class Text:
    """Standard output, standard error and the exit code."""

    out: bytes
    err: bytes
    code: int

    @property
    def digest(self) -> str:
        """What stands for it in a file of digests."""
        return hashlib.sha256(b"%s\0%s\0%d" % (self.out, self.err, self.code)).hexdigest()[:16]


def theirs(flavour: Flavour, path: Path, options: Sequence[str]) -> Text:
    """What the program prints; without the folder that it lies in, and with no files of LOAD DATA before it."""
    program, build = PROGRAMS[flavour]
    command = find_program(program, build)
    assert command is not None
    with tempfile.TemporaryDirectory() as folder:
        local = Path(folder) / "load"
        local.mkdir()
        arguments = [*command, "--no-defaults", f"--local-load={local}", *options, str(path.absolute())]
        printed = run_program(arguments, folder=folder)
        out = printed.out.replace(str(local).encode(), b"load")
    err = re.sub(rb"\a|\S*/(?=%s\b)" % program.encode(), b"", printed.err)
    return Text(out, err, printed.code)


def ours(flavour: Flavour, path: Path, options: Sequence[str]) -> Text:
    """What we print."""
    messages: list[bytes] = []
    with zone("UTC"):
        call = Call(flavour, ["--local-load=load", *options], messages.append)
        out = b"".join(call.text([str(path)]))
    return Text(out, b"".join(messages), call.code)


@contextmanager
def zone(name: str) -> Iterator[None]:
    """The time zone of the process."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
        time.tzset()
