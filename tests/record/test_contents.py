"""What SELECT gave and what a file decodes to are the same rows, or the first difference is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forge.binlog.writer import write_binlog
from forge.compile import compile_files, compile_plan, write_files
from forge.compile.rows.table_map import wire_columns
from forge.errors import FormatError
from forge.plan.changes import RowChange
from forge.plan.definitions import DdlStatement, DefinitionText, TableAlteration, TableCreation, TableTruncation
from forge.plan.plan import Plan
from forge.plan.statement_text import StatementText
from forge.plan.statements import RowsStatement
from forge.plan.tables import Table, TableColumn
from forge.plan.transactions import Transaction
from forge.record.contents import UNTOLD, Contents, TableContents, answered, questions
from forge.record.contents_difference import comparable_tables, first_contents_difference
from forge.record.replayed_contents import contents_of_decode
from forge.scenario import Scenario, Session, ddl, expand, insert, update
from forge.scenario import plan as plan_of
from forge.servers import server_line
from forge.values.declaration.sqltype import SqlType

MakePlan = Callable[..., Plan]


def finished(plan: Plan, *groups: Any) -> Plan:
    """The plan with more groups, and the tables that its last definitions leave."""
    everything = (*plan.groups, *groups)
    tables = {t.full_name: t for g in everything if isinstance(g, DdlStatement) for t in g.tables}
    return replace(plan, groups=everything, tables=tables)


def with_table(plan: Plan, *columns: TableColumn, rows: tuple[Any, ...] = ()) -> Plan:
    table = Table("shop", "typed", columns)
    make = TableCreation(DefinitionText("CREATE TABLE typed", "shop"), ("shop",), (table,), defines=columns)
    insert = RowsStatement("insert", table, tuple(RowChange(None, row) for row in rows), StatementText("INSERT"))
    return finished(plan, make, *([Transaction((insert,), "shop")] if rows else []))


def selected(*rows: list[str | None]) -> Contents:
    return {"shop.t": TableContents(["id", "v"], ["text", "text"], list(rows))}


def test_the_rows_of_a_file_are_what_its_changes_leave(make_plan: MakePlan) -> None:
    plan = finished(make_plan(row_metadata="full"))
    assert contents_of_decode([write_binlog(compile_plan(plan))]) == selected(["1", "é"])


def test_without_names_and_signedness_the_declaration_tells_them(make_plan: MakePlan) -> None:
    plan = with_table(
        make_plan(),
        TableColumn("e", SqlType("ENUM", members=("one", "two"), collation=255)),
        TableColumn("n", SqlType("TINYINT", unsigned=True)),
        rows=((2, 255),),
    )
    data = write_binlog(compile_plan(plan))
    table = plan.tables["shop.typed"]
    declared = wire_columns(table, plan.session, server_line(plan.server))
    assert contents_of_decode([data], {"shop.typed": declared}) == {
        "shop.typed": TableContents(["e", "n"], ["text", "text"], [["two", "255"]])
    }
    assert contents_of_decode([data])["shop.typed"].rows == [["2", "255"]]


def test_a_declared_table_without_rows_is_empty(make_plan: MakePlan) -> None:
    plan = with_table(make_plan(), TableColumn("n", SqlType("INT")))
    declared = wire_columns(plan.tables["shop.typed"], plan.session, server_line(plan.server))
    contents = contents_of_decode([write_binlog(compile_plan(plan))], {"shop.typed": declared})
    assert contents["shop.typed"].rows == []


def test_cells_that_no_image_tells_are_untold_and_equal_to_everything(make_plan: MakePlan) -> None:
    plan = make_plan(row_image="minimal")
    table = plan.groups[1].tables[0]  # type: ignore[union-attr]
    insert = RowsStatement("insert", table, (RowChange(None, (5, "x")),), StatementText("INSERT", frozenset({0})))
    plan = finished(replace(plan, groups=plan.groups[:2]), Transaction((insert,), "shop"))
    data = write_binlog(compile_plan(plan))
    assert contents_of_decode([data])["shop.t"].rows == [["5", UNTOLD]]
    assert first_contents_difference(plan, selected(["5", "anything"]), [data]) is None
    found = first_contents_difference(plan, selected(["6", "anything"]), [data])
    assert found is not None
    assert found.column == "id"


def test_the_first_difference_is_named_with_row_column_and_both_texts(make_plan: MakePlan) -> None:
    plan = finished(make_plan())
    data = write_binlog(compile_plan(plan))
    assert first_contents_difference(plan, selected(["1", "é"]), [data]) is None
    found = first_contents_difference(plan, selected(["1", "e"]), [data])
    assert str(found) == "table shop.t, row 1, column v: SELECT gives 'e', the decode 'é'"
    null = first_contents_difference(plan, selected(["1", None]), [data])
    assert null is not None
    assert (null.selected, null.decoded) == ("NULL", "'é'")


def test_rows_too_many_on_either_side_are_named(make_plan: MakePlan) -> None:
    plan = finished(make_plan())
    data = write_binlog(compile_plan(plan))
    found = first_contents_difference(plan, selected(["1", "é"], ["1", "é"]), [data])
    assert (str(found)) == "table shop.t, row 2: SELECT gives the row '1', 'é', the decode no such row"
    assert "SELECT gives no such row" in str(first_contents_difference(plan, selected(), [data]))
    assert "no such table" in str(first_contents_difference(plan, {}, [data]))


def test_of_several_rows_that_differ_the_most_similar_ones_are_compared(make_plan: MakePlan) -> None:
    columns = tuple(TableColumn(name, SqlType("INT")) for name in "abc")
    plan = with_table(make_plan(), *columns, rows=((1, 2, 3), (4, 5, 6)))
    data = write_binlog(compile_plan(plan))
    rows: list[list[str | None]] = [["4", "5", "7"], ["1", "2", "3"]]
    contents = {**selected(["1", "é"]), "shop.typed": TableContents(["a", "b", "c"], ["text"] * 3, rows)}
    found = first_contents_difference(plan, contents, [data])
    assert found is not None
    assert (found.column, found.selected, found.decoded) == ("c", "'7'", "'6'")


def test_another_number_of_columns_is_a_difference(make_plan: MakePlan) -> None:
    plan = finished(make_plan())
    contents = {"shop.t": TableContents(["v"], ["text"], [["é"]])}
    found = first_contents_difference(plan, contents, [write_binlog(compile_plan(plan))])
    assert str(found) == "table shop.t, row 1: SELECT gives 1 columns, the decode 2"


def test_floats_are_compared_as_32_bits(make_plan: MakePlan) -> None:
    plan = with_table(make_plan(), TableColumn("f", SqlType("FLOAT")), rows=((0.10000000149011612,),))
    data = write_binlog(compile_plan(plan))

    def difference(text: str) -> Any:
        contents = {**selected(["1", "é"]), "shop.typed": TableContents(["f"], ["float"], [[text]])}
        return first_contents_difference(plan, contents, [data])

    assert difference("0.10000000149011612") is None
    assert difference("0.1") is None
    assert difference("0.10000002") is not None


def test_a_change_of_a_row_that_is_not_there_is_an_error(make_plan: MakePlan) -> None:
    plan = make_plan()
    without_insert = replace(plan, groups=(*plan.groups[:2], plan.groups[3]))
    with pytest.raises(FormatError, match=r"a row that shop\.t does not have"):
        contents_of_decode([write_binlog(compile_plan(without_insert))])


def test_a_table_that_ddl_has_touched_since_is_not_compared(make_plan: MakePlan) -> None:
    plan = finished(make_plan())
    assert set(comparable_tables(plan)) == {"shop.t"}
    table = plan.tables["shop.t"]
    truncate = TableTruncation(DefinitionText("TRUNCATE t", "shop"), ("shop",), (table,))
    index = TableAlteration(DefinitionText("CREATE INDEX i ON t (v)", "shop"), ("shop",), (table,), form="create_index")
    assert comparable_tables(finished(plan, truncate)) == {}
    assert set(comparable_tables(finished(plan, index))) == {"shop.t"}


@pytest.mark.parametrize("rename", ["ALTER TABLE d.t RENAME TO d.r", "RENAME TABLE d.t TO d.r"])
def test_the_rows_of_a_table_that_got_another_name_are_those_of_the_scenario(rename: str) -> None:
    scenario = Scenario("renamed", tables=["CREATE TABLE d.t (a INT)"]).transaction(insert("d.t", {"a": 1}))
    plan = plan_of(scenario.transaction(ddl(rename)))
    files = write_files(plan, compile_files(plan))
    shown = {"d.r": TableContents(["a"], ["text"], [["1"]])}
    assert first_contents_difference(plan, shown, tuple(files)) is None
    shown["d.r"].rows[0][0] = "2"
    assert first_contents_difference(plan, shown, tuple(files)) is not None


SILENT = """\
scenario: silent
server: mariadb-11.8
tables:
  - CREATE TABLE d.parent (id INT PRIMARY KEY)
  - CREATE TABLE d.child (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES parent (id) ON DELETE CASCADE)
  - CREATE TABLE d.gone (id INT) ENGINE=MEMORY
transactions:
  - - insert: {into: d.parent, rows: [{id: 1}, {id: 2}]}
  - - insert: {into: d.child, rows: [{id: 10, pid: 1}, {id: 20, pid: 2}]}
  - - delete: {from: d.parent, where: {id: 1}}
  - - insert: {into: d.gone, rows: [{id: 1}]}
  - - restart: clean
"""


def test_what_the_file_does_not_tell_of_a_table_is_compared_with_the_scenario() -> None:
    [case] = expand(SILENT, file="f.yaml")
    planned = plan_of(case.scenario)
    files = write_files(planned, compile_files(planned))
    child = TableContents(["id", "pid"], ["text", "text"], [["20", "2"]])
    told = {"d.parent": TableContents(["id"], ["text"], [["2"]]), "d.child": child}
    assert first_contents_difference(planned, told, files) is None
    kept = TableContents(["id", "pid"], ["text", "text"], [["10", "1"], ["20", "2"]])
    found = first_contents_difference(planned, {**told, "d.child": kept}, files)
    assert str(found) == "table d.child, row 1: SELECT gives the row '10', '1', the decode no such row"


def test_memory_tables_that_a_question_would_open_are_not_asked_for() -> None:
    [case] = expand(SILENT, file="f.yaml")
    assert "gone" not in questions(plan_of(case.scenario))


def test_every_table_is_asked_for_in_the_order_of_its_primary_key(make_plan: MakePlan) -> None:
    asked = questions(finished(make_plan()))
    assert "SELECT `id`, HEX(CONVERT(`v` USING utf8mb4)) FROM `shop`.`t` ORDER BY `id`;" in asked
    assert "time_zone = '+00:00'" in asked


@given(st.lists(st.tuples(st.integers(), st.none() | st.text(st.characters(codec="utf-8")))))
def test_answers_are_read_whatever_the_text(make_plan: MakePlan, rows: list[tuple[int, str | None]]) -> None:
    plan = finished(make_plan())
    printed = "".join(f"{n}\t{'NULL' if text is None else text.encode().hex().upper()}\n" for n, text in rows)
    assert answered(plan, f"next table\n{printed}") == selected(*([str(n), text] for n, text in rows))


def test_answers_that_do_not_fit_the_question_are_refused(make_plan: MakePlan) -> None:
    plan = finished(make_plan())
    with pytest.raises(FormatError, match="1 tables were asked for, but the server answered for 0"):
        answered(plan, "")
    with pytest.raises(FormatError, match=r"a row of shop\.t has 1 columns"):
        answered(plan, "next table\n1\n")


@pytest.mark.parametrize(
    ("sql_type", "question"),
    [
        (SqlType("BIT", length=9), "CAST(`c` AS UNSIGNED)"),
        (SqlType("FLOAT"), "`c` * 1e0"),
        (SqlType("DOUBLE"), "`c`"),
        (SqlType("DOUBLE", precision=10, scale=2), "`c` * 1e0"),
        (SqlType("INT", zerofill=True), "`c` + 0"),
        (SqlType("POINT"), "HEX(`c`)"),
        (SqlType("VARBINARY", length=3), "HEX(`c`)"),
        (SqlType("ENUM", members=("a",), collation=63), "HEX(`c`)"),
        (SqlType("JSON"), "HEX(CONVERT(CAST(`c` AS CHAR) USING utf8mb4))"),
        (SqlType("TIMESTAMP", fsp=3), "`c`"),
    ],
)
def test_values_are_asked_for_in_forms_that_lose_nothing(make_plan: MakePlan, sql_type: SqlType, question: str) -> None:
    assert f"SELECT {question} FROM `shop`.`typed`;" in questions(with_table(make_plan(), TableColumn("c", sql_type)))


def test_a_table_is_left_out_where_an_image_fits_several_rows() -> None:
    """The row that names a alone may have the id 8 and the n 'x' too, as the file tells it."""
    rows = [
        insert("d.t", {"a": None}),
        insert("d.t", {"id": 8, "n": "x"}),
        update("d.t", where={"n": "x"}, set={"s": "y"}),
    ]
    scenario = Scenario(
        "images", session=Session(row_image="minimal"), tables=["CREATE TABLE d.t (id INT, a INT, s TEXT, n TEXT)"]
    )
    for row in rows:
        scenario = scenario.transaction(row)
    plan = plan_of(scenario)
    assert "d.t" not in contents_of_decode([write_binlog(compile_plan(plan))])


def minimal_rows(*rows: Any) -> tuple[Plan, bytes]:
    """Numbers of which minimal images leave out those that are the default."""
    scenario = Scenario(
        "untold",
        session=Session(row_image="minimal"),
        tables=["CREATE TABLE shop.t (id INT NOT NULL DEFAULT 0, v INT NOT NULL DEFAULT 3, PRIMARY KEY (v, id))"],
    )
    for row in rows:
        scenario = scenario.transaction(row)
    plan = plan_of(scenario)
    return plan, write_binlog(compile_plan(plan))


def test_rows_that_are_told_in_part_are_paired_so_that_none_is_left() -> None:
    plan, data = minimal_rows(insert("shop.t", {"v": 3}), insert("shop.t", {"id": 5}))
    assert contents_of_decode([data])["shop.t"].rows == [[UNTOLD, "3"], ["5", UNTOLD]]
    # The first decoded row could be both of them, the second one only that with the id 5.
    assert first_contents_difference(plan, selected(["5", "3"], ["0", "3"]), [data]) is None
    found = first_contents_difference(plan, selected(["6", "4"], ["0", "3"]), [data])
    assert found is not None
    assert (found.column, found.selected, found.decoded) == ("id", "'6'", "'5'")


def test_a_table_is_left_out_whose_images_may_stand_for_several_rows() -> None:
    rows = [insert("shop.t", {"v": 3}), insert("shop.t", {"id": 0, "v": 4}), insert("shop.t", {"id": 5})]
    _, data = minimal_rows(*rows, update("shop.t", where={"id": 5}, set={"id": 6}))
    assert "shop.t" not in contents_of_decode([data])


def test_halves_of_characters_in_ucs2_are_bytes() -> None:
    plan = plan_of(Scenario("ucs2", tables=["CREATE TABLE d.t (s VARCHAR(5) CHARACTER SET ucs2)"]))
    assert "HEX(`s`)" in questions(plan)
    answers = answered(plan, "next table\n00E9\n00E9DD67\nD83DDE00\nNULL\n")
    assert answers["d.t"].rows == [["é"], ["00e9dd67"], ["d83dde00"], [None]]
