"""Views, triggers and the upkeep of tables: what their statements are logged as.

Servers write most of these statements anew, with the definer and names that they stand for (recorded on 9.7; of
MariaDB views and triggers, on servers without grant tables).  What the objects do is not followed: the rows that a
trigger changes are declared with the statement that fires it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from forge.engine.dictionary.triggers import trigger_of
from forge.engine.dictionary.view_columns import moments_of
from forge.plan.definitions import DdlStatement
from forge.plan.engines import is_defined_atomically
from forge.servers import ServerLine, server_line
from forge.sql.ast.definitions import TableRef
from forge.sql.errors import SqlError, SqlUnsupported
from forge.sql.write.identifiers import identifier, qualified

if TYPE_CHECKING:
    from forge.engine.dictionary.catalog import Catalog

ObjectKind = Literal["view", "trigger", "upkeep", "sequence"]
ObjectName = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Definer:
    """An account in the text of a statement; ``account`` is None for the session's own."""

    account: tuple[str, str] | None = None


#: Text of a statement that is written anew: as it is, a definer, a name.
Piece = str | Definer | TableRef


@dataclass(frozen=True, slots=True)
class ObjectStatement:
    """A statement on objects; ``pieces`` are what is logged, none: the text as it was sent.

    ``exists``: IF [NOT] EXISTS; ``table`` is the trigger's; ``zone`` and ``fraction``: it reads the time so.
    """

    kind: ObjectKind
    verb: Literal["create", "alter", "drop", "other"]
    names: tuple[TableRef, ...] = ()
    pieces: tuple[Piece, ...] = ()
    offset: int = 0
    exists: bool = False
    replaces: bool = False
    table: TableRef | None = None
    zone: bool = False
    fraction: bool = False
    invoker: bool = False
    #: The SELECT of a view, and the names that it lists for its columns.
    body: str = ""
    columns: tuple[str, ...] = ()
    #: OPTIMIZE TABLE makes the tables anew; LOCAL keeps a statement out of the log.
    remakes: bool = False
    repairs: bool = False
    local: bool = False


def apply_object(catalog: Catalog, statement: ObjectStatement, sql: str, current: str) -> DdlStatement:
    """Run the statement.  Raises SqlError for what a server would refuse, SqlUnsupported for what is not made yet."""
    line = server_line(catalog.server)
    done = DdlStatement(
        kind="other",
        sql="".join(_piece(piece, current, line) for piece in statement.pieces) or sql,
        current_database=current,
        invoker=statement.invoker,
        zone=statement.zone,
        fraction=statement.fraction,
        replayed=sql,
    )
    if statement.kind == "sequence":
        return done
    if statement.kind == "upkeep":
        return _upkeep(catalog, statement, done, current)
    return _object(catalog, statement, done, current)


def _object(catalog: Catalog, statement: ObjectStatement, done: DdlStatement, current: str) -> DdlStatement:
    names = [(statement.kind, catalog.database_of(ref, current), ref.name) for ref in statement.names]
    known = [_exists(catalog, name) for name in names]
    done = replace(done, databases=tuple(dict.fromkeys(name[1] for name in names)), atomic=True)
    if re.search(r"\b(?:RAND|FROM_UNIXTIME)\s*\(", statement.body, re.IGNORECASE) and _is_mariadb(catalog):
        # It logs the seeds before the view, 10.11 the time zone with it.
        raise SqlUnsupported("views of MariaDB with RAND or FROM_UNIXTIME are not supported yet", statement.offset)
    if statement.body and not _is_mariadb(catalog):
        ref = statement.names[0]
        moments = moments_of(catalog, statement.body, current, statement.columns, ref.offset)
        catalog.view_moments[names[0][1:]] = moments
        done = replace(done, zone=bool(moments))
    if statement.verb == "create":
        return _create(catalog, statement, names[0], done, current)
    for ref, found in zip(statement.names, known, strict=True):
        if not found and not statement.exists:
            raise SqlError(f"there is no {statement.kind} {ref.name!r}", ref.offset)
    if statement.verb == "alter":
        return done
    for name in names:
        catalog.objects.pop(name, None)
    if not any(known):
        return replace(done, databases=(), no_effect=True)
    return done


def _create(
    catalog: Catalog, statement: ObjectStatement, name: ObjectName, done: DdlStatement, current: str
) -> DdlStatement:
    ref = statement.names[0]
    if statement.kind == "view" and name[1:] in catalog.tables:
        raise SqlError(f"{name[1]}.{name[2]} is a table", ref.offset, expected="another name")
    done = replace(done, fraction=statement.kind == "trigger")
    table = None
    if statement.table is not None:
        table = (catalog.database_of(statement.table, name[1]), statement.table.name)
        if table not in catalog.tables:
            raise SqlError(f"there is no table {'.'.join(table)}", statement.table.offset)
    if _exists(catalog, name):
        if statement.exists:
            return replace(done, no_effect=True)
        if not statement.replaces:
            raise SqlError(f"{statement.kind} {ref.name!r} exists already", ref.offset)
    catalog.objects[name] = table
    trigger = trigger_of(done.replayed or done.sql, table) if table is not None else None
    if trigger is not None:
        catalog.triggers[name] = trigger
    return done


def _is_mariadb(catalog: Catalog) -> bool:
    return server_line(catalog.server).family == "mariadb"


def _exists(catalog: Catalog, name: ObjectName) -> bool:
    """A trigger goes with its table."""
    if name not in catalog.objects:
        return False
    table = catalog.objects[name]
    return table is None or table in catalog.tables


def _upkeep(catalog: Catalog, statement: ObjectStatement, done: DdlStatement, current: str) -> DdlStatement:
    """ANALYZE, OPTIMIZE, REPAIR, FLUSH."""
    names = [(catalog.database_of(ref, current), ref.name) for ref in statement.names]
    # What is not there, or a view, is the concern of the statement's answer (recorded).
    states = [state for state in map(catalog.find, names) if state is not None]
    done = replace(done, touches_temporary=any(state.table.temporary for state in states))
    if statement.local:
        return replace(done, unlogged=True)
    if done.touches_temporary and statement.remakes:
        raise SqlUnsupported("OPTIMIZE TABLE of temporary tables is not supported yet", statement.offset)
    if statement.repairs and server_line(catalog.server).repair_remakes:
        tables = (state.table for state in states if state.table.partition is None)
        repaired = tuple(table for table in tables if is_defined_atomically(table))
        return replace(done, tables=repaired, method="metadata", asks_engine=False)
    remade = tuple(state.table for state in states if statement.remakes and is_defined_atomically(state.table))
    if not remade:
        return done
    databases = tuple(dict.fromkeys(table.database for table in remade))
    return replace(done, databases=databases, tables=remade, method="in_place")


def _piece(piece: Piece, current: str, line: ServerLine) -> str:
    if isinstance(piece, str):
        return piece
    if isinstance(piece, Definer):
        user, host = piece.account or line.session_user
        return identifier(user) + (f"@{identifier(host)}" if host or user else "")
    return qualified(piece.database or current, piece.name, current)


def forget_database(objects: dict[ObjectName, tuple[str, str] | None], database: str) -> None:
    """DROP DATABASE takes everything inside it."""
    for name in [name for name in objects if name[1] == database]:
        del objects[name]
