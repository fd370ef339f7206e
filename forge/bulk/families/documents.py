"""JSON: utf8, the text that the server prints and takes; or binary, the document as it is stored.

Odd when written is a text that is no document's, and when read a cell that is no document.  Of a partial update the new
document is read; one is odd if the old document is not logged.

MariaDB's JSON is a LONGTEXT, which a declaration tells from others.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from forge.bulk.families.strings import TextPlan
from forge.bulk.json.binary import documents_binary
from forge.bulk.json.cells import json_bytes, json_texts
from forge.bulk.json.text import unchecked_documents
from forge.bulk.plan import NULL, Cells, ColumnPlan, Numbers, Read, Wire, slacked, spans_of
from forge.bulk.text.form import either, located
from forge.errors import ScenarioError
from forge.values.base import Column
from forge.values.json.codec import JSON, JsonCodec
from forge.values.json.text_column import json_text
from forge.values.json.typed_array import TYPED_ARRAY
from forge.values.registry import codec_for
from forge.values.text.column_charset import charset_of
from forge.values.text.strings import TextCodec
from forge.values.wire_types import WireType


class DocumentPlan(ColumnPlan):
    """Binary documents behind a length of four bytes."""

    can_be_odd = True
    reads_diffs = True

    def __init__(self, column: Column, codec: JsonCodec) -> None:
        super().__init__(column, pa.string(), -codec.prefix(column))

    def of_type(self, kind: pa.DataType) -> ColumnPlan:
        return DocumentBytesPlan(self.column, self.wire) if pa.types.is_binary(kind) else self

    def read(self, cells: Cells) -> Read:
        texts = json_texts(cells)
        return Read((texts.offsets, texts.data), texts.odd)

    def write(self, array: pa.Array) -> Wire:
        _, ends, texts = array.buffers()
        offsets = np.zeros(1, np.int32) if ends is None else np.frombuffer(ends, np.int32)
        data = np.zeros(0, np.uint8) if texts is None else np.frombuffer(texts, np.uint8)
        valid = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None
        documents = documents_binary(data, offsets[array.offset : array.offset + len(array) + 1], valid)
        starts = documents.offsets[:-1]
        return Wire(documents.data, starts, np.diff(documents.offsets).astype(np.int32), documents.odd)


class DocumentBytesPlan(ColumnPlan):
    """Documents as they are stored: the same bytes on both sides."""

    can_be_odd = True
    reads_diffs = True

    def __init__(self, column: Column, wire: int) -> None:
        super().__init__(column, pa.binary(), wire)

    def read(self, cells: Cells) -> Read:
        documents = json_bytes(cells)
        return Read((documents.offsets, documents.data), documents.odd)

    def write(self, array: pa.Array) -> Wire:
        wire = spans_of(array)
        values, starts, lengths = located(wire)
        unchecked = unchecked_documents(values, starts, lengths)
        return replace(wire, odd=_refused(array, unchecked)) if len(unchecked) else wire

    def as_text(self, array: pa.Array) -> pa.Array:
        texts = json_texts(_cells_of(array))
        buffers = [array.buffers()[0], pa.py_buffer(texts.offsets), pa.py_buffer(texts.data)]
        return pa.Array.from_buffers(pa.string(), len(array), buffers, array.null_count)


def _refused(array: pa.Array, rows: Numbers) -> Numbers:
    """Those of the rows whose value is no document."""
    cells = _cells_of(array)
    offsets = np.full_like(cells.offsets, NULL)
    offsets[rows] = cells.offsets[rows]
    return json_texts(replace(cells, offsets=offsets)).odd  # type: ignore[no-any-return]


def _cells_of(array: pa.Array) -> Cells:
    """The values of a binary array as cells."""
    wire = spans_of(array)
    assert wire.starts is not None
    assert wire.lengths is not None
    begin = int(wire.starts[0]) if len(array) else 0
    end = int(wire.starts[-1]) + int(wire.lengths[-1]) if len(array) else 0
    buffer = slacked(end - begin)
    buffer[: end - begin] = wire.values[begin:end]
    offsets = (wire.starts - begin).astype(np.int32)
    if array.null_count:
        offsets[array.is_null().to_numpy(zero_copy_only=False)] = NULL
    return Cells(buffer, offsets, wire.lengths)


class DocumentTextPlan(TextPlan):
    """Text that is read as it is.  Written, each is looked at by the reference, whose rules are MariaDB's."""

    def write(self, array: pa.Array) -> Wire:
        wire = super().write(array)
        refused = [row for row, text in enumerate(array.to_pylist()) if text is not None and not _is_document(text)]
        return replace(wire, odd=either(wire.odd, np.array(refused, np.int32)))


def _is_document(text: str) -> bool:
    try:
        json_text(text)
    except ScenarioError:
        return False
    return True


def plan(column: Column) -> ColumnPlan:
    """The plan of a JSON column, or of the hidden one of a multi-valued index."""
    if column.type_code == WireType.BLOB:
        codec, charset = codec_for(column), charset_of(column)
        assert isinstance(codec, TextCodec)
        assert charset is not None
        return DocumentTextPlan(column, codec, charset, most=None)
    return DocumentPlan(column, TYPED_ARRAY if column.type_code == WireType.TYPED_ARRAY else JSON)
