"""What a page says of a finding: what is wrong, in words, and the bytes that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from forge.conform.findings.records import Finding, Made
from forge.corpus.outcomes import Outcome
from forge.decode.byte_view import section_title
from forge.decode.labels.log import labelled_log
from forge.decode.labels.runs import LabelledRun, LabelledSection
from forge.errors import ScenarioError, Verdict
from forge.render.templates import visible

_READERS_DO = {
    "reads": "reads it",
    "says": "prints an error and goes on",
    "stops": "stops with an error",
    "crashes": "ends without an error",
}
#: Bytes of a run that a line of a page shows.
_SHOWN = 24
#: What a decoder does wrong, by its outcome and what a correct reader does with the file.
DEFECTS: Mapping[tuple[Outcome, Verdict], str] = {
    ("disagree", "accept"): "shows something else",
    ("disagree", "reject"): "shows something else before the fault",
    ("disagree", "may"): "reads on, as it may, and shows something else",
    ("accepts", "accept"): "shows bytes that are no value as a value",
    ("accepts", "reject"): "reads on where it has to stop",
    ("accepts", "may"): "shows bytes that are no value as a value",
    ("refused", "accept"): "refuses a file that it has to read",
    ("refused", "reject"): "refuses what stands before the fault, which it has to read",
    ("refused", "may"): "refuses what stands before the fault, which it has to read",
    ("unsupported", "accept"): "says that it does not support what it has to read",
    ("unsupported", "reject"): "says that it does not support what stands before the fault, which it has to read",
    ("unsupported", "may"): "says that it does not support what stands before the fault, which it has to read",
    ("crashed", "accept"): "crashes on a file that it has to read",
    ("crashed", "reject"): "crashes where it has to stop with an error",
    ("crashed", "may"): "crashes where it may stop with an error, or read on",
    ("timeout", "accept"): "does not end on a file that it has to read",
    ("timeout", "reject"): "does not end where it has to stop with an error",
    ("timeout", "may"): "does not end where it may stop with an error, or read on",
}


def defect_of(made: Made) -> str:
    """What is wrong with what a decoder did, in words.  Raises ScenarioError if it is no defect."""
    words = DEFECTS.get((made.outcome, made.verdict))
    if words is None:
        raise ScenarioError(f"the outcome {made.outcome!r} is no defect where the verdict is {made.verdict!r}")
    return words


def finding_view(finding: Finding) -> dict[str, Any]:
    """What a template shows of a finding."""
    made = finding.made
    assert made is not None
    marks = list(_marked(made))
    return {
        "finding": finding,
        "made": made,
        "size": len(made.data),
        "hexdump": [made.data[at : at + 32].hex() for at in range(0, len(made.data), 32)],
        "where": marks[0][0] if marks else "",
        "runs_of_event": [_run(run, marked) for _, run, marked in marks],
        "does": defect_of(made),
        "readers": [{"name": name, "does": _READERS_DO[does]} for name, does in made.readers.items()],
        "right": visible(made.right) or "(an empty text)",
        "wrong": visible(made.wrong),
        "version": finding.releases[-1],
    }


def _run(run: LabelledRun, marked: bool) -> dict[str, Any]:
    more = len(run.data) - _SHOWN
    return {
        "offset": run.offset,
        "bytes": run.data[:_SHOWN].hex(" ") + (f" … {more} more" if more > 0 else ""),
        "field": run.field,
        "value": run.value or "",
        "marked": marked,
    }


def _marked(made: Made) -> Iterator[tuple[str, LabelledRun, bool]]:
    """The bytes of the event that a finding is about, but for its header, and which of them it is about.

    Bytes behind the last whole event are shown where no event has the number.
    """
    sections = list(labelled_log(made.data))
    section = next((one for one in sections if one.index == made.event), sections[-1])
    for part in (section, *(inner for inner in section.inner if _about(inner, made))):
        for run in _joined(part.runs):
            if section.index is None or not run.field.startswith("header."):
                yield section_title(section), run, _is_marked(run, made)


def _joined(runs: Iterable[LabelledRun]) -> Iterator[LabelledRun]:
    """The runs, with the header lengths of all event types as one."""
    for name, group in groupby(runs, key=lambda run: run.field.partition(".")[0]):
        of_name = list(group)
        if name == "post_header_lengths":
            data = b"".join(run.data for run in of_name)
            yield LabelledRun(of_name[0].offset, data, name, f"of {len(of_name)} event types")
        else:
            yield from of_name


def _about(section: LabelledSection, made: Made) -> bool:
    return any(_is_marked(run, made) for run in section.runs)


def _is_marked(run: LabelledRun, made: Made) -> bool:
    cell = made.cell
    if cell is None:
        return made.field is not None and run.field.partition(".")[0] == made.field
    # The name of a column may follow its number.
    return re.match(rf"row {cell.row}\.{cell.image}\.column {cell.column}(?!\d)", run.field) is not None
