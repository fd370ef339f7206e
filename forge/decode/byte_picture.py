"""The bytes of events as a picture: each field's bytes in a line, beside the text that they were made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from forge.decode.byte_view import kind_of, section_title
from forge.decode.labels.runs import LabelledRun, LabelledSection
from forge.errors import ScenarioError, escaped
from forge.render.templates import render

#: Pixels: of a character of the font and of a line; around what is drawn, and between its columns.
_CHARACTER, _LINE, _TOP, _MARGIN, _GAP = 7.23, 18, 34, 24, 16
#: Characters of a value, and bytes, that a line of the picture has room for.
_VALUE, _BYTES = 32, 8
#: Lines that a picture may have, and characters of a line of the text beside it.
_LINES, _SAID = 200, 80


def svg_picture(sections: Iterable[LabelledSection], said: str = "") -> str:
    """SVG in the colours of a light or a dark page: a line for each field of the sections, ``said`` to the left.

    Raises ScenarioError for more than 200 lines: a picture is of an event or two.
    """
    text = [escaped(line)[:_SAID] for line in said.rstrip("\n").splitlines()]
    said_width = round(max(map(len, text)) * _CHARACTER) + _MARGIN if text else 0
    left = said_width + 2 * _MARGIN if text else _MARGIN
    rows: list[Sequence[tuple[str, str]]] = []
    for section in sections:
        rows += _rows_of(section)
        if max(len(rows), len(text)) > _LINES:
            raise ScenarioError(f"a picture has {_LINES} lines at most", expected="--event N for one event of the log")
    widths = [max((len(row[column][0]) for row in rows if len(row) > 1), default=0) for column in range(4)]
    starts = [left]
    for width in widths:
        starts.append(starts[-1] + round(width * _CHARACTER) + _GAP)
    titles = max((len(row[0][0]) for row in rows if len(row) == 1), default=0)
    return render(
        "bytes/picture.svg.j2",
        label=", ".join(row[0][0] for row in rows if len(row) == 1),
        width=max(starts[-1] - _GAP, left + round(titles * _CHARACTER)) + _MARGIN,
        height=_TOP + _LINE * max(len(rows), len(text)),
        said=text,
        said_width=said_width,
        lines=[_placed(row, starts, _TOP + _LINE * number) for number, row in enumerate(rows)],
    )


def _rows_of(section: LabelledSection) -> Iterator[Sequence[tuple[str, str]]]:
    """(text, kind) of each cell of a line; a line of one cell is a title."""
    yield [(escaped(f"{section_title(section)}, {section.size} bytes at {section.offset}"), "title")]
    for run in section.runs:
        yield _run_cells(run)
    for inner in section.inner:
        yield from _rows_of(inner)


def _run_cells(run: LabelledRun) -> list[tuple[str, str]]:
    shown = run.data[:_BYTES].hex(" ") + (" …" if len(run.data) > _BYTES else "")
    value = escaped(run.value or "")
    if len(value) > _VALUE:
        value = value[: _VALUE - 1] + "…"
    return [(str(run.offset), "offset"), (shown, kind_of(run.field)), (escaped(run.field), "faint"), (value, "value")]


def _placed(row: Sequence[tuple[str, str]], starts: Sequence[float], y: int) -> list[dict[str, Any]]:
    return [{"text": text, "kind": kind, "x": x, "y": y} for (text, kind), x in zip(row, starts, strict=False) if text]
