"""A fresh real server for one recording: own data directory, own UUID, unix socket only, gone afterwards."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from forge.check.decoders.vendors.program import servers_home
from forge.errors import EnvironmentMissing
from forge.record.builds import BUILDS, how_to_get
from forge.record.client import Client, RecordingError

#: Longest path that sockaddr_un holds, its NUL not counted (unix(7)).
SOCKET_PATH_LIMIT = 107
#: Seconds.
START_LIMIT = 60.0
STOP_LIMIT = 60.0
#: Of a server that is known to hang at its end.
HANG_LIMIT = 3.0
CLIENT_LIMIT = 120.0
INITIALIZE_LIMIT = 180.0

#: Runs a program that the kernel ends if this process is killed before it can (prctl(2), PR_SET_PDEATHSIG = 1).
_TIED_TO_PARENT = (
    [
        sys.executable, "-ISc",
        f"import ctypes, os, sys; ctypes.CDLL(None).prctl(1, {int(signal.SIGKILL)}, 0, 0, 0);"
        " os.execv(sys.argv[1], sys.argv[1:])",
    ]
    if sys.platform == "linux"
    else []
)  # fmt: skip


class RealServer:
    """One server process with a data directory of its own, for the time of a ``with`` block.

    ``options`` are added to its command line.  ``home`` holds ``<name>.run`` and the unpacked tree beside it.
    ``patience`` is how many times the usual limits it may take to start, to stop and to run what a client sends.
    Raises EnvironmentMissing if there is no such build, RecordingError if it does not start.
    """

    def __init__(
        self,
        home: Path | None = None,
        name: str = "mysql97",
        options: Sequence[str] = (),
        *,
        log_name: str = "binlog",
        patience: float = 1.0,
    ) -> None:
        if name not in BUILDS:
            raise EnvironmentMissing(f"there is no server build named {name!r}; known: {', '.join(BUILDS)}")
        self.build = BUILDS[name]
        self.home = home or servers_home()
        self.options = list(options)
        self.log_name = log_name
        self._patience = patience
        self._runner = self.home / f"{name}.run"
        if not self._runner.is_file():
            raise EnvironmentMissing(
                f"{self.build.title} is not unpacked in {self.home} (no {name}.run): run"
                f" `{how_to_get(name)}`, or name the folder with FORGE_SERVERS"
            )
        self._folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def folder(self) -> Path:
        """The temporary folder: ``data/`` (binary logs among the tables), ``s`` (socket), ``error.log``."""
        if self._folder is None:
            raise RecordingError(f"{self.build.title} has not been started")
        return self._folder

    @property
    def socket(self) -> Path:
        return self.folder / "s"

    def __enter__(self) -> Self:
        self._folder = _short_temporary_folder()
        try:
            self._prepare_data()
            self.start()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()

    def start(self) -> None:
        """Start the process (again, after :meth:`stop` or :meth:`kill`) and wait until it accepts statements."""
        log = self.folder / "error.log"
        log_size = log.stat().st_size if log.exists() else 0
        command = [
            str(self._runner), self.build.daemon, *self._base_options(),
            f"--datadir={self.folder / 'data'}", f"--socket={self.socket}", "--skip-networking",
            # MariaDB deletes what others have left in its folder of temporary files when it starts.
            f"--tmpdir={self.folder}", f"--log-bin={self.log_name}", f"--pid-file={self.folder / 'pid'}",
            "--server-id=1", "--max-allowed-packet=1G", *self.build.options, *self.options,
        ]  # fmt: skip
        with log.open("ab") as sink:
            self._process = _spawn(command, sink)
        seconds = START_LIMIT * self._patience
        limit = time.monotonic() + seconds
        while b"ready for connections" not in self._log_since(log_size):
            if self._process.poll() is not None:
                raise RecordingError(f"{self.build.title} did not start: {self._complaint(log_size)}")
            if time.monotonic() > limit:
                self.kill()
                raise RecordingError(
                    f"{self.build.title} was not ready after {seconds:.0f} s: {self._complaint(log_size)}"
                )
            time.sleep(0.02)

    @property
    def client_folder(self) -> Path:
        """Where the client runs, and looks for the files of LOAD DATA LOCAL."""
        folder = self.folder / "client"
        folder.mkdir(exist_ok=True)
        return folder

    def put_file(self, name: str, content: bytes, *, local: bool) -> None:
        """A file for LOAD DATA: in the server's data directory, or in the client's folder."""
        folder = self.client_folder if local else self.folder / "data"
        try:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with (folder / name).open("xb") as file:
                file.write(content)
        except FileExistsError:
            raise RecordingError(
                f"{self.build.title} has a file {name} of its own, LOAD DATA needs another name"
            ) from None

    @property
    def client_command(self) -> list[str]:
        """The vendor's client, which reads statements from its standard input and ends at the first that is refused."""
        return [
            str(self._runner), self.build.client, "--no-defaults", "--user=root", f"--socket={self.socket}",
            "--default-character-set=utf8mb4", "--max-allowed-packet=1G", "--batch", "--skip-column-names",
            "--comments", *self.build.client_options, "--local-infile=1",
        ]  # fmt: skip

    def client(self) -> Client:
        """A client whose connection stays open for the time of a ``with`` block."""
        return Client([*self.client_command, "--unbuffered"], self.client_folder, self.build.title)

    def run_sql(self, text: str, *, database: str | None = None, limit: float = CLIENT_LIMIT) -> str:
        """Feed ``text`` to the vendor's client in one session; what it prints, tab-separated, without headings.

        Raises RecordingError with the server's message if a statement is refused (the ones before it stand), or if
        the session takes longer than ``limit`` seconds.
        """
        command = [*self.client_command, *([database] if database else [])]
        limit *= self._patience
        try:
            # Feeding bytes keeps text that is not valid UTF-8 possible through surrogate escapes.
            process = subprocess.run(
                command, check=False, input=text.encode("utf-8", "surrogateescape"), capture_output=True,
                timeout=limit, cwd=self.client_folder,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise RecordingError(f"{self.build.title} took longer than {limit:.0f} s over the script") from None
        if process.returncode:
            message = process.stderr.decode("utf-8", "replace").strip() or f"the client ended with {process.returncode}"
            # MariaDB's client shows the statement first, however long it is.
            message = message[max(message.rfind("\nERROR ") + 1, 0) :]
            raise RecordingError(f"{self.build.title} refused the script: {message}")
        return process.stdout.decode("utf-8", "surrogateescape")

    def flush(self) -> None:
        """Close the current binary log with a ROTATE event and open the next."""
        self.run_sql("FLUSH BINARY LOGS;\n")

    def stop(self) -> None:
        """Shut down cleanly: the binary log ends with a STOP event.  Does nothing if it is not running."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End the process as a crash would: the binary log stays open in mid-air."""
        self._end(signal.SIGKILL)

    def binlog_files(self, name: str | None = None) -> list[Path]:
        """The binary logs, oldest first; complete only after :meth:`stop`, :meth:`kill` or :meth:`flush`.

        With ``name``, those of another log of the server: its relay log.
        """
        paths = (self.folder / "data").glob(f"{name or self.log_name}.[0-9][0-9][0-9][0-9][0-9][0-9]*")
        numbered = [path for path in paths if path.suffix[1:].isdigit()]
        return sorted(numbered, key=lambda path: int(path.suffix[1:]))

    def index_file(self, name: str | None = None) -> Path:
        """The index file: the names of the binary logs."""
        return self.folder / "data" / f"{name or self.log_name}.index"

    def version(self) -> str:
        """What the server says of its version, e.g. ``9.7.4-2``."""
        return self.run_sql("SELECT VERSION();\n").strip()

    def _base_options(self) -> list[str]:
        if self.build.archive:
            return ["--no-defaults", "--user=root"]
        tree = self.home / self.build.name / "usr"
        options = [
            "--no-defaults", "--user=root", f"--basedir={tree}", f"--lc-messages-dir={tree / 'share' / 'mysql'}",
        ]  # fmt: skip
        if self.build.vendor == "mariadb":
            # No system tables are made for MariaDB: it runs without them once grants and plugins are out of the way.
            options += ["--skip-grant-tables", f"--plugin-dir={tree}"]
        return options

    def _prepare_data(self) -> None:
        data = self.folder / "data"
        if self.build.vendor == "mariadb":
            data.mkdir(mode=0o700)
            return
        shutil.copytree(self._initialized(), data)

    def _initialized(self) -> Path:
        """A data directory made once by ``--initialize-insecure`` and kept in the user's cache, without its UUID.

        Its dictionary remembers what the names of tables are kept as.
        """
        folder = self.home / self.build.name / ("bin" if self.build.archive else "usr/sbin")
        program = (folder / self.build.daemon).stat()
        names = [option for option in self.options if option.startswith("--lower-case-table-names")]
        identity = " ".join(
            [str(self.home.resolve()), self.build.name, str(program.st_size), str(program.st_mtime_ns), *names]
        )
        digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "binlog-forge"
        template = cache / f"{self.build.name}-{digest}"
        if template.is_dir():
            return template
        cache.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix="draft-", dir=cache))
        try:
            draft_data = draft / "data"
            command = [str(self._runner), *self._initializing(draft_data), *names]
            log = draft / "log"
            with log.open("wb") as sink:
                process = _spawn(command, sink)
            try:
                code = process.wait(INITIALIZE_LIMIT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise RecordingError(
                    f"{self.build.title} did not initialize a data directory in {INITIALIZE_LIMIT:.0f} s"
                ) from None
            if code:
                raise RecordingError(
                    f"{self.build.title} could not initialize a data directory: {_last_error(log.read_bytes())}"
                )
            (draft_data / "auto.cnf").unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # another process was quicker: its template is as good
                draft_data.rename(template)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return template

    def _initializing(self, data: Path) -> list[str]:
        """What the program ``<name>.run`` is given to make a data directory."""
        if self.build.archive:
            return ["initialize", str(data), *self.build.made_with]
        daemon = [self.build.daemon, *self._base_options(), f"--datadir={data}", "--initialize-insecure"]
        # What a server leaves that stops at once, its log of 8 MiB cannot always bring back.
        return [*daemon, *self.build.options, "--innodb-fast-shutdown=1"]

    def _log_since(self, offset: int) -> bytes:
        with (self.folder / "error.log").open("rb") as log:
            log.seek(offset)
            return log.read()

    def _complaint(self, offset: int) -> str:
        return _last_error(self._log_since(offset))

    def _end(self, number: int) -> None:
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        process.send_signal(number)
        limit = STOP_LIMIT * self._patience
        try:
            process.wait(HANG_LIMIT if self.build.hangs_after else limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            if self.build.hangs_after and self.build.hangs_after in self._log_since(0):
                return
            raise RecordingError(f"{self.build.title} did not stop within {limit:.0f} s") from None

    def _remove(self) -> None:
        with contextlib.suppress(RecordingError):
            self.kill()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _short_temporary_folder() -> Path:
    """A temporary folder whose path leaves room for a socket's name."""
    folder = Path(tempfile.mkdtemp(prefix="forge-"))
    if len(os.fsencode(folder)) + len("/s") <= SOCKET_PATH_LIMIT:
        return folder
    folder.rmdir()
    return Path(tempfile.mkdtemp(prefix="forge-", dir="/tmp"))


def _spawn(command: Sequence[str], sink: IO[bytes]) -> subprocess.Popen[bytes]:
    if not os.access(command[0], os.X_OK):
        raise EnvironmentMissing(f"cannot run {command[0]}")
    return subprocess.Popen(
        [*_TIED_TO_PARENT, *command], stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, start_new_session=True
    )


def _last_error(log: bytes) -> str:
    """The first line of an error log that says why; MySQL and MariaDB both mark it ``[ERROR]``."""
    lines = log.decode("utf-8", "replace").strip().splitlines()
    for line in lines:
        if "[ERROR]" in line:
            return line.partition("[ERROR]")[2].strip()
    return lines[-1] if lines else "it left no log"
