"""Statements in Python: ``insert("shop.orders", {"who": "Ann"})``."""

from __future__ import annotations

from typing import Any

from forge.engine.requests.cells import Cell
from forge.engine.requests.rows import Delete, Insert, LoadData, Replace, Update, Where
from forge.engine.requests.settings import SessionChange
from forge.engine.requests.statements import Logged, PlacedEvent, Statement
from forge.plan.transactions import EventPlace


def insert(
    into: str,
    *rows: dict[str, Cell],
    query: str | None = None,
    ignore: bool = False,
    on_duplicate_key_update: dict[str, Cell] | None = None,
) -> Statement:
    """INSERT of the given rows: ``insert("shop.orders", {"who": "Ann"}, {"who": {"faker": "name"}})``."""
    new = Insert(into=into, rows=list(rows), ignore=ignore, on_duplicate_key_update=on_duplicate_key_update)
    return Statement(insert=new, query=query)


def replace(into: str, *rows: dict[str, Cell], query: str | None = None) -> Statement:
    """REPLACE of the given rows: ``replace("shop.orders", {"id": 1, "who": "Ann"})``."""
    return Statement(replace=Replace(into=into, rows=list(rows)), query=query)


def insert_many(into: str, count: int, row: dict[str, Cell]) -> Statement:
    """INSERT of ``count`` generated rows: ``insert_many("shop.orders", 50, {"who": {"faker": "name"}})``."""
    return Statement(insert=Insert(into=into, count=count, row=row))


def load_data(into: str, rows: list[list[Cell]] | None = None, **how: Any) -> Statement:
    """LOAD DATA of a file with these rows: ``load_data("shop.orders", [["Ann", 2]], columns=["who", "qty"])``."""
    return Statement(load_data=LoadData(into=into, rows=rows, **how))


def update(
    table: str,
    *,
    set: dict[str, Cell],
    where: Where | None = None,
    for_portion_of: dict[str, list[Any]] | None = None,
    query: str | None = None,
) -> Statement:
    """UPDATE: ``update("shop.orders", where={"id": 1}, set={"qty": 3})``."""
    return Statement(update=Update(table=table, set=set, where=where, for_portion_of=for_portion_of), query=query)


def delete(
    table: str,
    *,
    where: Where | None = None,
    for_portion_of: dict[str, list[Any]] | None = None,
    query: str | None = None,
) -> Statement:
    """DELETE: ``delete("shop.orders", where={"id": [1, 2]})``."""
    return Statement(delete=Delete(table=table, where=where, for_portion_of=for_portion_of), query=query)


def ddl(text: str) -> Statement:
    """A data definition statement."""
    return Statement(ddl=text)


def logged(text: str, *, sent: str | None = None, status: dict[str, Any] | None = None, **form: Any) -> Statement:
    """A statement as the server logs it, for those that ``ddl`` does not take (accounts, routines, events)."""
    return Statement(logged=Logged(text=text, sent=sent, status=status or {}, **form))


def flush_binary_logs() -> Statement:
    """FLUSH BINARY LOGS: the log continues in the next file."""
    return Statement(flush="binary_logs")


def restart(*, crash: bool = False) -> Statement:
    """A restart: the server is shut down, or killed, and started again."""
    return Statement(restart="crash" if crash else "clean")


def savepoint(name: str) -> Statement:
    """SAVEPOINT."""
    return Statement(savepoint=name)


def rollback_to(name: str) -> Statement:
    """ROLLBACK TO SAVEPOINT."""
    return Statement(rollback_to=name)


def release_savepoint(name: str) -> Statement:
    """RELEASE SAVEPOINT."""
    return Statement(release_savepoint=name)


def event(
    type: str | int,
    *,
    text: str | None = None,
    hex: str | None = None,
    ignorable: bool | None = None,
    place: EventPlace = "here",
    post_header_length: int | None = None,
) -> Statement:
    """An event that no statement logs: ``event(200, hex="00ff", ignorable=True)``."""
    placed = PlacedEvent(
        type=type, text=text, hex=hex, ignorable=ignorable, place=place, post_header_length=post_header_length
    )
    return Statement(event=placed)


def change_session(**settings: Any) -> Statement:
    """SET: ``change_session(row_image="minimal")``; None is the server's default."""
    return Statement(set=SessionChange(**settings))
