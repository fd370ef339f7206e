"""Every column type in Spark is what ``forge.read_rows`` has, of MySQL 9.7 and of MariaDB 11.8."""

from __future__ import annotations

import inspect
import json
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="the extra [spark] is not installed")
pytest.importorskip("numba", reason="the extra `rows` is not installed")

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema

from forge.bulk.reading.odd import OnOdd
from forge.bulk.reading.rows import read_rows
from forge.bulk.reading.tables import Images
from forge.decode.decode import canonical_rows
from forge.spark.reading.types import arrow_schema, converted, spark_form, spark_schema, wider
from tests.recorded import NIGHTLY
from tests.spark.as_spark import as_spark_has
from tests.spark.test_source import RECORDINGS, read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VALUES = RECORDINGS / "values"
SERVERS = ("mysql-9.7", "mariadb-11.8")
#: What no server writes, and what changes its columns.
OTHERS = ("old-fractions", "zero-defaults")
LOGS = sorted(log for server in SERVERS for log in VALUES.glob(f"*/{server}/binlog.0*") if log.parts[-3] not in OTHERS)
#: A table with each type, and those whose types have parameters.
HANDED_ON = [log for log in LOGS if log.parts[-3] in ("nulls", "decimals", "timestamps", "vectors", "network")]


def rows_by_table(log: Path, images: Images = "after", on_odd: OnOdd = "text") -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, batch in read_rows(log, on_odd=on_odd, images=images):
        rows[name].extend(as_spark_has(batch))
    return rows


def plain(value: Any) -> Any:
    """Numbers of either type are the same numbers, digit by digit."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, (int, Decimal)):
        return format(value, "f" if isinstance(value, Decimal) else "d")
    return bytes(value) if isinstance(value, bytearray) else repr(value) if isinstance(value, float) else value


@pytest.mark.slow
@pytest.mark.parametrize(("images", "on_odd"), [("after", "text"), ("both", "null")])
def test_every_recorded_type_is_read_as_read_rows_reads_it(images: Images, on_odd: OnOdd) -> None:
    for log in LOGS:
        for name, rows in rows_by_table(log, images, on_odd).items():
            table = read(path=log, table=name, on_odd=on_odd, images=images)
            assert plain(table.to_pylist()) == plain(rows), log


@pytest.mark.slow
@pytest.mark.parametrize("log", HANDED_ON, ids=lambda log: "-".join(log.parts[-3:-1]))
def test_spark_hands_on_what_it_is_given(spark: SparkSession, log: Path) -> None:
    tables = rows_by_table(log)
    # Many have the types of one another: every fourth, all of them at night.
    for table, rows in [*tables.items()][:: 1 if NIGHTLY or len(tables) < 4 else 4]:
        frame = spark.read.format("binlog").load(str(log), table=table, on_odd="text")
        assert plain(frame.toArrow().to_pylist()) == plain(rows)


def unequal(log: Path) -> list[tuple[Any, ...]]:
    """Cells whose JSON is not the text of the canonical decode, but for the types that have a form of their own."""
    found = []
    changes = read(path=log, beside="_event").to_pylist()
    expected = list(canonical_rows(log.read_bytes()))
    changes.sort(key=lambda row: row["_event"])
    for row, change in zip(changes, expected, strict=True):
        for half, image in (("before", change.before), ("after", change.after)):
            shown = json_object(row[half])
            for cell in image or ():
                text = shown[cell.column.name or f"@{cell.number}"]
                plain_cell = cell.plain()
                wanted = plain_cell.get("value", "0x" + str(plain_cell.get("hex")))
                if plain_cell["type"].startswith(("SET", "YEAR", "BIT", "FLOAT", "DOUBLE", "GEOMETRY", "POINT")):
                    continue
                if not isinstance(text, (dict, list)) and text != wanted:
                    found.append((plain_cell["type"], text, wanted))
    return found


def json_object(text: str | None) -> dict[str, Any]:
    members: dict[str, Any] = {} if text is None else json.loads(text, parse_int=str, parse_float=str)
    return members


@pytest.mark.slow
def test_texts_in_json_are_those_of_the_canonical_decode() -> None:
    for log in LOGS:
        assert unequal(log) == [], log


def test_arrow_types_are_those_that_spark_wants() -> None:
    kinds = [
        pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.int8(), pa.int64(), pa.float32(), pa.float64(),
        pa.decimal128(38, 30), pa.decimal256(65, 30), pa.date32(), pa.timestamp("s", tz="UTC"), pa.timestamp("us"),
        pa.duration("us"), pa.string(), pa.binary(), pa.binary(16), pa.list_(pa.float32()),
        pa.dictionary(pa.int8(), pa.string()), pa.struct([("srid", pa.uint32()), ("wkb", pa.binary())]),
    ]  # fmt: skip
    formed = pa.schema([(f"c{number}", spark_form(kind)) for number, kind in enumerate(kinds)])
    schema = spark_schema(formed)
    assert arrow_schema(schema).equals(formed)
    if "timezone" in inspect.signature(to_arrow_schema).parameters:
        assert to_arrow_schema(schema, timezone="UTC").equals(formed)


def test_values_keep_their_places_in_slices_and_under_nulls() -> None:
    kind = pa.struct([("srid", pa.uint32()), ("wkb", pa.binary())])
    array = pa.array([None, {"srid": 2**32 - 1, "wkb": b"\0"}, {"srid": None, "wkb": None}, None], kind)
    for given in (array, array[1:], array[3:], array[:0]):
        made = converted(given, spark_form(kind))
        made.validate(full=True)
        assert made.to_pylist() == given.to_pylist()
    small = pa.array([Decimal("0.0000000000000000000000000000000000000001"), None], pa.decimal256(65, 40))
    assert converted(small, pa.string()).to_pylist() == ["0." + "0" * 39 + "1", None]


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (pa.int8(), pa.int64(), pa.int64()),
        (pa.int64(), pa.decimal128(20, 0), pa.decimal128(20, 0)),
        (pa.float32(), pa.float64(), pa.float64()),
        (pa.decimal128(10, 2), pa.decimal128(9, 4), pa.decimal128(12, 4)),
        (pa.decimal128(38, 0), pa.decimal128(38, 30), None),
        (pa.int64(), pa.float64(), None),
        (pa.string(), pa.binary(), None),
    ],
)
def test_a_wider_type_holds_the_values_of_both(one: pa.DataType, other: pa.DataType, both: pa.DataType | None) -> None:
    assert wider(one, other) == wider(other, one) == both
