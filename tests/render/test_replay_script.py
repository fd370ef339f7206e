"""A plan becomes SQL: the statements' own texts, in order, with what the session needs around them."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from forge.plan.changes import RowChange
from forge.plan.definitions import DatabaseCreation, DefinitionText
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.statement_text import StatementText
from forge.plan.statements import RowsStatement, SessionContext
from forge.plan.tables import Table, TableColumn
from forge.plan.transactions import Transaction
from forge.render.sql import replay_script
from forge.values.declaration.sqltype import SqlType

INT = TableColumn("id", SqlType("INT"))
TIMED = TableColumn("at", SqlType("DATETIME"), default_now=True)
PLAIN = Table("a", "plain", (INT,))
LOG = Table("b", "log", (INT, TIMED))


def insert(table: Table, sql: str) -> RowsStatement:
    return RowsStatement("insert", table, (RowChange(None, (1,)),), StatementText(sql))


def script(*groups: Any, **session: Any) -> list[str]:
    text = replay_script(Plan("a name\nof two lines", "mysql-9.7", Session(**session), groups))
    return [line for line in text.splitlines() if line and not line.startswith("--")]


def test_settings_come_before_statements() -> None:
    lines = script(row_image="minimal", rows_query=True, foreign_key_checks=False, unique_checks=False)
    assert lines == [
        "SET NAMES utf8mb4;",
        "SET SESSION time_zone = '+00:00';",
        "SET SESSION binlog_row_image = MINIMAL;",
        "SET SESSION binlog_rows_query_log_events = 1;",
        "SET SESSION foreign_key_checks = 0;",
        "SET SESSION unique_checks = 0;",
    ]


def test_the_database_is_changed_when_it_changes() -> None:
    transaction = Transaction((insert(PLAIN, "INSERT 1"),), "a")
    other = Transaction((insert(PLAIN, "INSERT 2"),), "b`c")
    lines = script(DatabaseCreation(DefinitionText("CREATE DATABASE a", "a")), transaction, transaction, other)
    assert lines[4:] == ["CREATE DATABASE a;", "USE `a`;", "INSERT 1;", "INSERT 1;", "USE `b``c`;", "INSERT 2;"]


def test_explicit_transactions_have_begin_and_commit() -> None:
    lines = script(Transaction((insert(PLAIN, "INSERT 1"),), "", explicit=True))
    assert lines[4:] == ["START TRANSACTION;", "INSERT 1;", "COMMIT;"]


def test_a_session_time_is_set_once() -> None:
    lines = script(Transaction((insert(LOG, "INSERT 1"),), ""), timestamp="2023-11-14 22:13:20.5")
    assert lines[4:] == ["SET timestamp = 1700000000.500000;", "INSERT 1;"]


def test_only_a_statement_that_may_store_the_time_gets_one() -> None:
    statements = (insert(PLAIN, "INSERT 1"), insert(LOG, "INSERT 2"))
    timed = tuple(replace(statement, context=SessionContext(time=(1704067201, 0))) for statement in statements)
    lines = script(Transaction(timed, "", explicit=True))
    assert lines[4:] == [
        "START TRANSACTION;",
        "INSERT 1;",
        "SET timestamp = 1704067201.000000;",
        "INSERT 2;",
        "SET timestamp = DEFAULT;",
        "COMMIT;",
    ]


def test_a_closing_comment_does_not_swallow_the_semicolon() -> None:
    assert script(Transaction((insert(PLAIN, "INSERT 1 -- one"),), ""))[4:] == ["INSERT 1 -- one", ";"]


def test_the_text_of_one_statement_is_logged_or_not() -> None:
    statement = replace(insert(PLAIN, "INSERT 1"), context=SessionContext(rows_query=True))
    lines = script(Transaction((statement, insert(PLAIN, "INSERT 2")), "", explicit=True))
    assert lines[4:] == [
        "START TRANSACTION;",
        "SET SESSION binlog_rows_query_log_events = 1;",
        "INSERT 1;",
        "SET SESSION binlog_rows_query_log_events = 0;",
        "INSERT 2;",
        "COMMIT;",
    ]
