"""What the keys of the lines stand for: each kind of work, on the log or the table that it is done on."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from forge import read_rows
from forge.check.decoders.vendors.program import servers_home
from forge.errors import EnvironmentMissing
from forge.record.builds import is_unpacked
from tests.benchmarks import documents
from tests.benchmarks.floors import MemoryCopy, WriteFloor, read_floor
from tests.benchmarks.lines import Key
from tests.benchmarks.measure import (
    WARM_UP,
    FreshStarts,
    InProcess,
    NotHere,
    OwnClock,
    Subject,
    Together,
    WholeProgram,
    child,
)
from tests.benchmarks.peers.builds import go_mysql, java_connector
from tests.benchmarks.peers.mysqlbinlog import mysqlbinlog
from tests.benchmarks.peers.mysqld import Mysqld
from tests.benchmarks.scenario import generated_rows
from tests.benchmarks.server import WorkloadServer, load_statement, workload_server
from tests.benchmarks.tables import COLUMNS, DATABASE, DEFINITIONS
from tests.benchmarks.workloads import Workloads

#: Kinds that are a command with options.
_PRINTED = {
    "dump-text": ("dump",), "dump-rows": ("dump", "--rows"), "tables": ("tables",), "schema-of": ("schema-of",),
}  # fmt: skip
_ROOT = Path(__file__).resolve().parents[2]
#: Passes until what the JVM runs most often is compiled thoroughly.
_SPARK_WARM_UP = 8


@dataclass
class Subjects:
    """Makes the subject of a key, once.  ``before`` is the revision that the reference path is compared with."""

    workloads: Workloads
    before: str | None
    resources: ExitStack
    _made: dict[Key, Subject] = field(default_factory=dict)
    _server: WorkloadServer | None = None
    _checkout: Path | None = None

    def get(self, key: Key) -> Subject:
        """Raises NotHere with what is missing on this machine."""
        if key not in self._made:
            kind, name = key
            self._made[key] = self._kinds()[kind](name)
        return self._made[key]

    def server(self) -> WorkloadServer:
        """The real server, started when it is first needed."""
        if self._server is None:
            try:
                self._server = self.resources.enter_context(workload_server())
            except EnvironmentMissing as missing:
                raise NotHere(str(missing)) from None
        return self._server

    def _kinds(self) -> Mapping[str, Callable[[str], Subject]]:
        log = self.workloads.log
        return {
            "decode": partial(self._decode, processor=0),
            "decode-threads": self._decode,
            "decode-binary": partial(self._decode, processor=0, json="binary"),
            "encode": self._encode,
            "encode-binary": self._encode_binary,
            "encode-100": partial(self._encode, rows_per_transaction="100"),
            "encode-1": partial(self._encode, rows_per_transaction="1"),
            "parquet": self._parquet,
            **{f"rows-{form}": partial(self._rows, form) for form in ("csv", "jsonl", "parquet", "arrow")},
            **{kind: partial(self._printed, *words) for kind, words in _PRINTED.items()},
            "whole": self._whole,
            "mysqlbinlog": lambda name: mysqlbinlog(log(name), self.workloads.rows(name)),
            **{f"mysqlbinlog{form}": partial(self._to_file, "mysqlbinlog", form) for form in ("-v", "-vv")},
            **{f"as-mysqlbinlog{form}": partial(self._to_file, "forge", form) for form in ("-v", "-vv")},
            "go-mysql": lambda name: go_mysql(self._programs, log(name)),
            "java-connector": lambda name: java_connector(self._programs, log(name)),
            "mysqld-load": lambda table: self._mysqld(table, lambda: self._load(table)),
            "mysqld-insert": lambda table: self._mysqld(table, self.workloads.inserts(table).read_text),
            "read-floor": lambda name: InProcess(partial(read_floor, log(name))),
            "write-floor": lambda name: InProcess(WriteFloor(log(name), self._scratch / "floor")),
            "memcpy": self._memory_copy,
            "json-binary": lambda table: documents.text_to_binary(partial(self.workloads.source, table)),
            "json-doubles": lambda _: documents.doubles_as_text(),
            "python-doubles": lambda _: documents.doubles_by_python(),
            "memory": lambda name: self._child("decode", *self._rows_of(name)),
            "start": lambda name: FreshStarts(partial(self._child, "first-rows", *self._rows_of(name))),
            "first-start": self._first_start,
            "load-module": lambda name: FreshStarts(partial(self._child, "load-module", name)),
            "decode-alone": lambda name: self._together(1, "decode", *self._rows_of(name)),
            "decode-pair": lambda name: self._together(2, "decode", *self._rows_of(name)),
            "encode-alone": lambda table: self._together(1, "encode", *self._source_of(table)),
            "encode-pair": lambda table: self._together(2, "encode", *self._source_of(table)),
            "spin-alone": lambda _: self._together(1, "spin"),
            "spin-pair": lambda _: self._together(2, "spin"),
            "spark-read": partial(self._spark_read, "binlog"),
            "spark-memory": partial(self._spark_read, "memory"),
            "spark-write": partial(self._spark_write, "binlog"),
            "spark-dropped": partial(self._spark_write, "dropped"),
            "canonical": lambda name: self._child("canonical", str(log(name))),
            "python-mysql-replication": self._python_mysql_replication,
            **{kind: partial(self._command, kind) for kind in ("dump", "disasm", "asm", "build")},
            **{f"{kind}-before": partial(self._before, kind) for kind in ("dump", "disasm", "asm", "build")},
        }

    @property
    def _programs(self) -> Path:
        return self._folder("programs")

    @property
    def _scratch(self) -> Path:
        return self._folder("scratch")

    def _folder(self, name: str) -> Path:
        folder = self.workloads.folder / name
        folder.mkdir(exist_ok=True)
        return folder

    # Ours.

    def _decode(self, name: str, processor: int | None = None, **options: str) -> Subject:
        images = {"images": "both"} if "_update" in name else {}
        made = self._warm("decode", *self._rows_of(name), json.dumps(images | options))
        return replace(made, processor=processor)

    def _encode(self, table: str, rows_per_transaction: str = "") -> Subject:
        return self._warm("encode", *self._source_of(table), rows_per_transaction)

    def _encode_binary(self, table: str) -> Subject:
        """From the rows of the table's log, whose JSON is as the server stored it."""
        source = self._scratch / f"{table}_binary.parquet"
        if not source.exists():
            log, names = self.workloads.log(f"{table}_load"), COLUMNS[table]
            rows = read_rows(log, table=f"{DATABASE}.{table}", json="binary", names=names).read_all()
            pq.write_table(rows.select(names), source)
        return self._warm("encode", str(source), _definition(table), "")

    def _parquet(self, name: str) -> Subject:
        return self._warm("parquet", *self._rows_of(name), str(self._scratch / "rows.parquet"))

    def _rows(self, form: str, name: str) -> Subject:
        """``forge rows``, without the start of a process, on one processor."""
        log, table = self._rows_of(name)
        output = str(self._scratch / f"rows.{form}") if form in ("parquet", "arrow") else os.devnull
        rows = str(self.workloads.rows(name))
        made = self._warm("command", rows, "rows", log, "--table", table, "--format", form, "-o", output)
        return replace(made, processor=0)

    def _printed(self, command: str, *rest: str) -> Subject:
        """A command that prints what a log says; ``rest`` are options and, last, the log."""
        *options, name = rest
        rows, log = str(self.workloads.rows(name)), str(self.workloads.log(name))
        return replace(self._warm("command", rows, command, *options, log), processor=0)

    def _whole(self, command: str) -> Subject:
        """A command as a person types it, with a log or a scenario of a few rows."""
        scenario, log = self._scratch / "small.yaml", self._scratch / "small.000001"
        scenario.write_text(generated_rows(3))
        if not log.exists():
            _run_forge("build", str(scenario), "-o", str(log))
        output = str(self._scratch / "again.000001")
        words = {"help": ["--help"], "dump": ["dump", str(log)], "build": ["build", str(scenario), "-o", output]}
        return WholeProgram([sys.executable, "-m", "forge", *words[command]], 0)

    def _to_file(self, program: str, form: str, name: str) -> Subject:
        """The text of mysqlbinlog in a file, by the program or by ours."""
        options, path = (form, "--base64-output=decode-rows"), str(self.workloads.log(name))
        if program == "forge":
            command = [sys.executable, "-m", "forge", "dump", path, "--as", "mysqlbinlog", "--", *options]
        elif is_unpacked("mysql97"):
            command = [str(servers_home() / "mysql97.run"), "mysqlbinlog", "--no-defaults", *options, path]
        else:
            raise NotHere("MySQL 9.7 is not unpacked: run `make servers`")
        printed = shlex.quote(str(self._scratch / "printed.txt"))
        return WholeProgram(["sh", "-c", f"exec {shlex.join(command)} > {printed}"], self.workloads.rows(name))

    def _memory_copy(self, table: str) -> Subject:
        texts = self.workloads.source(table)["j"]
        return InProcess(MemoryCopy(pc.sum(pc.binary_length(texts)).as_py()))

    def _spark_read(self, source: str, name: str) -> Subject:
        _require_spark()
        made = self._warm("spark-read", source, *self._rows_of(name), str(self.workloads.rows(name)))
        # Workers start, kernels are loaded, and each worker comes to hold all batches.
        return replace(made, warm_up=_SPARK_WARM_UP)

    def _spark_write(self, sink: str, table: str) -> Subject:
        _require_spark()
        return replace(self._warm("spark-write", sink, *self._source_of(table)), warm_up=_SPARK_WARM_UP)

    def _first_start(self, name: str) -> Subject:
        """Each start has a folder for compiled kernels of its own."""
        folder = self.resources.enter_context(tempfile.TemporaryDirectory())
        number = iter(range(1_000_000))
        arguments = self._rows_of(name)

        def start() -> OwnClock:
            return child(_ROOT, "first-rows", *arguments, environment={"NUMBA_CACHE_DIR": f"{folder}/{next(number)}"})

        return FreshStarts(start)

    # The reference path, now and before.

    def _command(self, kind: str, name: str, checkout: Path = _ROOT) -> Subject:
        rows = self._generated(name) if kind == "build" else self.workloads.rows(name)
        return child(checkout, "command", str(rows), *self._arguments(kind, name))

    def _generated(self, name: str) -> int:
        rows = self.workloads.sizes.generated
        return rows if name == "all" else rows // 10

    def _before(self, kind: str, name: str) -> Subject:
        return self._command(kind, name, self._earlier())

    def _arguments(self, kind: str, name: str) -> list[str]:
        scratch, output = self._scratch, str(self._scratch / f"{kind}-{name}")
        if kind == "build":
            scenario = scratch / f"{name}.yaml"
            scenario.write_text(generated_rows(self._generated(name)))
            return ["build", str(scenario), "-o", output]
        log = str(self.workloads.log(name))
        if kind == "dump":
            return ["dump", "--json", log]
        if kind == "disasm":
            return ["disasm", log, "-o", output]
        listing = scratch / f"{name}.listing"
        if not listing.exists():
            _run_forge("disasm", log, "-o", str(listing))
        return ["asm", str(listing), "-o", output]

    def _earlier(self) -> Path:
        """A checkout of the revision before."""
        if self.before is None:
            raise NotHere("no revision to compare with: name one with --before")
        if self._checkout is None:
            folder = Path(self.resources.enter_context(tempfile.TemporaryDirectory())) / "before"
            added = subprocess.run(
                ["git", "-C", str(_ROOT), "worktree", "add", "--detach", str(folder), self.before],
                check=False, capture_output=True, text=True,
            )  # fmt: skip
            if added.returncode:
                raise NotHere(f"no checkout of {self.before}: {added.stderr.strip().splitlines()[-1]}")
            remove = ["git", "-C", str(_ROOT), "worktree", "remove", "--force", str(folder)]
            self.resources.callback(subprocess.run, remove, check=False)
            self._checkout = folder
        return self._checkout

    # Others.

    def _mysqld(self, table: str, statements: Callable[[], str]) -> Subject:
        return Mysqld(self.server, table, statements, self.workloads.sizes.rows(table))

    def _load(self, table: str) -> str:
        return load_statement(table, self.workloads.tab_separated(table))

    def _python_mysql_replication(self, name: str) -> Subject:
        if importlib.util.find_spec("pymysqlreplication") is None:
            raise NotHere("python-mysql-replication is not installed (pip install mysql-replication)")
        return self._child("python-mysql-replication", str(self.workloads.log(name)))

    # Processes of their own.

    def _warm(self, *arguments: str) -> OwnClock:
        """As the Java connector has it: a new process each round, and passes before those that count."""
        return replace(child(_ROOT, *arguments), warm_up=WARM_UP)

    def _child(self, *arguments: str) -> OwnClock:
        return child(_ROOT, *arguments)

    def _together(self, processes: int, *arguments: str) -> Together:
        alone = child(_ROOT, *arguments)
        return Together([replace(alone, warm_up=1, processor=number) for number in range(processes)])

    def _rows_of(self, name: str) -> tuple[str, str]:
        table = _table_of(name)
        return str(self.workloads.log(name)), f"{DATABASE}.{table}{'_00007' if table == 'w6' else ''}"

    def _source_of(self, table: str) -> tuple[str, str]:
        return str(self.workloads.parquet(table)), _definition(table)


def _require_spark() -> None:
    if importlib.util.find_spec("pyspark") is None:
        raise NotHere("PySpark is not installed (the extra `spark`)")


def _table_of(log: str) -> str:
    return log.partition("_")[0]


def _definition(table: str) -> str:
    return DEFINITIONS[table].replace(f"TABLE {table}", f"TABLE {DATABASE}.{table}")


def _run_forge(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "forge", *arguments], cwd=_ROOT, check=True)
