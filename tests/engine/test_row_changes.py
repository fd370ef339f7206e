"""REPLACE, duplicates, triggers and foreign keys: which rows change, in which order, and what is refused."""

from __future__ import annotations

import pytest

from forge.compile.groups.dependency import written_keys
from forge.engine.requests.rows import Insert, Update
from forge.engine.requests.statements import Further
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.session import Session
from forge.plan.statements import RowsStatement
from forge.scenario import Scenario, Statement, ddl, delete, insert, plan, replace, update

Changes = list[tuple[str, tuple[object, ...] | None, tuple[object, ...] | None]]


def logged(
    tables: list[str], *statements: Statement, server: str = "mysql-9.7", session: Session | None = None
) -> tuple[RowsStatement, Changes]:
    """The last statement, and the changes that it logs: (table, before, after)."""
    scenario = Scenario("x", server=server, tables=list(tables), session=session or Session())
    for statement in statements:
        scenario = scenario.transaction(statement)
    group = plan(scenario).groups[-1]
    (last,) = group.rows_statements  # type: ignore[union-attr]
    return last, [(part.table.name, change.before, change.after) for part, change in last.logged()]


KEYS = "CREATE TABLE d.t (id INT PRIMARY KEY, a INT UNIQUE, b INT DEFAULT 5)"
ROWS = insert("d.t", {"id": 1, "a": 10, "b": 1}, {"id": 2, "a": 20, "b": 2})


def test_replace_updates_the_row_that_the_last_unique_key_finds_and_deletes_others() -> None:
    _, changes = logged([KEYS], ROWS, replace("d.t", {"id": 1, "a": 20}))
    assert changes == [("t", (1, 10, 1), None), ("t", (2, 20, 2), (1, 20, 5))]


def test_replace_by_another_key_deletes_and_inserts() -> None:
    _, changes = logged([KEYS], ROWS, replace("d.t", {"id": 1, "a": 11}))
    assert changes == [("t", (1, 10, 1), None), ("t", None, (1, 11, 5))]


def test_all_columns_stay_marked_after_an_update_but_not_after_a_delete_and_insert() -> None:
    last, _ = logged(
        [KEYS], ROWS, replace("d.t", {"id": 1, "a": 11}, {"id": 7, "a": 70}, {"id": 8, "a": 20}, {"id": 9})
    )
    assert [change.after_duplicate for change in last.changes] == [True, True, False, True, True]


def test_on_duplicate_key_update_takes_values_of_the_new_row_and_logs_no_row_that_stays_the_same() -> None:
    new = insert(
        "d.t", {"id": 1, "a": 1, "b": 9}, {"id": 2, "a": 2, "b": 2}, on_duplicate_key_update={"b": {"values": "b"}}
    )
    _, changes = logged([KEYS], ROWS, new)
    assert changes == [("t", (1, 10, 1), (1, 10, 9))]


def test_numbers_of_rows_that_are_not_inserted_serve_the_next_row_of_the_statement_but_not_of_the_next_one() -> None:
    table = "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, a INT UNIQUE)"
    skipped = insert("d.t", {"a": 1}, {"a": 2}, ignore=True)
    _, changes = logged([table], insert("d.t", {"a": 1}), skipped)
    assert changes == [("t", None, (2, 2))]
    _, changes = logged([table], insert("d.t", {"a": 1}), skipped, insert("d.t", {"a": 3}))
    assert changes == [("t", None, (4, 3))]


FAMILY = [
    "CREATE TABLE d.p (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE d.c (id INT PRIMARY KEY, pid INT,"
    " FOREIGN KEY (pid) REFERENCES p (id) ON DELETE CASCADE ON UPDATE SET NULL)",
    "CREATE TABLE d.g (id INT PRIMARY KEY, cid INT, FOREIGN KEY (cid) REFERENCES c (id) ON DELETE CASCADE)",
]
PEOPLE = (
    insert("d.p", {"id": 1, "v": 1}, {"id": 2, "v": 2}),
    insert("d.c", {"id": 10, "pid": 1}, {"id": 11, "pid": 1}),
    insert("d.g", {"id": 100, "cid": 10}),
)


def test_children_change_before_their_parent_each_followed_by_its_own_children() -> None:
    last, changes = logged(FAMILY, *PEOPLE, delete("d.p", where={"id": 1}))
    assert [(name, before and before[0]) for name, before, _ in changes] == [("c", 10), ("g", 100), ("c", 11), ("p", 1)]
    assert [table.name for table in last.tables] == ["p", "c", "g"]
    assert last.foreign_keys.is_parent
    assert last.foreign_keys.is_related


def test_mariadb_logs_only_the_parent_but_its_children_change() -> None:
    scenario = Scenario("x", server="mariadb-11.8", tables=list(FAMILY))
    for statement in (*PEOPLE, delete("d.p", where={"id": 1})):
        scenario = scenario.transaction(statement)
    made = plan(scenario)
    (last,) = made.groups[-1].rows_statements  # type: ignore[union-attr]
    assert [part.table.name for part, _ in last.logged()] == ["p"]
    assert made.contents == {"d.p": ((2, 2),), "d.c": (), "d.g": ()}


def test_set_null_follows_an_updated_key_and_nothing_else() -> None:
    _, changes = logged(FAMILY, *PEOPLE, update("d.p", where={"id": 1}, set={"v": 7}))
    assert [name for name, *_ in changes] == ["p"]
    _, changes = logged(FAMILY, *PEOPLE, update("d.p", where={"id": 1}, set={"id": 3}))
    assert changes[:2] == [("c", (10, 1), (10, None)), ("c", (11, 1), (11, None))]


@pytest.mark.parametrize(
    "statement",
    [
        insert("d.c", {"id": 12, "pid": 5}),
        update("d.c", where={"id": 10}, set={"pid": 5}),
        update("d.c", set={"id": 1}),
    ],
)
def test_what_a_foreign_key_forbids_is_refused(statement: Statement) -> None:
    with pytest.raises(ScenarioError):
        logged(FAMILY, *PEOPLE, statement)


def test_without_foreign_key_checks_anything_goes() -> None:
    session = Session(foreign_key_checks=False)
    _, changes = logged(FAMILY, insert("d.c", {"id": 12, "pid": 5}), session=session)
    assert changes == [("c", None, (12, 5))]


def test_cascades_that_mysql_loses_are_not_made_up() -> None:
    tables = [
        *FAMILY,
        "CREATE TABLE d.x (id INT PRIMARY KEY, gid INT, FOREIGN KEY (gid) REFERENCES g (id) ON DELETE CASCADE)",
    ]
    lost = insert("d.g", {"id": 101, "cid": 11})
    with pytest.raises(UnsupportedError):
        logged(tables, *PEOPLE, lost, delete("d.p", where={"id": 1}))


def test_a_table_that_refers_to_itself_is_deleted_from_child_after_child() -> None:
    table = "CREATE TABLE d.s (id INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES s (id) ON DELETE CASCADE)"
    rows = [{"id": 1}, {"id": 2, "up": 1}, {"id": 3, "up": 2}]
    _, changes = logged([table], insert("d.s", *rows), delete("d.s", where={"id": 1}))
    assert [before for _, before, _ in changes] == [(2, 1), (3, 2), (1, None)]


def test_further_changes_stand_around_their_rows() -> None:
    tables = ["CREATE TABLE d.t (id INT PRIMARY KEY)", "CREATE TABLE d.l (n INT)"]

    def note(number: int, row: int, *, before: bool) -> Further:
        return Further(insert=Insert(into="d.l", rows=[{"n": number}]), row=row, before=before)

    new = Statement(
        insert=Insert(into="d.t", rows=[{"id": 1}, {"id": 2}]),
        further=[note(1, 1, before=True), note(2, 1, before=False), note(3, 2, before=True), note(4, 2, before=False)],
    )
    last, changes = logged(tables, new)
    assert [(name, after[0]) for name, _, after in changes if after] == [
        ("l", 1), ("t", 1), ("l", 2), ("l", 3), ("t", 2), ("l", 4),
    ]  # fmt: skip
    assert last.logged_sql == "INSERT INTO `d`.`l` (`n`) VALUES (1)"


def test_a_table_has_one_table_map_however_many_changes_join_it_and_one_for_each_of_its_names() -> None:
    tables = ["CREATE TABLE d.l (id INT PRIMARY KEY, a INT)", "CREATE TABLE d.a (id INT PRIMARY KEY, b INT)"]
    rows = [insert(name, {"id": 1}, {"id": 2}) for name in ("d.l", "d.a")]
    both = [Further(update=Update(table="d.a", set={"b": n}, where={"id": n}), joined=True) for n in (1, 2)]
    text = "UPDATE l STRAIGHT_JOIN a ON l.id = a.id SET l.a = 5, a.b = a.id"
    last, _ = logged(tables, *rows, Statement(update=Update(table="d.l", set={"a": 5}), query=text, further=both))
    assert [table.name for table in last.tables] == ["l", "a"]
    assert last.opened.update_bits == 0b11
    text = "UPDATE a x STRAIGHT_JOIN a y ON x.id = y.id SET x.b = 5, y.b = y.id"
    last, _ = logged(tables, *rows, Statement(update=Update(table="d.a", set={"b": 5}), query=text, further=both))
    assert [table.name for table in last.tables] == ["a", "a"]
    assert last.opened.update_bits == 0b11


def test_a_trigger_opens_the_tables_that_its_text_changes() -> None:
    tables = ["CREATE TABLE d.t (id INT PRIMARY KEY)", "CREATE TABLE d.l (n INT)", "CREATE TABLE d.m (n INT)"]
    scenario = Scenario("x", tables=list(tables))
    for sql in (
        "CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW INSERT INTO l VALUES (NEW.id)",
        "CREATE TRIGGER b BEFORE INSERT ON l FOR EACH ROW BEGIN UPDATE m SET n = 1; DELETE FROM d.m; END",
    ):
        scenario = scenario.ddl(sql)
    (last,) = plan(scenario.transaction(insert("d.t", {"id": 1}))).groups[-1].rows_statements  # type: ignore[union-attr]
    assert [table.name for table in last.tables] == ["t", "l", "m"]


def test_what_a_before_trigger_sets_belongs_to_the_row_that_its_event_is_of() -> None:
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, a INT, b INT)"
    scenario = (
        Scenario("x", tables=[table])
        .ddl("CREATE TRIGGER d.bi BEFORE INSERT ON d.t FOR EACH ROW SET NEW.a = 5")
        .ddl("CREATE TRIGGER d.bu BEFORE UPDATE ON d.t FOR EACH ROW SET NEW.b = 6")
        .transaction(insert("d.t", {"id": 1}))
    )
    new = Insert(
        into="d.t", rows=[{"id": 1}, {"id": 2}], on_duplicate_key_update={"a": 1}, set_by_trigger={"a": 5, "b": 6}
    )
    assert plan(scenario.transaction(Statement(insert=new))).contents["d.t"] == ((1, 1, 6), (2, 5, None))


def test_without_a_column_list_there_is_no_place_for_an_invisible_column() -> None:
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, a INT INVISIBLE)"
    new = Insert(into="d.t", rows=[{"id": 1, "a": 2}], column_list=False)
    with pytest.raises(ScenarioError, match="'a' is invisible"):
        logged([table], Statement(insert=new))


def test_a_row_that_refers_to_itself_is_deleted_once() -> None:
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES t (id) ON DELETE CASCADE)"
    rows = insert("d.t", {"id": 1, "p": 1}, {"id": 2, "p": 1}, {"id": 3})
    last, changes = logged([table], rows, delete("d.t", where={"id": 1}), server="mariadb-11.8")
    assert changes == [("t", (1, 1), None)]
    assert last.foreign_keys.is_parent


SERVERS = ("mysql-9.7", "mariadb-10.11", "mariadb-11.8")


def _refers_to_itself(*actions: str, key: str = "id") -> str:
    foreign = f"FOREIGN KEY (p) REFERENCES t ({key}) {' '.join(actions)}"
    return f"CREATE TABLE d.t (id INT PRIMARY KEY, p INT, u INT UNIQUE, {foreign})"


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("action", ["ON UPDATE CASCADE", "ON UPDATE SET NULL", ""])
@pytest.mark.parametrize("key", ["id", "u"])
@pytest.mark.parametrize("rows", [[(1, 1)], [(1, None), (2, 1)], [(1, None), (2, 1), (3, 2)]], ids=str)
def test_no_update_reaches_its_own_table_again_whatever_its_foreign_key_says(
    server: str, action: str, key: str, rows: list[tuple[int, int | None]]
) -> None:
    table = _refers_to_itself(action, key=key)
    new = insert("d.t", *({"id": number, "p": parent, "u": number} for number, parent in rows))
    for values in ({key: 9}, {key: 9, "p": 9}, {key: 9, "p": None}):
        with pytest.raises(ScenarioError, match=r"rows of d\.t refer to the row .*error 1451"):
            logged([table], new, update("d.t", where={"id": 1}, set=values), server=server)
    _, changes = logged([table], new, update("d.t", where={"id": rows[-1][0]}, set={"p": None}), server=server)
    assert changes == [("t", (rows[-1][0], rows[-1][1], rows[-1][0]), (rows[-1][0], None, rows[-1][0]))]


@pytest.mark.parametrize("server", SERVERS)
def test_an_update_that_comes_back_over_another_table_is_refused(server: str) -> None:
    tables = [
        "CREATE TABLE d.a (id INT PRIMARY KEY, p INT)",
        "CREATE TABLE d.b (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES a (id) ON UPDATE CASCADE)",
    ]
    rows = (insert("d.a", {"id": 1}), insert("d.b", {"id": 1}))
    circle = ddl("ALTER TABLE d.a ADD FOREIGN KEY (p) REFERENCES b (id) ON UPDATE CASCADE")
    change = update("d.a", set={"id": 7}, where={"id": 1})
    if server.startswith("mariadb"):
        logged(tables, *rows, circle, change, server=server)
    else:  # whatever rows there are
        with pytest.raises(ScenarioError, match=r"1451"):
            logged(tables, *rows, circle, change)
    with pytest.raises(ScenarioError, match=r"an update never comes back to a table .*1451"):
        logged(tables, *rows, circle, update("d.a", set={"p": 1}), change, server=server)


@pytest.mark.parametrize("server", SERVERS)
def test_a_row_that_refers_to_itself_is_kept_by_restrict(server: str) -> None:
    with pytest.raises(ScenarioError, match="error 1451"):
        logged([_refers_to_itself()], insert("d.t", {"id": 1, "p": 1}), delete("d.t"), server=server)


def test_mysql_sets_the_reference_of_a_row_to_itself_to_null_before_it_deletes_the_row() -> None:
    table = _refers_to_itself("ON DELETE SET NULL")
    _, changes = logged([table], insert("d.t", {"id": 1, "p": 1}, {"id": 2, "p": 1}), delete("d.t"))
    assert changes == [
        ("t", (1, 1, None), (1, None, None)),
        ("t", (2, 1, None), (2, None, None)),
        ("t", (1, 1, None), None),
        ("t", (2, None, None), None),
    ]


def test_a_circle_of_rows_that_mysql_would_log_twice_is_refused() -> None:
    table = _refers_to_itself("ON DELETE CASCADE")
    rows = (insert("d.t", {"id": 1}, {"id": 2, "p": 1}), update("d.t", set={"p": 2}, where={"id": 1}))
    with pytest.raises(UnsupportedError, match=r"in a circle: mysql-9\.7 logs one of them twice"):
        logged([table], *rows, delete("d.t", where={"id": 1}))
    _, changes = logged([table], *rows, delete("d.t", where={"id": 1}), server="mariadb-11.8")
    assert changes == [("t", (1, 2, None), None)]


def test_deleting_rows_of_a_child_table_checks_no_parent() -> None:
    parent = "CREATE TABLE d.p (id INT PRIMARY KEY)"
    child = "CREATE TABLE d.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id))"
    row = insert("d.c", {"id": 1})
    assert logged([parent, child], row)[0].foreign_keys.is_related
    assert not logged([parent, child], row, delete("d.c"))[0].foreign_keys.is_related


def test_rows_whose_foreign_key_is_null_conflict() -> None:
    parent = "CREATE TABLE d.p (id INT PRIMARY KEY)"
    child = "CREATE TABLE d.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id))"
    first, _ = logged([parent, child], insert("d.c", {"id": 1}))
    second, _ = logged([parent, child], insert("d.c", {"id": 2}))
    assert set(written_keys(first)) & set(written_keys(second))
