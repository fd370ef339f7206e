"""Cases whose files are larger than 4 GiB, nearly all of it zero bytes: the profile ``sparse`` of a kit.

Their scenarios (``corpora/sparse``) make small files.  Each empty IGNORABLE event of them gets a *hole* of 15 MiB of
zero bytes, which are neither stored nor sent: a kit has what is around the holes; ``case.json`` says where they are.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from forge.binlog.reader import frames
from forge.corpus.cases import compile_case, find_cases
from forge.decode.expected import Expected, expected_of
from forge.errors import ScenarioError
from forge.events.event import SIZE_OFFSET
from forge.events.format import HEADER_SIZE
from forge.events.ignorable import Ignorable
from forge.resources import shipped_corpora

#: The profile, and the folder of its scenarios.
SPARSE = "sparse"
#: What is behind the name of a binary log for its bytes around the holes.
PACKED = ".packed"
#: Bytes of a hole: less than a packet of the protocol has.
HOLE = 15 << 20
#: `log_pos` in the header of an event, and the number of its values.
_LOG_POS, _TURN = 13, 1 << 32


class Hole(msgspec.Struct, frozen=True, kw_only=True):
    """Zero bytes of a file that are not stored."""

    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class SparseLog:
    """A binary log without its holes: ``packed`` has its other bytes in order; ``size`` counts all."""

    packed: bytes
    holes: list[Hole]
    size: int

    @property
    def sha256(self) -> str:
        """That of the whole file."""
        digest = hashlib.sha256()
        for part in self._parts():
            digest.update(part if isinstance(part, bytes) else bytes(part))
        return digest.hexdigest()

    def write(self, path: Path) -> None:
        """Lay the file out; file systems keep no blocks for the holes.  Raises OSError."""
        with path.open("wb") as out:
            for part in self._parts():
                if isinstance(part, bytes):
                    out.write(part)
                else:
                    out.seek(part, os.SEEK_CUR)
            out.truncate(self.size)

    def _parts(self) -> Iterator[bytes | int]:
        """Bytes, and lengths of holes."""
        at = place = 0
        for hole in self.holes:
            length = hole.offset - place
            yield self.packed[at : at + length]
            yield hole.length
            at, place = at + length, hole.offset + hole.length
        yield self.packed[at:]


def stretched(data: bytes) -> tuple[SparseLog, Expected]:
    """The file with its holes, and what a correct reader gets of it; of events with a hole, the header alone.

    Positions have 32 bits, as servers write them: behind 4 GiB they begin at 0 again.  Raises ScenarioError for a file
    with checksums, which would have to be computed over all zero bytes.
    """
    packed = bytearray(data)
    holes: list[Hole] = []
    places: dict[int, int] = {}
    grown = 0
    for frame in frames(data):
        places[frame.offset] = frame.offset + grown
        if frame.type_code == Ignorable.type_code:
            if len(frame.raw) != HEADER_SIZE:
                raise ScenarioError("an IGNORABLE event of a sparse file has a body or a checksum", expected="neither")
            holes.append(Hole(offset=frame.offset + grown + HEADER_SIZE, length=HOLE))
            grown += HOLE
            _put(packed, frame.offset + SIZE_OFFSET, HEADER_SIZE + HOLE)
        position = int.from_bytes(frame.raw[_LOG_POS : _LOG_POS + 4], "little")
        if position:
            _put(packed, frame.offset + _LOG_POS, (position + grown) % _TURN)
    expected = expected_of(data)
    grown = 0
    for event in expected.events:
        if event["type_code"] == Ignorable.type_code:
            grown += HOLE
            event |= {"event_size": HEADER_SIZE + HOLE, "fields": {}}
        if event["log_pos"]:
            event["log_pos"] = (event["log_pos"] + grown) % _TURN
    for one in (*expected.events, *expected.rows):
        one["offset"] = places[one["offset"]]
    return SparseLog(bytes(packed), holes, len(data) + len(holes) * HOLE), expected


def _put(data: bytearray, at: int, number: int) -> None:
    data[at : at + 4] = number.to_bytes(4, "little")


def sparse_rows() -> Iterator[dict[str, Any]]:
    """The cases of the profile as rows of a manifest; their files have no holes yet.  Raises EnvironmentMissing."""
    for case in find_cases([(SPARSE, shipped_corpora() / SPARSE)]):
        compiled = compile_case(case)
        files = [{"name": file.name, "bytes": file.data} for file in compiled.files]
        yield {
            "case": case.id, "title": case.title, "server": case.server, "verdict": case.verdict, "phase": case.phase,
            "tags": list(compiled.tags), "files": files,
        }  # fmt: skip


@contextmanager
def laid_out(path: Path, holes: list[Hole], size: int) -> Iterator[Path]:
    """The binary log ``path`` of a kit: the file itself, or one that is laid out for the time of the block.

    Raises OSError, if there is no room for so large a file where holes take room.
    """
    if not holes:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="forge-sparse-") as folder:
        whole = Path(folder) / path.name
        SparseLog(path.with_name(path.name + PACKED).read_bytes(), holes, size).write(whole)
        yield whole
