"""The plan's form of a table's definition, and whether a server would accept the definition as a whole."""

from __future__ import annotations

from dataclasses import replace

from forge.engine.dictionary.column_sizes import stored_bytes
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.engines import INNODB
from forge.engine.dictionary.key_definition import check_auto_increment, named_keys
from forge.engine.dictionary.partitions import partition_of, used_columns
from forge.engine.dictionary.system_columns import hidden_columns, last_moment
from forge.plan.keys import key_of_rows
from forge.plan.tables import Table
from forge.servers import ServerLine, server_line
from forge.sql.ast.definitions import (
    PartitionClause,
)
from forge.sql.errors import SqlError

#: Limits of InnoDB, and of sql/unireg.h.
MAX_COLUMNS, MAX_ROW_BYTES = 1017, 65535


def plan_table(definition: Definition, version: int) -> Table:
    """The compiler's form of the definition.  Raises SqlError where a server would refuse it."""
    _check_columns(definition)
    columns = (*definition.columns, *hidden_columns(definition))
    keys = tuple(named_keys(definition, columns))
    check_auto_increment(definition, keys)
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
    """The table with how its rows are distributed.  Raises SqlError where a server would refuse it (1503, 1214)."""
    if definition.engine != INNODB and server_line(definition.server).ddl.partitions_of_innodb:
        raise SqlError(f"the storage engine {definition.engine} has no partitions", clause.offset, expected=INNODB)
    if definition.foreign_keys:
        raise SqlError("a table with partitions has no foreign keys", clause.offset)
    if clause.kind == "system_time":
        return _by_time(definition, clause, table)
    key = key_of_rows(table)
    key_columns = [part.column for part in key.parts] if key else []
    used = used_columns(clause, definition, key_columns)
    for draft, key in zip(definition.keys, table.keys, strict=True):
        whole = {part.column for part in key.parts if part.prefix is None and part.expression is None}
        if key.kind != "index" and not used <= whole:
            problem = f"key {key.name} lacks a column that distributes rows over partitions"
            raise SqlError(problem, draft.offset, expected=", ".join(definition.columns[index].name for index in used))
        if draft.special:
            raise SqlError(f"a table with partitions has no {draft.special} key", draft.offset)
    choose = partition_of(clause, definition, key_columns)
    return replace(table, partition=choose, partition_columns=frozenset(used))


def _by_time(definition: Definition, clause: PartitionClause, table: Table) -> Table:
    """PARTITION BY SYSTEM_TIME: the rows that are there have a partition of their own, behind those of the past."""
    end = table.row_end
    if end is None:
        raise SqlError("PARTITION BY SYSTEM_TIME needs WITH SYSTEM VERSIONING", clause.offset)
    last = last_moment(definition.columns[0].wire.dialect)
    return replace(table, partition=lambda row: int(row[end] == last), partition_columns=frozenset({end}))


def _check_invisible(column: ColumnDefinition, line: ServerLine) -> None:
    """MariaDB wants a default for an invisible column (4108, recorded)."""
    facts = column.column
    has_default = facts.has_default or facts.default_now or facts.computed_default
    has_value = facts.nullable or has_default or facts.auto_increment or facts.on_update_now or facts.system
    if not facts.visible and not has_value and column.generated is None and line.ddl.invisible_needs_default:
        raise SqlError(f"the invisible column {column.name!r} is NOT NULL", column.offset, expected="a default")


def _check_columns(definition: Definition) -> None:
    line = server_line(definition.server)
    seen: set[str] = set()
    for column in definition.columns:
        if column.name.lower() in seen:
            raise SqlError(f"column {column.name!r} is defined twice", column.offset)
        seen.add(column.name.lower())
        if column.generated is not None:
            for name in column.generated.columns():
                used = definition.columns[definition.index_of(name, column.offset)]
                # MariaDB minds a number that is not known yet only where it is stored (recorded).
                minds = column.column.generated == "stored" or not line.ddl.virtual_takes_number
                if used.column.auto_increment and minds:
                    problem = f"generated column {column.name!r} uses the AUTO_INCREMENT column {used.name!r}"
                    raise SqlError(problem, column.offset)
                if used.generated is not None and used.name.lower() not in seen:
                    problem = f"generated column {column.name!r} uses {used.name!r}, which is generated after it"
                    raise SqlError(problem, column.offset)
        _check_invisible(column, line)
    if len(definition.columns) > MAX_COLUMNS:
        raise SqlError(f"the table has {len(definition.columns)} columns", 0, expected=f"at most {MAX_COLUMNS}")
    if not any(column.column.visible for column in definition.columns):
        raise SqlError("the table has no visible column", 0, expected="at least one")
    size = sum(stored_bytes(column) for column in definition.columns)
    size += (sum(column.column.nullable for column in definition.columns) + 7) // 8
    if size > MAX_ROW_BYTES:
        expected = f"at most {MAX_ROW_BYTES}; TEXT and BLOB columns do not count"
        raise SqlError(f"a row can take {size} bytes", 0, expected=expected)
