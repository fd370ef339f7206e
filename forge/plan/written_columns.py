"""The columns that a statement on rows writes and reads, with those that the server computes for it."""

from __future__ import annotations

from forge.plan.keys import key_of_rows
from forge.plan.statements import RowsStatement
from forge.plan.tables import Table
from forge.servers import ServerLine


def read_besides(table: Table, assigned: frozenset[int], line: ServerLine) -> frozenset[int]:
    """Columns that are read because something else is made of them: generated columns, on MariaDB keys (recorded)."""
    names = {column.name.lower(): index for index, column in enumerate(table.columns)}
    keyed = {part.column for key in table.keys for part in key.parts}
    used = [
        {names[name] for name in column.uses if name in names}
        for index, column in enumerate(table.columns)
        if column.generated == "stored" or (column.generated and (index in keyed or line.texts.reads_virtual_columns))
    ]
    for key in table.keys:
        used += [{names[name] for name in part.expression.uses} for part in key.parts if part.expression is not None]
    if line.texts.reads_key_columns:
        # InnoDB's other keys have the columns of the primary key too.
        primary = table.primary_key.parts if table.primary_key is not None and table.engine == "InnoDB" else []
        clustered = set() if any(part.prefix for part in primary) else {part.column for part in primary}
        used += [{part.column for part in key.parts} | clustered for key in table.keys]
    return frozenset().union(*(columns for columns in used if columns & assigned))


def written_columns(statement: RowsStatement, line: ServerLine) -> set[int]:
    """The columns that the statement's text names, and those that the server computes for it."""
    table = statement.table
    written = set(range(len(table.columns)) if statement.text.assigned is None else statement.text.assigned)
    if statement.kind == "insert":
        written |= _made_by_insert(table, line)
    if statement.text.updates is not None:
        written |= statement.text.updates
    if statement.kind == "update" or statement.text.updates is not None:
        made = _made_by_update(table, written, line)
        if statement.kind == "insert" and not line.rows.duplicates_mark_clocks:
            made -= {index for index, column in enumerate(table.columns) if column.on_update_now}
        written |= made
    return written


def _made_by_insert(table: Table, line: ServerLine) -> set[int]:
    """Values that the server makes belong to the statement; literal defaults do not."""
    computed = {
        index
        for index, column in enumerate(table.columns)
        if column.auto_increment or column.default_now or column.computed_default
    }
    if line.rows.generated_images != "followed":
        return computed | kept_columns(table)
    return computed | {index for index, column in enumerate(table.columns) if column.generated is not None}


def _made_by_update(table: Table, written: set[int], line: ServerLine) -> set[int]:
    """A generated column follows the columns that it uses; a virtual one with a key is always computed."""
    computed = {index for index, column in enumerate(table.columns) if column.on_update_now}
    if line.rows.generated_images == "used":
        return computed | {index for index in kept_columns(table) if used_by(table, index) & (written | computed)}
    if line.rows.generated_images != "followed":
        return computed | kept_columns(table)
    indexed = _indexed(table)
    if table.partition is not None and key_of_rows(table) is None:
        # Rows are found again by all their columns there, and virtual ones that are read are marked (recorded on 9.7).
        computed |= {index for index, column in enumerate(table.columns) if column.generated == "virtual"}
    for index, column in enumerate(table.columns):
        followed = used_by(table, index) & (written | computed)
        if followed or (column.generated == "virtual" and index in indexed):
            computed.add(index)
    return computed


def used_by(table: Table, index: int) -> set[int]:
    return {table.column_index(name) for name in table.columns[index].uses}


def kept_columns(table: Table) -> set[int]:
    """Generated columns whose values are stored, in the row or in a key, and the virtual ones that they use."""
    indexed = _indexed(table)
    kept: set[int] = set()
    # A generated column can only use those before it.
    for index in reversed(range(len(table.columns))):
        column = table.columns[index]
        if column.generated == "stored" or (column.generated and (index in indexed or index in kept)):
            kept.add(index)
            kept |= used_by(table, index)
    return {index for index in kept if table.columns[index].generated}


def _indexed(table: Table) -> set[int]:
    hashes = {index for index, column in enumerate(table.columns) if column.system == "hash"}
    return hashes | {part.column for key in table.keys for part in key.parts}
