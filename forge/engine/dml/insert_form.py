"""The rows that an INSERT or REPLACE declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from forge.engine.requests.rows import Insert, Replace
from forge.engine.rows.context import DmlContext
from forge.errors import ScenarioError

Kind = Literal["insert", "replace"]


def declared_rows(
    insert: Insert | Replace, kind: Kind, context: DmlContext
) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    """(steps to the row's entry, its cells by column) for every row."""
    if insert.row is not None:
        for _ in range(insert.count or 0):
            yield ("row",), insert.row
    for number, row in enumerate(insert.rows or ()):
        steps = ("rows", number)
        if isinstance(row, list):
            with context.place(kind, *steps):
                if insert.columns is None:
                    raise ScenarioError("a row is a list, but no columns are named", expected="`columns` beside `rows`")
                if len(row) != len(insert.columns):
                    expected = f"{len(insert.columns)}, as many as columns"
                    raise ScenarioError(f"the row has {len(row)} cells", expected=expected)
            yield steps, dict(zip(insert.columns or (), row, strict=True))
        else:
            yield steps, row
