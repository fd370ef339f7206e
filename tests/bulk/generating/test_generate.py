"""What ``forge generate`` writes: a log that replays to the state beside it, whatever it is cut into."""

from __future__ import annotations

import errno
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("numba", reason="the extra [rows] is not installed")

from forge.binlog import read_events
from forge.bulk.generating.generate import generate
from forge.bulk.generating.volume_folder import PartOutput
from forge.errors import ScenarioError, UnsupportedError
from forge.events.gtid import Gtid
from forge.events.previous_gtids import PreviousGtids
from forge.events.query import Query
from forge.scenario import Scenario, Session
from forge.scenario.convert import checked
from forge.scenario.volume_model import Volume, VolumeColumn, VolumeDefinition, VolumeTable
from tests.bulk.generating.shop import Row, changes, declared, logs, replayed, shop

pytestmark = pytest.mark.slow

ROWS = 1500


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "shop"
    generate(shop(), folder, rows=ROWS, files=3)
    return folder


def test_the_log_replays_to_the_state_beside_it(made: Path) -> None:
    left, expected = replayed(logs(made)), declared(made)
    # Rows from before ALTER TABLE have the default of the new column, which no event of theirs says.
    for rows in (left["shop.orders"], expected["shop.orders"]):
        for row in rows.values():
            row.setdefault("channel", "web")
    assert left == expected
    assert {len(rows) for rows in left.values()} != {0}


@pytest.mark.parametrize("server", ["mariadb-11.8", "mysql-8.0", "mysql-5.7", "mariadb-10.11"])
def test_other_servers_have_the_same_rows(made: Path, tmp_path: Path, server: str) -> None:
    scenario = shop(**{"server": server, "session.gtid": False, "session.row_metadata": "full"})
    if server == "mysql-5.7":
        # By its default an order's first TIMESTAMP would follow every update.
        settings = {"session.row_metadata": "minimal", "session.explicit_defaults_for_timestamp": True}
        scenario = shop(**{"server": server, "session.gtid": False, **settings})
        generate(scenario, tmp_path / "out", rows=ROWS, files=2)
        assert declared(tmp_path / "out") == declared(made)
        return
    generate(scenario, tmp_path / "out", rows=ROWS, files=2)
    assert rows_of(logs(tmp_path / "out")) == rows_of(logs(made))
    assert declared(tmp_path / "out") == declared(made)


def rows_of(paths: list[Path]) -> list[tuple[Any, ...]]:
    return [(table, row["_operation"], row["before"], row["after"]) for table, row in changes(paths)]


def test_the_rows_do_not_depend_on_the_number_of_files(made: Path, tmp_path: Path) -> None:
    expected = rows_of(logs(made))
    for files in (1, 7):
        generate(shop(), tmp_path / str(files), rows=ROWS, files=files)
        assert rows_of(logs(tmp_path / str(files))) == expected
        assert declared(tmp_path / str(files)) == declared(made)


def test_references_hold_at_every_moment(made: Path) -> None:
    customers: set[int] = set()
    orders: dict[int, int] = {}
    items: dict[int, set[int]] = {}
    for table, row in changes(logs(made)):
        before, after = row["before"], row["after"]
        if table == "shop.customers":
            if before is None:
                customers.add(after["id"])
            elif after is None:
                assert before["id"] not in orders.values()
                customers.remove(before["id"])
        elif table == "shop.orders":
            if after is not None:
                assert after["customer_id"] in customers
                orders[after["id"]] = after["customer_id"]
            else:
                assert not items.get(before["id"])
                del orders[before["id"]]
        elif after is not None:
            assert after["order_id"] in orders
            items.setdefault(after["order_id"], set()).add(after["line"])
        else:
            items[before["order_id"]].remove(before["line"])


def test_the_files_are_one_chain(made: Path) -> None:
    transactions = 0
    for path in logs(made):
        events = list(read_events(path.read_bytes()))
        previous = events[1].event.body
        assert isinstance(previous, PreviousGtids)
        assert previous.gtid_set[1] == () or previous.gtid_set[1][0][2] == ((1, transactions),)
        sequence = 0
        begin = size = 0
        for placed in events:
            body = placed.event.body
            if isinstance(body, Gtid):
                assert size in (0, placed.offset - begin)
                transactions += 1
                sequence += 1
                assert (body.gno, body.sequence_number) == (transactions, sequence)
                assert body.last_committed is not None
                assert body.last_committed < sequence
                begin, size = placed.offset, body.transaction_length or 0
        times = [placed.event.timestamp for placed in events]
        assert times == sorted(times)
    assert (made / "binlog.index").read_text() == "".join(f"./binlog.{number:06}\n" for number in (1, 2, 3))


def test_transactions_of_several_sessions_alternate(made: Path) -> None:
    threads = [
        placed.event.body.thread_id
        for path in logs(made)
        for placed in read_events(path.read_bytes())
        if isinstance(placed.event.body, Query)
    ]
    assert len(set(threads)) == 8
    assert sum(one != other for one, other in pairwise(threads)) > len(threads) / 2


EVERY_TYPE = (
    "id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, code CHAR(12) NOT NULL UNIQUE, a TINYINT, b SMALLINT UNSIGNED,"
    " c MEDIUMINT, d INT, e TINYINT(1), f DECIMAL(12,2), g DECIMAL(30,4), h FLOAT, i DOUBLE, j BIT(9), k YEAR, l DATE,"
    " m TIME, n TIME(3), o DATETIME, p DATETIME(6), q TIMESTAMP NULL, r TIMESTAMP(3) NULL, s CHAR(20), t VARCHAR(50),"
    " u TEXT, v MEDIUMTEXT, w BINARY(8), x VARBINARY(30), y BLOB, z ENUM('x','y') , aa SET('p','q'),"
    " bb VARCHAR(30) CHARACTER SET latin1"
)
LINES = {
    "mysql-9.7": EVERY_TYPE + ", cc JSON, dd GEOMETRY, ee POINT, ff VECTOR(3)",
    "mariadb-11.8": EVERY_TYPE + ", cc JSON, gg UUID, hh INET6, ii INET4",
}


@pytest.mark.parametrize("image", ["full", "minimal", "noblob"])
@pytest.mark.parametrize("server", sorted(LINES))
def test_tables_alone_make_a_volume_of_every_type(tmp_path: Path, server: str, image: Any) -> None:
    session = Session(row_metadata="full", row_image=image)
    scenario = Scenario("types", server=server, session=session, tables=[f"CREATE TABLE s.t ({LINES[server]})"])
    made = generate(checked(scenario), tmp_path / "out", rows=120)
    assert made.manifest.files[0].rows["s.t"]["insert"] == 120
    keys = {"s.t": ("id",)}
    left = declared(tmp_path / "out", keys)["s.t"]
    assert all(any(row[name] is not None for row in left.values()) for name in next(iter(left.values())))
    if image == "full":
        assert replayed(logs(tmp_path / "out"), keys)["s.t"] == left


def test_odd_tables_make_volumes_too(tmp_path: Path) -> None:
    tables = [
        "CREATE TABLE s.emp (id INT PRIMARY KEY, boss INT, FOREIGN KEY (boss) REFERENCES s.emp (id))",
        "CREATE TABLE s.log (a INT, b VARCHAR(9))",
        "CREATE TABLE s.pair (a INT, b CHAR(30), PRIMARY KEY (a, b))",
        "CREATE TABLE s.both (id INT PRIMARY KEY, pa INT, pb CHAR(30), FOREIGN KEY (pa, pb) REFERENCES s.pair (a, b))",
        "CREATE TABLE s.small (id INT PRIMARY KEY, d DECIMAL(3,3), e DECIMAL(65,30), f BIT(64), h FLOAT(7,3),"
        " j CHAR(0), k VARCHAR(1), email CHAR(5), l TINYTEXT, m DOUBLE UNSIGNED, n BIGINT UNSIGNED)",
    ]
    session = Session(row_metadata="full", gtid=True)
    generate(checked(Scenario("odd", tables=list(tables), session=session)), tmp_path / "out", rows=500, files=2)
    keys = {"s.emp": ("id",), "s.pair": ("a", "b"), "s.both": ("id",), "s.small": ("id",)}
    left = declared(tmp_path / "out", keys)
    found = changes(logs(tmp_path / "out"))
    assert {table for table, _ in found} == {*keys, "s.log"}
    bosses = {row["boss"] for row in left["s.emp"].values()} - {None}
    assert bosses
    assert bosses <= {key for (key,) in left["s.emp"]}
    pairs = {(row["pa"], row["pb"]) for row in left["s.both"].values()} - {(None, None)}
    assert pairs
    assert pairs <= set(left["s.pair"])


def test_definitions_at_the_ends_of_time_are_logged(tmp_path: Path) -> None:
    texts = [
        "ALTER TABLE s.t ADD COLUMN b INT",
        "CREATE INDEX i ON s.t (b)",
        "ALTER TABLE s.t ADD COLUMN c INT DEFAULT 3",
    ]
    definitions = [VolumeDefinition(at=at, ddl=text) for at, text in zip((0, 0, 1), texts, strict=True)]
    scenario = small("CREATE TABLE s.t (a INT PRIMARY KEY)", definitions=definitions)
    generate(scenario, tmp_path / "out", rows=200, files=2)
    logged = [
        placed.event.body.query
        for path in logs(tmp_path / "out")
        for placed in read_events(path.read_bytes())
        if isinstance(placed.event.body, Query) and placed.event.body.query != "BEGIN"
    ]
    assert logged[2:] == texts
    assert {row["c"] for row in declared(tmp_path / "out", {"s.t": ("a",)})["s.t"].values()} == {3}


def small(*tables: str, **volume: Any) -> Scenario:
    return checked(Scenario("small", tables=list(tables), volume=Volume(**volume)))


def test_generators_make_what_they_say(tmp_path: Path) -> None:
    columns = {
        "a": VolumeColumn(random_int={"min": 3, "max": 5}, nulls=0.5),
        "b": VolumeColumn(choice=["x", "y"], zipf=2.0),
        "c": VolumeColumn(template="{b}-{row}"),
        "d": VolumeColumn(value=None),
        "e": VolumeColumn(sequence={"start": 100, "step": -1}),
        "f": VolumeColumn(uuid=True),
    }
    table = "CREATE TABLE s.t (id INT PRIMARY KEY, a INT, b CHAR(1), c VARCHAR(20), d INT, e INT, f CHAR(36))"
    generate(
        small(table, tables={"s.t": VolumeTable(columns=columns, updates=0.0, deletes=0)}), tmp_path / "o", rows=90
    )
    rows: list[Row] = list(declared(tmp_path / "o", {"s.t": ("id",)})["s.t"].values())
    assert {row["a"] for row in rows} == {3, 4, 5, None}
    assert 20 < sum(row["a"] is None for row in rows) < 70
    assert [row["b"] for row in rows].count("x") > 60
    assert all(row["c"] == f"{row['b']}-{row['id']}" and row["d"] is None for row in rows)
    assert [row["e"] for row in rows] == [100 - number for number in range(90)]
    assert len({row["f"] for row in rows}) == 90


@pytest.mark.parametrize(
    ("scenario", "complaint"),
    [
        (small("CREATE TABLE s.t (a INT PRIMARY KEY)", tables={"s.u": VolumeTable()}), "there is no table 's.u'"),
        (
            small("CREATE TABLE s.t (a INT)", tables={"s.t": VolumeTable(columns={"b": VolumeColumn(sequence=1)})}),
            "there is no column 'b'",
        ),
        (
            small(
                "CREATE TABLE s.t (a TINYINT PRIMARY KEY)",
                tables={"s.t": VolumeTable(columns={"a": VolumeColumn(sequence=100)})},
            ),
            "column 'a'",
        ),
        (
            small(
                "CREATE TABLE s.p (id INT PRIMARY KEY)",
                "CREATE TABLE s.t (a INT PRIMARY KEY, FOREIGN KEY (a) REFERENCES s.p (id))",
            ),
            "has a value of its own in each row",
        ),
        (
            small("CREATE TABLE s.t (a INT PRIMARY KEY)", definitions=[VolumeDefinition(at=0.5, ddl="DROP TABLE s.t")]),
            "dropped or renamed",
        ),
        (small("CREATE TABLE s.t (a INT, b INT AS (a + 1))"), "generated columns"),
        (
            small("CREATE TABLE s.t (a INT PRIMARY KEY, b INT NOT NULL, FOREIGN KEY (b) REFERENCES s.t (a))"),
            "the first rows have none to refer to",
        ),
        (small(), "no tables"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_leaves_nothing(tmp_path: Path, scenario: Scenario, complaint: str) -> None:
    with pytest.raises((ScenarioError, UnsupportedError), match=complaint):
        generate(scenario, tmp_path / "out", rows=200)
    assert not (tmp_path / "out").exists()


def test_a_run_that_was_stopped_goes_on_with_the_same_bytes(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, room = os.write, [800_000]

    def full(descriptor: int, data: Any) -> int:
        room[0] -= len(data)
        if room[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(descriptor, data)

    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left on device") as failure:
            generate(shop(), out, rows=ROWS, files=3)
    assert failure.value.filename is not None
    assert [path.name for path in out.iterdir()] == [".generate"]
    assert not [path for path in (out / ".generate").iterdir() if path.name.startswith(".")]
    again = generate(shop(), out, rows=ROWS, files=3)
    assert 0 < again.kept < 6
    assert contents(out) == contents(made)
    assert generate(shop(), out, rows=ROWS, files=3).kept == 6


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_part_that_was_damaged_meanwhile_is_made_again(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = PartOutput.write

    def killed(self: PartOutput, data: Any) -> None:
        if "000003" in self.path.name:
            raise KeyboardInterrupt
        real(self, data)

    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr(PartOutput, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            generate(shop(), out, rows=ROWS, files=3)
    with (out / ".generate" / "binlog.000001").open("r+b") as file:
        file.write(b"damaged")
    assert generate(shop(), out, rows=ROWS, files=3).kept == 1
    assert contents(out) == contents(made)


def test_another_volume_and_other_things_in_the_folder_are_refused(made: Path, tmp_path: Path) -> None:
    before = contents(made)
    for other in ({"seed": 8}, {"server": "mysql-8.4"}):
        with pytest.raises(ScenarioError, match="holds another volume"):
            generate(shop(**other), made, rows=ROWS, files=3)
    with pytest.raises(ScenarioError, match="holds another volume"):
        generate(shop(), made, rows=ROWS, files=2)
    assert contents(made) == before
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ScenarioError, match=r"holds 'mine\.txt', which forge generate did not make"):
        generate(shop(), tmp_path, rows=ROWS)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_volumes_are_made_in_utc(tmp_path: Path) -> None:
    scenario = Scenario("x", session=Session(time_zone="+02:00"), tables=["CREATE TABLE d.t (id INT PRIMARY KEY)"])
    with pytest.raises(UnsupportedError, match="sessions in UTC alone"):
        generate(msgspec.structs.replace(scenario, volume=Volume()), tmp_path / "out", rows=10)
