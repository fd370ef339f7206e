"""Which columns a row image has (WL#5092, as sql/table.cc and sql/binlog.cc ship it).

The key that stands for the row (``key_of_rows``) decides: without one, the before image is complete in every mode.
"Blob" means the BLOB and TEXT families; JSON, GEOMETRY and VECTOR are not blobs here (recorded).

The unused bits of the bitmap tell how the server made it: set when it marked all columns at once, clear when it set
them one by one, even if all are set in the end (recorded).
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from forge.errors import UnsupportedError
from forge.events.row_image import bitmap_of
from forge.plan.changes import ChangeKind
from forge.plan.keys import key_of_rows
from forge.plan.session import Session
from forge.plan.statements import RowsStatement
from forge.plan.tables import Table
from forge.plan.written_columns import kept_columns, read_besides, used_by, written_columns
from forge.servers import ServerLine
from forge.values.registry import facts_of


class ImageColumns(Struct, frozen=True):
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
        read |= used_by(table, index)
    return _chosen(table, read)


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
    lost = [column.name for i, column in enumerate(table.columns) if column.generated and i not in kept_columns(table)]
    if lost:
        problem = f"MINIMAL images of a system-versioned table with the virtual column {lost[0]!r} are not supported"
        raise UnsupportedError(f"{problem} ({table.full_name})", expected="STORED, or a key on it")


def _without_generated(table: Table, image: ImageColumns | None) -> ImageColumns | None:
    if image is None or not any(column.generated for column in table.columns):
        return image
    return _chosen(table, (index for index in image.columns if table.columns[index].generated is None))


def empty_columns(table: Table, line: ServerLine) -> set[int]:
    """The columns that are NULL in images, whatever the row has."""
    virtual = {index for index, column in enumerate(table.columns) if column.generated == "virtual"}
    return virtual - kept_columns(table) if virtual and line.rows.empty_virtual else set()


def _without_blobs(table: Table) -> set[int]:
    return {index for index, column in enumerate(table.columns) if not facts_of(column.type).is_lob}
