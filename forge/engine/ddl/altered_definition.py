"""The definition that a table has after the actions of ALTER TABLE."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from forge.engine.ddl.alter_rows import altered_table
from forge.engine.ddl.alteration import Alteration
from forge.engine.ddl.context import DdlContext
from forge.engine.dictionary.catalog import TableName
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.foreign_key_definition import renamed_constraints, with_foreign_keys
from forge.engine.dictionary.key_definition import kept_prefix
from forge.engine.dictionary.system_columns import with_periods
from forge.engine.dictionary.table_state import TableState
from forge.sql.ast.definitions import KeyDraft, PeriodDraft
from forge.sql.errors import SqlError


def finish_alteration(alteration: Alteration, name: TableName, context: DdlContext) -> TableState:
    """The table after the statement, with its rows converted.  Raises SqlError and ScenarioError."""
    _put_columns(alteration)
    if not alteration.slots:
        raise SqlError("no column is left", 0, expected="at least one; DROP TABLE removes a table")
    columns = tuple(slot.column for slot in alteration.slots)
    keys = (*(_fitting(key, columns, alteration.engine) for key in alteration.keys), *alteration.new_keys)
    checks = tuple(alteration.checks)
    definition = Definition(*name, columns, keys, alteration.collation, alteration.server, checks, alteration.engine)
    definition = replace(
        definition,
        partitions=alteration.partitions,
        temporary=alteration.state.definition.temporary,
        periods=_renamed_periods(alteration),
        versioned=alteration.versioned,
    )
    definition = with_periods(definition.with_not_null_keys().with_checks(alteration.new_checks))
    definition = _with_foreign_keys(alteration, definition, context)
    return altered_table(alteration, definition, context.catalog.next_version(name), context.time)


def _renamed_periods(alteration: Alteration) -> tuple[PeriodDraft, ...]:
    names = alteration.renamed_columns()
    return tuple(
        replace(
            period,
            start=names.get(period.start.lower(), period.start),
            end=names.get(period.end.lower(), period.end),
        )
        for period in alteration.periods
    )


def _fitting(key: KeyDraft, columns: Iterable[ColumnDefinition], engine: str) -> KeyDraft:
    """A key that stays, with prefixes only where its columns are longer still and of types that take them (recorded on
    9.7 and 10.11).
    """
    if key.special:
        return key
    if key.kind == "unique" and key.using == "HASH" and engine != "MEMORY":
        key = replace(key, using="")  # Of a key that fits, MariaDB forgets the hash (recorded on 10.11 and 11.8).
    by_name = {column.name.lower(): column for column in columns}
    parts = tuple(
        replace(part, prefix=kept_prefix(by_name[part.column.lower()], part.prefix))
        if part.column.lower() in by_name
        else part
        for part in key.parts
    )
    return replace(key, parts=parts)


def _with_foreign_keys(alteration: Alteration, definition: Definition, context: DdlContext) -> Definition:
    """The definition with the foreign keys that stay, and those that come."""
    places = {slot.source: place for place, slot in enumerate(alteration.slots)}
    own, old = (definition.database, definition.name), (alteration.state.table.database, alteration.state.table.name)
    kept = []
    for foreign in alteration.foreign_keys:
        foreign = replace(foreign, columns=tuple(places[index] for index in foreign.columns))
        if foreign.parent == old:
            names = alteration.renamed_columns()
            columns = tuple(names.get(name.lower(), name) for name in foreign.parent_columns)
            foreign = replace(foreign, parent=own, parent_columns=columns)
        kept.append(foreign)
    definition = renamed_constraints(replace(definition, foreign_keys=tuple(kept)), old[1])
    return with_foreign_keys(definition, alteration.new_foreign_keys, context.catalog, context.current_database)


def _put_columns(alteration: Alteration) -> None:
    """FIRST and AFTER find the columns by the names that they have in the end (mysql_prepare_alter_table)."""
    for slot, place in alteration.placed:
        if place is None:
            alteration.slots.append(slot)
        else:
            index = _first(alteration) if place.after is None else alteration.index_of(place.after, place.offset) + 1
            alteration.slots.insert(index, slot)


def _first(alteration: Alteration) -> int:
    """FIRST is behind a generated invisible primary key (recorded, whatever the session's setting)."""
    slot = alteration.slots[0] if alteration.slots else None
    return int(alteration.state.table.has_generated_key and slot is not None and slot.source == 0)
