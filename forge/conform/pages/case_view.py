"""What the page of a case shows: its scenario, its events and bytes, and what each testee makes of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forge.check.compare.differences import Difference
from forge.conform.comparison import shown
from forge.conform.findings.records import Finding
from forge.conform.kit.case_files import KitCase, KitFile
from forge.conform.kit.protocol import Hello
from forge.conform.kit.reading import ExpectedLog, OpenKit
from forge.conform.pages.results import Result, Run
from forge.decode.byte_view import page_section
from forge.decode.labels.log import labelled_log
from forge.resources import corpora_dir

#: Labels on a page, and lines of its list of events; the rest is a note.
_LABELS, _EVENTS = 110, 100
#: Characters of a scenario, and of a value.
_SCENARIO, _VALUE = 16_000, 400
#: Bytes of a file that is labelled.
_LABELLED = 64 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What one testee did; ``finding`` is the record of its defect, if there is one."""

    testee: Hello
    result: Result
    finding: Finding | None


def answers(case: KitCase, runs: Sequence[Run], findings: Sequence[Finding]) -> list[Answer]:
    """What the testees did with a case."""
    found = ((run, run.results[case.id]) for run in runs if case.id in run.results)
    return [Answer(run.testee, result, finding_of(run, result, findings)) for run, result in found]


def finding_of(run: Run, result: Result, findings: Sequence[Finding]) -> Finding | None:
    """The record that covers a failure."""
    if result.right or result.reason is None:
        return None
    of_run = (finding for finding in findings if finding.decoder == run.testee.name)
    return next((finding for finding in of_run if result.reason in finding.covers), None)


def case_view(kit: OpenKit, case: KitCase, given: Sequence[Answer]) -> dict[str, Any]:
    """The values of templates/report/case.html.j2.  Raises ManifestError, OSError."""
    return {
        "case": case,
        "answers": [_answer(answer) for answer in given],
        "files": [_file(kit, case, file, given) for file in case.files],
        "scenario": _scenario(case.case),
    }


def _answer(answer: Answer) -> dict[str, Any]:
    difference = answer.result.difference
    shown: dict[str, Any] = {"testee": answer.testee, "result": answer.result, "finding": answer.finding}
    if difference is not None and difference.expected is not None:
        shown |= {
            "expected": _cut(difference.expected),
            "found": _cut(difference.found or ""),
            "text": _cut(difference.reference or ""),
            "raw": _cut(difference.raw or ""),
        }
    return shown | {"message": _cut(answer.result.message or "")}


def _file(kit: OpenKit, case: KitCase, file: KitFile, given: Sequence[Answer]) -> dict[str, Any]:
    expected = kit.expected(case, file)
    here = [answer for answer in given if not answer.result.right and answer.result.file in (None, file.name)]
    about = _about(expected, here)
    # A file with holes is larger than a page can be about.
    sections, more = ([], len(expected.events)) if file.holes else _sections(kit.path(case, file), expected, about)
    return {
        "file": file,
        "events": expected.events[:_EVENTS],
        "more_events": max(len(expected.events) - _EVENTS, 0),
        "about": about,
        "rows": list(_rows(expected, here)),
        "sections": sections,
        "more_sections": more,
    }


def _differences(answer: Answer) -> list[Difference]:
    first = answer.result.difference
    return [] if first is None else [first, *answer.result.others]


def _about(expected: ExpectedLog, given: Iterable[Answer]) -> set[int]:
    """The numbers of the events that a page is about: those that testees read wrongly, and where readers stop."""
    found = (one.event_index for answer in given for one in _differences(answer))
    about = {index for index in found if index is not None}
    if expected.stops_at is not None:
        behind = [event["index"] for event in expected.events if event["offset"] <= expected.stops_at]
        about |= {behind[-1], behind[-1] + 1} if behind else {0}
    if not about and expected.events:
        about |= {expected.events[-1]["index"]}
    maps = {event["index"] for event in expected.events if event["type"] == "TABLE_MAP"}
    return about | {max(before) for index in about if (before := [one for one in maps if one < index])}


def _sections(path: Path, expected: ExpectedLog, about: set[int]) -> tuple[list[dict[str, Any]], int]:
    """The labelled events that a page has room for; how many are left out.

    Those of interest have room first, FORMAT_DESCRIPTION with its fifty labels last.  Only these are labelled: that
    takes most of the time of a page.
    """
    outside = [event for event in expected.events if not event.get("inner")]
    if path.stat().st_size > _LABELLED:
        return [], len(outside)
    chosen = set(about)
    room = _LABELS - sum(_estimate(event) for event in outside if event["index"] in about)
    for event in sorted(outside, key=lambda event: (event["index"] == 0, event["index"])):
        if event["index"] not in chosen and (need := _estimate(event)) <= room:
            chosen.add(event["index"])
            room -= need
    sections = list(labelled_log(path.read_bytes(), chosen))
    shown = [page_section(section) | {"about": section.index in about} for section in sections]
    left_out = sum(event["index"] not in chosen for event in outside)
    return [_cut_section(section) for section in shown], left_out


def _estimate(event: Mapping[str, Any]) -> int:
    """About how many labels the bytes of an event have."""
    return 6 + int(event["event_size"]) // 4


def _cut_section(section: dict[str, Any]) -> dict[str, Any]:
    """A section of at most as many labels as a page has."""
    left = max(len(section["runs"]) - _LABELS, 0)
    return section | {"runs": section["runs"][:_LABELS], "cut": left}


def _rows(expected: ExpectedLog, given: Iterable[Answer]) -> Iterator[dict[str, Any]]:
    """The rows in which testees differ: each cell with its right text, and what testees show of it."""
    differing: dict[tuple[int | None, int | None], list[Answer]] = {}
    for answer in given:
        for one in _differences(answer):
            if one.row is not None and answer not in differing.setdefault((one.event_index, one.row), []):
                differing[one.event_index, one.row].append(answer)
    for row in expected.rows:
        of_row = differing.pop((row["event"], row["row"]), [])
        if of_row:
            yield {"row": row, "images": [_image(row, image, of_row) for image in ("before", "after") if row[image]]}


def _image(row: Mapping[str, Any], image: str, given: Sequence[Answer]) -> dict[str, Any]:
    cells = []
    for cell in row[image]:
        place = (row["event"], row["row"], image, cell["column"])
        found = [
            {"testee": answer.testee, "found": _cut(one.found or one.sentence)}
            for answer in given
            for one in _differences(answer)
            if (one.event_index, one.row, one.image, one.column) == place
        ]
        cells.append(
            {
                "column": cell["column"],
                "name": cell.get("name"),
                "raw": _cut(cell["raw"] or ""),
                "text": "NULL" if cell["raw"] is None else _cut(_right(cell)),
                "shown": found,
            }
        )
    return {"image": image, "cells": cells}


def _right(cell: Mapping[str, Any]) -> str:
    """The exact text of a cell; its typed value where the log does not tell the character set."""
    return str(cell["text"]) if "text" in cell else shown(cell.get("value"))


def _scenario(case: str) -> str | None:
    """The text of the scenario that makes the case, if it is a shipped one."""
    path = corpora_dir() / "scenarios" / f"{case.partition('[')[0]}.yaml"
    if not path.is_file():
        return None
    text = path.read_text("utf-8")
    return text if len(text) <= _SCENARIO else text[:_SCENARIO] + "\n# … cut\n"


def _cut(text: str) -> str:
    return text if len(text) <= _VALUE else f"{text[:_VALUE]}… ({len(text)} characters)"
