"""The byte view of a log: its labelled sections in columns for a terminal, as JSON objects, and as a page of HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from forge.decode.labels.runs import LabelledRun, LabelledSection
from forge.render.templates import render

#: Bytes on a line of the terminal, and the lines of one run; a page shows as many bytes of a run at most.
_ON_A_LINE, _LINES = 8, 4
_ON_A_PAGE = 512
#: Runs after which a page ends.
_RUNS_OF_A_PAGE = 5000
#: Columns of a terminal that a field and a value take at most where others have to line up.
_FIELD_WIDTH, _VALUE_WIDTH = 48, 40


def section_title(section: LabelledSection) -> str:
    """The name of a section: the event's number and type."""
    return section.title if section.index is None else f"event {section.index} {section.title}"


def text_lines(section: LabelledSection, level: int = 0) -> Iterator[str]:
    """The lines of a section: offset, bytes, field, value, rule.  Those of sections inside are indented."""
    margin = "  " * level
    yield f"{margin}{section_title(section)}, {section.size} bytes at {section.offset}"
    field = min(max((len(run.field) for run in section.runs), default=0), _FIELD_WIDTH)
    value = min(max((len(run.value or "") for run in section.runs), default=0), _VALUE_WIDTH)
    for run in section.runs:
        yield from (f"{margin}  {line}" for line in _run_lines(run, field, value))
    if section.problem is not None:
        yield f"{margin}  ! {section.problem.phase}: {section.problem.rule}"
    for inner in section.inner:
        yield from text_lines(inner, level + 1)


def _run_lines(run: LabelledRun, field: int, value: int) -> Iterator[str]:
    shown = run.data[: _ON_A_LINE * (_LINES + 1)]
    pieces = [shown[at : at + _ON_A_LINE].hex(" ") for at in range(0, len(shown), _ON_A_LINE)]
    if len(pieces) > _LINES:
        pieces[_LINES - 1 :] = [f"… {len(run.data) - _ON_A_LINE * (_LINES - 1)} more"]
    said = f"{run.field:<{field}}  {run.value or '':<{value}}  {run.rule or ''}".rstrip()
    yield f"{run.offset:>8}  {pieces[0]:<{3 * _ON_A_LINE - 1}}  {said}"
    for piece in pieces[1:]:
        yield f"{'':>8}  {piece}"


def section_object(section: LabelledSection) -> dict[str, Any]:
    """A section as plain data: ``runs`` have offset, bytes as hex, field, value, rule."""
    shown: dict[str, Any] = {"title": section.title, "offset": section.offset}
    if section.index is not None:
        shown["event"] = section.index
    shown["runs"] = [
        {"offset": run.offset, "bytes": run.data.hex(), "field": run.field}
        | ({} if run.value is None else {"value": run.value})
        | ({} if run.rule is None else {"rule": run.rule})
        for run in section.runs
    ]
    if section.inner:
        shown["inner"] = [section_object(inner) for inner in section.inner]
    if section.problem is not None:
        shown["problem"] = {"phase": section.problem.phase, "rule": section.problem.rule}
    return shown


def html_pages(
    title: str, sections: Iterable[LabelledSection], name: Callable[[int], str] | None
) -> Iterator[tuple[str, str]]:
    """(name, page), pages that need nothing but themselves and each have some thousand runs, or are one section.

    ``name`` is that of a page by its number from 0 on; without it there is one page, whose name is empty.
    """
    shown: list[dict[str, Any]] = []
    runs = number = 0

    def page(*, more: bool) -> tuple[str, str]:
        own, before, behind = (name(number + step) if name else "" for step in (0, -1, 1))
        around = {
            "first": name(0) if name else "",
            "before": before if number else "",
            "behind": behind if more else "",
        }
        return own, render("bytes/page.html.j2", title=title, sections=shown, **around)

    for section in sections:
        if name and runs > _RUNS_OF_A_PAGE:
            yield page(more=True)
            shown, runs, number = [], 0, number + 1
        shown.append(page_section(section))
        runs += _runs_of(section)
    yield page(more=False)


def _runs_of(section: LabelledSection) -> int:
    return len(section.runs) + sum(map(_runs_of, section.inner))


def page_section(section: LabelledSection) -> dict[str, Any]:
    """What ``templates/bytes/section.html.j2`` shows of a section; other pages can include it."""
    return {
        "title": section_title(section),
        "index": section.index,
        "offset": section.offset,
        "size": section.size,
        "problem": None if section.problem is None else section.problem.rule,
        "runs": [
            {
                "offset": run.offset,
                "bytes": run.data[:_ON_A_PAGE].hex(" "),
                "more": max(len(run.data) - _ON_A_PAGE, 0),
                "field": run.field,
                "value": run.value or "",
                "rule": run.rule or "",
                "kind": kind_of(run.field),
            }
            for run in section.runs
        ],
        "inner": [page_section(inner) for inner in section.inner],
    }


def kind_of(field: str) -> str:
    """The part of an event that a field is in: ``header``, ``body``, ``row``, ``checksum``, ``magic`` or ``raw``."""
    first = field.partition(".")[0]
    if first in ("header", "checksum", "magic", "raw"):
        return first
    return "row" if first.startswith("row ") else "body"
