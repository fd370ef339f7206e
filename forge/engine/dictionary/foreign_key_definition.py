"""Foreign keys of a table's definition: what they refer to, and what keeps them from being declared or taken apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from forge.engine.dictionary.catalog import Catalog
from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.engines import INNODB
from forge.engine.dictionary.table_state import TableState
from forge.engine.dictionary.tables import plan_table
from forge.errors import UnsupportedError
from forge.plan.tables import ForeignKey, Key, KeyPart, Table
from forge.servers import ServerLine, server_line
from forge.sql.ast.definitions import ColumnDraft, ForeignKeyDraft, KeyDraft
from forge.sql.errors import SqlError
from forge.values.registry import facts_of


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


def declared_references(columns: Sequence[ColumnDraft], line: ServerLine) -> list[ForeignKeyDraft]:
    """REFERENCES on columns, which some lines read and forget."""
    return [reference for draft in columns for reference in draft.references if line.ddl.column_references]


def with_foreign_keys(
    definition: Definition, drafts: Sequence[ForeignKeyDraft], catalog: Catalog, current: str
) -> Definition:
    """The definition with more foreign keys, and the indexes that they need.

    Raises SqlError for what a server would refuse.
    """
    for draft in sorted(drafts, key=lambda draft: draft.offset):
        if definition.engine == INNODB:
            foreign = _resolved(definition, draft, catalog, current)
            definition = replace(definition, foreign_keys=(*definition.foreign_keys, foreign))
        # One is made for each, whatever is there; what it does not need goes.
        key = KeyDraft("index", draft.name or draft.index, draft.columns, draft.offset, generated=True)
        definition = replace(definition, keys=(*definition.keys, key))
    return _without_spare_keys(definition)


def _begins_with(key: KeyDraft, names: Sequence[str]) -> bool:
    parts = key.parts[: len(names)]
    whole = all(part.prefix is None and part.expression is None for part in parts)
    return whole and not key.special and [part.column.lower() for part in parts] == list(names)


def _without_spare_keys(definition: Definition) -> Definition:
    """Keys that the server made for foreign keys go where another serves as well (sql_table.cc).

    Of two that were made so the later one stays.
    """
    spare: set[int] = set()
    for place, key in enumerate(definition.keys):
        for before, other in enumerate(definition.keys[:place]):
            if before in spare or place in spare:
                continue
            if key.generated and _serves(other, key) and not (other.generated and _serves(key, other)):
                spare.add(place)
            elif other.generated and _serves(key, other):
                spare.add(before)
    return replace(definition, keys=tuple(key for place, key in enumerate(definition.keys) if place not in spare))


def _serves(key: KeyDraft, generated: KeyDraft) -> bool:
    return _begins_with(key, [part.column.lower() for part in generated.parts])


def _resolved(definition: Definition, draft: ForeignKeyDraft, catalog: Catalog, current: str) -> ForeignKey:
    columns = tuple(definition.index_of(part.column, part.offset) for part in draft.columns)
    # Without a database the parent is in the child's.
    database = catalog.kept_name(draft.parent.database or definition.database or current)
    name = draft.name
    if name is None and server_line(definition.server).ddl.index_names_constraint:
        name = draft.index
    if name is not None and any(other.name.lower() == name.lower() for other in definition.foreign_keys):
        raise SqlError(f"foreign key {name!r} is defined twice", draft.offset)
    foreign = ForeignKey(
        name=name or _generated_name(definition),
        columns=columns,
        parent=(database, catalog.kept_name(draft.parent.name)),
        parent_columns=draft.parent_columns,
        on_delete=draft.on_delete,
        on_update=draft.on_update,
    )
    own = foreign.parent == (definition.database, definition.name)
    parent = definition
    if not own:
        parent_state = catalog.tables.get(foreign.parent)
        if parent_state is None:
            if not catalog.foreign_key_checks:
                return foreign
            raise SqlError(f"there is no table {database}.{draft.parent.name}", draft.parent.offset)
        parent = parent_state.definition
    return checked_foreign_key(definition, foreign, parent, draft.offset)


def _generated_name(definition: Definition) -> str:
    pattern = re.compile(re.escape(definition.name) + r"_ibfk_(\d+)", re.IGNORECASE)
    used = [int(match[1]) for other in definition.foreign_keys if (match := pattern.fullmatch(other.name))]
    return f"{definition.name}_ibfk_{max(used, default=0) + 1}"


def checked_foreign_key(definition: Definition, foreign: ForeignKey, parent: Definition, offset: int) -> ForeignKey:
    """The foreign key with the parent's names of columns and key.  Raises SqlError where a server would refuse it."""
    referred = [parent.index_of(name, offset) for name in foreign.parent_columns]
    if not referred:
        primary = plan_table(parent, 0).primary_key
        referred = [part.column for part in primary.parts] if primary is not None else []
        if len(referred) != len(foreign.columns):
            raise SqlError(f"foreign key {foreign.name} names no columns of the parent", offset, expected="its columns")
    table = plan_table(parent, 0)
    for index, other in zip(foreign.columns, referred, strict=True):
        column, parent_column = definition.columns[index], parent.columns[other]
        if column.generated is not None or parent_column.generated is not None:
            raise UnsupportedError("foreign keys of generated columns are not supported yet")
        mine, its = column.type, parent_column.type
        same = mine.name == its.name or (facts_of(mine).is_text and facts_of(its).is_text)
        if not same or (mine.unsigned, mine.collation) != (its.unsigned, its.collation):
            problem = f"column {column.name!r} has another type than {parent_column.name!r} of {table.full_name}"
            raise SqlError(problem, offset, expected="the same type")
        if "set_null" in (foreign.on_delete, foreign.on_update) and not column.column.nullable:
            raise SqlError(f"column {column.name!r} is NOT NULL and cannot be set NULL", offset)
    key = _parent_key(table, referred, server_line(definition.server))
    if key is None:
        names = ", ".join(parent.columns[index].name for index in referred)
        raise SqlError(f"table {table.full_name} has no unique key on ({names})", offset)
    names_of = tuple(parent.columns[index].name for index in referred)
    return replace(foreign, parent_columns=names_of, parent_key=key.name)


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
                    foreign = checked_foreign_key(state.definition, foreign, parent, 0)
            followed.append(foreign)
        state.definition = replace(state.definition, foreign_keys=tuple(followed))
        state.table = replace(state.table, foreign_keys=tuple(followed))


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


def checked_again(definition: Definition, catalog: Catalog) -> Definition:
    """The foreign keys of a changed table, held against their parents.  Raises SqlError."""
    if not catalog.foreign_key_checks:
        return definition
    checked = []
    for foreign in definition.foreign_keys:
        own = foreign.parent == (definition.database, definition.name)
        parent = definition if own else catalog.tables[foreign.parent].definition
        checked.append(checked_foreign_key(definition, foreign, parent, 0))
    return replace(definition, foreign_keys=tuple(checked))


def check_keys_of(definition: Definition) -> None:
    """Every foreign key has an index on its columns.  Raises SqlError (1553)."""
    for foreign in definition.foreign_keys:
        names = [definition.columns[index].name.lower() for index in foreign.columns]
        if not any(_begins_with(key, names) for key in definition.keys):
            raise SqlError(f"foreign key {foreign.name} needs an index on ({', '.join(names)})", 0)
