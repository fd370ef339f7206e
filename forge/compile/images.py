"""Which columns a row image has (WL#5092, as sql/table.cc and sql/binlog.cc ship it).

The key that stands for the row (``key_of_rows``) decides: without one, the before image is complete in every mode.
"Blob" means the BLOB and TEXT families; JSON, GEOMETRY and VECTOR are not blobs here (recorded).

The unused bits of the bitmap tell how the server made it: set when it marked all columns at once, clear when it set
them one by one, even if all are set in the end (recorded; rows.md 3.4).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from forge.compile.model import RowsStatement, Session, Table
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
    statement: RowsStatement, session: Session, line: ServerLine
) -> tuple[ImageColumns | None, ImageColumns | None]:
    """The (before, after) images of the statement's rows."""
    table = statement.table
    if line.family == "mariadb" and statement.kind == "update" and any(c.generated for c in table.columns):
        raise UnsupportedError(f"images of UPDATE on a table with generated columns for {line.name}")
    before = None if statement.kind == "insert" else _before(table, session, line)
    after = None if statement.kind == "delete" else _after(statement, session, line)
    return before, after


def _whole(table: Table, line: ServerLine) -> ImageColumns:
    width = len(table.columns)
    return ImageColumns(tuple(range(width)), bitmap_of(range(width), width, padding=line.present_padding))


def _chosen(table: Table, columns: Iterable[int]) -> ImageColumns:
    ordered = tuple(sorted(set(columns)))
    return ImageColumns(ordered, bitmap_of(ordered, len(table.columns), padding=False))


def _before(table: Table, session: Session, line: ServerLine) -> ImageColumns:
    key = key_of_rows(table)
    if session.row_image == "full" or key is None:
        return _whole(table, line)
    keyed = {part.column for part in key.parts}
    return _chosen(table, keyed if session.row_image == "minimal" else keyed | _without_blobs(table))


def _after(statement: RowsStatement, session: Session, line: ServerLine) -> ImageColumns:
    table = statement.table
    keyless = line.keyless_images_whole and key_of_rows(table) is None
    if session.row_image == "full" or statement.assigned is None or keyless:
        return _whole(table, line)
    written = set(statement.assigned)
    indexed = {part.column for key in table.keys for part in key.parts}
    if session.row_image == "noblob":
        written |= _without_blobs(table)
    for index, column in enumerate(table.columns):
        if statement.kind == "insert":
            # Values that the server makes belong to the statement; literal defaults do not.
            made = column.auto_increment or column.default_now or column.computed_default
            made = made or column.generated is not None
        else:
            # A generated column follows the columns that it uses; an indexed virtual one is always computed.
            follows = any(table.column_index(name) in written for name in column.uses)
            made = column.on_update_now or follows or (column.generated == "virtual" and index in indexed)
        if made:
            written.add(index)
    return _chosen(table, written)


def _without_blobs(table: Table) -> set[int]:
    return {index for index, column in enumerate(table.columns) if column.type.name not in BLOBS}
