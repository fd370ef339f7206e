"""Foreign keys of a table's definition: what they refer to, and how they follow a table that changes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from forge.engine.dictionary.catalog import Catalog
from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.engines import INNODB
from forge.engine.dictionary.system_columns import with_periods
from forge.engine.dictionary.table_state import TableState
from forge.engine.dictionary.tables import plan_table
from forge.plan.tables import ForeignKey, Key, KeyPart, Table
from forge.servers import ServerLine, server_line
from forge.sql.ast.definitions import CheckDraft, ColumnDraft, ForeignKeyDraft, KeyDraft, PeriodDraft, TablePart
from forge.sql.errors import SqlError


def children_of(catalog: Catalog, table: Table) -> list[tuple[TableState, ForeignKey]]:
    """The tables that refer to a table, with their foreign keys, in the order in which they were made."""
    name = (table.database, table.name)
    if table.temporary:
        return []
    return [
        (state, foreign)
        for state in catalog.tables.values()
        for foreign in state.table.foreign_keys
        if foreign.parent == name
    ]


def own_parts(draft: ColumnDraft, line: ServerLine) -> Iterator[TablePart]:
    """The keys and constraints that a column's definition makes; REFERENCES some lines read and forget."""
    yield from draft.own_keys()
    yield from draft.checks
    yield from draft.references if line.ddl.column_references else ()


def with_parts(definition: Definition, parts: Sequence[TablePart], catalog: Catalog, current: str) -> Definition:
    """The definition with more keys, constraints and periods, what they make of its columns, and the indexes that
    foreign keys need.

    Raises SqlError for tables, columns and keys that are not there.
    """
    keys = [part for part in parts if isinstance(part, KeyDraft)]
    periods = [part for part in parts if isinstance(part, PeriodDraft)]
    checks = [part for part in parts if isinstance(part, CheckDraft)]
    definition = replace(definition, keys=(*definition.keys, *keys), periods=(*definition.periods, *periods))
    definition = with_periods(definition.with_not_null_keys())
    definition = definition.with_checks(sorted(checks, key=lambda check: check.offset))
    references = [part for part in parts if isinstance(part, ForeignKeyDraft)]
    for draft in sorted(references, key=lambda draft: draft.offset):
        if definition.engine == INNODB:
            foreign = _resolved(definition, draft, catalog, current)
            definition = replace(definition, foreign_keys=(*definition.foreign_keys, foreign))
        if not any(_serves(key, draft) for key in definition.keys):
            key = KeyDraft("index", draft.name or draft.index, draft.columns, draft.offset)
            definition = replace(definition, keys=(*definition.keys, key))
    return definition


def _serves(key: KeyDraft, draft: ForeignKeyDraft) -> bool:
    """Whether the key begins with the columns of the foreign key."""
    parts = key.parts[: len(draft.columns)]
    whole = all(part.prefix is None and part.expression is None for part in parts)
    names = [part.column.lower() for part in draft.columns]
    return whole and not key.special and [part.column.lower() for part in parts] == names


def _resolved(definition: Definition, draft: ForeignKeyDraft, catalog: Catalog, current: str) -> ForeignKey:
    columns = tuple(definition.index_of(part.column, part.offset) for part in draft.columns)
    # Without a database the parent is in the child's.
    database = catalog.kept_name(draft.parent.database or definition.database or current)
    name = draft.name
    if name is None and server_line(definition.server).ddl.index_names_constraint:
        name = draft.index
    foreign = ForeignKey(
        name=name or _generated_name(definition),
        columns=columns,
        parent=(database, catalog.kept_name(draft.parent.name)),
        parent_columns=draft.parent_columns,
        on_delete=draft.on_delete,
        on_update=draft.on_update,
    )
    if foreign.parent == (definition.database, definition.name):
        return resolved_foreign_key(definition, foreign, definition, draft.offset)
    parent = catalog.tables.get(foreign.parent)
    if parent is not None:
        return resolved_foreign_key(definition, foreign, parent.definition, draft.offset)
    if catalog.foreign_key_checks:
        raise SqlError(f"there is no table {database}.{draft.parent.name}", draft.parent.offset)
    return foreign


def _generated_name(definition: Definition) -> str:
    pattern = re.compile(re.escape(definition.name) + r"_ibfk_(\d+)", re.IGNORECASE)
    used = [int(match[1]) for other in definition.foreign_keys if (match := pattern.fullmatch(other.name))]
    return f"{definition.name}_ibfk_{max(used, default=0) + 1}"


def resolved_foreign_key(definition: Definition, foreign: ForeignKey, parent: Definition, offset: int) -> ForeignKey:
    """The foreign key with the parent's names of columns and key.  Raises SqlError for what the parent lacks."""
    table = plan_table(parent, 0)
    referred = [parent.index_of(name, offset) for name in foreign.parent_columns]
    if not referred and table.primary_key is not None:
        referred = [part.column for part in table.primary_key.parts]
    if len(referred) != len(foreign.columns):
        raise SqlError(f"foreign key {foreign.name} names other columns of the parent", offset, expected="as many")
    key = _parent_key(table, referred, server_line(definition.server))
    names = tuple(parent.columns[index].name for index in referred)
    if key is None:
        raise SqlError(f"table {table.full_name} has no unique key on ({', '.join(names)})", offset)
    return replace(foreign, parent_columns=names, parent_key=key.name)


def _parent_key(table: Table, referred: Sequence[int], line: ServerLine) -> Key | None:
    """The key of the parent that is referred to; some lines take every index that begins with the columns."""
    wanted = tuple(KeyPart(index) for index in referred)
    exact = next((key for key in table.keys if key.kind != "index" and key.parts == wanted), None)
    if exact is not None or line.ddl.foreign_keys_to_unique:
        return exact
    return next((key for key in table.keys if key.parts[: len(wanted)] == wanted), None)


def follow_parent(catalog: Catalog, before: Definition, after: Definition, renamed: Mapping[str, str]) -> None:
    """Tables that refer to an altered or renamed table refer to its new names.

    ``renamed`` are columns, old name in lower case to new.  Raises SqlError where a child forbids the change.
    """
    old, new = (before.database, before.name), (after.database, after.name)
    for state in catalog.tables.values():
        if not any(foreign.parent == old for foreign in state.definition.foreign_keys):
            continue
        followed = []
        for foreign in state.definition.foreign_keys:
            if foreign.parent == old:
                columns = tuple(renamed.get(name.lower(), name) for name in foreign.parent_columns)
                foreign = replace(foreign, parent=new, parent_columns=columns)
                if catalog.foreign_key_checks:
                    parent = state.definition if new == (state.table.database, state.table.name) else after
                    foreign = resolved_foreign_key(state.definition, foreign, parent, 0)
            followed.append(foreign)
        state.definition = replace(state.definition, foreign_keys=tuple(followed))
        state.table = dataclasses.replace(state.table, foreign_keys=tuple(followed))


def renamed_constraints(definition: Definition, old_name: str) -> Definition:
    """The definition of a renamed table: the names that servers gave its foreign keys follow it."""
    prefix = f"{old_name}_ibfk_"
    renamed = []
    for foreign in definition.foreign_keys:
        number = foreign.name[len(prefix) :]
        if foreign.name.lower().startswith(prefix.lower()) and number.isdigit():
            foreign = replace(foreign, name=f"{definition.name}_ibfk_{number}")
        renamed.append(foreign)
    return replace(definition, foreign_keys=tuple(renamed))
