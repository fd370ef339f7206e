"""The canonical decode as JSON in pieces: a value of many megabytes is not there once more for each step of writing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

#: Bytes of an event, and characters of a cell, from which on JSON is made in pieces.
LARGE = 1 << 20

#: Characters that are written at once.
_GATHERED = 1 << 16

_encode = msgspec.json.Encoder().encode
_encoder = json.JSONEncoder(ensure_ascii=False)


def json_line(shown: Mapping[str, Any], size: int) -> Iterator[str]:
    """The object of an event, or of a row of it, as a line of JSON; ``size`` is that of the event."""
    if size < LARGE and isinstance(shown.get("rows", []), list):
        yield msgspec.json.format(_encode(shown), indent=0).decode() + "\n"
        return
    before = "{"
    for name, value in shown.items():
        yield f"{before}{_encoder.encode(name)}: "
        before = ", "
        if name == "rows":
            yield from _rows(value)
        elif name in ("before", "after"):
            yield from _part({name: value}, value)
        else:
            yield from json_pieces(value)
    yield "}\n"


def gathered(pieces: Iterable[str]) -> Iterator[str]:
    """Small pieces of text together, so that each is not written by itself."""
    kept: list[str] = []
    size = 0
    for piece in pieces:
        if len(piece) >= _GATHERED:  # It is not there once more.
            yield "".join(kept)
            yield piece
            kept, size = [], 0
            continue
        kept.append(piece)
        size += len(piece)
        if size >= _GATHERED:
            yield "".join(kept)
            kept, size = [], 0
    yield "".join(kept)


def json_pieces(value: Any) -> Iterator[str]:
    """Plain data as JSON; a large text a piece at a time."""
    if isinstance(value, str) and len(value) >= LARGE:
        yield '"'
        for at in range(0, len(value), LARGE):
            yield _encoder.encode(value[at : at + LARGE])[1:-1]
        yield '"'
    elif isinstance(value, Mapping) and value:
        before = "{"
        for name, one in value.items():
            yield f"{before}{_encoder.encode(name)}: "
            yield from json_pieces(one)
            before = ", "
        yield "}"
    elif isinstance(value, (list, tuple)) and value:
        before = "["
        for one in value:
            yield before
            yield from json_pieces(one)
            before = ", "
        yield "]"
    else:
        yield _encoder.encode(value)


def _rows(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    yield "["
    for number, row in enumerate(rows):
        if number:
            yield ", "
        yield from _part(row, row)
    yield "]"


def _part(row: Mapping[str, Any], part: Any) -> Iterator[str]:
    """A row, or an image of it, in pieces if a cell is large."""
    cells = (cell for image in ("before", "after") for cell in row.get(image) or ())
    if any(isinstance(text, str) and len(text) >= LARGE for cell in cells for text in cell.values()):
        yield from json_pieces(part)
    else:
        yield msgspec.json.format(_encode(part), indent=0).decode()
