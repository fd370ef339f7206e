"""JSON cells in bulk with nothing left out: what the kernels do not take, the reference does.

A row stays odd only if the reference refuses it: the error is the one that it raises for this row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from forge.columnar.json.binary import Documents, documents_binary
from forge.columnar.json.text import Texts, documents_text
from forge.errors import FormatError, ScenarioError
from forge.values.json.binary import decode_document, encode_document
from forge.values.json.diff import format_diffs, parse_diffs
from forge.values.json.text import format_json, parse_json


def json_texts(buffer: Any, off: Any, length: Any) -> Texts:
    """The texts of a batch of JSON cells, as :func:`forge.columnar.json.text.documents_text` takes them.

    They are those of :meth:`forge.check.canonical.cells.Cell.text`, partial updates included.  Odd are the rows for
    which :func:`cell_text` raises FormatError; they have no bytes.
    """
    texts = documents_text(buffer, off, length)
    found: dict[int, bytes] = {}
    refused = []
    for row in texts.odd.tolist():
        try:
            found[row] = cell_text(buffer, int(off[row]), int(length[row])).encode()
        except FormatError:
            refused.append(row)
    if not found:
        return texts
    offsets, data = spliced(texts.offsets, texts.data, found)
    return Texts(offsets, data, np.array(refused, np.int32))


def cell_text(buffer: Any, begin: int, length: int) -> str:
    """The text of one cell by the reference.  Raises FormatError (phase "value", offset in the document or diffs)."""
    size = length if length >= 0 else -1 - length
    data = buffer[begin : begin + size].tobytes()
    return format_json(decode_document(data)) if length >= 0 else format_diffs(parse_diffs(data))


def json_documents(data: Any, offsets: Any, valid: Any = None) -> Documents:
    """The documents of a batch of texts, as :func:`forge.columnar.json.binary.documents_binary` takes them.

    Odd are the rows for which :func:`text_document` raises ScenarioError; they have no bytes.
    """
    documents = documents_binary(data, offsets, valid)
    found: dict[int, bytes] = {}
    refused = []
    for row in documents.odd.tolist():
        try:
            found[row] = text_document(data[offsets[row] : offsets[row + 1]].tobytes())
        except ScenarioError:
            refused.append(row)
    if not found:
        return documents
    ends, joined = spliced(documents.offsets, documents.data, found)
    return Documents(ends, joined, np.array(refused, np.int32))


def text_document(data: bytes) -> bytes:
    """The document of one text by the reference.  Raises ScenarioError for what is no JSON text."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ScenarioError(f"invalid JSON text: byte {error.start} is not UTF-8") from None
    return encode_document(parse_json(text))


def spliced(offsets: Any, data: Any, found: dict[int, bytes]) -> tuple[Any, Any]:
    """Offsets and data of a column, with values for some rows, ascending, that have no bytes yet."""
    sizes = np.diff(offsets).astype(np.int64)
    parts = []
    taken = 0
    for row, value in found.items():
        parts += [data[taken : offsets[row]], np.frombuffer(value, np.uint8)]
        taken = offsets[row]
        sizes[row] = len(value)
    joined = np.concatenate([*parts, data[taken:]])
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]).astype(offsets.dtype), joined
