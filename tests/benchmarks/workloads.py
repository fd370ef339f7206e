"""The binary logs that the workloads are: each written by a real server, one file for one run of statements."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.benchmarks.server import WorkloadServer, load_statement, workload_server
from tests.benchmarks.statements import write_inserts, write_tab_separated
from tests.benchmarks.tables import DEFINITIONS, ROWS, Sizes

#: Rows of one INSERT, by table.
ROWS_PER_INSERT = {"w1": 100, "w2": 100, "w4": 1}

#: What changes every row of a table, and what changes it again.
UPDATES = {
    "w1": ("UPDATE w1 SET a = -a, f2 = 1 - f2;\n", "UPDATE w1 SET a = -a, f2 = 1 - f2;\n"),
    "w2": (
        "UPDATE w2 SET amount = -amount, status = 'paid', city = CONCAT(city, 'x');\n",
        "UPDATE w2 SET amount = -amount, status = 'new', city = CONCAT(city, 'y');\n",
    ),
}
_MINIMAL = "SET SESSION binlog_row_image = 'MINIMAL';\n"
_FULL_METADATA = "SET GLOBAL binlog_row_metadata = 'FULL';\n"
_COMPRESSED = "SET SESSION binlog_transaction_compression = ON;\n"

#: W1 ten times over, for what grows with the rows.
TENFOLD = 10

#: The binary logs of each table.
LOGS = {
    "w1": (
        "w1_load", "w1_update", "w1_update_minimal", "w1_delete", "w1_delete_minimal", "w1_insert", "w1_some", "w1_few",
        "w1_tenfold",
    ),
    "w3": ("w3_load",),
    "w4": ("w4_insert", "w4_few"),
    "w2": (
        "w2_load", "w2_update", "w2_update_minimal", "w2_delete", "w2_delete_minimal", "w2_insert", "w2_payload",
        "w2_payloads", "w2_few",
    ),
    "w3j": ("w3j_load",),
    "w5": ("w5_load", "w5_few"),
    "w6": ("w6_insert", "w6_tenth"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Workloads:
    """A folder with the rows of every table, their text forms and the recorded logs; made once, then kept."""

    folder: Path
    sizes: Sizes

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.binlog"

    def parquet(self, table: str) -> Path:
        return self.folder / f"{table}.parquet"

    def tab_separated(self, name: str) -> Path:
        return self.folder / f"{name}.tsv"

    def inserts(self, name: str) -> Path:
        return self.folder / f"{name}.sql"

    def rows(self, name: str) -> int:
        """Rows that the log of that name changes."""
        table, _, part = name.partition("_")
        parts = {"some": self.sizes.some, "few": self.sizes.few, "tenfold": TENFOLD * self.sizes.wide}
        if part == "tenth":
            return self.sizes.rows(table) // 10
        return parts.get(part, self.sizes.rows(table))

    def source(self, table: str) -> pa.Table:
        """The rows that the server was given."""
        return pq.read_table(self.parquet(table))

    def make(self, say: Callable[[str], None]) -> None:
        """Make what is missing; ``say`` is told of every file.

        Raises EnvironmentMissing without a real server, SystemExit if the folder holds workloads of other sizes.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._check_sizes()
        for table in ROWS:
            self._write_texts(table, say)
        missing = [table for table, logs in LOGS.items() if not all(self.log(name).exists() for name in logs)]
        if missing:
            with workload_server() as server:
                for table in missing:
                    _Recorder(self, server, table, say).record_all()

    def _check_sizes(self) -> None:
        path = self.folder / "sizes.json"
        sizes = asdict(self.sizes)
        if not path.exists():
            path.write_text(json.dumps(sizes))
        elif json.loads(path.read_text()) != sizes:
            raise SystemExit(f"{self.folder} holds workloads of other sizes: name another folder, or remove it")

    def _write_texts(self, table: str, say: Callable[[str], None]) -> None:
        texts: dict[Path, Callable[[pa.Table, Path], None]] = {
            self.tab_separated(table): write_tab_separated,
            self.parquet(table): lambda rows, path: pq.write_table(rows, path, compression="zstd"),
        }
        for name, count in (("some", self.sizes.some), ("few", self.sizes.few)):
            if f"{table}_{name}" in LOGS[table]:
                texts |= self._beginning(table, f"{table}_{name}", count)
        if table in ROWS_PER_INSERT:
            texts[self.inserts(table)] = lambda rows, path: write_inserts(rows, table, ROWS_PER_INSERT[table], path)
        missing = {path: write for path, write in texts.items() if not path.exists()}
        if missing:
            rows = ROWS[table](self.sizes.rows(table))
            for path, write in missing.items():
                draft = path.with_name(path.name + ".draft")
                write(rows, draft)
                draft.rename(path)
                say(f"{path.name}  {path.stat().st_size / 1e6:.1f} MB")

    def _beginning(self, table: str, name: str, count: int) -> dict[Path, Callable[[pa.Table, Path], None]]:
        if table == "w4":
            return {self.inserts(name): lambda rows, path: write_inserts(rows.slice(0, count), table, 1, path)}
        return {self.tab_separated(name): lambda rows, path: write_tab_separated(rows.slice(0, count), path)}


@dataclass(frozen=True, slots=True)
class _Recorder:
    """The logs of one table, in the order in which its rows change."""

    workloads: Workloads
    server: WorkloadServer
    table: str
    say: Callable[[str], None]

    def record_all(self) -> None:
        table = self.table
        if table == "w4":
            self._record_fresh("w4_insert", self.workloads.inserts("w4").read_text())
            self._record_fresh("w4_few", self.workloads.inserts("w4_few").read_text())
            return
        if table == "w6":
            self._record_tables()
            return
        if table == "w5":
            self.server.run(_FULL_METADATA)
        self._record_fresh(f"{table}_load", self._load(table))
        if f"{table}_few" in LOGS[table] and table not in UPDATES:
            self._record_fresh(f"{table}_few", self._load(f"{table}_few"))
        if table not in UPDATES:
            return
        first, second = UPDATES[table]
        self._record(f"{table}_update", first)
        self._record(f"{table}_update_minimal", _MINIMAL + second)
        self._record(f"{table}_delete", f"DELETE FROM {table};\n")
        self.server.create(table)
        self.server.run(self._load(table))
        self._record(f"{table}_delete_minimal", f"{_MINIMAL}DELETE FROM {table};\n")
        self._record_fresh(f"{table}_insert", self.workloads.inserts(table).read_text())
        if table == "w2":
            self._record_fresh("w2_payload", _COMPRESSED + self._load("w2"))
            self._record_fresh("w2_payloads", _COMPRESSED + self.workloads.inserts("w2").read_text())
        else:
            self._record_fresh("w1_some", self._load("w1_some"))
            self._record_fresh("w1_tenfold", self._tenfold())
        self._record_fresh(f"{table}_few", self._load(f"{table}_few"))

    def _record_tables(self) -> None:
        """One row in each of many tables, and in a tenth of them."""
        names = [f"w6_{number:05}" for number in range(self.workloads.sizes.tables)]
        self.server.run(_FULL_METADATA + "".join(f"{DEFINITIONS['w6']};\n".replace("w6", name, 1) for name in names))
        for log, count, key in (("w6_insert", len(names), 1), ("w6_tenth", len(names) // 10, 2)):
            inserts = (f"INSERT INTO {name} VALUES ({key}, 'a row of {name}', 3);\n" for name in names[:count])
            self._record(log, "".join(inserts))

    def _load(self, name: str) -> str:
        return load_statement(self.table, self.workloads.tab_separated(name))

    def _tenfold(self) -> str:
        """One transaction that loads the rows ten times, each time with other keys."""
        text, rows = self.workloads.tab_separated("w1"), self.workloads.sizes.wide
        loads = (
            f"LOAD DATA INFILE '{text}' INTO TABLE w1 CHARACTER SET utf8mb4"
            f" (@id, a, b, d, t, f1, f2) SET id = @id + {rows * time};\n"
            for time in range(TENFOLD)
        )
        return f"BEGIN;\n{''.join(loads)}COMMIT;\n"

    def _record_fresh(self, name: str, statements: str) -> None:
        self.server.create(self.table)
        self._record(name, statements)

    def _record(self, name: str, statements: str) -> None:
        path = self.workloads.log(name)
        cost = self.server.record(statements, path)
        self.say(f"{path.name}  {path.stat().st_size / 1e6:.1f} MB, {cost.wall:.1f} s")
