"""What the search against live servers found (tests/long/live): definitions and values that servers take, or refuse."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from forge.binlog.reader import read_events
from forge.compile import compile_files, write_files
from forge.errors import ScenarioError, UnsupportedError
from forge.events.table_map import TableMap
from forge.scenario import Scenario, Session, ddl, insert, plan, replace, update

MYSQL, MARIADB = "mysql-9.7", "mariadb-11.8"


@pytest.mark.parametrize(
    ("server", "columns", "problem"),
    [
        (MYSQL, "a INT SRID 4326", "a INT column has no SRID"),
        (MARIADB, "a INT VISIBLE", "unexpected 'VISIBLE'"),
        (MYSQL, "a INT, PRIMARY KEY (a) INVISIBLE", "the primary key cannot be invisible"),
        (MARIADB, "a INT AS (1) STORED, PRIMARY KEY (a)", "cannot be in the primary key"),
    ],
)
def test_a_definition_that_servers_refuse_is_refused(server: str, columns: str, problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        plan(Scenario("wrong", server=server, tables=[f"CREATE TABLE d.t ({columns})"]))


@pytest.mark.parametrize(
    "columns",
    ["a TEXT UNIQUE", "a INT, UNIQUE (a) USING HASH", "a INT DEFAULT CURRENT_TIMESTAMP", "a CHAR(9) DEFAULT NOW(6)"],
)
def test_what_mariadb_takes_and_is_not_simulated_is_refused_by_name(columns: str) -> None:
    with pytest.raises(UnsupportedError):
        plan(Scenario("unsupported", server=MARIADB, tables=[f"CREATE TABLE d.t ({columns})"]))


@pytest.mark.parametrize(
    ("column", "given", "kept"),
    [
        ("v INT UNSIGNED", -0.25, 0),
        ("v INT UNSIGNED", "-.5e-1", 0),
        ("v VARCHAR(5)", -1e-7, "-1e-7"),
        ("v CHAR(6)", 1e14, "1e14"),
        ("v VARCHAR(20)", 1e14, "100000000000000"),
    ],
)
def test_a_value_becomes_what_servers_store(column: str, given: Any, kept: Any) -> None:
    scenario = Scenario("values", tables=[f"CREATE TABLE d.t (id INT PRIMARY KEY, {column})"])
    assert plan(scenario.transaction(insert("d.t", {"id": 1, "v": given}))).contents["d.t"] == ((1, kept),)


def test_without_strict_mode_a_vector_of_too_many_dimensions_is_empty() -> None:
    session = Session(sql_mode="")
    scenario = Scenario("vectors", tables=["CREATE TABLE d.t (id INT PRIMARY KEY, v VECTOR(1))"])
    scenario = scenario.transaction(insert("d.t", {"id": 1, "v": {"hex": "0000803f" * 2}}))
    with pytest.raises(ScenarioError, match="cannot hold 2 numbers"):
        plan(scenario)
    assert plan(msgspec.structs.replace(scenario, session=session)).contents["d.t"] == ((1, b""),)


@pytest.mark.parametrize("text", ["12345678-1234-8234-7234-123456789abc", "12345678-1234-f234-0234-123456789abc"])
def test_mariadb_refuses_a_uuid_that_it_could_not_tell_from_others(text: str) -> None:
    scenario = Scenario("uuids", server=MARIADB, tables=["CREATE TABLE d.t (v UUID)"])
    with pytest.raises(ScenarioError, match="cannot hold a version from 8 on of the variant 0"):
        plan(scenario.transaction(insert("d.t", {"v": text})))
    taken = scenario.transaction(insert("d.t", {"v": text.replace("-7234-", "-8234-").replace("-0234-", "-9234-")}))
    assert len(plan(taken).contents["d.t"]) == 1


def test_null_is_refused_where_a_row_gets_it() -> None:
    scenario = Scenario("nulls", tables=["CREATE TABLE d.t (id INT PRIMARY KEY, v INT NOT NULL)"])
    scenario = scenario.transaction(insert("d.t", {"id": 1, "v": 1}, on_duplicate_key_update={"v": None}))
    scenario = scenario.transaction(update("d.t", where={"id": 9}, set={"v": None}))
    assert plan(scenario).contents["d.t"] == ((1, 1),)
    for refused in (
        update("d.t", where={"id": 1}, set={"v": None}),
        insert("d.t", {"id": 1, "v": 1}, on_duplicate_key_update={"v": None}),
    ):
        with pytest.raises(ScenarioError, match="v is NOT NULL"):
            plan(scenario.transaction(refused))


def test_a_literal_in_parentheses_is_looked_at_when_mariadb_makes_the_table() -> None:
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, c INT DEFAULT ('x'))"
    assert plan(Scenario("x", tables=[table])).tables["d.t"].columns[1].computed_default
    with pytest.raises(ScenarioError, match="the default of column 'c' is impossible"):
        plan(Scenario("x", server="mariadb-11.8", tables=[table]))


def test_a_uuid_that_no_column_holds_is_refused_as_text_and_as_bytes() -> None:
    scenario = Scenario("x", server="mariadb-11.8", tables=["CREATE TABLE d.t (u UUID)"])
    with pytest.raises(ScenarioError, match="cannot hold a version from 8 on of the variant 0"):
        plan(scenario.transaction(insert("d.t", {"u": "5a2e91c2-a594-8d3a-1dac-9637348604c2"})))
    with pytest.raises(UnsupportedError, match="bytes of a UUID"):
        plan(scenario.transaction(insert("d.t", {"u": {"hex": "5a2e91c2a5948d3a1dac9637348604c2"}})))


@pytest.mark.parametrize(
    "column",
    ["c ENUM('a','A')", "c VARCHAR(70000)", "c ENUM('x','X') CHARACTER SET utf16"],
)
@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_a_definition_that_only_strict_mode_refuses_is_unsupported_without_it(server: str, column: str) -> None:
    scenario = Scenario("strict", server=server, tables=[f"CREATE TABLE d.t (id INT PRIMARY KEY, {column})"])
    with pytest.raises(ScenarioError) as refusal:
        plan(scenario)
    assert not isinstance(refusal.value, UnsupportedError)
    with pytest.raises(UnsupportedError, match="without strict mode"):
        plan(msgspec.structs.replace(scenario, session=Session(sql_mode="")))


def test_an_engine_that_mysql_does_not_have_is_unsupported_where_it_takes_another() -> None:
    scenario = Scenario("aria", server=MYSQL, tables=["CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=Aria"])
    with pytest.raises(ScenarioError, match=r"tables of Aria|engines of MariaDB"):
        plan(scenario)
    with pytest.raises(UnsupportedError, match="takes for Aria"):
        plan(msgspec.structs.replace(scenario, session=Session(sql_mode="STRICT_TRANS_TABLES")))


def test_without_strict_mode_alter_table_clips_what_a_new_generated_column_cannot_hold() -> None:
    scenario = Scenario("clips", tables=["CREATE TABLE d.t (id INT PRIMARY KEY)"])
    scenario = scenario.transaction(insert("d.t", {"id": 1}))
    scenario = scenario.transaction(ddl("ALTER TABLE d.t ADD x SET('a','b') AS (CONCAT('a', 1)) VIRTUAL"))
    with pytest.raises(ScenarioError, match="no member 'a1'"):
        plan(scenario)
    assert plan(msgspec.structs.replace(scenario, session=Session(sql_mode=""))).contents["d.t"] == ((1, 0),)


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
@pytest.mark.parametrize(("declared", "size"), [("TEXT(30)", 2), ("TEXT(300)", 3), ("TEXT(70000)", 4), ("TEXT", 3)])
def test_a_text_with_a_length_grows_with_its_character_set_as_the_type_that_it_became(
    server: str, declared: str, size: int
) -> None:
    table = f"CREATE TABLE d.t (id INT PRIMARY KEY, v {declared} CHARACTER SET latin1)"
    scenario = Scenario("texts", server=server, tables=[table])
    scenario = scenario.transaction(ddl("ALTER TABLE d.t CONVERT TO CHARACTER SET utf8mb4"))
    scenario = scenario.transaction(insert("d.t", {"id": 1}))
    planned = plan(scenario)
    (log,) = write_files(planned, compile_files(planned))
    bodies = [placed.event.body for placed in read_events(log)]
    assert [body.metadata for body in bodies if isinstance(body, TableMap)] == [bytes([size])]


@pytest.mark.parametrize("definition", ["v INT AS (1) VIRTUAL", "v INT AS (1) STORED"])
@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_a_column_that_is_virtual_stays_virtual_and_takes_no_default(server: str, definition: str) -> None:
    scenario = Scenario("virtual", server=server, tables=[f"CREATE TABLE d.t (id INT PRIMARY KEY, {definition})"])
    if definition.endswith("STORED"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t MODIFY v INT")))
    else:
        with pytest.raises(ScenarioError, match="cannot become virtual, nor be so no longer"):
            plan(scenario.transaction(ddl("ALTER TABLE d.t MODIFY v INT")))
    with pytest.raises(ScenarioError, match="cannot have a default"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t ALTER v SET DEFAULT 1")))


def test_what_mariadb_alone_takes_of_odd_definitions_is_unsupported() -> None:
    for column in (
        "c DOUBLE AUTO_INCREMENT UNIQUE",
        "c INT DEFAULT (1 + 0) DEFAULT (2 + 0)",
        "c BLOB COLLATE latin1_bin",
    ):
        with pytest.raises(UnsupportedError):
            plan(Scenario("odd", server=MARIADB, tables=[f"CREATE TABLE d.t (id INT PRIMARY KEY, {column})"]))
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, c CHAR(3) AS (UPPER('a'))) CHARACTER SET binary"
    with pytest.raises(UnsupportedError, match="UPPER and LOWER"):
        plan(Scenario("odd", server=MARIADB, tables=[table]))


@pytest.mark.parametrize(
    ("type_text", "given"),
    [
        ("DATETIME", "2024^02^28 14:42."),
        ("DATETIME", "240229.5"),
        ("DATETIME", "2518-09-25 2330.70"),
        ("DATE", "1970--02--10"),
        ("DATE", "0000013"),
        ("TIME", "-838:3.9999995"),
        ("TIME", "00000712"),
        ("TIME", "2038/02/31 14+14:00"),
        ("TIMESTAMP NULL", "2024-08-25T00."),
    ],
)
@pytest.mark.parametrize("mode", [None, ""])
def test_an_odd_text_of_a_date_is_read_in_no_way_that_is_known(type_text: str, given: str, mode: str | None) -> None:
    table = f"CREATE TABLE d.t (id INT PRIMARY KEY, v {type_text})"
    scenario = Scenario("odd", tables=[table], session=Session(sql_mode=mode))
    with pytest.raises(UnsupportedError, match="is not known"):
        plan(scenario.transaction(insert("d.t", {"id": 1, "v": given})))


def test_a_date_that_is_wrong_in_its_usual_form_is_refused_as_servers_refuse_it() -> None:
    scenario = Scenario("wrong", tables=["CREATE TABLE d.t (id INT PRIMARY KEY, v DATE)"])
    with pytest.raises(ScenarioError, match="cannot hold this date") as refusal:
        plan(scenario.transaction(insert("d.t", {"id": 1, "v": "2024-02-30"})))
    assert not isinstance(refusal.value, UnsupportedError)


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
@pytest.mark.parametrize("mode", ["STRICT_TRANS_TABLES", "STRICT_ALL_TABLES"])
def test_strict_mode_of_transactions_spares_later_rows_of_other_tables(server: str, mode: str) -> None:
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, v INT NOT NULL) ENGINE=MyISAM"
    scenario = Scenario("spared", server=server, tables=[table], session=Session(sql_mode=mode))
    ways: tuple[list[dict[str, Any]], ...] = ([{"id": 1, "v": None}], [{"id": 1, "v": 1}, {"id": 2, "v": None}])
    for rows in ways:
        with pytest.raises(ScenarioError) as refusal:
            plan(scenario.transaction(insert("d.t", *rows)))
        spared = len(rows) > 1 and mode == "STRICT_TRANS_TABLES"
        assert isinstance(refusal.value, UnsupportedError) == spared


def test_mariadb_may_forget_a_missing_default_in_several_rows_with_on_duplicate_key_update() -> None:
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, v INT NOT NULL)"
    statement = insert("d.t", {"id": 1}, {"id": 2}, on_duplicate_key_update={"id": 3})
    for server, unsupported in ((MYSQL, False), (MARIADB, True)):
        with pytest.raises(ScenarioError, match="has no default") as refusal:
            plan(Scenario("forgets", server=server, tables=[table]).transaction(statement))
        assert isinstance(refusal.value, UnsupportedError) == unsupported


def test_rows_that_have_one_key_on_the_way_alone_are_changed_in_an_order_that_is_not_known() -> None:
    scenario = Scenario("order", tables=["CREATE TABLE d.t (id INT, v INT UNIQUE)"])
    scenario = scenario.transaction(insert("d.t", {"id": 1, "v": 1}, {"id": 2, "v": 2}))
    with pytest.raises(UnsupportedError, match="depends on the order"):
        plan(scenario.transaction(update("d.t", set={"v": {"sql": "v + 1"}})))
    with pytest.raises(ScenarioError, match="already has a row") as refusal:
        plan(scenario.transaction(update("d.t", set={"v": 7})))
    assert not isinstance(refusal.value, UnsupportedError)


@pytest.mark.parametrize(("partitions", "number"), [("", 13), (" PARTITION BY HASH (id) PARTITIONS 3", 11)])
def test_a_table_with_partitions_takes_back_the_numbers_that_an_insert_has_reserved(
    partitions: str, number: int
) -> None:
    table = f"CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT){partitions}"
    scenario = Scenario("numbers", server=MARIADB, tables=[table])
    rows: list[dict[str, Any]] = [{"id": 9, "v": 0}, {"id": 5, "v": 0}, {"id": None, "v": 0}]
    scenario = scenario.transaction(insert("d.t", *rows)).transaction(insert("d.t", {"v": 1}))
    assert plan(scenario).contents["d.t"][-1] == (number, 1)


@pytest.mark.parametrize(
    ("type_text", "given", "servers"),
    [
        ("VARCHAR(5) CHARACTER SET utf8mb3", "fee7", ()),
        ("VARCHAR(5) CHARACTER SET utf16", "dcef9c95", ()),
        ("TINYTEXT CHARACTER SET gbk", "67fc251f1afa", ()),
        ("TINYTEXT CHARACTER SET ascii", "eca76337", (MARIADB,)),
        ("VARCHAR(5) CHARACTER SET sjis", "41685c4e38a7", ()),
        ("VARCHAR(6) CHARACTER SET sjis", "41685c4e38a7", (MYSQL, MARIADB)),
    ],
)
def test_bytes_of_a_text_are_characters_of_its_set_and_not_too_many(
    type_text: str, given: str, servers: tuple[str, ...]
) -> None:
    for server in (MYSQL, MARIADB):
        scenario = Scenario("bytes", server=server, tables=[f"CREATE TABLE d.t (id INT PRIMARY KEY, v {type_text})"])
        scenario = scenario.transaction(insert("d.t", {"id": 1, "v": {"hex": given}}))
        if server in servers:
            plan(scenario)
        else:
            with pytest.raises(ScenarioError, match=r"not text of|more than 5 characters"):
                plan(scenario)


@pytest.mark.parametrize(
    "columns",
    ["c POINT, KEY (c)", "c CHAR(0), KEY (c)", "c INT, KEY (c(2))", "c TEXT, KEY (c)", "c INT NULL PRIMARY KEY",
     "c INT PRIMARY KEY, d INT PRIMARY KEY", "c BLOB, KEY (c(4000))"],
)  # fmt: skip
def test_keys_that_mariadb_cuts_are_unsupported_there_and_refused_by_mysql(columns: str) -> None:
    for server in (MYSQL, MARIADB):
        with pytest.raises(ScenarioError) as refusal:
            plan(Scenario("keys", server=server, tables=[f"CREATE TABLE d.t ({columns})"]))
        assert isinstance(refusal.value, UnsupportedError) == (server == MARIADB)


def test_a_number_in_a_narrow_text_is_rounded_without_strict_mode_in_ways_that_are_not_supported() -> None:
    session = Session(sql_mode="")
    scenario = Scenario("numbers", tables=["CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(3))"], session=session)
    with pytest.raises(UnsupportedError, match="clipped without strict mode"):
        plan(scenario.transaction(insert("d.t", {"id": 1, "v": 123.456})))


@pytest.mark.parametrize(
    ("clock", "fraction"),
    [("LOCALTIME", "000000"), ("LOCALTIMESTAMP", "000000"), ("CURRENT_TIMESTAMP", "349000"), ("NOW()", "349000")],
)
def test_the_local_time_that_mariadb_has_for_a_default_has_no_digits_of_the_column(clock: str, fraction: str) -> None:
    session = Session(timestamp="2024-02-29 10:11:12.349")
    table = f"CREATE TABLE d.t (id INT PRIMARY KEY, v DATETIME(6) DEFAULT {clock})"
    scenario = Scenario("clock", server=MARIADB, tables=[table], session=session).transaction(insert("d.t", {"id": 1}))
    assert plan(scenario).contents["d.t"] == ((1, f"2024-02-29 10:11:12.{fraction}"),)


@pytest.mark.parametrize("engine", ["MyISAM", "MEMORY"])
def test_a_row_that_is_ignored_leaves_its_number_to_the_next_statement_without_transactions(engine: str) -> None:
    table = f"CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT UNIQUE) ENGINE={engine}"
    scenario = Scenario("numbers", tables=[table]).transaction(insert("d.t", {"v": 1}, {"v": 1}, ignore=True))
    assert plan(scenario.transaction(insert("d.t", {"v": 2}))).contents["d.t"][-1] == (2, 2)


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_a_key_that_a_column_names_twice_is_one(server: str) -> None:
    table = "CREATE TABLE d.t (id INT PRIMARY KEY COMMENT 'c' KEY, v INT UNIQUE UNIQUE KEY)"
    (state,) = plan(Scenario("twice", server=server, tables=[table])).tables.values()
    assert [key.kind for key in state.keys] == ["primary", "unique"]


@pytest.mark.parametrize(("rows", "is_taken"), [(1, False), (2, True)])
def test_on_duplicate_key_update_has_no_null_for_a_not_null_column_of_a_single_row(rows: int, is_taken: bool) -> None:
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, v INT NOT NULL)"
    scenario = Scenario("null", tables=[table], session=Session(sql_mode=""))
    scenario = scenario.transaction(insert("d.t", {"id": 1, "v": 7}))
    given = [{"id": number, "v": number} for number in range(1, rows + 1)]
    scenario = scenario.transaction(insert("d.t", *given, on_duplicate_key_update={"v": None}))
    if is_taken:
        assert plan(scenario).contents["d.t"][0] == (1, 0)
    else:
        with pytest.raises(ScenarioError, match="NOT NULL"):
            plan(scenario)


@pytest.mark.parametrize(("server", "is_taken"), [(MYSQL, True), (MARIADB, False)])
def test_a_column_of_a_unique_key_of_several_is_not_dropped_on_mariadb(server: str, is_taken: bool) -> None:
    scenario = Scenario("drop", server=server, tables=["CREATE TABLE d.t (a INT, b INT, PRIMARY KEY (a, b))"])
    scenario = scenario.transaction(ddl("ALTER TABLE d.t DROP a"))
    if is_taken:
        plan(scenario)
    else:
        with pytest.raises(UnsupportedError, match="unique key of several columns"):
            plan(scenario)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("ROW_FORMAT=DYNAMIC KEY_BLOCK_SIZE=8", "does not go with ROW_FORMAT=DYNAMIC"),
        ("KEY_BLOCK_SIZE=3", "no KEY_BLOCK_SIZE=3"),
        ("ROW_FORMAT=FIXED", "no ROW_FORMAT=FIXED"),
    ],
)
@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_innodb_has_row_formats_and_block_sizes_that_go_together(server: str, options: str, problem: str) -> None:
    """Errors 1031 and 1005; MyISAM takes them."""
    with pytest.raises(ScenarioError, match=problem):
        plan(Scenario("formats", server=server, tables=[f"CREATE TABLE d.t (a INT) {options}"]))
    plan(Scenario("formats", server=server, tables=[f"CREATE TABLE d.t (a INT) {options} ENGINE=MyISAM"]))


def test_alter_table_gives_innodb_no_row_format_of_others() -> None:
    scenario = Scenario("formats", tables=["CREATE TABLE d.t (a INT)"])
    with pytest.raises(ScenarioError, match="no ROW_FORMAT=FIXED"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t ROW_FORMAT=FIXED")))


def test_a_temporary_table_of_innodb_is_not_compressed() -> None:
    scenario = Scenario("temporary", tables=["CREATE TABLE d.t (a INT)"])
    with pytest.raises(ScenarioError, match="not compressed"):
        plan(scenario.transaction(ddl("CREATE TEMPORARY TABLE d.u (a INT) KEY_BLOCK_SIZE=8")))


@pytest.mark.parametrize(("expression", "is_taken"), [("1 + 1", False), ("JSON_ARRAY(1)", True), ("'[1]'", True)])
def test_an_expression_gives_mysqls_json_a_document_or_its_text(expression: str, is_taken: bool) -> None:
    """Error 3140: "not a JSON text, may need CAST"."""
    scenario = Scenario("documents", tables=[f"CREATE TABLE d.t (a INT, v JSON AS ({expression}))"])
    scenario = scenario.transaction(insert("d.t", {"a": 1}))
    if is_taken:
        plan(scenario)
    else:
        with pytest.raises(ScenarioError, match="it is no document"):
            plan(scenario)


def test_mysql_reads_the_text_of_a_document_up_to_its_first_nul() -> None:
    scenario = Scenario("documents", tables=["CREATE TABLE d.t (v JSON)"])
    plain = plan(scenario.transaction(insert("d.t", {"v": "[1]"}))).contents["d.t"]
    assert plan(scenario.transaction(insert("d.t", {"v": "[1]\0x"}))).contents["d.t"] == plain
    for wrong in ("\0", "[1,\0]", '"a\0b"'):
        with pytest.raises(ScenarioError, match="invalid JSON text"):
            plan(scenario.transaction(insert("d.t", {"v": wrong})))


def test_only_innodb_has_columns_of_a_reference_system() -> None:
    """Error 1178 of MyISAM and BLACKHOLE; SRID 0 is taken."""
    plan(Scenario("places", tables=["CREATE TABLE d.t (a POINT SRID 0) ENGINE=MyISAM"]))
    with pytest.raises(ScenarioError, match="MyISAM tables have no columns with an SRID"):
        plan(Scenario("places", tables=["CREATE TABLE d.t (a POINT SRID 4326) ENGINE=MyISAM"]))


def test_a_vector_of_mariadb_is_no_blob_to_memory_tables() -> None:
    plan(Scenario("vectors", server=MARIADB, tables=["CREATE TABLE d.t (a VECTOR(2)) ENGINE=MEMORY"]))
    with pytest.raises(ScenarioError, match="MEMORY tables have no VECTOR columns"):
        plan(Scenario("vectors", tables=["CREATE TABLE d.t (a VECTOR(2)) ENGINE=MEMORY"]))


@pytest.mark.parametrize(
    ("server", "mode", "sql"),
    [
        (MYSQL, "", "CREATE TABLE d.t (a MEDIUMTEXT DEFAULT '')"),
        (MARIADB, None, "CREATE TABLE d.t (a CHAR(3) DEFAULT 1e3)"),
        (MARIADB, None, "CREATE TABLE d.t (a BLOB AS (UPPER('a'))) CHARACTER SET ucs2"),
    ],
)
def test_what_servers_take_of_a_definition_and_is_not_simulated(server: str, mode: str | None, sql: str) -> None:
    with pytest.raises(UnsupportedError):
        plan(Scenario("unsupported", server=server, session=Session(sql_mode=mode), tables=[sql]))


@pytest.mark.parametrize(("server", "is_known"), [(MYSQL, True), (MARIADB, False)])
def test_mariadb_misses_no_default_of_a_column_that_on_duplicate_key_update_sets(server: str, is_known: bool) -> None:
    scenario = Scenario(
        "defaults", server=server, tables=["CREATE TABLE d.t (id INT PRIMARY KEY, s VARCHAR(5) NOT NULL)"]
    )
    with pytest.raises(ScenarioError, match="NOT NULL and has no default") as raised:
        plan(scenario.transaction(insert("d.t", {"id": 1}, on_duplicate_key_update={"s": ""})))
    assert isinstance(raised.value, UnsupportedError) is not is_known


@pytest.mark.parametrize("server", [MYSQL, MARIADB])
def test_auto_increment_behind_null_is_not_null_and_before_it_is_not_supported(server: str) -> None:
    """A column with AUTO_INCREMENT that takes NULL keeps NULL, and its numbers go on."""
    table = plan(Scenario("numbers", server=server, tables=["CREATE TABLE d.t (a INT UNIQUE NULL AUTO_INCREMENT)"]))
    assert not table.tables["d.t"].columns[0].nullable
    with pytest.raises(UnsupportedError, match="AUTO_INCREMENT and NULL"):
        plan(Scenario("numbers", server=server, tables=["CREATE TABLE d.t (a INT UNIQUE AUTO_INCREMENT NULL)"]))


def test_null_among_the_words_of_a_column_of_the_primary_key_is_refused() -> None:
    for columns in ("a INT NULL NOT NULL PRIMARY KEY", "a INT NULL AUTO_INCREMENT, PRIMARY KEY (a)"):
        with pytest.raises(ScenarioError, match="of the primary key cannot be NULL"):
            plan(Scenario("keys", tables=[f"CREATE TABLE d.t ({columns})"]))


@pytest.mark.parametrize(
    ("server", "mode", "column", "is_taken"),
    [
        (MYSQL, None, "x TIMESTAMP PRIMARY KEY", True),
        (MYSQL, None, "x DATE NOT NULL", False),
        (MYSQL, None, "x DATE, ADD PRIMARY KEY (x)", True),
        (MYSQL, "STRICT_ALL_TABLES", "x DATE NOT NULL", True),
        (MARIADB, None, "x DATETIME NOT NULL", True),
        (MARIADB, "TRADITIONAL", "x DATETIME PRIMARY KEY", False),
    ],
)
def test_rows_have_the_zero_date_in_a_new_column_unless_no_zero_date_refuses_it(
    server: str, mode: str | None, column: str, is_taken: bool
) -> None:
    scenario = Scenario("dates", server=server, session=Session(sql_mode=mode), tables=["CREATE TABLE d.t (a INT)"])
    scenario = scenario.transaction(insert("d.t", {"a": 1})).transaction(ddl(f"ALTER TABLE d.t ADD {column}"))
    if is_taken:
        assert str(plan(scenario).contents["d.t"][0][1]).startswith("0000-00-00")
    else:
        with pytest.raises(ScenarioError, match="have no value for the new DATE"):
            plan(scenario)


def test_mariadb_misses_no_default_beside_on_update_current_timestamp() -> None:
    table = "CREATE TABLE d.t (a INT, c DATETIME NOT NULL ON UPDATE CURRENT_TIMESTAMP)"
    with pytest.raises(UnsupportedError, match="taken with a warning"):
        plan(Scenario("defaults", server=MARIADB, tables=[table]).transaction(insert("d.t", {"a": 1})))
    with pytest.raises(ScenarioError, match="has no default"):
        plan(Scenario("defaults", tables=[table]).transaction(insert("d.t", {"a": 1})))


@pytest.mark.parametrize("options", ["ENGINE=MEMORY ENGINE=MyISAM", "CHARSET utf16 COLLATE latin1_bin, CHARSET latin1"])
def test_a_table_has_one_engine_and_one_character_set(options: str) -> None:
    with pytest.raises(UnsupportedError, match="a table with two"):
        plan(Scenario("options", tables=[f"CREATE TABLE d.t (a INT) {options}"]))


def test_a_row_that_replace_finds_as_it_should_be_is_not_supported_where_its_bytes_are_compared() -> None:
    scenario = Scenario("same", tables=["CREATE TABLE d.t (a INT PRIMARY KEY, s VARCHAR(5)) ENGINE=MyISAM"])
    scenario = scenario.transaction(insert("d.t", {"a": 1, "s": "x"}))
    plan(scenario.transaction(replace("d.t", {"a": 1, "s": "y"})))
    with pytest.raises(UnsupportedError, match="REPLACE of a row by its like"):
        plan(scenario.transaction(replace("d.t", {"a": 1, "s": "x"})))


def test_a_number_of_mariadbs_json_has_one_point_at_most_before_its_exponent() -> None:
    scenario = Scenario("numbers", server=MARIADB, tables=["CREATE TABLE d.t (v JSON)"])
    for text in ("7.", "-7.e2", "[7., 8.]", '{"a": "7.."}'):
        plan(scenario.transaction(insert("d.t", {"v": text})))
    for text in ("1.5.", "-95773.E+25.", "7..", "1e5."):
        with pytest.raises(ScenarioError, match="cannot hold this text"):
            plan(scenario.transaction(insert("d.t", {"v": text})))


def test_a_geometry_without_a_default_needs_a_value_without_strict_mode_too() -> None:
    scenario = Scenario(
        "defaults", session=Session(sql_mode=""), tables=["CREATE TABLE d.t (a INT, g POINT, s VARCHAR(3))"]
    )
    scenario = scenario.transaction(ddl("ALTER TABLE d.t ALTER s DROP DEFAULT"))
    plan(scenario.transaction(insert("d.t", {"a": 1})))
    with pytest.raises(ScenarioError, match="column 'g' has no default"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t ALTER g DROP DEFAULT")).transaction(insert("d.t", {"a": 1})))


def test_a_new_virtual_column_that_rows_cannot_hold_is_not_supported() -> None:
    scenario = Scenario("columns", tables=["CREATE TABLE d.t (a INT)"]).transaction(insert("d.t", {"a": 1}))
    with pytest.raises(UnsupportedError, match="virtual column that rows cannot hold"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t ADD x INT AS ('a') VIRTUAL")))
    with pytest.raises(ScenarioError, match="cannot hold this value"):
        plan(scenario.transaction(ddl("ALTER TABLE d.t ADD x INT AS ('a') STORED")))


def test_memory_logs_the_update_of_a_row_that_replace_finds_as_it_should_be() -> None:
    scenario = Scenario("same", tables=["CREATE TABLE d.t (a INT PRIMARY KEY) ENGINE=MEMORY"])
    with pytest.raises(UnsupportedError, match="REPLACE of a row by its like"):
        plan(scenario.transaction(replace("d.t", {"a": 1}, {"a": 1})))
