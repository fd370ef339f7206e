"""The ratios that are reported, each with its goal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

#: What is timed: a kind of work (see ``subjects.py``) and the log or table that it is done on.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Line:
    """One figure: ``over`` divided by ``under``, of the same round; the goal says on which side it should be.

    Without ``under`` the figure is ``over`` alone, in ``unit``.  Of several keys in ``over`` the quickest counts.
    ``control`` is a pair whose quotient this one is divided by: what the machine itself gives.
    """

    name: str
    workload: str
    what: str
    over: tuple[Key, ...]
    under: Key | None
    sense: Literal[">=", "<="]
    goal: float | None
    unit: Literal["", "s", "MB", "B/row", "MB/s", "Mrows/s"] = ""
    control: tuple[Key, Key] | None = None

    @property
    def keys(self) -> Iterator[Key]:
        yield from self.over
        if self.under is not None:
            yield self.under
        yield from self.control or ()

    def is_met(self, figure: float) -> bool:
        if self.goal is None:
            return True
        return figure >= self.goal if self.sense == ">=" else figure <= self.goal


def _faster(
    name: str, workload: str, what: str, over: str | tuple[str, ...], under: str, log: str, goal: float
) -> Line:
    """Others need at least ``goal`` times as long for the same log."""
    kinds = (over,) if isinstance(over, str) else over
    return Line(name, workload, what, tuple((kind, log) for kind in kinds), (under, log), ">=", goal)


def _at_most(name: str, workload: str, what: str, over: Key, under: Key, goal: float | None) -> Line:
    return Line(name, workload, what, (over,), under, "<=", goal)


def _growth(name: str, workload: str, what: str, over: str, under: str, goal: float) -> Line:
    return Line(name, workload, what, (("memory", over),), ("memory", under), "<=", goal, "MB")


_PEERS = ("go-mysql", "java-connector")
_PYTHON = "python-mysql-replication"
_LOOPS = (("spin-alone", ""), ("spin-pair", ""))

_ENCODE = (
    Line("E1", "W1", "LOAD DATA / encode", (("mysqld-load", "w1"),), ("encode", "w1"), ">=", 60),
    Line("E1", "W2", "LOAD DATA / encode", (("mysqld-load", "w2"),), ("encode", "w2"), ">=", 28),
    Line("E2", "W1", "INSERT x100 / encode", (("mysqld-insert", "w1"),), ("encode-100", "w1"), ">=", 80),
    Line("E2", "W2", "INSERT x100 / encode", (("mysqld-insert", "w2"),), ("encode-100", "w2"), ">=", 30),
    _at_most("E3", "W1", "encode / write floor", ("encode", "w1"), ("write-floor", "w1_load"), 1.4),
    _at_most("E3", "W2", "encode / write floor", ("encode", "w2"), ("write-floor", "w2_load"), 1.0),
    _at_most(
        "E3", "W3", "encode / write floor, JSON as binary", ("encode-binary", "w3"), ("write-floor", "w3_load"), 0.9
    ),
    _at_most("E3", "W3", "encode / write floor, JSON from text", ("encode", "w3"), ("write-floor", "w3_load"), None),
    Line("E4", "W4", "single-row INSERT / encode", (("mysqld-insert", "w4"),), ("encode-1", "w4"), ">=", 100),
)

_DECODE = (
    _faster("D1", "W5", "mysqlbinlog -v / decode", "mysqlbinlog", "decode", "w5_load", 10),
    _faster("D2", "W5", "go-mysql / decode", "go-mysql", "decode", "w5_load", 9),
    *(
        _faster("D13", workload, "mysqlbinlog -v / decode, both processors", "mysqlbinlog", "decode-threads", log, goal)
        for workload, log, goal in (("W1", "w1_load", 20), ("W2", "w2_load", 10), ("W5", "w5_load", 10))
    ),
    _faster("D1", "W1", "mysqlbinlog -v / decode", "mysqlbinlog", "decode", "w1_load", 28),
    _faster("D1", "W2", "mysqlbinlog -v / decode", "mysqlbinlog", "decode", "w2_load", 12),
    _faster("D1", "W3", "mysqlbinlog -v / decode, JSON as binary", "mysqlbinlog", "decode-binary", "w3_load", 15),
    _faster("D2", "W1", "fastest peer / decode", _PEERS, "decode", "w1_load", 10),
    _faster("D2", "W2", "fastest peer / decode", _PEERS, "decode", "w2_load", 4.5),
    _faster("D2", "W3", "fastest peer / decode, JSON as binary", _PEERS, "decode-binary", "w3_load", 1.8),
    _faster("D2", "W4", "fastest peer / decode", _PEERS, "decode", "w4_insert", 15),
    _at_most("D3", "W1", "decode / read floor", ("decode", "w1_load"), ("read-floor", "w1_load"), 6),
    _at_most("D3", "W2", "decode / read floor", ("decode", "w2_load"), ("read-floor", "w2_load"), 2.5),
    _at_most(
        "D3", "W3", "decode / read floor, JSON as binary", ("decode-binary", "w3_load"), ("read-floor", "w3_load"), 1.5
    ),
    _faster("D4", "W3", "go-mysql / decode, JSON as text", "go-mysql", "decode", "w3_load", 6),
    _faster("D5", "W4", "go-mysql / decode", "go-mysql", "decode", "w4_insert", 15),
    _faster("D7", "W3", "go-mysql / decode, the JSON column alone", "go-mysql", "decode", "w3j_load", 9),
    _faster("D8", "W3", "mysqlbinlog -v / decode, the JSON column alone", "mysqlbinlog", "decode", "w3j_load", 5),
    _faster("D9", "W1", "mysqlbinlog -v / decode, full UPDATE", "mysqlbinlog", "decode", "w1_update", 20),
    _faster("D9", "W2", "mysqlbinlog -v / decode, full UPDATE", "mysqlbinlog", "decode", "w2_update", 5),
    _faster("D10", "W1", "go-mysql / decode, full UPDATE", "go-mysql", "decode", "w1_update", 20),
    _faster("D10", "W2", "go-mysql / decode, full UPDATE", "go-mysql", "decode", "w2_update", 5),
    _faster("D11", "W1", "go-mysql / decode, minimal UPDATE", "go-mysql", "decode", "w1_update_minimal", 35),
    _faster("D11", "W2", "go-mysql / decode, minimal UPDATE", "go-mysql", "decode", "w2_update_minimal", 18),
    _faster("D11", "W1", "go-mysql / decode, minimal DELETE", "go-mysql", "decode", "w1_delete_minimal", 35),
    _faster("D11", "W2", "go-mysql / decode, minimal DELETE", "go-mysql", "decode", "w2_delete_minimal", 18),
    _faster("D12", "W2", "go-mysql / decode, one large payload", "go-mysql", "decode", "w2_payload", 5),
    _faster("D12", "W2", "go-mysql / decode, 10,000 small payloads", "go-mysql", "decode", "w2_payloads", 4),
    _at_most("P1", "W2", "Parquet / decode", ("parquet", "w2_load"), ("decode", "w2_load"), 4.5),
)  # fmt: skip

#: Forms of ``forge rows``, and the other commands that print what ``mysqlbinlog -v`` prints of.
_TEXT = (
    *(
        _faster("T1", workload, f"mysqlbinlog -v / rows as {form}", "mysqlbinlog", f"rows-{form}", log, goal)
        for workload, log in (("W1", "w1_load"), ("W2", "w2_load"), ("W5", "w5_load"))
        for form, goal in (("csv", 2), ("jsonl", 2), ("parquet", 2), ("arrow", 4))
    ),
    *(
        _faster("T5", workload, "mysqlbinlog -v / dump --as", "mysqlbinlog-v", "as-mysqlbinlog-v", log, goal)
        for workload, log, goal in (
            ("W1", "w1_load", 2), ("W2", "w2_load", 2), ("W3", "w3_load", 1.5), ("W4", "w4_insert", 1.5),
            ("W5", "w5_load", 2),
        )
    ),
    *(
        _faster("T5", workload, "mysqlbinlog -vv / dump --as", "mysqlbinlog-vv", "as-mysqlbinlog-vv", log, 1.5)
        for workload, log in (("W1", "w1_load"), ("W2", "w2_load"))
    ),
    _faster("T2", "W5", "mysqlbinlog -v / dump", "mysqlbinlog", "dump-text", "w5_few", 1),
    _faster("T2", "W5", "mysqlbinlog -v / dump --rows", "mysqlbinlog", "dump-rows", "w5_few", 1),
    _faster("T2", "W5", "mysqlbinlog -v / dump --json", "mysqlbinlog", "dump", "w5_few", 1),
    _at_most("T3", "W5", "disasm / mysqlbinlog -v", ("disasm", "w5_few"), ("mysqlbinlog", "w5_few"), 6),
    Line("T4", "W6", "tables", (("tables", "w6_insert"),), None, "<=", 3, "s"),
    Line("T4", "W6", "rows of one table", (("rows-jsonl", "w6_insert"),), None, "<=", 3, "s"),
    Line("T4", "W6", "schema-of", (("schema-of", "w6_insert"),), None, "<=", 6, "s"),
    _at_most("T5", "W6", "tables, of ten times the tables", ("tables", "w6_insert"), ("tables", "w6_tenth"), 11),
    _at_most("T5", "W6", "rows, of ten times the tables", ("rows-csv", "w6_insert"), ("rows-csv", "w6_tenth"), 11),
)  # fmt: skip

_JSON = (
    Line(
        "J1", "doubles", "Python's repr / text of a document", (("python-doubles", ""),), ("json-doubles", ""), ">=", 8
    ),
    Line("J2", "W3", "JSON text to binary", (("json-binary", "w3j"),), None, ">=", 250, "MB/s"),
    _at_most("J2", "W3", "JSON text to binary / memcpy of the text", ("json-binary", "w3j"), ("memcpy", "w3j"), None),
)

_GROWTH = (
    Line(
        "S1", "W2", "decode, 1 core: 1 process / half the work of 2, over the same of a CRC32 loop",
        (("decode-alone", "w2_load"),), ("decode-pair", "w2_load"), ">=", 0.8, control=_LOOPS,
    ),
    Line(
        "S1", "W2", "encode, 1 core: 1 process / half the work of 2, over the same of a CRC32 loop",
        (("encode-alone", "w2"),), ("encode-pair", "w2"), ">=", 0.8, control=_LOOPS,
    ),
    _at_most("S2", "W1", "decode of 10M rows / of 1M rows", ("decode", "w1_tenfold"), ("decode", "w1_load"), 10.5),
    _growth("S3", "W1", "peak memory, 10M rows - 1M rows", "w1_tenfold", "w1_load", 8),
    _growth("M1", "W2", "peak memory, one large payload - none", "w2_payload", "w2_load", 16),
)  # fmt: skip

_START = (
    Line("C3", "none", "forge --help", (("whole", "help"),), None, "<=", 0.06, "s"),
    Line("C3", "tiny", "dump of a small log", (("whole", "dump"),), None, "<=", 0.25, "s"),
    Line("C3", "tiny", "build of a small scenario", (("whole", "build"),), None, "<=", 0.45, "s"),
    _at_most("C1", "W1", "import and first rows / import pyarrow", ("start", "w1_few"), ("load-module", "pyarrow"), 8),
    Line("C2", "W1", "first rows ever, kernels compiled", (("first-start", "w1_few"),), None, "<=", 10, "s"),
    Line(
        "C2", "W3", "first rows ever with JSON, kernels compiled", (("first-start", "w3j_load"),), None, "<=", 12, "s"
    ),
)

_SPARK = (
    _faster(
        "SP1",
        "W2",
        "Spark: the same batches from memory / rows of a table",
        "spark-memory",
        "spark-read",
        "w2_insert",
        0.8,
    ),
    Line("SP1", "W2", "Spark on 2 cores: rows of a table", (("spark-read", "w2_insert"),), None, ">=", 1, "Mrows/s"),
    _faster("SP2", "W2", "Spark: rows that are dropped / written as a log", "spark-dropped", "spark-write", "w2", 0.8),
    Line("SP2", "W2", "Spark on 2 cores: rows written as a log", (("spark-write", "w2"),), None, ">=", 0.5, "Mrows/s"),
)

_REFERENCE = (
    _faster("D6", "W1", f"{_PYTHON} / canonical decode", _PYTHON, "canonical", "w1_some", 2.5),
    _faster("D6", "W2", f"{_PYTHON} / canonical decode", _PYTHON, "canonical", "w2_few", 2.5),
    _faster("D6", "W4", f"{_PYTHON} / canonical decode", _PYTHON, "canonical", "w4_few", 1),
    _faster("D6", "W5", f"{_PYTHON} / canonical decode", _PYTHON, "canonical", "w5_few", 2),
    *(
        _faster(name, workload, f"{what}: before / now", f"{kind}-before", kind, f"{workload.lower()}_few", goal)
        for name, kind, what, goals in (
            ("R1", "dump", "dump --json", {"W1": 7, "W2": 7}),
            ("R2", "disasm", "disasm", {"W1": 8, "W2": 3, "W4": 3}),
            ("R3", "asm", "asm", {"W1": 4, "W2": 4, "W4": 4}),
        )
        for workload, goal in goals.items()
    ),
    _faster("R4", "rows", "build of generated rows: before / now", "build-before", "build", "all", 8),
    Line("R5", "rows", "build: memory of a generated row", (("build", "all"),), ("build", "tenth"), "<=", 300, "B/row"),
)  # fmt: skip

LINES: tuple[Line, ...] = (*_ENCODE, *_DECODE, *_TEXT, *_JSON, *_GROWTH, *_START, *_SPARK, *_REFERENCE)
