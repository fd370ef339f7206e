"""The tables of the workloads: their definitions, and the rows that fill them, from a fixed seed.

W1 is narrow (seven columns of fixed width), W2 looks like an order table (four strings, a decimal, an ENUM), W3 holds
JSON documents and BLOBs.  W4 has the columns of W1; each of its rows is a transaction.  ``w3j`` is W3 without the BLOB.
W5 is what a shop's widest table looks like: 30 columns of most types, NULLs, and names in the log.  W6 is 10,000 small
tables with a row each.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

DATABASE = "perf"

_W1_COLUMNS = """\
  id BIGINT PRIMARY KEY,
  a INT,
  b INT UNSIGNED NULL,
  d DOUBLE,
  t DATETIME(6),
  f1 TINYINT,
  f2 TINYINT"""

_W2_COLUMNS = """\
  id BIGINT PRIMARY KEY,
  name VARCHAR(64),
  email VARCHAR(64),
  city VARCHAR(64),
  amount DECIMAL(12,2),
  ts TIMESTAMP(6) NULL,
  status ENUM('new','paid','shipped','cancelled'),
  note TEXT"""

_W3_COLUMNS = """\
  id BIGINT PRIMARY KEY,
  j JSON,
  b BLOB"""

_W3J_COLUMNS = """\
  id BIGINT PRIMARY KEY,
  j JSON"""

_W5_COLUMNS = """\
  id BIGINT UNSIGNED PRIMARY KEY,
  customer INT UNSIGNED,
  shop SMALLINT UNSIGNED,
  qty INT,
  small TINYINT,
  medium MEDIUMINT,
  views BIGINT,
  is_open TINYINT(1),
  price DECIMAL(12,2),
  tax DECIMAL(8,4) NULL,
  total DECIMAL(20,6),
  weight DOUBLE NULL,
  rate FLOAT,
  created DATETIME(6),
  changed TIMESTAMP(3) NULL,
  day DATE,
  slot TIME NULL,
  born YEAR NULL,
  status ENUM('new','paid','shipped','cancelled') NULL,
  marks SET('gift','fragile','express','insured'),
  flags BIT(8),
  name VARCHAR(64),
  email VARCHAR(64) NULL,
  city VARCHAR(64),
  sku CHAR(12) CHARACTER SET latin1,
  note TEXT NULL,
  title VARCHAR(120) CHARACTER SET latin1,
  token BINARY(16),
  picture VARBINARY(40) NULL,
  extra JSON NULL"""

_W6_COLUMNS = """\
  id INT PRIMARY KEY,
  name VARCHAR(20),
  qty INT"""

#: CREATE TABLE of each table, by name; that of W6 is of each of its tables.
DEFINITIONS = {
    name: f"CREATE TABLE {name} (\n{columns}\n) DEFAULT CHARACTER SET utf8mb4"
    for name, columns in (
        ("w1", _W1_COLUMNS), ("w2", _W2_COLUMNS), ("w3", _W3_COLUMNS), ("w3j", _W3J_COLUMNS), ("w4", _W1_COLUMNS),
        ("w5", _W5_COLUMNS), ("w6", _W6_COLUMNS),
    )
}  # fmt: skip

#: Names of each table's columns: with ``binlog_row_metadata=MINIMAL`` a log does not hold them.
COLUMNS = {
    "w1": ["id", "a", "b", "d", "t", "f1", "f2"],
    "w2": ["id", "name", "email", "city", "amount", "ts", "status", "note"],
    "w3": ["id", "j", "b"],
    "w3j": ["id", "j"],
    "w4": ["id", "a", "b", "d", "t", "f1", "f2"],
    "w5": [line.split()[0] for line in _W5_COLUMNS.splitlines()],
}


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many rows each table has, and its first rows as the slow readers get them."""

    wide: int = 1_000_000
    documents: int = 100_000
    transactions: int = 200_000
    #: Tables of W6, each of which has one row.
    tables: int = 10_000
    #: Rows of W1 for python-mysql-replication and the reference path.
    some: int = 100_000
    #: Rows of W1, W2 and W4 for what took many seconds for each megabyte.
    few: int = 5_000
    #: Rows that a scenario generates.
    generated: int = 100_000

    def rows(self, table: str) -> int:
        """Rows of the table of that name."""
        sizes = {"w1": self.wide, "w2": self.wide, "w4": self.transactions, "w6": self.tables}
        return sizes.get(table, self.documents)


SIZES = Sizes()
#: For a test that the programs run: nothing can be learned from its times.
TINY = Sizes(wide=3000, documents=300, transactions=200, tables=100, some=600, few=100, generated=300)

#: Microseconds since 1970; times are spread over the 115 days from then on.
_FIRST_TIME = 1_700_000_000_000_000
_TIME_SPAN = 10**13

_FIRST_NAMES = ["Ana", "José", "Zoë", "Liam", "Noah", "李雷", "Olga", "Ivan", "Søren", "Maria"]
_LAST_NAMES = ["Smith", "Müller", "García", "Novák", "王芳", "Johnson", "Brown", "O Neil", "Petrov", "Lindqvist"]
_CITIES = [
    "Berlin", "München", "São Paulo", "New York", "東京", "Kraków", "London", "Zürich", "Paris", "Buenos Aires",
]  # fmt: skip
STATUSES = ["new", "paid", "shipped", "cancelled"]
_TEXT = (
    "the river runs past seven mills and under the old bridge before it turns south where barges wait for grain and"
    " timber from the hills while carts go up the road to market with apples cheese wool and salt each autumn until"
    " snow closes the pass "
) * 3


def _times(rng: np.random.Generator, rows: int) -> np.ndarray:
    return _FIRST_TIME + rng.integers(0, _TIME_SPAN, rows)


def _tenth(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Which rows are NULL."""
    return rng.random(rows) < 0.1


def narrow_rows(rows: int) -> pa.Table:
    """W1, and W4."""
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "id": np.arange(1, rows + 1, dtype=np.int64),
            # Not -2**31: an UPDATE negates it.
            "a": rng.integers(-(2**31) + 1, 2**31, rows, dtype=np.int64).astype(np.int32),
            "b": pa.array(rng.integers(0, 2**32, rows, dtype=np.int64).astype(np.uint32), mask=_tenth(rng, rows)),
            "d": rng.standard_normal(rows) * 1e6,
            "t": pa.array(_times(rng, rows), pa.timestamp("us")),
            "f1": rng.integers(-128, 128, rows).astype(np.int8),
            "f2": rng.integers(0, 2, rows).astype(np.int8),
        }
    )


def _chosen(rng: np.random.Generator, rows: int, values: list[str]) -> pa.Array:
    return pa.array(values).take(pa.array(rng.integers(0, len(values), rows)))


def _masked(values: pa.Array, mask: np.ndarray) -> pa.Array:
    return pc.if_else(pa.array(mask), pa.scalar(None, values.type), values)


def _people(rng: np.random.Generator, rows: int) -> tuple[pa.Array, pa.Array, list[str]]:
    """Names, addresses and notes of 150 to 249 bytes."""
    names = pc.binary_join_element_wise(_chosen(rng, rows, _FIRST_NAMES), _chosen(rng, rows, _LAST_NAMES), " ")
    users = pa.array(np.arange(rows)).cast(pa.string())
    hosts = pa.array(rng.integers(0, 10, rows)).cast(pa.string())
    emails = pc.binary_join_element_wise("user", users, "@example", hosts, ".com", "")
    starts = rng.integers(0, 200, rows).tolist()
    lengths = rng.integers(150, 250, rows).tolist()
    notes = [_TEXT[start : start + length] for start, length in zip(starts, lengths, strict=True)]
    return names, emails, notes


def order_rows(rows: int) -> pa.Table:
    """W2."""
    rng = np.random.default_rng(2)
    names, emails, notes = _people(rng, rows)
    cents = rng.integers(-(10**10) + 1, 10**10, rows)
    both_halves = np.stack([cents, cents >> 63], axis=1)
    amounts = pa.Array.from_buffers(pa.decimal128(12, 2), rows, [None, pa.py_buffer(both_halves.tobytes())])
    return pa.table(
        {
            "id": np.arange(1, rows + 1, dtype=np.int64),
            "name": _masked(names, _tenth(rng, rows)),
            "email": _masked(emails, _tenth(rng, rows)),
            "city": _masked(_chosen(rng, rows, _CITIES), _tenth(rng, rows)),
            "amount": _masked(amounts, _tenth(rng, rows)),
            "ts": pa.array(_times(rng, rows), pa.timestamp("us", "UTC")),
            "status": pa.DictionaryArray.from_arrays(
                pa.array(rng.integers(0, len(STATUSES), rows).astype(np.int8), mask=_tenth(rng, rows)), STATUSES
            ),
            "note": pa.array(notes, mask=_tenth(rng, rows)),
        }
    )


def _document(number: int, name: str, email: str, note: str) -> str:
    """A JSON document as the server prints it: members in the order of their keys' length, then their bytes."""
    document = {
        "id": number, "ok": number % 2 == 0,
        "none": None, "note": note[:110], "tags": ["a", "bb", f"ccc{number % 7}"],
        "user": {"age": number % 90, "name": name, "email": email},
        "items": [{"q": number % 5, "sku": number * 3}, {"q": number % 3, "sku": number * 5}],
        "price": number / 7,
    }  # fmt: skip
    return json.dumps(document, ensure_ascii=False)


def document_rows(rows: int) -> pa.Table:
    """W3: documents of about 360 bytes, and 1 to 4 KB that do not compress."""
    rng = np.random.default_rng(3)
    names, emails, notes = _people(rng, rows)
    facts = zip(names.to_pylist(), emails.to_pylist(), notes, strict=True)
    return pa.table(
        {
            "id": np.arange(1, rows + 1, dtype=np.int64),
            "j": [_document(number, *fact) for number, fact in enumerate(facts)],
            "b": pa.array([rng.bytes(size) for size in rng.integers(1024, 4096, rows).tolist()], pa.binary()),
        }
    )


def mixed_rows(rows: int) -> pa.Table:
    """W5."""
    rng = np.random.default_rng(5)
    names, emails, notes = _people(rng, rows)

    def whole(least: int, end: int, kind: pa.DataType) -> pa.Array:
        return pa.array(rng.integers(least, end, rows)).cast(kind)

    def decimal(precision: int, scale: int) -> pa.Array:
        units = pa.array(rng.integers(-(10**8), 10**8, rows)).cast(pa.decimal128(19))
        return pc.multiply(units, pa.scalar(Decimal(1).scaleb(-scale))).cast(pa.decimal128(precision, scale))

    facts = zip(names.to_pylist(), emails.to_pylist(), notes, strict=True)
    documents = [_document(number, *fact) for number, fact in enumerate(facts)]
    days = rng.integers(0, 20_000, rows)
    return pa.table(
        {
            "id": pa.array(np.arange(2**63, 2**63 + rows, dtype=np.uint64)),
            "customer": whole(0, 2**32, pa.uint32()),
            "shop": whole(0, 2**16, pa.uint16()),
            "qty": whole(-1000, 1000, pa.int32()),
            "small": whole(-128, 128, pa.int8()),
            "medium": whole(-(2**23), 2**23, pa.int32()),
            "views": whole(-(2**62), 2**62, pa.int64()),
            "is_open": whole(0, 2, pa.int8()),
            "price": decimal(12, 2),
            "tax": _masked(decimal(12, 4), _tenth(rng, rows)),
            "total": decimal(20, 6),
            "weight": pa.array(rng.standard_normal(rows) * 1e3, mask=_tenth(rng, rows)),
            "rate": pa.array(rng.standard_normal(rows).astype(np.float32)),
            "created": pa.array(_times(rng, rows), pa.timestamp("us")),
            "changed": pa.array(_times(rng, rows) // 1000 * 1000, pa.timestamp("us", "UTC"), mask=_tenth(rng, rows)),
            "day": pa.array(days.astype(np.int32), pa.date32()),
            "slot": pa.array(rng.integers(0, 86_400, rows), pa.int64(), mask=_tenth(rng, rows)),
            "born": pa.array(rng.integers(1901, 2156, rows).astype(np.int16), mask=_tenth(rng, rows)),
            "status": pa.DictionaryArray.from_arrays(
                pa.array(rng.integers(0, len(STATUSES), rows).astype(np.int8), mask=_tenth(rng, rows)), STATUSES
            ),
            "marks": whole(0, 16, pa.uint8()),
            "flags": whole(0, 256, pa.uint8()),
            "name": names,
            "email": _masked(emails, _tenth(rng, rows)),
            "city": _chosen(rng, rows, _CITIES),
            "sku": pc.binary_join_element_wise("SKU", whole(0, 10**8, pa.string()), "-"),
            "note": pa.array(notes, mask=_tenth(rng, rows)),
            "title": pa.array([note[:60] for note in notes]),
            "token": pa.array([rng.bytes(16) for _ in range(rows)], pa.binary()),
            "picture": pa.array(
                [rng.bytes(size) for size in rng.integers(0, 41, rows)], pa.binary(), mask=_tenth(rng, rows)
            ),
            "extra": pa.array(documents, mask=_tenth(rng, rows)),
        }
    )


#: What makes the rows of each table, by name.
ROWS: dict[str, Callable[[int], pa.Table]] = {
    "w1": narrow_rows,
    "w2": order_rows,
    "w3": document_rows,
    "w3j": lambda rows: document_rows(rows).drop_columns(["b"]),
    "w4": narrow_rows,
    "w5": mixed_rows,
}
