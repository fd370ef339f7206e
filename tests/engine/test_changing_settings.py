"""`set` and `gtid` in a scenario: what they change, until when, and what no server takes."""

from __future__ import annotations

import pytest

from forge.compile import compile_files
from forge.errors import ScenarioError
from forge.events.event import Event
from forge.events.gtid_list import GtidList
from forge.events.mariadb_gtid import MariadbGtid
from forge.events.plain import to_bytes
from forge.events.query import Query
from forge.events.rows_query import RowsQuery
from forge.render.sql import replay_script
from forge.scenario import Scenario, Session, change_session, flush_binary_logs, insert, plan, restart
from forge.scenario.matrix import base_scenario

TABLE = "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(9))"


def queries(events: list[Event]) -> list[dict[str, object]]:
    """The status variables of the log's QUERY events."""
    return [dict(event.body.status_variables) for event in events if isinstance(event.body, Query)]


def scenario(**session: object) -> Scenario:
    return Scenario("x", session=Session(**session), tables=[TABLE])  # type: ignore[arg-type]


def test_a_setting_holds_until_the_session_ends() -> None:
    row = insert("d.t", {"v": "a"})
    changed = scenario().transaction(change_session(unique_checks=False)).transaction(row)
    first, second = compile_files(plan(changed.transaction(restart()).transaction(row)))
    assert queries(first)[-1]["flags2"] == 0x08000000
    assert queries(second)[-1]["flags2"] == 0


def test_a_setting_inside_a_transaction_is_not_that_of_statements_before() -> None:
    row = insert("d.t", {"v": "a"})
    changed = scenario(rows_query=True).transaction(row, change_session(rows_query=False), row)
    [events] = compile_files(plan(changed))
    assert sum(event.type_name == "ROWS_QUERY" for event in events) == 1
    script = replay_script(plan(changed)).splitlines()
    begin, end = script.index("START TRANSACTION;"), script.index("COMMIT;")
    assert script[begin + 2] == "SET SESSION binlog_rows_query_log_events = 0;"
    assert end == begin + 4


def test_domains_of_mariadb_count_for_themselves() -> None:
    row = insert("d.t", {"v": "a"})
    changed = Scenario("x", server="mariadb-11.8", tables=[TABLE]).transaction(row)
    changed = changed.transaction(change_session(gtid_domain_id=2, server_id=5)).transaction(row).transaction(row)
    [events] = compile_files(plan(changed.transaction(row, gtid="0-9-70")))
    bodies = [event.body for event in events]
    gtids = [(body.domain_id, body.sequence_number) for body in bodies if isinstance(body, MariadbGtid)]
    assert gtids == [(0, 1), (0, 2), (0, 3), (2, 1), (2, 2), (0, 70)]
    assert [event.server_id for event in events][-4:] == [9, 9, 9, 1]


@pytest.mark.parametrize(
    ("transaction", "sentence"),
    [
        ("- - set: {}", "f.yaml:5: `set` names no setting"),
        ("- - set: {row_imaage: full}", "f.yaml:5: unknown word 'row_imaage' in transactions[0][0].set"),
        ("- - set: {server_id: 5}", "f.yaml:5: a session of mysql-9.7 cannot change server_id"),
        ("- - set: {names: latin99}", "f.yaml:5: unknown character set 'latin99'"),
        ("- - set: {names: utf16}", "f.yaml:5: no client can send texts in utf16 (error 1231)"),
        ("- - set: {time_zone: Europe/Berlin}", "f.yaml:5: time zone 'Europe/Berlin' is not supported"),
        ("- - set: {time_zone: '+15:00'}", "f.yaml:5: mysql-9.7 has no time zone '+15:00'; expected -13:59 to +14:00"),
        ("- - set: {sql_mode: NOWHERE}", "f.yaml:5: there is no sql_mode 'NOWHERE'"),
        (
            "- - insert: {into: d.t, rows: [{v: a}]}\n    - set: {gtid_tag: blue}",
            "f.yaml:6: gtid_tag cannot change inside a transaction; expected `set` before it",
        ),
        (
            "- - set: {names: latin1}\n  - - insert: {into: d.t, rows: [{v: 用}]}",
            "f.yaml:6: character set latin1 cannot hold",
        ),
        (
            "- - set: {character_set_client: latin2}\n  - - ddl: ALTER TABLE d.t COMMENT 'Ð'",
            "f.yaml:6: character set latin2 cannot hold",
        ),
        ("- - set: {character_set_client: utf16}", "f.yaml:5: no client can send texts in utf16"),
        ("- - set: {character_set_connection: latin9}", "f.yaml:5: unknown character set 'latin9'"),
        (
            "- - set: {names: latin1}\n  - - ddl: DROP TABLE IF EXISTS d.ä",
            "f.yaml:6: a text beyond ASCII that the server writes anew",
        ),
        (
            "- - set: {names: gbk}\n  - - ddl: CREATE VIEW d.w AS SELECT '用' AS x",
            "f.yaml:6: a text beyond ASCII that the server writes anew",
        ),
        (
            "- - set: {names: gbk}\n  - - ddl: \"ALTER TABLE d.t ALTER v SET DEFAULT _utf8mb4'用'\"",
            "f.yaml:6: literals with a character set of their own",
        ),
        ("- {gtid: x, statements: [insert: {into: d.t, rows: [{v: a}]}]}", "f.yaml:5: 'x' is not a GTID"),
        (
            "- {gtid: 5, statements: [delete: {from: d.t}]}",
            "f.yaml:5: a transaction with a GTID of its own that is logged as 0 groups is not supported yet",
        ),
    ],
)
def test_what_no_server_takes(transaction: str, sentence: str) -> None:
    text = f"scenario: x\ntables: ['{TABLE}']\nsession: {{gtid: true}}\ntransactions:\n  {transaction}\n"
    with pytest.raises(ScenarioError) as caught:
        plan(base_scenario(text, file="f.yaml"))
    assert str(caught.value).startswith(sentence)


def test_a_gtid_that_was_executed_is_refused() -> None:
    row = insert("d.t", {"v": "a"})
    twice = scenario(gtid=True).transaction(row, gtid=7).transaction(row, gtid=7)
    with pytest.raises(ScenarioError, match=":7 was executed before"):
        compile_files(plan(twice))


def test_a_list_of_domains_has_the_order_that_the_facts_tell() -> None:
    row = insert("d.t", {"v": "a"})
    many = Scenario("x", server="mariadb-11.8", tables=[TABLE])
    for number in (5, 6, 7):
        many = many.transaction(row, gtid=f"{number}-1-1")
    _, later = compile_files(plan(many.transaction(flush_binary_logs())))
    [listed] = [event.body for event in later if isinstance(event.body, GtidList)]
    assert [gtid[0] for gtid in listed.gtids] == [0, 5, 6, 7]


def test_positions_as_before_are_for_servers_that_left_them_out() -> None:
    for line in ("mariadb-10.11", "mysql-9.7"):
        with pytest.raises(ScenarioError, match="writes all positions anyway"):
            plan(Scenario("x", server=line, tables=[TABLE], session=Session(binlog_legacy_event_pos=True)))


def texts(events: list[Event]) -> list[tuple[bytes, object]]:
    """The texts of QUERY and ROWS_QUERY in bytes, with the CHARSET of QUERY."""
    found = []
    for event in events:
        if isinstance(event.body, (Query, RowsQuery)):
            charset = dict(event.body.status_variables)["charset"] if isinstance(event.body, Query) else None
            found.append((to_bytes(event.body.query), charset))
    return found


def test_texts_are_the_bytes_that_the_client_sends() -> None:
    made = scenario(names="gbk", rows_query=True).ddl("ALTER TABLE d.t COMMENT '用户ID'")
    made = made.transaction(insert("d.t", {"v": "用户"})).transaction(change_session(names="latin1"))
    [events] = compile_files(plan(made.transaction(insert("d.t", {"v": "é"}))))
    found = texts(events)
    assert ("ALTER TABLE d.t COMMENT '用户ID'".encode("gbk"), (28, 28, 255)) in found
    assert [text for text, charset in found if charset is None] == [
        "INSERT INTO `d`.`t` (`v`) VALUES ('用户')".encode("gbk"),
        "INSERT INTO `d`.`t` (`v`) VALUES ('é')".encode("latin1"),
    ]
    assert found[-2][1] == (8, 8, 255)


@pytest.mark.parametrize(
    ("settings", "charset"),
    [
        ({"character_set_client": "gbk"}, (28, 255, 255)),
        ({"character_set_results": "gbk"}, (255, 255, 255)),
        ({"character_set_connection": "gbk"}, (255, 28, 255)),
        ({"character_set_server": "gbk"}, (255, 255, 28)),
        ({"names": "latin2", "character_set_client": "gbk"}, (28, 9, 255)),
        ({"names": "latin2", "collation_connection": "gbk_bin"}, (9, 87, 255)),
    ],
)
def test_each_character_set_of_a_session_is_a_setting(settings: dict[str, str], charset: tuple[int, ...]) -> None:
    row = insert("d.t", {"v": "a"})
    [events] = compile_files(plan(scenario(**settings).transaction(row)))
    assert queries(events)[-1]["charset"] == charset
    [events] = compile_files(plan(scenario().transaction(change_session(**settings)).transaction(row)))
    assert queries(events)[-1]["charset"] == charset
    reset = change_session(names="utf8mb4", collation_server=None, character_set_server=None)
    [events] = compile_files(plan(scenario(**settings).transaction(reset).transaction(row)))
    assert queries(events)[-1]["charset"] == (255, 255, 255)


def test_the_statements_of_a_replay_are_those_bytes() -> None:
    made = scenario(names="gbk").transaction(insert("d.t", {"v": "用户"}))
    assert "('用户')".encode("gbk") in to_bytes(replay_script(plan(made)))
