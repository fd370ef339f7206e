"""Who writes into a folder: the driver's process, so that what it left behind is told from what it still needs."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import msgspec

_PROC = Path("/proc")


class Owner(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A process on a machine.  ``started`` tells it from a later one with the same number."""

    host: str
    #: Differs after each start of the machine; empty where it is not known.
    boot: str
    pid: int
    started: str

    def lives(self) -> bool | None:
        """Whether the process still runs; None on another machine, where that cannot be seen."""
        if self.host != socket.gethostname():
            return None
        if self.boot != _boot():
            return False
        if self.started:
            return _started(self.pid) == self.started
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True


def this_driver() -> Owner:
    """The JVM above this process, which drives the job; without one this process itself."""
    pid = next((pid for pid in _ancestors(os.getpid()) if _command(pid) == "java"), os.getpid())
    return Owner(host=socket.gethostname(), boot=_boot(), pid=pid, started=_started(pid) or "")


def _boot() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _status(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the command, which may have spaces; none if there is no such process."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _started(pid: int) -> str | None:
    """Clock ticks from the machine's start to the process's; None if it has ended."""
    fields = _status(pid)
    return fields[19] if fields and fields[0] not in "ZX" else None


def _command(pid: int) -> str:
    try:
        return (_PROC / str(pid) / "comm").read_text().strip()
    except OSError:
        return ""


def _ancestors(pid: int) -> list[int]:
    found: list[int] = []
    while (fields := _status(pid)) and (pid := int(fields[1])) > 1:
        found.append(pid)
    return found
