"""Tables of plain text."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], *, numbers_from: int | None = None) -> list[str]:
    """A line a row, whose cells stand in columns, those from ``numbers_from`` on at their right ends."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    texts = len(widths) if numbers_from is None else numbers_from
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:texts], widths[:texts], strict=True)]
        cells += [cell.rjust(width) for cell, width in zip(row[texts:], widths[texts:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines
