"""Which columns a row image has (WL#5092, as sql/table.cc and sql/binlog.cc ship it).

The key that stands for the row (``key_of_rows``) decides: without one, the before image is complete in every mode.
"Blob" means the BLOB and TEXT families; JSON, GEOMETRY and VECTOR are not blobs here (recorded).

The unused bits of the bitmap tell how the server made it: set when it marked all columns at once, clear when it set
them one by one, even if all are set in the end (recorded).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from forge.errors import UnsupportedError
from forge.events.row_image import bitmap_of
from forge.plan.changes import ChangeKind
from forge.plan.keys import key_of_rows
from forge.plan.session import Session
from forge.plan.statements import RowsStatement
from forge.plan.tables import Table
from forge.servers import ServerLine
from forge.values.registry import facts_of


@dataclass(frozen=True, slots=True)
class ImageColumns:
    """The columns of an image, in table order, and the bitmap that says so."""

    columns: tuple[int, ...]
    bitmap: bytes


def image_columns(
    statement: RowsStatement,
    kind: ChangeKind,
    session: Session,
    line: ServerLine,
    *,
    after_duplicate: bool = False,
    changed: bool = False,
    late: bool = False,
) -> tuple[ImageColumns | None, ImageColumns | None]:
    """The (before, after) images of the statement's changes of that kind.

    ``after_duplicate``: see :class:`forge.plan.statements.RowChange`.  ``changed``: the statement has updated or
    deleted a row, perhaps this one.  ``late``: its columns were marked before it was known that rows are to be logged,
    so that after images have nothing beside them, whatever the mode.
    """
    table = statement.table
    everything = after_duplicate and line.rows.duplicate_images_whole
    read_all = everything or bool(_marking(statement, kind) & set(line.rows.noblob_reads_all))
    before = None if kind == "insert" else _before(table, session, line, read_all=read_all)
    if before is not None and line.rows.before_images == "read":
        before = _read(statement, kind, before, session, line)
    after = None
    if kind != "delete":
        after = _whole(table, line) if everything else _after(statement, session, line, late=late)
    if line.rows.generated_images == "inserted" and (kind != "insert" or changed):
        return _without_generated(table, before), _without_generated(table, after)
    return before, after


def _marking(statement: RowsStatement, kind: ChangeKind) -> set[str]:
    """What may make a statement mark all columns of its table as read."""
    marking = {"duplicates"} if statement.kind == "insert" else set()
    table = statement.table
    if kind == "update" and table.partition is not None:
        marking.add("partitions")
    if statement.kind == "update" and table.partition_columns & (statement.text.assigned or frozenset()):
        marking.add("partition_columns")
    if statement.kind == "update" and table.row_end is not None:
        marking.add("versions")
    return marking


def _whole(table: Table, line: ServerLine) -> ImageColumns:
    width = len(table.columns)
    return ImageColumns(tuple(range(width)), bitmap_of(range(width), width, padding=line.rows.present_padding))


def _chosen(table: Table, columns: Iterable[int], *, padding: bool = False, with_hidden: bool = True) -> ImageColumns:
    """``with_hidden``: the server marked its hidden columns too, which shows where the bitmap has bits for them."""
    width = len(table.columns)
    ordered = tuple(sorted(set(columns)))
    bitmap = bytearray(bitmap_of(ordered, width, padding=padding))
    for index in range(width, min(width + table.hidden * with_hidden, 8 * len(bitmap))):
        bitmap[index // 8] |= 1 << index % 8
    return ImageColumns(ordered, bytes(bitmap))


def _before(table: Table, session: Session, line: ServerLine, *, read_all: bool = False) -> ImageColumns:
    key = key_of_rows(table)
    if session.row_image == "full" or key is None:
        return _whole(table, line)
    keyed = {part.column for part in key.parts}
    if session.row_image == "minimal":
        return _chosen(table, keyed, with_hidden=False)
    # NOBLOB takes the blobs out of what was read.
    return _chosen(table, keyed | _without_blobs(table), padding=read_all)


def _read(
    statement: RowsStatement, kind: ChangeKind, before: ImageColumns, session: Session, line: ServerLine
) -> ImageColumns:
    """The before image of servers that log what they have read of a row."""
    table = statement.table
    if session.row_image == "full" or key_of_rows(table) is None:
        return before
    if statement.kind == "insert":
        # REPLACE and ON DUPLICATE KEY UPDATE read rows as a whole; a DELETE leaves out of it what the mode does.
        if kind == "update":
            return _whole(table, line)
        return _chosen(table, before.columns, padding=session.row_image == "noblob")
    if kind == "delete":
        return before
    written = written_columns(statement, line)
    read = statement.text.reads | statement.triggers.reads | read_besides(table, frozenset(written), line)
    if written & table.partition_columns:
        return _whole(table, line)
    if any(column.on_update_now for column in table.columns):
        read |= written
    read |= {*before.columns}
    for index in sorted(read, reverse=True):
        # What reads a generated column reads those that it uses.
        read |= _uses(table, index)
    return _chosen(table, read)


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


def _after(statement: RowsStatement, session: Session, line: ServerLine, *, late: bool) -> ImageColumns:
    table = statement.table
    if late:
        listed = statement.text.assigned is not None
        return _chosen(table, written_columns(statement, line), padding=line.rows.present_padding and not listed)
    if table.row_end is not None and session.row_image != "noblob":
        # MariaDB writes rows that have versions as a whole (recorded on 10.11 and 11.8).
        if session.row_image == "minimal":
            _check_virtual(table)
        return _whole(table, line)
    keyless = line.rows.keyless_images_whole and key_of_rows(table) is None
    if session.row_image == "full" or statement.text.assigned is None or keyless:
        return _whole(table, line)
    written = written_columns(statement, line)
    if session.row_image == "noblob":
        if not line.rows.noblob_sees_triggers:
            written -= statement.text.only_by_triggers
        written |= _without_blobs(table)
        key = key_of_rows(table)
        if line.rows.noblob_keeps_key and key is not None:
            written |= {part.column for part in key.parts}
    return _chosen(table, written)


def _check_virtual(table: Table) -> None:
    """Raises UnsupportedError for a virtual column without a key, which such images have as NULL, computed or not."""
    lost = [column.name for i, column in enumerate(table.columns) if column.generated and i not in _kept(table)]
    if lost:
        problem = f"MINIMAL images of a system-versioned table with the virtual column {lost[0]!r} are not supported"
        raise UnsupportedError(f"{problem} ({table.full_name})", expected="STORED, or a key on it")


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


def _without_generated(table: Table, image: ImageColumns | None) -> ImageColumns | None:
    if image is None or not any(column.generated for column in table.columns):
        return image
    return _chosen(table, (index for index in image.columns if table.columns[index].generated is None))


def _made_by_insert(table: Table, line: ServerLine) -> set[int]:
    """Values that the server makes belong to the statement; literal defaults do not."""
    computed = {
        index
        for index, column in enumerate(table.columns)
        if column.auto_increment or column.default_now or column.computed_default
    }
    if line.rows.generated_images != "followed":
        return computed | _kept(table)
    return computed | {index for index, column in enumerate(table.columns) if column.generated is not None}


def _made_by_update(table: Table, written: set[int], line: ServerLine) -> set[int]:
    """A generated column follows the columns that it uses; a virtual one with a key is always computed."""
    computed = {index for index, column in enumerate(table.columns) if column.on_update_now}
    if line.rows.generated_images == "used":
        return computed | {index for index in _kept(table) if _uses(table, index) & (written | computed)}
    if line.rows.generated_images != "followed":
        return computed | _kept(table)
    indexed = _indexed(table)
    if table.partition is not None and key_of_rows(table) is None:
        # Rows are found again by all their columns there, and virtual ones that are read are marked (recorded on 9.7).
        computed |= {index for index, column in enumerate(table.columns) if column.generated == "virtual"}
    for index, column in enumerate(table.columns):
        followed = _uses(table, index) & (written | computed)
        if followed or (column.generated == "virtual" and index in indexed):
            computed.add(index)
    return computed


def _uses(table: Table, index: int) -> set[int]:
    return {table.column_index(name) for name in table.columns[index].uses}


def _kept(table: Table) -> set[int]:
    """Generated columns whose values are stored, in the row or in a key, and the virtual ones that they use."""
    indexed = _indexed(table)
    kept: set[int] = set()
    # A generated column can only use those before it.
    for index in reversed(range(len(table.columns))):
        column = table.columns[index]
        if column.generated == "stored" or (column.generated and (index in indexed or index in kept)):
            kept.add(index)
            kept |= _uses(table, index)
    return {index for index in kept if table.columns[index].generated}


def empty_columns(table: Table, line: ServerLine) -> set[int]:
    """The columns that are NULL in images, whatever the row has."""
    virtual = {index for index, column in enumerate(table.columns) if column.generated == "virtual"}
    return virtual - _kept(table) if virtual and line.rows.empty_virtual else set()


def _indexed(table: Table) -> set[int]:
    hashes = {index for index, column in enumerate(table.columns) if column.system == "hash"}
    return hashes | {part.column for key in table.keys for part in key.parts}


def _without_blobs(table: Table) -> set[int]:
    return {index for index, column in enumerate(table.columns) if not facts_of(column.type).is_lob}
