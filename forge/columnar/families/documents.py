"""JSON: utf8, the text that the server prints and takes.

Odd when written is a text that is no document's, and when read a cell that is no document.  Of a partial update the new
document is read; one is odd if the old document is not logged.

MariaDB's JSON is a LONGTEXT, which a declaration tells from others.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from forge.columnar.families.strings import TextPlan
from forge.columnar.json.binary import documents_binary
from forge.columnar.json.cells import json_texts
from forge.columnar.plan import Cells, ColumnPlan, Read, Wire
from forge.columnar.text.form import either
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
        super().__init__(column, pa.string(), -codec.prefix_size(column))

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
