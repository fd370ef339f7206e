"""Running a vendor's command-line reader on a file: bounded in time and output, its end told apart.

Programs are taken from the folder of real servers (``$FORGE_SERVERS``, else ``~/.cache/real-servers``), else from
PATH.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from forge.check.decoder import DecodingEnded

#: Seconds.
TIME_LIMIT = 20.0
#: Bytes of standard output, and of standard error, that are read of a program.
OUTPUT_LIMIT = 64 << 20
#: A program that prints so many times the bytes of its file has no end: a bit of NULL takes a line of 70 bytes.
_ENDLESS = 1024
_POLL = 0.25
#: What readers are told that a file is called.  Without its folder: messages that quote it are the same every time.
FILE_NAME = "binlog.000001"


@dataclass(frozen=True, slots=True)
class Printed:
    """What a program printed, and the code it ended with."""

    out: bytes
    err: bytes
    code: int


def servers_home() -> Path:
    """Where the real servers are unpacked: ``$FORGE_SERVERS``, else ``~/.cache/real-servers``."""
    return Path(os.environ.get("FORGE_SERVERS") or Path.home() / ".cache" / "real-servers")


def find_program(program: str, build: str) -> tuple[str, ...] | None:
    """The command that starts ``program`` of an unpacked server, or that of PATH; None if it is not here."""
    runner = servers_home() / f"{build}.run"
    if runner.is_file():
        return _loaded(servers_home().absolute() / build, program) or (str(runner.absolute()), program)
    path = shutil.which(program)
    return (path,) if path else None


@cache
def _loaded(tree: Path, program: str) -> tuple[str, ...] | None:
    """What an unpacked server's shell script comes to, which takes as long as most programs run: its loader, with its
    libraries.  None for a folder of another kind.
    """
    loaders = (tree / folder / "ld-linux-x86-64.so.2" for folder in ("usr/lib64", "lib64", "usr/lib/x86_64-linux-gnu"))
    loader = next((path for path in loaders if path.is_file()), None)
    binary = tree / "usr" / "bin" / program
    if loader is None or not binary.is_file():
        return None
    libraries = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "usr/lib/mysql/private", "usr/lib")
    return (str(loader), "--library-path", ":".join(str(tree / folder) for folder in libraries), str(binary))


@cache
def program_version(command: tuple[str, ...]) -> str:
    """The version that ``--version`` tells: the number after "Ver", and "for" what it was built."""
    printed = run_program([*command, "--version"])
    text = printed.out.decode("utf-8", "replace")
    match = re.search(r"(?:Ver|from) ([0-9][^\s,;]*)(?:.*?([0-9]+\.[0-9]+\.[0-9]+-MariaDB))?", text)
    return (match[2] or match[1]) if match else text.strip().splitlines()[0] if text.strip() else "unknown"


def run_on_file(command: Sequence[str], data: bytes, *, time_limit: float = TIME_LIMIT) -> Printed:
    """Run ``command`` with a file that holds ``data`` as its last argument.

    Raises DecodingEnded if it crashes, takes too long or prints too much.
    """
    with tempfile.TemporaryDirectory(prefix="forge-check-") as folder:
        (Path(folder) / FILE_NAME).write_bytes(data)
        return run_program([*command, FILE_NAME], folder=folder, size=len(data), time_limit=time_limit)


def run_program(
    command: list[str], *, folder: str | None = None, size: int = 0, time_limit: float = TIME_LIMIT
) -> Printed:
    """Run a program to its end; ``size`` is that of its file.  Raises DecodingEnded as :func:`run_on_file`."""
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder, env=environment,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise DecodingEnded("refused", f"cannot run {command[0]}: {error.strerror}") from None
        try:
            code = _wait(process, (out.fileno(), err.fileno()), size, time_limit)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        out.seek(0)
        err.seek(0)
        printed = Printed(out.read(), err.read(), code)
    # A shell between us and the program reports a signal as 128 + its number.
    number = -code if code < 0 else code - 128 if code > 128 else 0
    if number:
        raise DecodingEnded("crashed", f"it was ended by {_signal_name(number)}")
    return printed


def _wait(process: subprocess.Popen[bytes], outputs: tuple[int, ...], size: int, time_limit: float) -> int:
    limit = time.monotonic() + time_limit
    while True:
        code = _wait_briefly(process, min(_POLL, max(limit - time.monotonic(), 0.0)))
        if code is not None:
            return code
        if any(os.fstat(output).st_size > OUTPUT_LIMIT for output in outputs):
            printed = f"it printed more than {OUTPUT_LIMIT >> 20} MiB"
            if _ENDLESS * size < OUTPUT_LIMIT:
                raise DecodingEnded("crashed", f"{printed} of a file of {size} bytes")
            raise DecodingEnded("too_long", f"{printed}, which is all that is read of it")
        if time.monotonic() >= limit:
            raise DecodingEnded("timeout", f"it had not ended after {time_limit:.0f} s")


def _wait_briefly(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """The code of a program that ends within ``seconds``; None if it does not.

    Popen.wait looks at growing intervals, which takes longer than most of these programs run.
    """
    pidfd_open = getattr(os, "pidfd_open", None)  # Linux only.
    if pidfd_open is not None:
        ended = pidfd_open(process.pid)
        try:
            select.select([ended], [], [], seconds)
        finally:
            os.close(ended)
        return process.poll()
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
