"""Findings made: of the cases that a decoder fails for one reason, the file is made smaller while it fails so.

The cause stays: what the record needs, the family of the server, the event, the column and what is said of it; and a
file that a correct reader reads is one that a vendor's reader reads.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from forge.conform.comparison import shown
from forge.conform.expected_failures import read_expected_failures
from forge.conform.findings.records import LARGEST, VENDORS, CellPlace, Finding, Made
from forge.conform.kit.case_files import KitCase, KitFile
from forge.conform.kit.reading import OpenKit
from forge.conform.one_file import FileResult, ask, verdict_of
from forge.conform.shrink.outcomes import TesteeFinding, finding_of
from forge.conform.shrink.shrink import shrink
from forge.conform.testee import Limits, Testee
from forge.decode.expected import Expected
from forge.errors import FormatError, ScenarioError, Verdict
from forge.resources import shipped_corpora
from tests.findings.causes import unmet_needs
from tests.findings.vendors import reader_does, readers_do

#: Files of a group that are tried, the smallest first.
_TRIED = 6


def make_finding(finding: Finding, kit: OpenKit, command: str, *, seconds: float, timeout: float) -> Made:
    """The smallest file of at most 1 KiB that shows a finding, of the cases that its reasons cover.

    Of a case of several files, each is tried by itself.  ``seconds`` may be taken for a file.  Raises ScenarioError if
    there is none; what :func:`ask` raises.
    """
    files = _files(finding, kit)
    made: list[Made] = []
    tried = 0
    with (
        tempfile.TemporaryDirectory(prefix="forge-finding-") as folder,
        Testee(command, Limits(seconds=timeout)) as testee,
    ):
        path = Path(folder) / "binlog.000001"

        def done(data: bytes) -> FileResult:
            path.write_bytes(data)
            return ask(testee, path, data, finding.level, inventions=finding.inventions)

        for case, file in files:
            data = kit.path(case, file).read_bytes()
            first = done(data)
            if first.right or not is_like(finding, first):
                continue
            reader = _reader_of(data, first)
            if reader is None:
                continue
            shows = _Shows(finding, finding_of(first), done, reader)
            smaller = shrink(data, shows, seconds=seconds).data
            if len(smaller) <= LARGEST:
                made.append(made_of(case.id, smaller, done(smaller), finding.event_type, readers_do(smaller)))
            tried += 1
            if tried == _TRIED or (made and len(made[-1].data) <= LARGEST // 2):
                break
    if not made:
        raise ScenarioError(f"{finding.name}: no case gives a file of at most {LARGEST} bytes that the decoder fails")
    return min(made, key=lambda one: len(one.data))


@dataclass(frozen=True, slots=True)
class _Shows:
    """Whether a smaller file still shows a finding, and is read by the vendor's reader, if that has to be."""

    finding: Finding
    first: TesteeFinding
    done: Callable[[bytes], FileResult]
    reader: str

    def __call__(self, data: bytes) -> bool:
        result = self.done(data)
        if finding_of(result) != self.first or not is_like(self.finding, result):
            return False
        does = reader_does(self.reader, data) if self.reader else "stops"
        return does == "reads" if file_verdict(result.expected) == "accept" else does != "crashes"


def _reader_of(data: bytes, first: FileResult) -> str | None:
    """The vendor's reader that has to read what is made of a file: the family's own, or the other's, which may still
    read what that has given up; empty if none has to; None if none does.
    """
    if file_verdict(first.expected) != "accept":
        return ""
    own = VENDORS[first.family]
    return next((name for name in (own, *VENDORS.values()) if reader_does(name, data) == "reads"), None)


def is_like(finding: Finding, result: FileResult) -> bool:
    """Whether a result is of the finding's own defect: what it looks like, and what the record needs."""
    made = made_of("", result.data, result, finding.event_type)
    said = f"{made.outcome}, {made.kind}: {made.right} -> {made.wrong}"
    return (finding.like is None or re.search(finding.like, said) is not None) and not unmet_needs(finding, made)


def _files(finding: Finding, kit: OpenKit) -> list[tuple[KitCase, KitFile]]:
    """The files of the cases that the finding covers or names, the smallest first; before them those of the case that
    it was made of before."""
    listed = read_expected_failures(shipped_corpora() / "testees" / finding.decoder / "expected-failures.txt")
    covered = {entry.case for entry in listed.values() if entry.reason in finding.covers}.union(finding.cases)
    found = [(case, file) for case in kit.cases if case.id in covered for file in case.files if not file.holes]
    if not found:
        raise ScenarioError(f"{finding.name}: the kit has no case that its record or {finding.decoder}'s list has")
    before = finding.made.case if finding.made is not None else None
    return sorted(found, key=lambda one: (one[0].id != before, one[1].size, one[0].id, one[1].name))


def made_of(
    case: str,
    data: bytes,
    result: FileResult,
    event_type: str | None = None,
    readers: Mapping[str, str] | None = None,
) -> Made:
    """What a testee, and the vendors' ``readers``, did with a file, as a record holds it.

    It is about the event with the first difference or the broken rule, else about the last one (of a type).
    """
    difference = result.difference
    cell: CellPlace | None = None
    field = None
    of_type = [one["index"] for one in result.expected.events if event_type in (None, one["type"])]
    event = of_type[-1] if of_type else None
    if difference is not None:
        event, field = difference.event_index, difference.field
        if difference.column is not None and difference.row is not None and difference.image is not None:
            assert difference.event_index is not None
            cell = CellPlace(
                event=difference.event_index,
                row=difference.row,
                image=difference.image,
                column=difference.column,
            )
        wrong = difference.found or difference.sentence
    else:
        wrong = result.message or {"accepts": "it reads on", "timeout": "it does not end"}.get(
            result.outcome, "it fails"
        )
    if isinstance(result.expected.problem, FormatError):
        event = result.expected.problem.event_index
    return Made(
        case=case,
        verdict=file_verdict(result.expected, [readers[VENDORS[result.family]]] if readers else []),
        readers=dict(readers or {}),
        outcome=result.outcome,
        kind=finding_of(result).kind,
        event=event,
        field=field,
        cell=cell,
        right=right_of(result.expected, cell, event, field),
        wrong=" ".join(wrong.split()),
        log=data.hex(),
    )


def file_verdict(expected: Expected, vendors_did: Collection[str] = ()) -> Verdict:
    """What a correct reader does with a file: of bytes that are no value it may say so, or stop; and so where none of
    the vendor's programs stops, if it is told what they did.
    """
    verdict = verdict_of(expected)
    if verdict == "reject" and vendors_did and not any(did.startswith(("stops", "says")) for did in vendors_did):
        return "may"
    images = (image for row in expected.rows for image in (row["before"], row["after"]))
    broken = any("broken" in (cell.get("value") or ()) for image in images for cell in image or ())
    return "may" if verdict == "accept" and broken else verdict


def right_of(expected: Expected, cell: CellPlace | None, event: int | None = None, field: str | None = None) -> str:
    """What a correct reader gets: the text of the cell, the event's field, the rule that is broken, or how much there
    is."""
    if cell is not None:
        return _text(expected.rows, cell)
    if field is not None:
        return shown(next({**one, **one["fields"]}[field] for one in expected.events if one["index"] == event))
    if expected.problem is not None:
        problem = expected.problem
        return f"stop: {problem.rule if isinstance(problem, FormatError) else problem}"
    events, rows = len(expected.events), len(expected.rows)
    return f"{events} event{'s' * (events != 1)}, {rows} row{'s' * (rows != 1)}"


def _text(rows: Sequence[dict[str, Any]], place: CellPlace) -> str:
    for row in rows:
        if (row["event"], row["row"]) == (place.event, place.row):
            for cell in row[place.image] or ():
                if cell["column"] == place.column:
                    if cell["raw"] is None:
                        return "NULL"
                    return str(cell["text"]) if "text" in cell else msgspec.json.encode(cell["value"]).decode()
    return "the image does not have the column"
