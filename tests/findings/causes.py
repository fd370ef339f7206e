"""What the file of a finding has to have, so that it shows the defect which the record names and no other.

The traits of files and the needs of records are those of forge/conform/findings/traits.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from forge.conform.findings.records import Finding, Made
from forge.conform.findings.traits import column_names, is_met, traits_of_file
from forge.decode.expected import expected_of
from forge.decode.labels.log import labelled_log
from forge.events.optional_metadata import METADATA_CODES
from forge.events.registry import EVENT_TYPES
from forge.values.wire_types import WireType

#: Words of a text that stand for types of columns: those of SQL, and the numbers of types.
_COLUMN_WORDS = {
    **{kind.name: {kind.name} for kind in WireType if kind != WireType.NULL},
    **{f"type {kind.value}": {kind.name} for kind in WireType},
    "TINYINT": {"TINY"}, "MEDIUMINT": {"INT24"}, "CHAR": {"STRING"}, "DECIMAL": {"DECIMAL", "NEWDECIMAL", "JSON"},
    "TIME": {"TIME", "TIME2", "JSON"}, "DATETIME": {"DATETIME", "DATETIME2"}, "TEXT": {"BLOB"},
    "TIMESTAMP": {"TIMESTAMP", "TIMESTAMP2"}, "BIT": {"BIT", "JSON"}, "DATE": {"DATE", "JSON"},
}  # fmt: skip
#: IGNORABLE is a flag too.
_EVENT_WORDS = {body.type_name for body in EVENT_TYPES.values()} - {"IGNORABLE"}
_RECORD_WORDS = {name.upper().replace("ENUM_SET", "ENUM_AND_SET"): name for name in METADATA_CODES}


def traits_of(made: Made) -> frozenset[str]:
    """The traits of a finding's file, and of the place in it that the finding is about."""
    return traits_of_file(made.data) | frozenset(_of_place(made))


def _of_place(made: Made) -> Iterator[str]:
    yield f"right {made.right}"
    yield f"wrong {made.wrong}"
    sections = {section.index: section for section in labelled_log(made.data)}
    if made.event in sections and made.event is not None:
        yield f"at event {sections[made.event].title}"
    if made.field is not None:
        yield f"at field {made.field}"
    if made.cell is not None:
        yield from (f"at column {name}" for name in _column_names(made))


def _column_names(made: Made) -> Iterator[str]:
    """The type of the cell's column, and what it is by its metadata."""
    place = made.cell
    assert place is not None
    for row in expected_of(made.data).rows:
        if (row["event"], row["row"]) == (place.event, place.row):
            for cell in row[place.image] or ():
                if cell["column"] == place.column:
                    yield from column_names(cell)


def unmet_needs(finding: Finding, made: Made) -> list[str]:
    """The needs of a finding's record that a file does not meet, and those that its text implies."""
    traits = traits_of(made)
    return [need for need in finding.needs if not is_met(need, traits)] + list(_unnamed(finding, traits))


def _unnamed(finding: Finding, traits: frozenset[str]) -> Iterator[str]:
    """Of the events, the records and the column types that title and cause name, the file has one at least of each.

    What the record's needs say themselves, also that it is not there, is left to them.
    """
    said = " ".join(finding.needs)
    for text in (finding.title, finding.why):
        words = set(re.findall(r"\b[A-Z][A-Z0-9_]+[A-Z0-9]\b|\btype \d+", text))
        if "types 140 and 141" in text:
            words |= {"type 140", "type 141"}
        events = {f"event {word}" for word in words & _EVENT_WORDS}
        records = {f"record {_RECORD_WORDS[word]}" for word in words & _RECORD_WORDS.keys()}
        columns = {f"column {name}" for word in words & _COLUMN_WORDS.keys() for name in _COLUMN_WORDS[word]}
        for wanted in (events, records, columns):
            if wanted and not wanted & traits and not any(trait in said for trait in wanted):
                yield " or ".join(sorted(wanted))
    if "MariaDB" in finding.title and "family mariadb" not in traits:
        yield "family mariadb"
