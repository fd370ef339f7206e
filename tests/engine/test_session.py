"""A session by itself: requests in, groups of the plan out, without a scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from forge.engine.requests.cells import ColumnPlace, GeneratedColumn
from forge.engine.requests.rows import Insert
from forge.engine.requests.statements import Statement
from forge.engine.requests.transactions import Transaction
from forge.engine.session.session import Session
from forge.errors import ScenarioError
from forge.plan.session import Session as Settings
from forge.sql.parse.statements import parse_ddl

pytestmark = pytest.mark.unit


class Step:
    """A place of its own making: the parts of a request that its errors belong to."""

    line = 7

    def __init__(self, *steps: str | int) -> None:
        self.steps = steps

    @contextmanager
    def at(self, *steps: str | int) -> Iterator[None]:
        try:
            yield
        except ScenarioError as error:
            raise error.at("/".join(map(str, (*self.steps, *steps))), self.line) from None

    @contextmanager
    def sql(self, text: str, *steps: str | int) -> Iterator[None]:
        with self.at(*steps):
            yield

    def inside(self, *steps: str | int) -> Step:
        return Step(*self.steps, *steps)


def place_of(cell: Mapping[str, Any], place: ColumnPlace) -> GeneratedColumn:
    """A generator that gives the place of its cell."""
    return GeneratedColumn(lambda row: f"{place.table} {place.column} {row}")


def session() -> Session:
    session = Session(Settings(), "mysql-9.7", place_of)
    session.home = "d"
    for sql in ("CREATE DATABASE d", "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))"):
        session.define(parse_ddl(sql), sql, None)
    return session


def run(session: Session, *statements: Statement) -> None:
    session.run(Transaction(statements=list(statements)), Step("x"), [Step("x", n) for n in range(len(statements))])


def inserted(*rows: dict[str, Any] | list[Any]) -> Statement:
    return Statement(insert=Insert(into="t", rows=list(rows)))


def test_cells_are_generated_by_what_the_session_is_given() -> None:
    client = session()
    run(client, inserted({"id": 1, "v": {"place": None}}), inserted({"id": 2, "v": {"place": None}}))
    assert list(client.catalog.tables["d", "t"].rows.values()) == [(1, "d.t v 0"), (2, "d.t v 1")]


def test_every_request_that_is_logged_is_a_group_of_the_journal() -> None:
    client = session()
    run(client, inserted({"id": 1}))
    run(client, Statement(flush="binary_logs"))
    run(client, Statement(ddl="DROP TABLE t"))
    assert (len(client.journal.groups), client.journal.logged) == (4, 4)
    assert [step.after for step in client.journal.file_steps] == [3]


def test_an_error_belongs_to_the_part_of_the_request_that_is_wrong() -> None:
    with pytest.raises(ScenarioError) as error:
        run(session(), inserted({"id": 1}), inserted({"id": 1}))
    assert (error.value.file, error.value.line) == ("x/1/insert/rows/0", 7)


def test_the_current_database_goes_with_it() -> None:
    client = session()
    run(client, Statement(ddl="DROP DATABASE d"))
    assert client.client.database == ""
