"""Row events as BINLOG statements, forth or turned round: what a replica's applier does, without triggers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from forge.binlog.logged import LoggedEvent
from forge.decode.cells import MappedTable, RowChange, row_changes
from forge.errors import UnsupportedError
from forge.events.event import Event, encode_event
from forge.events.format import FormatContext
from forge.events.mariadb_compressed import uncompressed
from forge.events.row_image import ChangedRow, build_rows, images_of, iterate_rows, present_columns
from forge.events.rows import (
    STMT_END,
    DeleteRows,
    DeleteRowsV1,
    PartialUpdateRows,
    RowsBody,
    UpdateRows,
    UpdateRowsV1,
    WriteRows,
    WriteRowsV1,
)
from forge.servers import ServerLine
from forge.vendors.quoting import base64_lines

_INVERSE: dict[type[Any], type[Any]] = {
    WriteRows: DeleteRows, DeleteRows: WriteRows, WriteRowsV1: DeleteRowsV1, DeleteRowsV1: WriteRowsV1,
    UpdateRows: UpdateRows, UpdateRowsV1: UpdateRowsV1,
}  # fmt: skip


def binlog_statement(
    logged: LoggedEvent,
    mapped: MappedTable,
    format: FormatContext,
    *,
    flashback: bool,
    holds: Callable[[RowChange], bool] | None,
) -> tuple[str, int]:
    """The statement of a row event, without its end, and how many of its rows it has; "" for none.

    ``format`` is the framing of the file; ``holds`` chooses rows.  Raises UnsupportedError for images that do not
    suffice.
    """
    body, columns = uncompressed(logged.body), mapped.columns
    assert isinstance(body, RowsBody)
    if columns is None:
        raise UnsupportedError(str(mapped.problem))
    rows = list(iterate_rows(body, columns))
    if holds is not None:
        changes = row_changes(logged.placed, logged.inner, mapped)
        rows = [row for row, change in zip(rows, changes, strict=True) if holds(change)]
    if not rows:
        return "", 0
    if flashback:
        body, rows = _inverse(body, len(columns)), [ChangedRow(row.after, row.before) for row in reversed(rows)]
    body = replace(body, rows=build_rows(rows), row_flags=body.row_flags | STMT_END)
    moment, server = logged.event.timestamp, logged.event.server_id
    head = Event(body=mapped.body, timestamp=moment, server_id=server, log_pos=0)
    return block_of(encode_event(head, 0, format) + encode_event(head.replace(body=body), 0, format)), len(rows)


def beginning_of(raw: bytes, line: ServerLine) -> str:
    """The statement with a FORMAT_DESCRIPTION, ahead of a transaction: MySQL awaits a GTID behind it."""
    gtids = line.family == "mysql" and line.knows("gtid")
    return f"{block_of(raw)};\n" + "SET SESSION gtid_next = 'AUTOMATIC';\n" * gtids


def block_of(data: bytes) -> str:
    """The statement of some events, without its end."""
    return f"BINLOG '\n{base64_lines(data).decode()}'"


def _inverse(body: RowsBody, width: int) -> RowsBody:
    """The event that takes the rows back, with the rows as they are."""
    if isinstance(body, PartialUpdateRows):
        raise UnsupportedError("partial updates of JSON documents are not turned round")
    before, after = (None if image is None else set(present_columns(image, width)) for image in images_of(body))
    if before is not None and (len(before) < width if after is None else not after <= before):
        raise UnsupportedError("the before image lacks columns")
    made = _INVERSE[type(body)]
    kept = {item.name: getattr(body, item.name) for item in fields(made)}
    if isinstance(body, (UpdateRows, UpdateRowsV1)):
        kept |= {"present": body.present_after, "present_after": body.present}
    found: RowsBody = made(**kept)
    return found
