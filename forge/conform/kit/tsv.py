"""The lists of ``corpora/kit``: a line of names, then rows, their columns apart by tabs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from forge.errors import ScenarioError

_Row = TypeVar("_Row")


def read_tsv(path: Path, header: Sequence[str], row: Callable[..., _Row], of: str) -> list[_Row]:
    """The rows of a list (``of``: what it is), each made of the texts of its columns by ``row``.

    Raises ScenarioError for other columns than those of ``header``, and for a line that is no row; OSError.
    """
    head, *lines = path.read_text("utf-8").splitlines()
    if head.split("\t") != list(header):
        raise ScenarioError(f"the columns are {head!r}", file=str(path), line=1, expected=" ".join(header))
    rows: list[_Row] = []
    for number, line in enumerate(lines, start=2):
        texts = line.split("\t")
        try:
            if len(texts) != len(header):
                raise ValueError(f"it has {len(texts)} columns")
            rows.append(row(*texts))
        except ValueError as error:
            raise ScenarioError(f"not a line of {of}: {error}", file=str(path), line=number) from None
    return rows


def tsv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The list as its file holds it."""
    return "".join("\t".join(map(str, row)) + "\n" for row in (header, *rows))
