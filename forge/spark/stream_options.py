"""What a stream of ``format("binlog")`` is told beside the options of a read: where it starts, how large a batch is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from forge.bulk.reading.followed import Limits
from forge.bulk.reading.known_gtids import KnownGtids, known_gtids
from forge.errors import ScenarioError
from forge.spark.options import Options
from forge.spark.read_options import READ_OPTIONS, ReadOptions, read_options

_FILES, _BYTES, _ROWS = "maxfilespertrigger", "maxbytespertrigger", "maxrowspertrigger"
#: As Spark hands them over: in lower case.
STREAM_OPTIONS: Final = ("starting", _FILES, _BYTES, _ROWS)


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """The options of one stream.  ``starting`` is ``earliest``, ``latest``, a file and an offset, or a GTID set."""

    read: ReadOptions
    path: str
    starting: Literal["earliest", "latest"] | tuple[str, int] | KnownGtids
    limits: Limits


def stream_options(given: Mapping[str, str]) -> StreamOptions:
    """The options that ``spark.readStream`` gives.  Raises ScenarioError for one that cannot be."""
    options = Options(given, (*READ_OPTIONS, *STREAM_OPTIONS), "a read")
    if options.text("tail") is not None:
        raise ScenarioError("the option 'tail' has no meaning for a stream, which waits for the end of a transaction")
    read = read_options(given, also=STREAM_OPTIONS)
    if len(read.paths) != 1:
        raise ScenarioError(
            f"a stream follows one log, not {len(read.paths)}", expected="a folder, an index file, or a file"
        )
    limits = Limits(options.count(_FILES), options.size(_BYTES), options.count(_ROWS))
    return StreamOptions(read, read.paths[0], _starting(options.text("starting") or "earliest"), limits)


def _starting(text: str) -> Literal["earliest", "latest"] | tuple[str, int] | KnownGtids:
    word = text.strip()
    if word.lower() == "earliest":
        return "earliest"
    if word.lower() == "latest":
        return "latest"
    file, _, position = word.rpartition(":")
    if file.lower() == "gtid" or file.lower().startswith("gtid:"):
        return known_gtids(word[len("gtid:") :])
    if not file or not position.isascii() or not position.isdecimal():
        raise ScenarioError(
            f"option starting: {text!r}",
            expected="earliest, latest, a place such as binlog.000007:1234, or gtid: and a GTID set",
        )
    return file, int(position)
