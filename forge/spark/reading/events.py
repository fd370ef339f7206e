"""``rows=events``: the events of splits, one a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from forge.binlog.reader import Beginning
from forge.binlog.window import LogWindow
from forge.bulk.machine import SLACK
from forge.bulk.reading.events import PASS, EventList
from forge.bulk.reading.splits import Split
from forge.decode.decode import canonical_events
from forge.errors import FormatError
from forge.events.registry import event_name

#: The header of every event since MySQL 4.0: all numbers are little-endian.
_HEADER: Final = np.dtype(
    [("time", "<u4"), ("type", "u1"), ("server", "<u4"), ("size", "<u4"), ("end", "<u4"), ("flags", "<u2")]
)
#: Columns that are fields of the header, as numbers of another size.
_FIELDS: Final = {"_type_code": "type", "_server_id": "server", "_size": "size", "_flags": "flags"}
_WINDOW: Final = 1 << 20
_PASSED = np.full(256, PASS, np.uint8)
#: Rows of a batch with bodies, which take time.
_ROWS: Final = 1 << 12
#: Members of the canonical decode that are no part of the body.
_OF_HEADER = frozenset(
    ("index", "offset", "inner", "type_code", "timestamp", "server_id", "event_size", "log_pos", "flags", "checksum")
)


class _Headers(NamedTuple):
    """Events by their headers, offsets and numbers."""

    headers: npt.NDArray[Any]
    places: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int64]


def event_batches(split: Split, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The events of a split with these columns, which are some of EVENT_COLUMNS.

    Without ``body`` only headers are looked at, a window at a time.  Raises FormatError.
    """
    bodies = _bodies(split) if "body" in schema.names else None
    for part in _headers(split):
        step = len(part.headers) if bodies is None else _ROWS
        for first in range(0, len(part.headers), step):
            piece = _Headers(*(values[first : first + step] for values in part))
            texts = None if bodies is None else pa.array([next(bodies) for _ in piece.headers], pa.string())
            yield _batch(piece, split.path, schema, texts)


def _batch(part: _Headers, path: str, schema: pa.Schema, bodies: pa.Array | None) -> pa.RecordBatch:
    columns: dict[str, Callable[[], pa.Array]] = {
        "_file": lambda: pa.repeat(pa.scalar(path), len(part.headers)),
        "_position": lambda: pa.array(part.places),
        "_event": lambda: pa.array(part.numbers),
        "_type": lambda: pa.array(map(event_name, range(256)), pa.string()).take(pa.array(part.headers["type"])),
        "_timestamp": lambda: pa.array(part.headers["time"].astype(np.int64) * 1_000_000),
        "body": lambda: bodies,
    }
    arrays = []
    for field in schema:
        if field.name in columns:
            array = columns[field.name]()
        else:
            array = pa.array(part.headers[_FIELDS[field.name]].astype(field.type.to_pandas_dtype()))
        arrays.append(array.cast(field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _headers(split: Split) -> Iterator[_Headers]:
    """Raises FormatError if the file is shorter than it was."""
    buffer = np.zeros(_WINDOW + SLACK, np.uint8)
    events = EventList()
    place, number = split.begin, split.mark.number
    with Path(split.path).open("rb", buffering=0) as file:
        while place < split.end:
            file.seek(place)
            fill = file.readinto(buffer.data[: min(_WINDOW, split.end - place)])
            events.clear()
            at, _ = events.walk(buffer, 0, fill, _PASSED, tail=0, place=place, number=number, step=1)
            if not events.count:
                # An event that is larger than the window: its header is all that is needed.
                at = int(buffer[: _HEADER.itemsize].view(_HEADER)["size"][0])
                if fill < _HEADER.itemsize or not _HEADER.itemsize <= at <= split.end - place:
                    raise FormatError(
                        "the file ends", phase="framing", offset=place, event_index=number, file=split.path
                    )
                events.add(0, at, int(buffer[4]), tail=0, place=place, number=number)
            count = events.count
            begins = events.begins[:count, None] + np.arange(_HEADER.itemsize)
            headers = buffer[begins].view(_HEADER)[:, 0]
            yield _Headers(headers, events.places[:count].copy(), events.numbers[:count].copy())
            place, number = place + at, number + count


def _bodies(split: Split) -> Iterator[str]:
    """The bodies as JSON: the canonical decode without what the header says.  Raises FormatError."""
    mark = split.mark
    encode = msgspec.json.Encoder().encode
    held: dict[str, Any] | None = None
    try:
        with Path(split.path).open("rb") as file:
            file.seek(split.begin)
            window = LogWindow(file, start=split.begin, end=split.end)
            for event in canonical_events(window, Beginning(split.begin, mark.number, mark.context())):
                shown = {name: value for name, value in event.items() if name not in _OF_HEADER}
                if "inner" in event:
                    assert held is not None
                    held.setdefault("events", []).append(shown)
                    continue
                if held is not None:
                    yield encode(held).decode()
                shown.pop("type")
                held = shown
        if held is not None:
            yield encode(held).decode()
    except FormatError as error:
        raise error.in_file(split.path) from None
