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
from random import Random

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


def drawn_options(draws: Random, flavour: Flavour, printed: bytes) -> list[str]:
    """Some options for a log of which the program printed that without any."""
    places = [int(place) for place in re.findall(rb"^# at (\d+)$", printed, re.MULTILINE)] or [4]
    times = re.findall(rb"^#(\d\d)(\d\d)(\d\d) ([ \d]\d:\d\d:\d\d) server", printed, re.MULTILINE)
    gtids = re.findall(rb"GTID_NEXT= '([0-9a-f-]{36}:[\w:]*\d+)'", printed)
    tables = re.findall(rb"Table_map: `([^`]*)`\.`([^`]*)`", printed) or [(b"d", b"t")]
    database, table = (name.decode("utf-8", "surrogateescape") for name in draws.choice(tables))
    moment = draws.choice(times or [(b"20", b"01", b"01", b"0:0:0")])
    year, month, day, clock = (part.decode().strip() for part in moment)
    time_text = f"20{year}-{month}-{day} {clock}"
    gtid = draws.choice(gtids or [b"3e11fa47-71ca-11e1-9e33-c80aa9429562:1"]).decode()
    place, number = draws.choice(places), draws.choice((1, 3, 7))
    both = [
        ["-v"], ["-vv"], ["--base64-output=decode-rows"], ["--base64-output=never"], ["--print-table-metadata"], ["-H"],
        ["-s"], ["-d", database], ["-o", str(draws.randrange(len(places) + 2))], ["-D"], [f"--start-position={place}"],
        [f"--stop-position={place}"], [f"--start-datetime={time_text}"], [f"--stop-datetime={time_text}"],
        [f"--server-id={number}"], ["--set-charset=latin1"], [f"--rewrite-db={database}->other"],
    ]  # fmt: skip
    own = {
        "mysql": [
            ["-i"], [f"--include-gtids={gtid}"], [f"--exclude-gtids={gtid}"], ["--skip-gtids"],
            ["--require-row-format"],
        ],
        "mariadb": [
            ["-T", table], ["--skip-annotate-row-events"], ["--skip-print-row-count"],
            ["--skip-print-row-event-positions"], [f"--do-domain-ids={number}"], [f"--ignore-domain-ids={number}"],
            [f"--do-server-ids={number}"], [f"--ignore-server-ids={number}"],
        ],
    }  # fmt: skip
    options = both + own["mysql" if flavour == "mysql" else "mariadb"]
    return [word for option in draws.sample(options, draws.choice((0, 1, 1, 2, 3))) for word in option]


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
