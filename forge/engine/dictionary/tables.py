"""The plan's form of a table's definition."""

from __future__ import annotations

from dataclasses import replace

from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.key_definition import check_numbering, named_keys
from forge.engine.dictionary.partitions import partition_of, used_columns
from forge.engine.dictionary.system_columns import hidden_columns, last_moment
from forge.plan.keys import key_of_rows
from forge.plan.tables import Table
from forge.sql.ast.definitions import PartitionClause
from forge.sql.errors import SqlError


def plan_table(definition: Definition, version: int) -> Table:
    """The compiler's form of the definition.  Raises SqlError for columns named twice, or that are not there."""
    _check_columns(definition)
    columns = (*definition.columns, *hidden_columns(definition))
    keys = tuple(named_keys(definition, columns))
    check_numbering(definition, keys)
    table = Table(
        database=definition.database,
        name=definition.name,
        columns=tuple(column.column for column in columns),
        keys=keys,
        collation=definition.collation,
        engine=definition.engine,
        version=version,
        foreign_keys=definition.foreign_keys,
        temporary=definition.temporary,
    )
    return table if definition.partitions is None else _partitioned(definition, definition.partitions, table)


def _partitioned(definition: Definition, clause: PartitionClause, table: Table) -> Table:
    """The table with how its rows are distributed."""
    if clause.kind == "system_time":
        return _by_time(definition, clause, table)
    key = key_of_rows(table)
    key_columns = [part.column for part in key.parts] if key else []
    used = used_columns(clause, definition, key_columns)
    choose = partition_of(clause, definition, key_columns)
    return replace(table, partition=choose, partition_columns=frozenset(used))


def _by_time(definition: Definition, clause: PartitionClause, table: Table) -> Table:
    """PARTITION BY SYSTEM_TIME: the rows that are there have a partition of their own, behind those of the past."""
    end = table.row_end
    if end is None:
        raise SqlError("PARTITION BY SYSTEM_TIME needs WITH SYSTEM VERSIONING", clause.offset)
    last = last_moment(definition.columns[0].wire.dialect)
    return replace(table, partition=lambda row: int(row[end] == last), partition_columns=frozenset({end}))


def _check_columns(definition: Definition) -> None:
    seen: set[str] = set()
    for column in definition.columns:
        if column.name.lower() in seen:
            raise SqlError(f"column {column.name!r} is defined twice", column.offset)
        seen.add(column.name.lower())
        for name in column.generated.columns() if column.generated is not None else ():
            definition.index_of(name, column.offset)
