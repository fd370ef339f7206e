"""What the search against live servers found (tests/long/live): values and statements that servers take, or refuse."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from forge.errors import ScenarioError, UnsupportedError
from forge.scenario import Scenario, Session, ddl, insert, plan, replace, update

MYSQL, MARIADB = "mysql-9.7", "mariadb-11.8"


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


def test_a_uuid_that_no_column_holds_is_refused_as_text_and_as_bytes() -> None:
    scenario = Scenario("x", server="mariadb-11.8", tables=["CREATE TABLE d.t (u UUID)"])
    with pytest.raises(ScenarioError, match="cannot hold a version from 8 on of the variant 0"):
        plan(scenario.transaction(insert("d.t", {"u": "5a2e91c2-a594-8d3a-1dac-9637348604c2"})))
    with pytest.raises(UnsupportedError, match="bytes of a UUID"):
        plan(scenario.transaction(insert("d.t", {"u": {"hex": "5a2e91c2a5948d3a1dac9637348604c2"}})))


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


def test_a_number_in_a_narrow_text_is_rounded_without_strict_mode_in_ways_that_are_not_supported() -> None:
    session = Session(sql_mode="")
    scenario = Scenario("numbers", tables=["CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(3))"], session=session)
    with pytest.raises(UnsupportedError, match="clipped without strict mode"):
        plan(scenario.transaction(insert("d.t", {"id": 1, "v": 123.456})))


@pytest.mark.parametrize(
    ("server", "clock", "fraction"),
    [
        (MARIADB, "LOCALTIME", "000000"),
        (MARIADB, "LOCALTIMESTAMP", "000000"),
        (MARIADB, "CURRENT_TIMESTAMP", "349000"),
        (MARIADB, "NOW()", "349000"),
        ("mariadb-10.11", "LOCALTIME", "349000"),
        ("mariadb-10.11", "LOCALTIME(3)", "349000"),
    ],
)
def test_the_local_time_that_mariadb_11_8_has_for_a_default_has_no_digits_of_the_column(
    server: str, clock: str, fraction: str
) -> None:
    session = Session(timestamp="2024-02-29 10:11:12.349")
    table = f"CREATE TABLE d.t (id INT PRIMARY KEY, v DATETIME(6) DEFAULT {clock})"
    scenario = Scenario("clock", server=server, tables=[table], session=session).transaction(insert("d.t", {"id": 1}))
    assert plan(scenario).contents["d.t"] == ((1, f"2024-02-29 10:11:12.{fraction}"),)


@pytest.mark.parametrize("server", [MARIADB, "mariadb-10.11"])
def test_a_default_that_is_set_later_reads_the_digits_that_it_says(server: str) -> None:
    session = Session(timestamp="2024-02-29 10:11:12.349")
    table = "CREATE TABLE d.t (id INT PRIMARY KEY, v TIMESTAMP(2) DEFAULT CURRENT_TIMESTAMP)"
    scenario = Scenario("clock", server=server, tables=[table], session=session).transaction(insert("d.t", {"id": 1}))
    scenario = scenario.transaction(ddl("ALTER TABLE d.t ALTER v SET DEFAULT CURRENT_TIMESTAMP"))
    planned = plan(scenario.transaction(insert("d.t", {"id": 2})))
    assert planned.contents["d.t"] == ((1, "2024-02-29 10:11:12.34"), (2, "2024-02-29 10:11:12.00"))


@pytest.mark.parametrize("engine", ["MyISAM", "MEMORY"])
def test_a_row_that_is_ignored_leaves_its_number_to_the_next_statement_without_transactions(engine: str) -> None:
    table = f"CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT UNIQUE) ENGINE={engine}"
    scenario = Scenario("numbers", tables=[table]).transaction(insert("d.t", {"v": 1}, {"v": 1}, ignore=True))
    assert plan(scenario.transaction(insert("d.t", {"v": 2}))).contents["d.t"][-1] == (2, 2)


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


def test_a_number_of_mariadbs_json_has_one_point_at_most_before_its_exponent() -> None:
    scenario = Scenario("numbers", server=MARIADB, tables=["CREATE TABLE d.t (v JSON)"])
    for text in ("7.", "-7.e2", "[7., 8.]", '{"a": "7.."}'):
        plan(scenario.transaction(insert("d.t", {"v": text})))
    for text in ("1.5.", "-95773.E+25.", "7..", "1e5."):
        with pytest.raises(ScenarioError, match="cannot hold this text"):
            plan(scenario.transaction(insert("d.t", {"v": text})))


def test_memory_logs_the_update_of_a_row_that_replace_finds_as_it_should_be() -> None:
    scenario = Scenario("same", tables=["CREATE TABLE d.t (a INT PRIMARY KEY) ENGINE=MEMORY"])
    (group,) = plan(scenario.transaction(replace("d.t", {"a": 1}, {"a": 1}))).groups[2:]
    (statement,) = group.rows_statements  # type: ignore[union-attr]
    assert [change.kind for change in statement.changes] == ["insert", "update"]


@pytest.mark.parametrize("engine", ["MEMORY", "MyISAM"])
def test_a_row_that_is_updated_instead_leaves_its_number_to_the_next_but_not_to_two(engine: str) -> None:
    table = f"CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, a INT UNIQUE, b INT) ENGINE={engine}"
    rows = insert("d.t", {"a": 6}, {"a": 6}, {"a": 8}, {"a": 4}, on_duplicate_key_update={"b": 1})
    contents = plan(Scenario("numbers", tables=[table]).transaction(rows)).contents["d.t"]
    assert sorted(contents) == [(1, 6, 1), (2, 8, None), (3, 4, None)]


@pytest.mark.parametrize(("variant", "is_taken"), [("00", True), ("01", False), ("80", False), ("81", True)])
def test_a_uuid_from_version_8_on_has_a_variant_of_0_or_of_more_than_80(variant: str, is_taken: bool) -> None:
    scenario = Scenario("uuids", server=MARIADB, tables=["CREATE TABLE d.t (v UUID)"])
    scenario = scenario.transaction(insert("d.t", {"v": f"328c6343-9184-ec32-{variant}a9-469d8654b7e3"}))
    if is_taken:
        plan(scenario)
    else:
        with pytest.raises(ScenarioError, match="cannot hold a version from 8 on"):
            plan(scenario)


@pytest.mark.parametrize(
    ("server", "mode", "table", "value"),
    [
        (MYSQL, None, "v VARCHAR(5) CHARACTER SET ascii", -9.999999999999999e39),
        (MARIADB, None, "v DECIMAL(10,7) UNSIGNED", "-1e-95"),
        (MYSQL, "", "w INT, v JSON NOT NULL", None),
    ],
)
def test_a_value_that_servers_take_in_ways_of_their_own_is_not_supported(
    server: str, mode: str | None, table: str, value: Any
) -> None:
    scenario = Scenario("values", server=server, session=Session(sql_mode=mode), tables=[f"CREATE TABLE d.t ({table})"])
    with pytest.raises(UnsupportedError):
        plan(scenario.transaction(insert("d.t", {"w": 1} if value is None else {"v": value})))


def test_what_is_read_of_an_impossible_time_without_strict_mode_is_not_known() -> None:
    scenario = Scenario("times", session=Session(sql_mode=""), tables=["CREATE TABLE d.t (v TIME)"])
    with pytest.raises(UnsupportedError, match="not known what is read of it"):
        plan(scenario.transaction(insert("d.t", {"v": "191.5"})))


def test_a_long_number_that_is_no_moment_is_read_by_mariadb_in_ways_that_are_not_known() -> None:
    """TIME of 99991231245959 is the largest, of 20240229241112 zero."""
    for server, kept in ((MYSQL, "838:59:59"), (MARIADB, None)):
        scenario = Scenario("times", server=server, session=Session(sql_mode=""), tables=["CREATE TABLE d.t (v TIME)"])
        scenario = scenario.transaction(insert("d.t", {"v": 20240229241112}))
        if kept is not None:
            assert plan(scenario).contents["d.t"] == ((kept,),)
        else:
            with pytest.raises(UnsupportedError):
                plan(scenario)


def test_what_mysql_reads_of_a_time_of_ten_digits_of_hours_is_not_known() -> None:
    scenario = Scenario("times", tables=["CREATE TABLE d.t (v TIME)"])
    with pytest.raises(UnsupportedError, match="what a TIME column reads"):
        plan(scenario.transaction(insert("d.t", {"v": "4294967297:51:59"})))
    with pytest.raises(ScenarioError, match="cannot hold this time"):
        plan(scenario.transaction(insert("d.t", {"v": "999999999:51:59"})))


def test_what_a_year_is_whose_text_goes_on_behind_its_fraction_is_not_known() -> None:
    scenario = Scenario("years", session=Session(sql_mode=""), tables=["CREATE TABLE d.t (v YEAR)"])
    assert plan(scenario.transaction(insert("d.t", {"v": "99.4 "}))).contents["d.t"] == ((1999,),)
    with pytest.raises(UnsupportedError, match="what a YEAR column reads"):
        plan(scenario.transaction(insert("d.t", {"v": " -.04 1 "})))


@pytest.mark.parametrize(
    ("mode", "column", "given"), [("", "v INT UNSIGNED", "+46.2."), ("STRICT_TRANS_TABLES", "v TIME(1)", 20240230)]
)
def test_what_mariadb_reads_of_odd_numbers_is_not_known(mode: str, column: str, given: Any) -> None:
    """462 of the first, and 00:00:00 of the second."""
    scenario = Scenario(
        "numbers", server=MARIADB, session=Session(sql_mode=mode), tables=[f"CREATE TABLE d.t ({column})"]
    )
    with pytest.raises(UnsupportedError, match="is not known"):
        plan(scenario.transaction(insert("d.t", {"v": given})))


@pytest.mark.parametrize(
    ("server", "column", "given", "kept"),
    [
        (MYSQL, "v DATE", 9991231, "0999-12-31"),
        (MYSQL, "v DATETIME", 1000101.0, "0100-01-01 00:00:00"),
        (MARIADB, "v DATE", 9991231, None),
        (MYSQL, "v DATE", 9991231235959, "0999-12-31"),
        (MARIADB, "v DATETIME(3)", 9991231235959.25, "0999-12-31 23:59:59.250"),
        (MYSQL, "v DATETIME", 9990131240000, None),
        (MARIADB, "v DATETIME", 700100000000, None),
        (MYSQL, "v TIMESTAMP", 9991231235959, None),
        (MARIADB, "v TIME", 9991231235959, "23:59:59"),
    ],
)
def test_a_year_in_a_number_may_have_three_digits(server: str, column: str, given: float, kept: str | None) -> None:
    scenario = Scenario("years", server=server, tables=[f"CREATE TABLE d.t ({column})"])
    scenario = scenario.transaction(insert("d.t", {"v": given}))
    if kept is None:
        with pytest.raises(ScenarioError):
            plan(scenario)
    else:
        assert plan(scenario).contents["d.t"] == ((kept,),)


def test_a_column_that_becomes_generated_is_computed_whatever_it_had() -> None:
    scenario = Scenario("copies", server=MARIADB, session=Session(sql_mode=""), tables=["CREATE TABLE d.t (v BLOB)"])
    scenario = scenario.transaction(insert("d.t", {"v": "2024-02-29"}))
    scenario = scenario.transaction(ddl("ALTER TABLE d.t MODIFY v TIMESTAMP AS (1 + 1) STORED"))
    assert plan(scenario).contents["d.t"] == (("0000-00-00 00:00:00",),)


@pytest.mark.parametrize(
    ("actions", "is_taken"),
    [
        ("ADD c INT PARTITION BY KEY (id)", True),
        ("ADD c INT REMOVE PARTITIONING", True),
        ("ADD c INT,", False),
    ],
)
def test_what_is_done_to_partitions_stands_alone(actions: str, is_taken: bool) -> None:
    for server in (MYSQL, MARIADB):
        table = "CREATE TABLE d.t (id INT PRIMARY KEY) PARTITION BY KEY (id) PARTITIONS 2"
        scenario = Scenario("partitions", server=server, tables=[table])
        scenario = scenario.transaction(ddl(f"ALTER TABLE d.t {actions}"))
        if is_taken:
            plan(scenario)
        else:
            with pytest.raises(ScenarioError, match=r"stands alone|expected"):
                plan(scenario)


@pytest.mark.parametrize(
    ("column", "value", "becomes"),
    [
        ("v INT", None, "v TIMESTAMP NOT NULL"),
        ("v DATETIME", None, "v TIMESTAMP NOT NULL"),
        ("v INT", 0, "v INT AUTO_INCREMENT PRIMARY KEY"),
        ("v BOOL", 0, "v SERIAL"),
    ],
)
def test_a_value_that_altering_replaces_by_another_is_not_supported(column: str, value: Any, becomes: str) -> None:
    """Servers put the time, and a number, in its place."""
    for server in (MYSQL, MARIADB):
        scenario = Scenario("replaced", server=server, tables=[f"CREATE TABLE d.t (w INT, {column})"])
        scenario = scenario.transaction(insert("d.t", {"v": value}))
        with pytest.raises(UnsupportedError, match="but a row has"):
            plan(scenario.transaction(ddl(f"ALTER TABLE d.t MODIFY {becomes}")))


def test_spaces_behind_the_default_of_a_char_never_count() -> None:
    for server in (MYSQL, MARIADB):
        table = "CREATE TABLE d.t (w INT, c CHAR(2) CHARACTER SET ucs2 DEFAULT 'ab   ')"
        assert plan(Scenario("spaces", server=server, tables=[table]).transaction(insert("d.t", {"w": 1}))).contents[
            "d.t"
        ] == ((1, "ab"),)


@pytest.mark.parametrize(("before", "text"), [("FLOAT(5,2)", "1.50"), ("DOUBLE(9,3)", "1.500"), ("FLOAT", "1.5")])
def test_a_number_with_places_becomes_a_text_with_them(before: str, text: str) -> None:
    for server in (MYSQL, MARIADB):
        scenario = Scenario("texts", server=server, tables=[f"CREATE TABLE d.t (v {before})"])
        scenario = scenario.transaction(insert("d.t", {"v": 1.5})).transaction(ddl("ALTER TABLE d.t MODIFY v CHAR(9)"))
        assert plan(scenario).contents["d.t"] == ((text,),)
