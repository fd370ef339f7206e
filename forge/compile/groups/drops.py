"""Which statements of the log one DROP TABLE or DROP DATABASE becomes (recorded on 9.7, 10.11 and 11.8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from forge.plan.definitions import DdlStatement
from forge.servers import ServerLine


def parts_of_drop(statement: DdlStatement, line: ServerLine) -> Iterator[DdlStatement]:
    """What DROP TABLE is logged as: temporary tables by themselves, those that no rollback reaches first (recorded)."""
    if not statement.dropped_temporary:
        yield from drops_by_engine(statement, line)
        return
    base = replace(statement, dropped_temporary=())
    parts: list[DdlStatement] = []
    databases = list(statement.databases)
    for transactional in (False, True):
        names = tuple(one.name for one in statement.dropped_temporary if one.transactional == transactional)
        databases = list(dict.fromkeys([*databases, *(name[0] for name in names)]))
        part = replace(base, temporary=True, dropped=names, named=names, missing=(), no_effect=True)
        part = replace(part, irrevocable=() if transactional else names)
        parts += [replace(part, databases=tuple(databases))] if names else []
    kept = bool(base.dropped or base.missing)
    if line.ddl.drops_temporary_first:
        yield from parts
        yield from drops_by_engine(base, line) if kept else ()
    else:
        yield from drops_by_engine(base, line) if kept else ()
        yield from parts


def drops_by_engine(statement: DdlStatement, line: ServerLine) -> Iterator[DdlStatement]:
    """Tables of engines without transactions are dropped one by one, ahead of the statement, on MySQL (recorded)."""
    if not line.ddl.splits_drops or not statement.irrevocable or statement.kind not in ("drop_table", "drop_database"):
        yield statement
        return
    databases: list[str] = []
    for name in statement.irrevocable:
        databases += [] if name[0] in databases else [name[0]]
        one = replace(statement, kind="drop_table", dropped=(name,), irrevocable=(name,), missing=())
        one = replace(one, databases=tuple(databases))
        # DROP DATABASE drops them from inside the database, whether they still exist or not.
        inside = statement.kind == "drop_database"
        yield replace(one, current_database=name[0], if_exists=True) if inside else one
    kept = tuple(name for name in statement.dropped if name not in statement.irrevocable)
    if statement.kind == "drop_database" or kept or statement.missing:
        yield replace(statement, dropped=kept, irrevocable=())
