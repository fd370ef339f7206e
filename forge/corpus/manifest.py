"""The manifest of a corpus: Parquet files sorted by case, and a summary that is written last.

::

    DIR/part-00000.parquet ...   CASES_PER_PART cases each, in the order of their ids
    DIR/_corpus.json             what made it: versions, decoders, number of cases, sha256 of all parts

The same cases give the same bytes of every part, however the work was divided.  Reading needs no Spark.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from forge.corpus.judge import CaseFile, DecoderVerdict, Judgement, Status
from forge.corpus.outcomes import RIGHT
from forge.errors import ManifestError, Phase, ScenarioError, Verdict, nearest

FORMAT = 4
#: Readers of datasets pass over names that begin with an underscore.
SUMMARY = "_corpus.json"
CASES_PER_PART = 1024

_VERDICT = pa.struct(
    [
        pa.field("decoder", pa.string(), nullable=False),
        pa.field("version", pa.string()),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("detail", pa.string()),
        pa.field("warnings", pa.list_(pa.string()), nullable=False),
    ]
)
_FILE = pa.struct(
    [
        pa.field("name", pa.string(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("sha256", pa.string(), nullable=False),
        pa.field("bytes", pa.binary(), nullable=False),
        pa.field("decode", pa.string()),
    ]
)
_TWIN = pa.struct([field for field in _FILE if field.name != "decode"])
SCHEMA = pa.schema(
    [
        pa.field("case", pa.string(), nullable=False),
        pa.field("file", pa.string(), nullable=False),
        pa.field("server", pa.string(), nullable=False),
        pa.field("title", pa.string()),
        pa.field("tags", pa.list_(pa.string()), nullable=False),
        pa.field("verdict", pa.string(), nullable=False),
        pa.field("phase", pa.string()),
        pa.field("status", pa.string(), nullable=False),
        pa.field("error", pa.string()),
        pa.field("against", pa.string()),
        pa.field("verdicts", pa.list_(_VERDICT), nullable=False),
        pa.field("files", pa.list_(_FILE), nullable=False),
        pa.field("twin", pa.list_(_TWIN), nullable=False),
    ]
)
#: Columns that a report needs: all but the bytes and their decode.
_BRIEF = [name for name in SCHEMA.names if name not in ("files", "twin")]
_BRIEF += [f"files.list.element.{name}" for name in ("name", "size", "sha256")]
_BYTES = [f"files.list.element.{name}" for name in ("name", "size", "sha256", "bytes")]


class RandomSummary(msgspec.Struct, frozen=True, kw_only=True):
    """How random cases came to be: ``drawn`` were judged, of which ``repeated`` cover what others do and were left out.

    ``refused`` counts, by kind, scenarios that no server takes; others were drawn in their place.
    """

    seed: int
    drawn: int
    repeated: int
    refused: dict[str, int]


class Summary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What made a corpus.  ``decoders`` has a version, or why it could not run, for every decoder known."""

    format: int
    forge: str
    cases: int
    sha256: str
    decoders: dict[str, str]
    absent: dict[str, str]
    random: RandomSummary | None = None


class FileEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a case; ``size`` in bytes."""

    name: str
    size: int
    sha256: str


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the manifest without the bytes of its files and their decode."""

    case: str
    file: str
    server: str
    title: str | None
    tags: list[str]
    verdict: Verdict
    phase: Phase | None
    status: Status
    error: str | None
    against: str | None
    verdicts: list[DecoderVerdict]
    files: list[FileEntry]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def failing(self) -> bool:
        """Whether something about the case asks for a look."""
        is_compiled = self.status in ("compiled", "unreadable") and self.against is None
        return not is_compiled or any(verdict.outcome not in RIGHT for verdict in self.verdicts)


def row_of(judgement: Judgement) -> dict[str, Any]:
    """The row of one case, by column of SCHEMA."""
    case = judgement.case
    return {
        "case": case.id,
        "file": case.file,
        "server": case.server,
        "title": case.title,
        "tags": judgement.tags,
        "verdict": case.verdict,
        "phase": case.phase,
        "status": judgement.status,
        "error": judgement.error,
        "against": judgement.against,
        "verdicts": [msgspec.structs.asdict(verdict) for verdict in judgement.verdicts],
        "files": [_file(file) | {"decode": file.decode} for file in judgement.files],
        "twin": [_file(file) for file in judgement.twin],
    }


def _file(file: CaseFile) -> dict[str, Any]:
    return {"name": file.name, "size": len(file.data), "sha256": file.sha256, "bytes": file.data}


def part_name(number: int) -> str:
    """File name of a part."""
    return f"part-{number:05d}.parquet"


def write_part(path: Path, rows: pa.Table) -> None:
    """Write the rows of one part, sorted by case, as one row group."""
    table = rows.select(SCHEMA.names).cast(SCHEMA).sort_by("case").combine_chunks()
    with path.open("wb") as file:
        dictionaries = ["file", "server", "verdict", "status"]
        with pq.ParquetWriter(file, SCHEMA, compression="zstd", use_dictionary=dictionaries) as writer:
            writer.write_table(table, row_group_size=max(1, table.num_rows))
        file.flush()
        os.fsync(file.fileno())


def parts(folder: Path) -> list[Path]:
    """The parts of a corpus, in order.  Raises ScenarioError if there is no (complete) corpus in ``folder``."""
    if not (folder / SUMMARY).is_file():
        raise ScenarioError(f"there is no corpus in {folder}", expected="a folder that `forge corpus build` made")
    return sorted(folder.glob("part-*.parquet"))


def digest(paths: Iterable[Path]) -> str:
    """sha256 over the bytes of the parts, in order."""
    whole = hashlib.sha256()
    for path in paths:
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def read_summary(folder: Path) -> Summary:
    """What made the corpus in ``folder``.  Raises ScenarioError if there is none; ManifestError if it is damaged."""
    parts(folder)
    with _damage(folder):
        return msgspec.json.decode((folder / SUMMARY).read_bytes(), type=Summary)


def write_summary(folder: Path, summary: Summary) -> None:
    """Write what made a corpus, as the last of its files."""
    with (folder / SUMMARY).open("wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(summary), indent=2) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_entries(folder: Path) -> Iterator[Entry]:
    """All cases in the order of their ids, without their bytes.  Raises as :func:`read_summary`."""
    for path in parts(folder):
        with _damage(folder):
            entries = [msgspec.convert(row, Entry) for row in _read_part(path, _BRIEF).to_pylist()]
        yield from entries


def read_case(folder: Path, case: str) -> dict[str, Any]:
    """The whole row of a case.

    Raises ScenarioError (with the nearest id) if there is no such case, and as :func:`read_summary`; ManifestError for
    a file whose name leads out of a folder, or whose bytes are not those that its sha256 is of.
    """
    ids: list[str] = []
    for path in parts(folder):
        with _damage(folder):
            cases = _read_part(path, ["case"])["case"]
            if pc.index(cases, case).as_py() >= 0:
                row: dict[str, Any]
                [row] = _read_part(path).filter(pc.field("case") == case).to_pylist()
                _check_files(folder, row)
                return row
        ids += cases.to_pylist()
    raise ScenarioError(f"there is no case {case!r} in {folder}", suggestion=nearest(case, ids))


def read_bytes_of(folder: Path, cases: Container[str]) -> Iterator[dict[str, Any]]:
    """The rows of those cases with the bytes of their files, one part after the other.  Raises as :func:`read_case`."""
    columns = [name for name in SCHEMA.names if name not in ("files", "verdicts")]  # The twin with its bytes.
    for path in parts(folder):
        with _damage(folder):
            rows = _read_part(path, columns + _BYTES).to_pylist()
        for row in rows:
            if row["case"] in cases:
                _check_files(folder, row)
                yield row


def _read_part(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    with pq.ParquetFile(path) as part:
        return part.read(columns=None if columns is None else list(columns))


def _check_files(folder: Path, row: dict[str, Any]) -> None:
    """Raise ManifestError unless the files of a case can be written into one folder, and are what they were."""
    for files in (row["files"], row["twin"]):
        names = [file["name"] for file in files]
        for file in files:
            name, data = file["name"], file["bytes"]
            if name in ("", ".", "..") or "/" in name or "\\" in name or "\0" in name or names.count(name) > 1:
                rule = f"{name!r}, a file of the case {row['case']!r}, has no plain file name of its own"
                raise ManifestError(rule, folder=str(folder))
            if hashlib.sha256(data).hexdigest() != file["sha256"]:
                rule = f"{name} of the case {row['case']!r} does not have the sha256 of the manifest"
                raise ManifestError(rule, folder=str(folder))


@contextmanager
def _damage(folder: Path) -> Iterator[None]:
    """Files that are no manifest, or not one of this format, as ManifestError."""
    try:
        yield
    except (pa.ArrowException, msgspec.MsgspecError, KeyError, ValueError) as error:
        raise ManifestError(f"the manifest cannot be read: {error}", folder=str(folder)) from error
