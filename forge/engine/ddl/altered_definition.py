"""The definition that a table has after the actions of ALTER TABLE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from forge.engine.ddl.alteration import Alteration
from forge.engine.dictionary.catalog import TableName
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.foreign_key_definition import renamed_constraints, with_parts
from forge.engine.dictionary.key_definition import kept_prefix
from forge.engine.dictionary.literals import implicit_default, strict_value, under, zero_value
from forge.engine.dictionary.partitions import partition_count
from forge.engine.dictionary.table_state import TableState
from forge.engine.rows.conversion import converted
from forge.engine.rows.defaults import StatementTime, omitted_value, with_generated
from forge.errors import UnsupportedError, about
from forge.plan.tables import ForeignKey, Row
from forge.servers.facts.values import Dialect
from forge.sql.ast.definitions import KeyDraft
from forge.sql.errors import SqlError, at_offset
from forge.values.base import Value


def finish_alteration(alteration: Alteration, name: TableName) -> TableState:
    """The table after the statement, with its rows converted.  Raises SqlError and ScenarioError."""
    _put_columns(alteration)
    if not alteration.slots:
        raise SqlError("no column is left", 0, expected="at least one; DROP TABLE removes a table")
    columns, context = tuple(slot.column for slot in alteration.slots), alteration.context
    kept = alteration.definition
    definition = replace(
        kept,
        database=name[0],
        name=name[1],
        columns=columns,
        keys=tuple(_fitting(key, columns, kept.engine) for key in kept.keys),
        foreign_keys=tuple(_kept_foreign_keys(alteration, name)),
    )
    definition = renamed_constraints(definition, kept.name)
    with about("after the statement"):
        definition = with_parts(definition, alteration.parts, alteration.catalog, context.current_database)
        altered = TableState(definition, alteration.catalog.next_version(name), _first_number(alteration))
    _move_rows(alteration, altered, context.time)
    return altered


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


def _kept_foreign_keys(alteration: Alteration, name: TableName) -> Iterator[ForeignKey]:
    """The foreign keys that stay.  Raises SqlError for a column that one of them needs."""
    places = {slot.source: place for place, slot in enumerate(alteration.slots)}
    old, names = (alteration.definition.database, alteration.definition.name), alteration.renamed_columns()
    for foreign in alteration.definition.foreign_keys:
        if not places.keys() >= set(foreign.columns):
            raise SqlError(f"foreign key {foreign.name} uses a column that is dropped", 0)
        foreign = replace(foreign, columns=tuple(places[index] for index in foreign.columns))
        if foreign.parent == old:
            columns = tuple(names.get(column.lower(), column) for column in foreign.parent_columns)
            foreign = replace(foreign, parent=name, parent_columns=columns)
        yield foreign


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


def _move_rows(alteration: Alteration, altered: TableState, time: StatementTime) -> None:
    """The altered table gets the rows that are left, converted.  Raises SqlError and ScenarioError."""
    state = alteration.state
    altered.updates, altered.enforces_checks = state.updates, state.enforces_checks
    altered.number_is_lost = state.number_is_lost
    before = state.table.partition
    clause = state.definition.partitions
    width = 1 if clause is None or clause.inner is None else clause.inner.count or 1
    reordered = altered.clustering is None and (state.clustering is not None or before is not None)
    for place, number in enumerate(state.ordered()):
        if alteration.emptied and before is not None and before(state.rows[number]) // width in alteration.emptied:
            continue
        if not (altered.definition.versioned or state.is_current(state.rows[number])):
            continue  # DROP SYSTEM VERSIONING
        row = _converted(alteration, state.rows[number], altered, time)
        altered.inserted = place if reordered else number
        altered.add(row)
    altered.inserted = state.inserted
    if altered.auto_increment is not None:
        largest: int = max((row[altered.auto_increment] or 0 for row in altered.rows.values()), default=0)
        altered.next_auto_increment = max(altered.next_auto_increment, largest + 1)


def _first_number(alteration: Alteration) -> int:
    """The counter to begin with: kept, unless the statement sets it or the column is new."""
    kept = next((slot for slot in alteration.slots if slot.column.column.auto_increment), None)
    if kept is None:
        return 1
    if alteration.auto_increment is not None:
        return alteration.auto_increment
    if alteration.truncates and (_empties_all(alteration) or alteration.line.ddl.renumbers_truncated_partitions):
        # MySQL keeps the number unless nothing is left, MariaDB goes on from what is left (recorded).
        return 1
    return 1 if kept.source is None else alteration.state.next_auto_increment


def _converted(alteration: Alteration, row: Row, altered: TableState, time: StatementTime) -> Row:
    values: list[Value | None] = []
    catalog = alteration.catalog
    for slot, column in zip(alteration.slots, altered.definition.columns, strict=True):
        if column.generated is not None:
            values.append(None)
            continue
        with at_offset(column.offset):
            if slot.source is None:
                values.append(_new_value(column, altered, time, alteration))
            else:
                old = alteration.state.columns[slot.source]
                values.append(converted(old, column, row[slot.source], catalog.dialect))
    values += _hidden_values(alteration, altered, row, time)
    return with_generated(altered.columns, values, clips=catalog.clips)


def _hidden_values(alteration: Alteration, altered: TableState, row: Row, time: StatementTime) -> list[Value | None]:
    """The values of hidden columns: kept, or as those of a row that comes."""
    old = {column.name: value for column, value in zip(alteration.state.columns, row, strict=True)}
    hidden = altered.columns[len(altered.definition.columns) :]
    return [old.get(column.name, omitted_value(column, time)) for column in hidden]


def _new_value(
    column: ColumnDefinition, altered: TableState, time: StatementTime, alteration: Alteration
) -> Value | None:
    if column.column.auto_increment:
        altered.next_auto_increment += 1
        return altered.next_auto_increment - 1
    if column.column.nullable or column.column.has_default or column.column.default_now or column.default:
        return omitted_value(column, time, clips=alteration.catalog.clips)
    return _implicit_value(column, under(column.wire, alteration.catalog.dialect).dialect)


def _implicit_value(column: ColumnDefinition, dialect: Dialect) -> Value | None:
    """What a new NOT NULL column without a default has in rows that were there.

    Dates are zero: of TIMESTAMP, where NO_ZERO_DATE is not in force, and where another part of the statement makes the
    column NOT NULL (recorded).
    """
    # MySQL gives them a vector without numbers, MariaDB one, or a geometry, without bytes (recorded on 9.7 and 11.8).
    facts, draft = column.type_facts, column.draft
    if facts.kind in (("geometry", "vector") if dialect.vector_is_varbinary else ("vector",)):
        raise UnsupportedError(f"rows that get a value for the new {column.type.name} column are not supported yet")
    is_bare = draft is not None and draft.nullable is None and "primary" not in draft.keys
    if facts.has_date and (dialect.takes_zero_dates or is_bare or not facts.refuses_implicit_default):
        return zero_value(column.wire)
    implicit = implicit_default(column.wire)
    # JSON: a cell without a document (recorded on MySQL 9.7), which reads as JSON null.
    return b"" if implicit is None else strict_value(column.wire, column.codec, implicit)


def _empties_all(alteration: Alteration) -> bool:
    clause = alteration.definition.partitions
    return clause is not None and len(alteration.emptied) == partition_count(clause)
