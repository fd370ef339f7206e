"""Traits of a file, by which a finding's record says what a file has to have to show its defect.

Traits are lines that the file's labelled bytes give (``forge bytes``)::

    family mariadb            line mariadb-10.11        event TABLE_MAP          column VARCHAR_COMPRESSED
    record enum_members       variable charset          breaks <the rule>        broken value
    TABLE_MAP column_count: 3                           at event WRITE_ROWS_V1   at column ENUM
    right <the right text>    wrong <what the decoder shows>

A *need* of a record is a regular expression that a trait has to match in full, or, behind ``no``, none may.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from forge.conform.findings.records import Finding
from forge.conform.one_file import writer_of
from forge.decode.expected import expected_of
from forge.decode.labels.log import labelled_log
from forge.decode.labels.runs import LabelledSection
from forge.values.wire_types import WireType

#: The type code of typed arrays in 8.0.17, for which there is no name.
_FIRST_TYPED_ARRAY = "244"
#: Needs of the place that a finding is about.
_OF_PLACE = "(no )?(at|right) "


def findings_shown_by(data: bytes, findings: list[Finding]) -> list[Finding]:
    """Those of some findings whose defect a log may show: it has what their records need, at one place or another.

    What the decoder shows there is not known, so that needs of it count as met.
    """
    traits, places = traits_of_file(data), set(_places(data))
    shown = []
    for finding in findings:
        of_place = [need for need in finding.needs if re.match(_OF_PLACE, need)]
        of_file = [need for need in finding.needs if not re.match(f"{_OF_PLACE}|wrong ", need)]
        if all(is_met(need, traits) for need in of_file) and any(
            all(is_met(need, place) for need in of_place) for place in places
        ):
            shown.append(finding)
    return shown


def _places(data: bytes) -> Iterator[frozenset[str]]:
    """The traits of each place that a finding may be about: an event, or a cell of one."""
    expected = expected_of(data)
    titles = {(event["offset"], event.get("inner", 0)): event["type"] for event in expected.events}
    yield frozenset()
    yield from (frozenset({f"at event {title}"}) for title in titles.values())
    for row in expected.rows:
        title = titles[row["offset"], row.get("inner", 0)]
        for cell in (*(row["before"] or ()), *(row["after"] or ())):
            names = {f"at column {name}" for name in column_names(cell)}
            yield frozenset({f"at event {title}", f"right {cell.get('text', '')}", *names})


def column_names(cell: Mapping[str, Any]) -> Iterator[str]:
    """The type of a cell's column, and what it is by its metadata."""
    yield WireType(cell["type_code"]).name
    kind = next(iter(cell.get("value") or ("",)))
    if kind in ("enum", "set"):
        yield kind.upper()


def is_met(need: str, traits: frozenset[str]) -> bool:
    """Whether a need is met by the traits of a file and of the place that it is about."""
    wanted = need.removeprefix("no ")
    return any(re.fullmatch(wanted, trait, re.DOTALL) for trait in traits) != (wanted != need)


@lru_cache(maxsize=1024)
def traits_of_file(data: bytes) -> frozenset[str]:
    """The traits of a file as a whole."""
    return frozenset(_of_file(data))


def _of_file(data: bytes) -> Iterator[str]:
    family, line = writer_of(data)
    yield from (f"family {family}", f"line {line}")
    expected = expected_of(data)
    if expected.problem is not None:
        yield f"breaks {expected.problem}"
    for row in expected.rows:
        for image in (row["before"], row["after"]):
            if image == []:
                yield "row without columns"
            if any("broken" in (cell.get("value") or ()) for cell in image or ()):
                yield "broken value"
    for section in labelled_log(data):
        yield from _of_section(section)


def _of_section(section: LabelledSection) -> Iterator[str]:
    if section.index is not None:
        yield f"event {section.title}"
    for run in section.runs:
        field = re.sub(r"^(row \d+\.\w+\.column) .*", r"\1", run.field)
        field = re.sub(r"[ .]\d+\b", "", field)
        kind, _, rest = field.partition(".")
        value = run.value or ""
        if kind == "types":
            yield f"column {'TYPED_ARRAY' if value == _FIRST_TYPED_ARRAY else value}"
        elif kind == "metadata" and value.partition("(")[0] in ("ENUM", "SET"):
            yield f"column {value.partition('(')[0]}"
        elif kind == "optional_metadata" and rest.endswith(".type"):
            yield f"record {rest.removesuffix('.type')}"
        elif kind == "status_variables" and rest.endswith(".code"):
            yield f"variable {rest.removesuffix('.code')}"
        yield f"{section.title} {field}: {value}"
    for inner in section.inner:
        yield from _of_section(inner)
