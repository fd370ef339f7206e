"""Our own readers, each as a function of a log's bytes: what it raises beside ForgeError's two is a failure."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from forge.binlog.listing import assemble, listing_json
from forge.check.compat.report import compatibility_of_logs
from forge.decode.decode import canonical_events
from forge.decode.printed import render_text
from forge.decode.reference import read_reference
from forge.errors import FormatError, UnsupportedError
from forge.render.schema_of import schemas_of

_encode = msgspec.json.Encoder().encode
#: The consumers of ``forge compat``: an old line, and a foreign one.
_CONSUMERS = ("mysql-5.6", "mariadb-10.11")


class Failed(AssertionError):
    """A reader did what it may not do."""


def reference(data: bytes, path: Path) -> None:
    read_reference(data)


def canonical(data: bytes, path: Path) -> None:
    """As the commands write it."""
    for event in canonical_events(data):
        _encode(event)
        render_text(event)


def listing(data: bytes, path: Path) -> None:
    """A listing may hold any bytes: nothing is refused, and all of them come back."""
    try:
        again = assemble("".join(listing_json(data)))
    except (FormatError, UnsupportedError) as error:
        raise Failed(f"the listing refuses: {error}") from None
    if again != data:
        raise Failed("the listing gives other bytes back")


def schemas(data: bytes, path: Path) -> None:
    for schema in schemas_of(data):
        schema.create_table()
        schema.column_list()
        _encode(schema.as_json())


def compat(data: bytes, path: Path) -> None:
    """Another consumer for every other log: by far the most of the work is the same for both."""
    compatibility_of_logs([data], _CONSUMERS[zlib.crc32(data) % len(_CONSUMERS)])


def columnar(data: bytes, path: Path) -> None:
    from forge.bulk.reading.rows import read_rows

    path.write_bytes(data)
    for _ in read_rows(path, on_odd="text"):
        pass


Reader = Callable[[bytes, Path], None]
READERS: dict[str, Reader] = {
    "reference": reference,
    "canonical": canonical,
    "listing": listing,
    "schema-of": schemas,
    "compat": compat,
    "columnar": columnar,
}
