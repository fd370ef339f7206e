"""MariaDB's versioned tables, periods and long UNIQUE keys: which rows change, and what is refused."""

from __future__ import annotations

import pytest

import forge
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.tables import Row
from forge.scenario import Scenario, Statement, ddl, delete, insert, plan, replace, update

LAST = "2106-02-07 06:28:15.999999"
VERSIONED = "CREATE TABLE d.t (id INT PRIMARY KEY, a INT, w INT WITHOUT SYSTEM VERSIONING) WITH SYSTEM VERSIONING"
PERIOD = (
    "CREATE TABLE d.t (id INT, a INT, f DATE, t DATE, PERIOD FOR app (f, t), PRIMARY KEY (id, app WITHOUT OVERLAPS))"
)
YEAR = {"id": 1, "a": 1, "f": "2024-01-01", "t": "2025-01-01"}


def logged(table: str, *statements: Statement, server: str = "mariadb-11.8") -> list[tuple[Row | None, Row | None]]:
    """The changes that the last statement logs, with what stands in the place of the fixture's clock."""
    scenario = Scenario("x", server=server, tables=[table])
    for statement in statements:
        scenario = scenario.transaction(statement)
    (last,) = plan(scenario).groups[-1].rows_statements  # type: ignore[union-attr]
    return [(_without_clock(change.before), _without_clock(change.after)) for _, change in last.logged()]


def _without_clock(row: Row | None) -> Row | None:
    clocks = {LAST: "there"}
    if row is None:
        return None
    return tuple(
        clocks.get(value, f"at {value[17:19]}") if isinstance(value, str) and len(value) == 26 else value
        for value in row
    )


ROW = insert("d.t", {"id": 1, "a": 1, "w": 1})


def test_an_update_logs_the_row_and_its_past() -> None:
    assert logged(VERSIONED, ROW, update("d.t", set={"a": 2})) == [
        ((1, 1, 1, "at 03", "there"), (1, 2, 1, "at 04", "there")),
        (None, (1, 1, 1, "at 03", "at 04")),
    ]


def test_columns_without_versions_leave_no_past() -> None:
    changes = logged(VERSIONED, ROW, update("d.t", set={"w": 2}))
    assert changes == [((1, 1, 1, "at 03", "there"), (1, 1, 2, "at 03", "there"))]


def test_a_delete_sets_the_end_of_the_row() -> None:
    assert logged(VERSIONED, ROW, delete("d.t")) == [((1, 1, 1, "at 03", "there"), (1, 1, 1, "at 03", "at 04"))]


def test_rows_of_the_past_are_not_chosen_again() -> None:
    assert logged(VERSIONED, ROW, delete("d.t"), insert("d.t", {"id": 1}), delete("d.t"))[0][0] == (
        1, None, None, "at 05", "there",
    )  # fmt: skip


@pytest.mark.parametrize(("server", "second"), [("mariadb-10.11", "there"), ("mariadb-11.8", "at 04")])
def test_a_replace_ends_the_row_or_updates_it_in_place(server: str, second: str) -> None:
    changes = logged(VERSIONED, ROW, replace("d.t", {"id": 1, "a": 5, "w": 5}), server=server)
    assert [before is None for before, _ in changes] == [False, True]
    ends = [str(after[-1]) for _, after in changes if after is not None]
    assert ends[1].replace("2038-01-19 03:14:07.999999", "there").replace("at 07", "there") == second


def test_declared_columns_of_versions_take_no_cell() -> None:
    table = (
        "CREATE TABLE d.t (id INT, s TIMESTAMP(6) GENERATED ALWAYS AS ROW START, e TIMESTAMP(6) GENERATED ALWAYS AS ROW"
        " END, PERIOD FOR SYSTEM_TIME (s, e)) WITH SYSTEM VERSIONING"
    )
    assert logged(table, insert("d.t", {"id": 1})) == [(None, (1, "at 03", "there"))]
    with pytest.raises(ScenarioError, match="the server keeps the column by itself"):
        logged(table, insert("d.t", {"id": 1, "s": "2024-01-01"}))


def test_a_portion_cuts_a_row_in_three() -> None:
    changes = logged(
        PERIOD, insert("d.t", YEAR), update("d.t", set={"a": 2}, for_portion_of={"app": ["2024-03-01", "2024-05-01"]})
    )
    assert [after for _, after in changes] == [
        (1, 2, "2024-03-01", "2024-05-01"),
        (1, 1, "2024-01-01", "2024-03-01"),
        (1, 1, "2024-05-01", "2025-01-01"),
    ]


def test_a_deleted_portion_leaves_what_is_before_and_behind_it() -> None:
    portion = {"app": ["2024-03-01", "2024-05-01"]}
    changes = logged(PERIOD, insert("d.t", YEAR), delete("d.t", for_portion_of=portion))
    assert [after for _, after in changes] == [
        (1, 1, "2024-01-01", "2024-03-01"),
        (1, 1, "2024-05-01", "2025-01-01"),
    ]
    versions = PERIOD + " WITH SYSTEM VERSIONING"
    assert [
        after and after[2:] for _, after in logged(versions, insert("d.t", YEAR), delete("d.t", for_portion_of=portion))
    ] == [
        ("2024-01-01", "2025-01-01", "at 03", "at 04"),
        ("2024-01-01", "2024-03-01", "at 04", "there"),
        ("2024-05-01", "2025-01-01", "at 04", "there"),
    ]


def test_periods_of_a_key_do_not_overlap() -> None:
    with pytest.raises(ScenarioError, match="overlaps"):
        logged(PERIOD, insert("d.t", YEAR, YEAR | {"f": "2024-12-31", "t": "2026-01-01"}))
    assert logged(PERIOD, insert("d.t", YEAR, YEAR | {"f": "2025-01-01", "t": "2026-01-01"}))


@pytest.mark.parametrize(
    ("portion", "problem"),
    [
        ({"nosuch": ["2024-03-01", "2024-05-01"]}, "has no period 'nosuch'; expected app"),
        ({"app": ["2024-05-01", "2024-05-01"]}, "has no length"),
        ({"app": ["x", "2024-05-01"]}, "period 'app'"),
    ],
)
def test_a_wrong_portion_is_refused(portion: dict[str, list[str]], problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        logged(PERIOD, insert("d.t", YEAR), delete("d.t", for_portion_of=portion))


@pytest.mark.parametrize(
    ("definition", "text", "value"),
    [
        ("TEXT CHARACTER SET latin1 UNIQUE", "abc", 38198726),
        ("TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin UNIQUE", "a c  ", 48849646),
        ("TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin UNIQUE", "a c  ", 1612449358),
        ("TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci UNIQUE", "é", 154200),
        ("TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci UNIQUE", "😀", 402233),
        ("TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci UNIQUE", "abc", 1498929397),
        ("TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci UNIQUE", "abc", 1532935165),
        ("TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_ai_ci UNIQUE", "é", 115353),
        ("TEXT CHARACTER SET ascii UNIQUE", "abc", 38198726),
        ("BLOB UNIQUE", "é", 319251),
        ("TEXT UNIQUE", None, None),
        ("TEXT UNIQUE", "", 1),
        ("VARCHAR(4000) CHARACTER SET latin1 UNIQUE", "abc", 38198726),
    ],
)
def test_a_long_unique_key_has_the_hash_of_its_collation(definition: str, text: str | None, value: int | None) -> None:
    ((_, row),) = logged(f"CREATE TABLE d.t (t {definition})", insert("d.t", {"t": text}))
    assert row is not None
    assert row[-1] == value


def test_a_hash_that_is_not_known_is_refused_by_name() -> None:
    table = "CREATE TABLE d.t (t TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_ai_ci UNIQUE)"
    with pytest.raises(UnsupportedError, match="a long UNIQUE key on 'я' in utf8mb4_uca1400_ai_ci"):
        logged(table, insert("d.t", {"t": "я"}))


def test_a_long_unique_key_is_unique_by_its_values() -> None:
    with pytest.raises(ScenarioError, match="already has a row whose unique key t is t 'ABC'"):
        logged("CREATE TABLE d.t (t TEXT UNIQUE)", insert("d.t", {"t": "abc"}, {"t": "ABC"}))


def test_versions_and_periods_come_and_go() -> None:
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, s DATE, e DATE)"
    row = insert("d.t", {"id": 1, "s": "2024-01-01", "e": "2025-01-01"})
    versions = ddl("ALTER TABLE d.t ADD SYSTEM VERSIONING")
    assert len(logged(table, row, versions, update("d.t", set={"id": 2}))) == 2
    gone = logged(
        table, row, versions, update("d.t", set={"id": 2}), ddl("ALTER TABLE d.t DROP SYSTEM VERSIONING"), delete("d.t")
    )
    assert gone == [((2, "2024-01-01", "2025-01-01"), None)]
    period = ddl("ALTER TABLE d.t ADD PERIOD FOR p (s, e)")
    cut = logged(table, row, period, delete("d.t", for_portion_of={"p": ["2024-06-01", "2026-01-01"]}))
    assert cut[0][1] == (1, "2024-01-01", "2024-06-01")


@pytest.mark.parametrize(
    ("table", "statement", "problem"),
    [
        (PERIOD, "ALTER TABLE d.t DROP PERIOD FOR x", "has no period 'x'"),
        (PERIOD, "CREATE TABLE d.u (a INT, PERIOD FOR p (a, b))", "no column 'b'"),
        (
            PERIOD,
            "CREATE TABLE d.u (a INT, s BIGINT UNSIGNED AS ROW START, e BIGINT UNSIGNED AS ROW END,"
            " PERIOD FOR SYSTEM_TIME (s, e)) WITH SYSTEM VERSIONING",
            "system versioning by transactions is not supported",
        ),
        (PERIOD, "CREATE TABLE d.u (a INT) PARTITION BY SYSTEM_TIME LIMIT 5", "needs WITH SYSTEM VERSIONING"),
    ],
)
def test_what_is_wrong_or_not_made_is_refused_by_name(table: str, statement: str, problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        logged(table, ddl(statement), insert("d.t", YEAR))


@pytest.mark.parametrize(
    ("server", "table", "missing"),
    [
        ("mysql-9.7", VERSIONED, "mysql-9.7 does not have system-versioned tables"),
        ("mariadb-10.2", VERSIONED, "does not have system-versioned tables"),
        ("mariadb-10.3", PERIOD, "does not have application-time periods"),
        ("mariadb-10.11", "CREATE TABLE d.t (v INT, VECTOR KEY (v))", "does not have VECTOR keys"),
    ],
)
def test_a_server_that_lacks_them_refuses_them(server: str, table: str, missing: str) -> None:
    with pytest.raises(ScenarioError, match=missing):
        plan(Scenario("x", server=server, tables=[table]))


@pytest.mark.parametrize(
    "definition",
    [
        "(a LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin CHECK (json_valid(`a`)), b INT)",
        "(a VARCHAR(40) DEFAULT uuid(), b INT)",
        "(a VARCHAR(40) DEFAULT (sys_guid()), b INT)",
        "(a VARCHAR(40) DEFAULT CURRENT_USER, b INT)",
        "(a VARCHAR(40) DEFAULT concat(b, 'x'), b INT)",
        "(a VARCHAR(40), b INT, CHECK (regexp_instr(a, 'x') > 0 OR is_ipv6(a)))",
        "(a VARCHAR(40) ENCRYPTED=1 `my_option`='x', b INT) PAGE_COMPRESSED=1 my_option=ON UNION=(x, y)",
        "(a VARCHAR(40), b INT, KEY (b) my_option=5)",
    ],
)
def test_clauses_that_rows_do_not_show_are_kept_as_text(definition: str) -> None:
    assert logged(f"CREATE TABLE d.t {definition}", insert("d.t", {"a": "[1]", "b": 1})) == [(None, ("[1]", 1))]


def test_a_default_that_is_not_computed_asks_for_a_value() -> None:
    with pytest.raises(UnsupportedError, match="the default of column 'a' is not computed here; expected a value"):
        logged("CREATE TABLE d.t (a VARCHAR(40) DEFAULT uuid(), b INT)", insert("d.t", {"b": 1}))


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("CREATE TABLE d.t (a INT) WITH FEEDBACK", "a table option"),
        ("CREATE TABLE d.t (a INT AS (a -> INTERVAL 1 DAY))", "not an expression|not supported|not computed"),
    ],
)
def test_no_message_has_a_word_of_the_parser_or_a_select_that_is_not_there(statement: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message) as error:
        plan(Scenario("x", server="mariadb-11.8", tables=[statement]))
    assert not any(word in str(error.value) for word in ("SELECT", "VAR ", "COMMAND"))


def test_a_query_reads_a_versioned_table_in_the_order_of_its_key() -> None:
    script = (
        "-- forge: server: mariadb-11.8\nCREATE DATABASE d;\nCREATE TABLE d.t (id INT PRIMARY KEY, a INT)"
        " WITH SYSTEM VERSIONING;\nINSERT INTO d.t VALUES (2, 1), (1, 2);\nUPDATE d.t SET a = 9 WHERE a < 5;\n"
    )
    rows = forge.build(script).files[0].rows
    assert [row.before["id"] for row in rows if row.before is not None] == [1, 2]
