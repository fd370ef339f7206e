"""corpora/compat/matrix.tsv: what real consumers did with recordings of other lines."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from forge.resources import corpora_dir


@dataclass(frozen=True, slots=True, order=True)
class Measured:
    """One pair of a log and a consumer.

    ``reader`` is ``end``, ``unmeasured`` where the server came without one, ``withheld`` where its vendor has to
    hear of it first (SECURITY.md), or ``stop OFFSET WHY``, where OFFSET is that of the last event that it shows.
    ``replica`` is ``end``, ``misread TABLE``, whose rows are not those of the source, or ``stop OFFSET ERROR``,
    where OFFSET is that of the group that it stops in.
    """

    writer: str
    #: A folder in corpora, or a case of a scenario in corpora/compat.
    log: str
    consumer: str
    reader: str
    replica: str


def matrix_path() -> Path:
    return corpora_dir() / "compat" / "matrix.tsv"


def read_matrix() -> list[Measured]:
    with matrix_path().open(newline="", encoding="utf-8") as file:
        return [Measured(*row) for row in csv.reader(file, delimiter="\t")][1:]


def write_matrix(rows: Iterable[Measured]) -> None:
    matrix_path().parent.mkdir(exist_ok=True)
    with matrix_path().open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow([field.name for field in fields(Measured)])
        writer.writerows(astuple(row) for row in sorted(rows))
