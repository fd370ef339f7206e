"""The server's choices: logical timestamps, charset and key records, images, splitting, status variables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.binlog import read_events, write_binlog
from forge.compile import compile_plan
from forge.compile.groups.dependency import CommitOrder, Writeset
from forge.compile.query.ddl_text import ddl_text
from forge.compile.query.status import begin_variables
from forge.compile.row_images import image_columns
from forge.compile.rows.rows import row_events
from forge.compile.rows.table_map import table_map
from forge.errors import ScenarioError
from forge.events.columns import columns_of
from forge.events.row_image import parse_rows
from forge.events.rows import WriteRows
from forge.plan.changes import RowChange
from forge.plan.definitions import DatabaseCreation, DefinitionText, DroppedTable, TableDrop
from forge.plan.grouping.groups import LoggedTransaction
from forge.plan.grouping.logged_groups import logged_groups
from forge.plan.keys import key_of_rows
from forge.plan.metadata_forms import MetadataForms
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.statement_text import StatementText
from forge.plan.statements import RowsStatement
from forge.plan.tables import Key, KeyPart, Row, Table, TableColumn
from forge.plan.transactions import RollbackTo, Savepoint, Transaction
from forge.servers import server_line
from forge.values.declaration.sqltype import SqlType

LINE = server_line("mysql-9.7")
FULL = Session(row_metadata="full")
INT = SqlType("INT")


def text_column(name: str, collation: int) -> TableColumn:
    return TableColumn(name, SqlType("VARCHAR", length=10, collation=collation))


def table(*columns: TableColumn, keys: tuple[Key, ...] = ()) -> Table:
    return Table("shop", "t", columns, keys)


def numbers(*names: str, nullable: bool = False) -> tuple[TableColumn, ...]:
    return tuple(TableColumn(name, INT, nullable=nullable) for name in names)


PRIMARY = Key("PRIMARY", "primary", (KeyPart(0),))
KEYED = table(*numbers("id", "v"), keys=(PRIMARY,))
KEYLESS = table(*numbers("id", "v"))


def insert(target: Table, *rows: Row, assigned: frozenset[int] | None = None) -> RowsStatement:
    return RowsStatement(
        "insert", target, tuple(RowChange(None, row) for row in rows), StatementText("INSERT", assigned)
    )


def update(target: Table, before: Row, after: Row, *assigned: int) -> RowsStatement:
    return RowsStatement("update", target, (RowChange(before, after),), StatementText("UPDATE", frozenset(assigned)))


def logged(*statements: RowsStatement) -> LoggedTransaction:
    keyless = any(key_of_rows(statement.table) is None for statement in statements)
    return LoggedTransaction(statements, "shop", len(statements) > 1, writes=statements, keyless=keyless)


@pytest.mark.parametrize(
    ("collations", "form"),
    [
        ((8,), (8, ())),
        ((8, 255), (8, 255)),
        ((255, 8, 11), (255, 8, 11)),
        ((8, 8, 11), (8, ((2, 11),))),
        ((8, 8, 11, 11), (8, 8, 11, 11)),
        ((8, 8, 11, 255), (8, 8, 11, 255)),
        ((8, 8, 8, 11, 255), (8, ((3, 11), (4, 255)))),
    ],
)
def test_the_per_column_form_is_written_when_fewer_columns_than_the_default_form_has_numbers(
    collations: tuple[int, ...], form: tuple[object, ...]
) -> None:
    columns = tuple(text_column(f"c{index}", identity) for index, identity in enumerate(collations))
    records = table_map(table(*columns), 1, FULL, LINE).records()
    name = "default_charset" if len(form) == 2 and isinstance(form[1], tuple) else "column_charset"
    assert records[name] == form


@pytest.mark.parametrize("form", ["default", "column"])
@pytest.mark.parametrize("key_form", ["simple", "prefix"])
def test_forced_forms_decode_to_the_same_columns_as_the_servers_choice(form: str, key_form: str) -> None:
    columns = (*numbers("id"), text_column("a", 8), text_column("b", 255), text_column("c", 8))
    target = table(*columns, keys=(PRIMARY,))
    forms = MetadataForms(charset=form, primary_key=key_form)  # type: ignore[arg-type]
    forced = Session(row_metadata="full", metadata=forms)
    assert columns_of(table_map(target, 1, forced, LINE)) == columns_of(table_map(target, 1, FULL, LINE))
    wanted = "default_charset" if form == "default" else "column_charset"
    assert wanted in table_map(target, 1, forced, LINE).records()


def test_year_takes_a_signedness_bit_which_is_set_and_bit_takes_none() -> None:
    target = table(
        TableColumn("a", SqlType("TINYINT")),
        TableColumn("y", SqlType("YEAR")),
        TableColumn("b", SqlType("BIT", length=3)),
        TableColumn("u", SqlType("INT", unsigned=True)),
        TableColumn("s", INT),
    )
    assert table_map(target, 1, FULL, LINE).records()["signedness"] == "0110"


def test_a_unique_key_of_whole_not_null_columns_stands_for_the_row_if_there_is_no_primary_key() -> None:
    prefixed = Key("k1", "unique", (KeyPart(3, 3),))
    nullable = Key("k2", "unique", (KeyPart(2),))
    whole, later = Key("k3", "unique", (KeyPart(1), KeyPart(0))), Key("k4", "unique", (KeyPart(0),))
    target = table(
        *numbers("a", "b"),
        *numbers("c", nullable=True),
        TableColumn("d", SqlType("VARCHAR", length=9, collation=8), nullable=False),
        keys=(prefixed, nullable, whole, later),
    )
    assert key_of_rows(target) == whole
    assert table_map(target, 1, FULL, LINE).records()["simple_primary_key"] == (1, 0)


def test_a_prefix_of_the_whole_length_is_no_prefix() -> None:
    whole = table(text_column("a", 8), keys=(Key("PRIMARY", "primary", (KeyPart(0, 10),)),))
    short = table(text_column("a", 8), keys=(Key("PRIMARY", "primary", (KeyPart(0, 9),)),))
    assert "simple_primary_key" in table_map(whole, 1, FULL, LINE).records()
    assert table_map(short, 1, FULL, LINE).records()["prefix_primary_key"] == ((0, 9),)


def test_a_transaction_depends_on_the_last_one_that_wrote_its_keys() -> None:
    order = Writeset(25000)
    assert order.next(None) == (0, 1)
    assert order.next(logged(insert(KEYED, (1, 1)))) == (1, 2)
    assert order.next(logged(insert(KEYED, (2, 1)))) == (1, 3)
    assert order.next(logged(update(KEYED, (1, 1), (1, 2), 1))) == (2, 4)
    assert order.next(logged(insert(KEYLESS, (1, 1)))) == (4, 5)
    assert order.next(logged(insert(KEYED, (3, 1)))) == (1, 6)
    assert order.next(None) == (6, 7)
    assert order.next(logged(insert(KEYED, (1, 1)))) == (7, 8)


def test_the_second_transaction_of_a_file_depends_on_the_first() -> None:
    order = Writeset(25000)
    assert [order.next(logged(insert(KEYED, (n, n)))) for n in range(3)] == [(0, 1), (1, 2), (1, 3)]


@pytest.mark.parametrize(("named", "kept"), [("A", 0), ("a", 1)])
def test_written_keys_are_taken_back_only_to_a_savepoint_of_the_very_same_name(named: str, kept: int) -> None:
    one = table(*numbers("id"), keys=(Key("PRIMARY", "primary", (KeyPart(0),)),))
    steps = (Savepoint("A"), insert(one, (1,)), RollbackTo(named), insert(one, (2,)))
    [group] = logged_groups([Transaction(steps, "d", explicit=True)], server_line("mysql-9.7"))
    assert isinstance(group, LoggedTransaction)
    assert len(group.rows_statements) == 1
    assert len(group.writes) == kept + 1


def test_by_commit_order_a_transaction_depends_on_the_one_before() -> None:
    order = CommitOrder()
    assert [order.next(logged(insert(KEYED, (n, n)))) for n in range(3)] == [(0, 1), (1, 2), (2, 3)]


def test_keys_are_compared_as_their_collation_compares() -> None:
    target = table(text_column("a", 255), keys=(PRIMARY,))
    order = Writeset(25000)
    order.next(logged(insert(target, ("a",))))
    order.next(logged(insert(target, ("b",))))
    assert order.next(logged(insert(target, ("B",)))) == (2, 3)


@given(st.integers(12, 400), st.lists(st.integers(0, 200), min_size=1, max_size=12))
def test_a_row_opens_a_new_event_only_when_it_would_pass_the_limit(limit: int, lengths: list[int]) -> None:
    target = table(TableColumn("v", SqlType("VARBINARY", length=200)))
    rows = [(b"x" * length,) for length in lengths]
    session = Session(binlog_row_event_max_size=limit)
    bodies = list(row_events(insert(target, *rows), {target.full_name: 1}, session, LINE))
    columns = columns_of(table_map(target, 1, session, LINE))
    sizes = []
    for body in bodies:
        assert isinstance(body, WriteRows)
        found = parse_rows(body, columns)
        sizes.append([len(row.after.cells[0] or b"") + 1 for row in found if row.after])
        assert body.row_flags == LINE.rows.flags | (1 if body is bodies[-1] else 0)
    assert [size for group in sizes for size in group] == [length + 2 for length in lengths]
    for group, following in zip(sizes, [*sizes[1:], None], strict=True):
        assert len(group) == 1 or 12 + sum(group) <= limit
        assert following is None or 12 + sum(group) + following[0] > limit


@pytest.mark.parametrize(
    ("mode", "kind", "before", "after"),
    [
        ("full", "update", "ff", "ff"),
        ("minimal", "insert", None, "03"),
        ("minimal", "update", "01", "02"),
        ("minimal", "delete", "01", None),
        ("noblob", "insert", None, "0b"),
        ("noblob", "update", "0b", "0b"),
        ("noblob", "delete", "0b", None),
    ],
)
def test_images_of_a_keyed_table_follow_the_mode(mode: str, kind: str, before: str | None, after: str | None) -> None:
    blob = TableColumn("c", SqlType("TEXT", collation=255))
    json = TableColumn("j", SqlType("JSON"))
    target = table(*numbers("id", "v"), blob, json, keys=(PRIMARY,))
    assigned = frozenset((0, 1)) if kind == "insert" else frozenset((1,))
    statement = RowsStatement(kind, target, (), StatementText("", assigned))  # type: ignore[arg-type]
    session = Session(row_image=mode)  # type: ignore[arg-type]
    images = image_columns(statement, statement.kind, session, LINE)
    assert tuple(None if image is None else image.bitmap.hex() for image in images) == (before, after)


def test_without_a_key_the_before_image_is_complete_in_every_mode() -> None:
    statement = RowsStatement("update", KEYLESS, (), StatementText("", frozenset((1,))))
    before, after = image_columns(statement, "update", Session(row_image="minimal"), LINE)
    assert before is not None
    assert after is not None
    assert (before.bitmap.hex(), after.bitmap.hex()) == ("ff", "02")


def test_begin_of_an_update_says_which_tables_it_updates() -> None:
    names = [name for name, _ in begin_variables(update(KEYED, (1, 1), (1, 2), 1), 0, Session(), LINE)]
    assert names == [
        "flags2",
        "sql_mode",
        "catalog",
        "charset",
        "table_map_for_update",
        "default_collation_for_utf8mb4",
    ]


def test_drop_table_is_logged_as_the_server_writes_it_anew() -> None:
    statement = TableDrop(
        DefinitionText("drop table if exists u, shop.t, other.v", "shop"),
        ("shop", "other"),
        named=(DroppedTable(("shop", "u"), exists=False), DroppedTable(("shop", "t")), DroppedTable(("other", "v"))),
        if_exists=True,
    )
    assert ddl_text(statement, Session(), LINE) == "DROP TABLE IF EXISTS `t`,`other`.`v`,`u` /* generated by server */"


def test_mysql_knows_no_row_metadata_none() -> None:
    with pytest.raises(ScenarioError, match="minimal or full"):
        table_map(KEYED, 1, Session(row_metadata="none"), LINE)


@pytest.mark.parametrize("server", ["mysql-8.0", "mysql-8.4", "mysql-9.7", "mariadb-10.11", "mariadb-11.8"])
def test_a_plan_compiles_to_a_file_that_every_line_frames(server: str) -> None:
    groups = (
        DatabaseCreation(DefinitionText("CREATE DATABASE shop", ""), ("shop",)),
        Transaction((insert(KEYED, (1, 2)), update(KEYED, (1, 2), (1, 3), 1)), "shop"),
    )
    data = write_binlog(compile_plan(Plan("p", server, Session(gtid=True, rows_query=True), groups)))
    assert [placed.event.type_name for placed in read_events(data)][-1] == "STOP"
    assert data == write_binlog(compile_plan(Plan("p", server, Session(gtid=True, rows_query=True), groups)))


def test_a_transaction_of_more_keys_than_are_remembered_lets_nothing_run_beside_it() -> None:
    order = Writeset(3)
    order.next(logged(insert(KEYED, (1, 1))))
    order.next(logged(insert(KEYED, (2, 1))))
    # Four keys of its own: both images count (tests/record/recordings/dependency-history-mysql-9.7).
    assert order.next(logged(insert(KEYED, (3, 1), (4, 1), (5, 1), (6, 1)))) == (2, 3)
    assert order.next(logged(insert(KEYED, (7, 1)))) == (3, 4)


def test_the_limit_of_remembered_keys_is_reached_by_one_more_and_both_images_count() -> None:
    order = Writeset(3)
    assert order.next(logged(insert(KEYED, (1, 1))))[0] == 0
    assert order.next(logged(insert(KEYED, (2, 1), (3, 1)))) == (1, 2)
    assert order.next(logged(insert(KEYED, (9, 1)))) == (1, 3)
    order = Writeset(3)
    for number in (1, 2):
        order.next(logged(insert(KEYED, (number, 1))))
    assert order.next(logged(insert(KEYED, (3, 1), (4, 1), (5, 1)))) == (1, 3)
    order = Writeset(3)
    for number in (1, 2):
        order.next(logged(insert(KEYED, (number, 1))))
    order.next(logged(update(KEYED, (1, 1), (1, 2), 1)))
    assert order.next(logged(insert(KEYED, (9, 1)))) == (3, 4)
