"""A real server, started for as long as a measurement takes."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Literal

from forge.errors import EnvironmentMissing

_SECONDS_TO_START = 90


class LiveServer:
    """An unpacked server (a wrapper ``NAME.run`` beside a folder ``NAME``) running on a data directory of its own.

    Raises EnvironmentMissing if there is no such server or if it does not start.
    """

    def __init__(self, run: Path) -> None:
        self.run = find_wrapper(run)
        self.family: Literal["mysql", "mariadb"] = "mariadb" if self._has("mariadbd") else "mysql"
        self._home = Path(tempfile.mkdtemp(prefix="forge-"))
        self._process: subprocess.Popen[bytes] | None = None

    def _has(self, program: str) -> bool:
        root = self.run.with_suffix("")
        return any((root / folder / program).exists() for folder in ("usr/sbin", "usr/bin"))

    def __enter__(self) -> LiveServer:
        try:
            self._start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _start(self) -> None:
        root = self.run.with_suffix("")
        (self._home / "plugins").mkdir()
        command = [
            str(self.run), "mariadbd" if self.family == "mariadb" else "mysqld", "--no-defaults", "--user=root",
            f"--basedir={root}/usr", f"--lc-messages-dir={root}/usr/share/mysql", f"--datadir={self._home}/data",
            f"--socket={self._home}/s", f"--pid-file={self._home}/pid", "--skip-networking", "--secure-file-priv=",
            "--innodb-flush-log-at-trx-commit=0", "--max-allowed-packet=64M",
        ]  # fmt: skip
        if self.family == "mysql":
            command += ["--mysqlx=OFF", "--skip-log-bin"]
        else:
            (self._home / "data").mkdir()
            command += ["--skip-grant-tables", f"--plugin-dir={self._home}/plugins"]
        with (self._home / "log").open("wb") as log:
            if self.family == "mysql":
                subprocess.run([*command, "--initialize-insecure"], stdout=log, stderr=log, check=False)
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + _SECONDS_TO_START
        while self._client("SELECT 1", subprocess.DEVNULL).returncode:
            if self._process.poll() is not None or time.monotonic() > deadline:
                tail = (self._home / "log").read_text(errors="replace").strip().splitlines()[-1:]
                raise EnvironmentMissing(f"the server {self.run} does not start: {' '.join(tail)}")
            time.sleep(0.2)

    def _client(self, sql: str, output: int) -> subprocess.CompletedProcess[bytes]:
        program = "mariadb" if self.family == "mariadb" else "mysql"
        command = [
            str(self.run), program, "--no-defaults", "--user=root", f"--socket={self._home}/s",
            "--default-character-set=utf8mb4", "--batch", "--skip-column-names", "--raw", "--quick",
            "--max-allowed-packet=64M",
        ]  # fmt: skip
        return subprocess.run(command, input=sql.encode(), stdout=output, stderr=subprocess.PIPE, check=False)

    def rows(self, sql: str) -> Iterator[list[str]]:
        """What the statements select: a list of texts a row.  Raises EnvironmentMissing if the server refuses."""
        with tempfile.TemporaryFile() as output:
            client = self._client(sql, output.fileno())
            if client.returncode:
                raise EnvironmentMissing(f"the server {self.run} refused: {client.stderr.decode(errors='replace')}")
            output.seek(0)
            for line in output:
                yield line.decode().rstrip("\n").split("\t")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
        shutil.rmtree(self._home, ignore_errors=True)


def find_wrapper(path: Path) -> Path:
    """The wrapper ``NAME.run`` for a path to it or to the folder ``NAME``; EnvironmentMissing if there is none."""
    run = path if path.suffix == ".run" else path.with_name(path.name + ".run")
    if not run.is_file():
        raise EnvironmentMissing(f"no unpacked server at {path}: {run} is missing; `make servers` fetches them")
    return run.resolve()
