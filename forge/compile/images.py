"""Which columns a row image has (WL#5092, as sql/table.cc and sql/binlog.cc ship it).

The key that stands for the row (``key_of_rows``) decides: without one, the before image is complete in every mode.
"Blob" means the BLOB and TEXT families; JSON, GEOMETRY and VECTOR are not blobs here (recorded).

The unused bits of the bitmap tell how the server made it: set when it marked all columns at once, clear when it set
them one by one, even if all are set in the end (recorded; rows.md 3.4).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from forge.compile.model import ChangeKind, RowsStatement, Session, Table
from forge.compile.table_map import key_of_rows
from forge.errors import UnsupportedError
from forge.events.row_image import bitmap_of
from forge.servers import ServerLine

BLOBS = frozenset(("TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT"))


@dataclass(frozen=True, slots=True)
class ImageColumns:
    """The columns of an image, in table order, and the bitmap that says so."""

    columns: tuple[int, ...]
    bitmap: bytes


def image_columns(
    statement: RowsStatement, kind: ChangeKind, session: Session, line: ServerLine, *, after_duplicate: bool = False
) -> tuple[ImageColumns | None, ImageColumns | None]:
    """The (before, after) images of the statement's changes of that kind.

    ``after_duplicate``: see :class:`forge.compile.model.RowChange`.
    """
    table = statement.table
    if line.family == "mariadb" and kind == "update" and any(c.generated for c in table.columns):
        raise UnsupportedError(f"images of UPDATE on a table with generated columns for {line.name}")
    everything = after_duplicate and line.duplicate_images_whole
    before = None if kind == "insert" else _before(table, session, line, read_all=everything)
    if kind == "delete":
        return before, None
    return before, _whole(table, line) if everything else _after(statement, session, line)


def _whole(table: Table, line: ServerLine) -> ImageColumns:
    width = len(table.columns)
    return ImageColumns(tuple(range(width)), bitmap_of(range(width), width, padding=line.present_padding))


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


def _after(statement: RowsStatement, session: Session, line: ServerLine) -> ImageColumns:
    table = statement.table
    keyless = line.keyless_images_whole and (key_of_rows(table) is None or not statement.assigned)
    if session.row_image == "full" or statement.assigned is None or keyless:
        return _whole(table, line)
    written = set(statement.assigned)
    if session.row_image == "noblob":
        written |= _without_blobs(table)
        key = key_of_rows(table)
        if line.noblob_keeps_key and key is not None:
            written |= {part.column for part in key.parts}
    if statement.kind == "insert":
        written |= _made_by_insert(table)
    if statement.updates is not None:
        written |= statement.updates
    if statement.kind == "update" or statement.updates is not None:
        written |= _made_by_update(table, written)
    return _chosen(table, written)


def _made_by_insert(table: Table) -> set[int]:
    """Values that the server makes belong to the statement; literal defaults do not."""
    return {
        index
        for index, column in enumerate(table.columns)
        if column.auto_increment or column.default_now or column.computed_default or column.generated is not None
    }


def _made_by_update(table: Table, written: set[int]) -> set[int]:
    """A generated column follows the columns that it uses; an indexed virtual one is always computed."""
    indexed = {part.column for key in table.keys for part in key.parts}
    return {
        index
        for index, column in enumerate(table.columns)
        if column.on_update_now
        or (column.generated == "virtual" and index in indexed)
        or any(table.column_index(name) in written for name in column.uses)
    }


def _without_blobs(table: Table) -> set[int]:
    return {index for index, column in enumerate(table.columns) if column.type.name not in BLOBS}
