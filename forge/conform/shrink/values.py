"""Cells made shorter or plainer: the same column, fewer bytes, or more of them zero."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from forge.errors import ForgeError
from forge.values.base import Column
from forge.values.json.binary import Json, decode_document, encode_document
from forge.values.registry import codec_for
from forge.values.wire_types import WireType

#: What plain values are declared as; a column takes those that fit it.
_PLAIN = ("", 0, "0", "1970-01-01", "1970-01-01 00:00:01", "00:00:00")
#: JSON documents that are tried in the place of any other.
_DOCUMENTS: tuple[Json, ...] = (None, 0, "", [], {})


def plainest_cell(column: Column, cell: bytes) -> bytes | None:
    """The plainest value of the column, if it is plainer than this one."""
    found = [one for one in _plain_cells(column) if plainness(one) < plainness(cell)]
    return min(found, key=plainness, default=None)


def plainer_cells(column: Column, cell: bytes) -> Iterator[bytes]:
    """Cells that are a step plainer, the shortest first: half of the bytes, a part of a document, a byte of zero."""
    if column.type_code == WireType.JSON:
        yield from _documents(column, cell)
        return
    codec = codec_for(column)
    try:
        prefix = codec.prefix(column)
    except ForgeError:
        return
    content = cell[prefix:]
    for kept in _parts(content) if prefix else ():
        yield len(kept).to_bytes(prefix, "little") + kept
    for place, byte in enumerate(content[:64]):
        if byte:
            with suppress(ForgeError, ValueError, LookupError):
                zeroed = cell[: prefix + place] + b"\0" + cell[prefix + place + 1 :]
                codec.decode(column, zeroed)
                yield zeroed


def plainness(cell: bytes) -> tuple[int, int]:
    """What is smaller is plainer: bytes, and of these those that are not zero."""
    return len(cell), len(cell) - cell.count(0)


def _plain_cells(column: Column) -> Iterator[bytes]:
    codec = codec_for(column)
    for declared in _PLAIN:
        with suppress(ForgeError, ValueError, LookupError, TypeError):
            yield codec.encode(column, codec.accept(column, declared))


def _parts(content: bytes) -> Iterator[bytes]:
    """Pieces of the content from small to large: each half, without one byte at either end."""
    size = len(content)
    while size > 1:
        half = size // 2
        yield content[:half]
        yield content[-half:]
        size = half if size > 8 else 1
    if len(content) > 1:
        yield content[1:]
        yield content[:-1]


def _documents(column: Column, cell: bytes) -> Iterator[bytes]:
    codec = codec_for(column)
    try:
        document = decode_document(codec.decode(column, cell))
    except ForgeError:
        return
    for plainer in (*_DOCUMENTS, *_smaller_documents(document)):
        with suppress(ForgeError, ValueError, TypeError):
            encoded = codec.encode(column, encode_document(plainer))
            if plainness(encoded) < plainness(cell):
                yield encoded


def _smaller_documents(document: Json, depth: int = 0) -> Iterator[Json]:
    """A member alone, the document without a member, and with a member made smaller."""
    if isinstance(document, str) and len(document) > 1:
        yield document[: len(document) // 2]
        yield document[1:]
    if depth > 20 or not isinstance(document, (dict, list)):
        return
    items: list[tuple[object, Json]] = (
        list(document.items()) if isinstance(document, dict) else list(enumerate(document))
    )
    for _, member in items[:64]:
        yield member
    half = len(items) // 2
    if half:
        yield _of(document, items[:half])
        yield _of(document, items[half:])
    for place, (key, member) in enumerate(items[:64]):
        yield _of(document, items[:place] + items[place + 1 :])
        for smaller in (*_DOCUMENTS, *_smaller_documents(member, depth + 1)):
            yield _of(document, [*items[:place], (key, smaller), *items[place + 1 :]])


def _of(like: Json, items: list[tuple[object, Json]]) -> Json:
    if isinstance(like, dict):
        return {str(key): member for key, member in items}
    return [member for _, member in items]
