"""Statements on views, triggers and sequences, and the upkeep of tables, as their text says them.

``offset`` is the place in the statement's text, for errors; ``exists`` is IF [NOT] EXISTS.  A ``definer`` is an
account, (user, host), or None for the session's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from forge.sql.ast.definitions import TableRef

RowEvent = Literal["insert", "update", "delete"]
Account = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ViewStatement:
    """CREATE and ALTER VIEW: ``columns`` are the names that it lists, ``body`` is the SELECT as servers log it."""

    verb: Literal["create", "alter"]
    name: TableRef
    columns: tuple[str, ...]
    body: str
    algorithm: str = "UNDEFINED"
    definer: Account | None = None
    security: str = "DEFINER"
    exists: bool = False
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class CreateTrigger:
    """CREATE TRIGGER: ``text`` is the statement from the word TRIGGER on, ``body`` what runs for each row."""

    name: TableRef
    timing: Literal["before", "after"]
    event: RowEvent
    table: TableRef
    body: str
    text: str
    offset: int
    definer: Account | None = None
    exists: bool = False


@dataclass(frozen=True, slots=True)
class DropObjects:
    """DROP VIEW, DROP TRIGGER, and MariaDB's DROP SEQUENCE."""

    kind: Literal["view", "trigger", "sequence"]
    names: tuple[TableRef, ...]
    exists: bool = False


@dataclass(frozen=True, slots=True)
class SequenceStatement:
    """CREATE and ALTER SEQUENCE of MariaDB; its options leave no trace but the text."""

    verb: Literal["create", "alter"]
    name: TableRef
    exists: bool = False
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Upkeep:
    """ANALYZE, OPTIMIZE (``remakes``), REPAIR and CHECK TABLE, FLUSH of what is no log.

    ``local``: the statement is kept out of the log; ``flushes``: FLUSH.
    """

    names: tuple[TableRef, ...] = ()
    offset: int = 0
    remakes: bool = False
    local: bool = False
    flushes: bool = False


ObjectDdl = ViewStatement | CreateTrigger | DropObjects | SequenceStatement | Upkeep
