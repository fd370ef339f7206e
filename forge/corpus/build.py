"""Building a corpus: cases are judged in slices, and the manifest is the same however the work is divided.

Two stages: judge (a task is a slice of the cases, in the order of their ids), then write (a task is a part of the
manifest; which case belongs to which part follows from the order alone).  What is judged lies in files beside the parts
meanwhile, so that neither the driver nor a worker ever holds more than a few cases.  A task that is tried again writes
under another name; only files that a finished task named are taken.
"""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from forge import __version__
from forge.corpus.cases import Case
from forge.corpus.judge import Judge, Judgement, Jury
from forge.corpus.manifest import (
    CASES_PER_PART,
    FORMAT,
    SCHEMA,
    RandomSummary,
    Summary,
    digest,
    part_name,
    row_of,
    write_part,
    write_summary,
)
from forge.corpus.workers import Workers, few_collections
from forge.drafts import check_replaceable, draft_folder, replace_folder
from forge.errors import ForgeError, ScenarioError
from forge.progress import Progress

#: Cases of a slice: enough that programs read many files in one call, and not so many that a worker ends long after the
#: others.
SLICE = 32
#: Judgements of a batch of a slice's file.
_BATCH = 16
_COMPRESSION = pa.ipc.IpcWriteOptions(compression="lz4")


class Slice(Protocol):
    """Consecutive cases of a corpus, which travel to a worker."""

    def judgements(self, judge: Judge, refused: Counter[str]) -> Iterator[Judgement]:
        """The judgements of the cases in the order of their ids; ``refused`` counts what was drawn and is no case."""


@dataclass(frozen=True, slots=True)
class ListedCases:
    """Cases that were found."""

    cases: tuple[Case, ...]

    def judgements(self, judge: Judge, refused: Counter[str]) -> Iterator[Judgement]:
        return judge(self.cases)


def sliced(cases: Iterable[Case]) -> list[Slice]:
    """The cases in slices.  Raises ScenarioError if two of them have one id."""
    ordered = sorted(cases, key=lambda case: case.id)
    for case, following in pairwise(ordered):
        if case.id == following.id:
            raise ScenarioError(f"two cases have the id {case.id!r}", file=following.file)
    return [ListedCases(tuple(ordered[start : start + SLICE])) for start in range(0, len(ordered), SLICE)]


@dataclass(frozen=True, slots=True)
class _Judged:
    """A slice that was judged: the file of its rows, and of each row the size of the case and what it covers."""

    number: int
    file: str
    sizes: list[int]
    coverage: list[bytes]
    refused: Counter[str]


@dataclass(frozen=True, slots=True)
class _Part:
    """A part to write: the rows of it, by the file that they lie in."""

    number: int
    rows: list[tuple[str, list[int]]]


@dataclass(frozen=True, slots=True)
class _Written:
    number: int
    file: str
    cases: int


def build_corpus(
    slices: Sequence[Slice],
    judge: Judge,
    out: Path,
    *,
    jury: Jury,
    workers: Workers,
    progress: Progress | None = None,
    random_seed: int | None = None,
) -> Summary:
    """Judge every case and put the manifest into the folder ``out``, which is replaced as a whole at the end.

    ``judge`` goes to the workers; ``jury`` says which decoders it has.  With ``random_seed`` the cases were drawn: of
    those that cover the same, the smallest is kept.
    Raises ScenarioError if ``out`` is something else than a corpus, and what the workers raise.
    """
    check_replaceable(out, "corpus", _is_corpus)
    out.parent.mkdir(parents=True, exist_ok=True)
    with draft_folder(out) as building:
        work = partial(_judge_slice, judge=judge, folder=str(building))
        judged = sorted(workers.run(work, list(enumerate(slices)), progress), key=lambda one: one.number)
        kept = _kept(judged, distinct=random_seed is not None)
        parts = list(_parts(judged, kept))
        written = workers.run(partial(_write_part, folder=str(building)), parts)
        cases = sum(map(len, kept))
        _adopt(written, building, cases)
        summary = Summary(
            format=FORMAT,
            forge=__version__,
            cases=cases,
            sha256=digest(sorted(building.glob("part-*.parquet"))),
            decoders=jury.present,
            absent=jury.absent,
            random=None if random_seed is None else _random_summary(random_seed, judged, cases),
        )
        write_summary(building, summary)
        replace_folder(building, out)
    return summary


def _judge_slice(task: tuple[int, Slice], *, judge: Judge, folder: str) -> _Judged:
    """Stage one, in a worker."""
    number, cases = task
    # A name of its own: the task may be tried again, or twice at once.
    path = Path(folder) / f"_slice-{number}.{uuid.uuid4().hex}"
    judged = _Judged(number, path.name, [], [], Counter())
    with few_collections(), path.open("wb") as file, pa.ipc.new_stream(file, SCHEMA, options=_COMPRESSION) as stream:
        held = []
        for judgement in cases.judgements(judge, judged.refused):
            judged.sizes.append(sum(len(one.data) for one in judgement.files))
            judged.coverage.append(judgement.coverage)
            held.append(row_of(judgement))
            if len(held) == _BATCH:
                stream.write_batch(pa.RecordBatch.from_pylist(held, schema=SCHEMA))
                held = []
        if held:
            stream.write_batch(pa.RecordBatch.from_pylist(held, schema=SCHEMA))
    return judged


def _kept(judged: Sequence[_Judged], *, distinct: bool) -> list[list[int]]:
    """The rows of each slice that become cases: all, or the smallest (and first) of those that cover the same."""
    if not distinct:
        return [list(range(len(one.sizes))) for one in judged]
    least: dict[bytes, tuple[int, int, int]] = {}
    for place, one in enumerate(judged):
        for row, (size, covered) in enumerate(zip(one.sizes, one.coverage, strict=True)):
            least[covered] = min(least.get(covered, (size, place, row)), (size, place, row))
    kept: list[list[int]] = [[] for _ in judged]
    for _, place, row in least.values():
        kept[place].append(row)
    return [sorted(rows) for rows in kept]


def _parts(judged: Sequence[_Judged], kept: Sequence[list[int]]) -> Iterator[_Part]:
    """What each part of the manifest is made of."""
    rows: list[tuple[str, list[int]]] = []
    count = number = 0
    for one, numbers in zip(judged, kept, strict=True):
        while numbers:
            taken = numbers[: CASES_PER_PART - count]
            rows.append((one.file, taken))
            numbers, count = numbers[len(taken) :], count + len(taken)
            if count == CASES_PER_PART:
                yield _Part(number, rows)
                rows, count, number = [], 0, number + 1
    if rows:
        yield _Part(number, rows)


def _write_part(part: _Part, *, folder: str) -> _Written:
    """Stage two, in a worker."""
    path = Path(folder) / f"_{part_name(part.number)}.{uuid.uuid4().hex}"
    tables = []
    for name, rows in part.rows:
        with pa.memory_map(str(Path(folder) / name)) as file, pa.ipc.open_stream(file) as stream:
            tables.append(stream.read_all().take(rows))
    table = pa.concat_tables(tables)
    write_part(path, table)
    return _Written(part.number, path.name, len(table))


def _adopt(written: Sequence[_Written], folder: Path, cases: int) -> None:
    """Give the files of finished tasks their names and remove what others left."""
    if sum(one.cases for one in written) != cases:
        raise ForgeError(f"the job lost cases: {sum(one.cases for one in written)} of {cases} were written")
    for one in written:
        (folder / one.file).rename(folder / part_name(one.number))
    for leftover in folder.glob("_*"):
        leftover.unlink()


def _random_summary(seed: int, judged: Sequence[_Judged], cases: int) -> RandomSummary:
    refused = sum((one.refused for one in judged), Counter[str]())
    drawn = sum(len(one.sizes) for one in judged)
    return RandomSummary(seed=seed, drawn=drawn, repeated=drawn - cases, refused=dict(refused.most_common()))


def _is_corpus(folder: Path) -> bool:
    """Whether a build wrote all of its files, or did when the summary had no underscore."""
    return all(re.fullmatch(r"part-\d+\.parquet|_?corpus\.json", path.name) for path in folder.iterdir())
