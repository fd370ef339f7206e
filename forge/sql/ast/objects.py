"""Statements on objects that are no tables (views, triggers, sequences), and the upkeep of tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from forge.sql.ast.definitions import TableRef


@dataclass(frozen=True, slots=True)
class Definer:
    """An account in the text of a statement; ``account`` is None for the session's own."""

    account: tuple[str, str] | None = None


#: Text of a statement that is written anew: as it is, a definer, a name.
Piece = str | Definer | TableRef


@dataclass(frozen=True, slots=True)
class ObjectStatement:
    """CREATE, ALTER or DROP of a view or a trigger; ``pieces`` are what is logged, none: the text as it was sent.

    ``exists``: IF [NOT] EXISTS; ``table`` is the trigger's.
    """

    kind: Literal["view", "trigger"]
    verb: Literal["create", "alter", "drop"]
    names: tuple[TableRef, ...]
    pieces: tuple[Piece, ...] = ()
    offset: int = 0
    exists: bool = False
    replaces: bool = False
    table: TableRef | None = None
    invoker: bool = False
    #: The SELECT of a view, and the names that it lists for its columns.
    body: str = ""
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SequenceStatement:
    """CREATE, ALTER or DROP SEQUENCE of MariaDB.  ``exists``: IF [NOT] EXISTS."""

    verb: Literal["create", "alter", "drop"]
    names: tuple[TableRef, ...]
    exists: bool = False
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Upkeep:
    """ANALYZE, OPTIMIZE (``remakes``), REPAIR and CHECK TABLE, FLUSH of what is no log.

    ``local``: the statement is kept out of the log; ``zone``: it reads the time in the session's zone.
    """

    names: tuple[TableRef, ...] = ()
    offset: int = 0
    remakes: bool = False
    repairs: bool = False
    local: bool = False
    zone: bool = False
