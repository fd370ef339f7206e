"""A foreign decoder reads all logs, in programs that end by themselves: only then they write what they reached."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from forge.conform.kit.protocol import VERSION, Request, request_line
from tests.power.logs import Log

#: Logs that a process reads, seconds that it may take for them, and bytes of memory (Java asks for a lot ahead).
_PART = 400
_SECONDS = 45
_MEMORY = 24 << 30


def read_all(
    program: Path, variables: Mapping[str, str], logs: Sequence[Log], folder: Path, say: Callable[[str], None]
) -> list[str]:
    """Let a testee read logs; the names of those that it did not come to an end with.  ``folder`` gets the logs."""
    folder.mkdir(parents=True, exist_ok=True)
    requests = []
    for number, log in enumerate(logs, 1):
        path = folder / f"{number}.binlog"
        path.write_bytes(log.data)
        request = Request(id=number, file=str(path), level="rows", flavor=log.flavor, server=log.flavor)
        requests.append(request_line(request))
    ended: list[str] = []
    for at in range(0, len(logs), _PART):
        waiting = list(range(at, min(at + _PART, len(logs))))
        while (culprit := _read(program, variables, [requests[one] for one in waiting])) is not None:
            ended.append(logs[waiting.pop(culprit)].name)
        say(f"{program.name}: {min(at + _PART, len(logs))} of {len(logs)} logs are read")
    return ended


def _read(program: Path, variables: Mapping[str, str], requests: Sequence[bytes]) -> int | None:
    """The number of the request that it dies of or does not end; None if all is well.

    What dies notes nothing: all others of the part are asked again.
    """
    hello = request_line(Request(id=0, hello=VERSION))
    with subprocess.Popen(
        [program], env={**os.environ, **variables}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, preexec_fn=_limited,
    ) as process:  # fmt: skip
        try:
            said = process.communicate(hello + b"".join(requests), timeout=_SECONDS)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[0]
    done = sum("end" in answer for answer in _answers(said))
    return None if done == len(requests) and not process.returncode else done


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def _answers(said: bytes) -> Iterator[dict[str, object]]:
    for line in said.splitlines():
        if line.startswith((b'{"end', b'{"id')):
            try:
                yield json.loads(line)
            except ValueError:
                return
