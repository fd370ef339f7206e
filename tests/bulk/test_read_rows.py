"""``forge.read_rows``: what is asked for, what is odd, several files, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="the extra [rows] is not installed")
pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")

import pyarrow as pa

import forge
from forge.bulk.reading import batches, rows
from forge.bulk.reading.tables import Table, table_of
from forge.compile import compile_files, write_files
from forge.errors import FormatError, ScenarioError
from forge.scenario import Scenario, Session, delete, insert, plan, update
from tests.bulk.reference_rows import difference

pytestmark = pytest.mark.slow

ORDERS = "CREATE TABLE shop.orders (id INT PRIMARY KEY, who VARCHAR(9), day DATE, state ENUM('new','paid'))"


def log(folder: Path, scenario: Scenario, name: str = "binlog.000001") -> Path:
    planned = plan(scenario)
    [data] = write_files(planned, compile_files(planned))
    path = folder / name
    path.write_bytes(data)
    return path


def orders(**session: Any) -> Scenario:
    return (
        Scenario("orders", server="mysql-9.7", session=Session(row_metadata="full", **session), tables=[ORDERS])
        .transaction(insert("shop.orders", {"id": 1, "who": "Ann", "day": "2024-02-29", "state": "new"}))
        .transaction(update("shop.orders", where={"id": 1}, set={"state": "paid"}))
        .transaction(delete("shop.orders", where={"id": 1}))
    )


def test_a_row_shows_the_image_that_is_asked_for_or_the_only_one(tmp_path: Path) -> None:
    path = log(tmp_path, orders())
    states = {
        images: forge.read_rows(path, "shop.orders", images=images).read_all()["state"].to_pylist()
        for images in ("after", "before")
    }
    assert states == {"after": ["new", "paid", "paid"], "before": ["new", "new", "paid"]}


def test_tables_that_differ_in_their_names_alone_are_planned_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"shop.t{number}" for number in range(9)]
    definitions = (f"CREATE TABLE {name} (a INT PRIMARY KEY, b VARCHAR(9))" for name in names)
    scenario = Scenario("many", server="mysql-9.7", tables=[*definitions])
    for time in range(2):
        for number, name in enumerate(names):
            scenario = scenario.transaction(insert(name, {"a": time, "b": str(number)}))
    planned: list[str] = []

    def noted(name: str, *rest: Any) -> Table:
        planned.append(name)
        return table_of(name, *rest)

    monkeypatch.setattr(rows, "table_of", noted)
    read = [(name, batch["@2"].to_pylist()) for name, batch in forge.read_rows(log(tmp_path, scenario))]
    assert read == [(name, [str(number)] * 2) for number, name in enumerate(names)]
    assert planned == names[:1]


@pytest.mark.parametrize("capacity", [1, 2, 3, 7, 100])
def test_events_of_one_row_and_of_more_are_read_as_by_the_canonical_decode(
    capacity: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = Scenario("few", server="mysql-9.7", tables=["CREATE TABLE shop.few (a INT PRIMARY KEY, b INT)"])
    for first in range(0, 60, 10):
        rows = [{"a": first + place, "b": None if place in (4, 7) else place} for place in range(9)]
        for one in rows[:6]:
            scenario = scenario.transaction(insert("shop.few", one))
        scenario = scenario.transaction(insert("shop.few", *rows[6:]))
        scenario = scenario.transaction(update("shop.few", where={"a": first}, set={"b": 1}))
        scenario = scenario.transaction(delete("shop.few", where={"a": first + 1}))
    path = log(tmp_path, scenario)
    monkeypatch.setattr(batches, "_LEAST_ROWS", 1)
    monkeypatch.setattr(batches, "_MOST_CELLS", capacity * 4)
    assert difference(path) is None


def test_a_column_that_an_image_leaves_out_is_null_and_not_present(tmp_path: Path) -> None:
    path = log(tmp_path, orders(row_image="minimal"))
    rows = forge.read_rows(path, "shop.orders", images="both").read_all().to_pylist()
    change = rows[1]
    assert change["before"] == {"id": 1, "who": None, "day": None, "state": None}
    assert change["after"] == {"id": None, "who": None, "day": None, "state": "paid"}
    assert (change["_present_before"], change["_present_after"]) == (b"\x01", b"\x08")


def test_the_columns_and_those_beside_them_are_the_ones_that_are_named(tmp_path: Path) -> None:
    path = log(tmp_path, orders())
    reader = forge.read_rows(path, "shop.orders", columns=["state", "id"], beside=["_operation"])
    assert reader.schema.names == ["state", "id", "_operation"]
    assert [row["_operation"] for row in reader.read_all().to_pylist()] == ["insert", "update", "delete"]


def test_columns_without_names_are_numbered_or_named_by_the_caller(tmp_path: Path) -> None:
    scenario = Scenario("plain", server="mysql-9.7", tables=["CREATE TABLE d.t (a INT, b INT)"])
    path = log(tmp_path, scenario.transaction(insert("d.t", {"a": 1, "b": 2})))
    assert forge.read_rows(path, "d.t").schema.names[:2] == ["@1", "@2"]
    assert forge.read_rows(path, "d.t", names=["a", "b"]).schema.names[:2] == ["a", "b"]
    with pytest.raises(ScenarioError, match=r"1 names were given for d\.t, which has 2 columns"):
        forge.read_rows(path, "d.t", names=["a"])


def test_a_date_that_arrow_cannot_say_is_an_error_null_or_text(tmp_path: Path) -> None:
    scenario = Scenario(
        "odd",
        server="mysql-9.7",
        session=Session(row_metadata="full", sql_mode=""),
        tables=["CREATE TABLE d.t (day DATE)"],
    )
    path = log(
        tmp_path, scenario.transaction(insert("d.t", {"day": "2024-02-29"}, {"day": "0000-00-00"}, {"day": None}))
    )
    with pytest.raises(FormatError, match=r"column day: DATE '0000-00-00' has no Arrow value") as raised:
        forge.read_rows(path, "d.t").read_all()
    assert raised.value.file == str(path)
    assert raised.value.event_index is not None
    assert path.read_bytes()[raised.value.offset :][:3] == bytes(3)
    summary = forge.ReadSummary()
    days = forge.read_rows(path, "d.t", on_odd="null", summary=summary).read_all()["day"].to_pylist()
    assert [day if day is None else day.isoformat() for day in days] == ["2024-02-29", None, None]
    assert (summary.rows, summary.odd, summary.odd_columns) == (3, 1, {"day": 1})
    texts = forge.read_rows(path, "d.t", on_odd="text").read_all()["day"]
    assert texts.to_pylist() == ["2024-02-29", "0000-00-00", None]
    assert texts.type == pa.string()


def test_several_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    paths = [log(tmp_path, orders(), f"binlog.{number}") for number in range(3)]
    told: list[int] = []
    table = forge.read_rows(paths, "shop.orders", progress=told.append).read_all()
    assert table["_file"].to_pylist() == [str(path) for path in paths for _ in range(3)]
    assert told[-1] == sum(path.stat().st_size for path in paths)


def test_without_a_table_come_pairs_of_table_and_batch(tmp_path: Path) -> None:
    scenario = Scenario(
        "two", server="mysql-9.7", tables=["CREATE TABLE d.a (i INT)", "CREATE TABLE d.b (i INT, j INT)"]
    )
    for number in range(5):
        scenario = scenario.transaction(insert("d.a", {"i": number}), insert("d.b", {"i": number, "j": 1}))
    pairs = list(forge.read_rows(log(tmp_path, scenario)))
    assert [(table, batch["@1"].to_pylist()) for table, batch in pairs] == [("d.a", [*range(5)]), ("d.b", [*range(5)])]


def test_a_table_whose_columns_change_says_where(tmp_path: Path) -> None:
    scenario = (
        Scenario("changing", server="mysql-9.7", tables=["CREATE TABLE d.t (i INT)"])
        .transaction(insert("d.t", {"i": 1}))
        .ddl("ALTER TABLE d.t ADD COLUMN j INT")
        .transaction(insert("d.t", {"i": 2, "j": 2}))
    )
    path = log(tmp_path, scenario)
    with pytest.raises(ScenarioError, match=r"the columns of d\.t change at event \d+, offset \d+ of .*binlog"):
        forge.read_rows(path, "d.t").read_all()
    assert [len(batch.schema) - 8 for _, batch in forge.read_rows(path)] == [1, 2]
    assert [len(batch.schema) - 8 for _, batch in forge.read_rows(path, "d.t", parts=True)] == [1, 2]


def test_what_is_not_there_is_named_with_what_is(tmp_path: Path) -> None:
    path = log(tmp_path, orders())
    for arguments, message in (
        ({"table": "shop.order"}, "no table 'shop.order' is in the log; expected shop.orders; did you mean 'shop"),
        ({"columns": ["wo"]}, "shop.orders has no column 'wo'; expected id, who, day, state; did you mean 'who'?"),
        ({"beside": ["_oparation"]}, "there is no column '_oparation' beside rows; expected _operation, "),
        ({"images": "all"}, "images cannot be 'all'; expected after, before, both"),
        ({"on_odd": "nul"}, "on_odd cannot be 'nul'; expected error, null, text; did you mean 'null'?"),
    ):  # fmt: skip
        with pytest.raises(ScenarioError) as raised:
            forge.read_rows(path, **{"table": "shop.orders"} | arguments)
        assert str(raised.value).startswith(message)


def test_the_rows_before_bad_bytes_are_read(tmp_path: Path) -> None:
    path = log(tmp_path, orders())
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    batches = forge.read_rows(path, "shop.orders")
    read = next(batches)["_operation"].to_pylist()
    with pytest.raises(FormatError, match="but only"):
        next(batches)
    assert read == ["insert", "update", "delete"]
