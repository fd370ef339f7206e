"""What happens between two definitions of a table, without a log: by column and by image mode (forge compat)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from forge.errors import UnsupportedError
from forge.replay.replica import Replica
from forge.replay.replica_table import ReplicaTable
from forge.replay.row_lookup import lookup_of
from forge.replay.stops import StopError
from forge.replay.type_conversions import TypeConversions, column_conversion
from forge.scenario.model import Scenario

_IMAGES = ("full", "minimal", "noblob")
_CONVERSIONS = ("", "ALL_NON_LOSSY", "ALL_LOSSY", "ALL_LOSSY,ALL_NON_LOSSY")


class ColumnPair(msgspec.Struct, frozen=True):
    """What becomes of a column: ``needs`` is the least of replica_type_conversions; None if nothing lets it through."""

    column: str
    becomes: str | None
    needs: str | None
    rule: str


class FoundRow(msgspec.Struct, frozen=True):
    """How rows are found: ``outcome`` is the rule, or the error with which the replica stops."""

    image: str
    operation: str
    outcome: str


class DefinitionPair(msgspec.Struct, frozen=True):
    """Two definitions of a table."""

    table: str
    columns: tuple[ColumnPair, ...]
    #: Columns that the replica fills by itself.
    further: tuple[str, ...]
    rows: tuple[FoundRow, ...]


def definition_pairs(source: Scenario, target: Scenario) -> Iterator[DefinitionPair]:
    """The tables of the source, each with what a replica with those of ``target`` does with its rows.

    Raises ScenarioError for scenarios that are wrong, UnsupportedError for a line whose appliers are not known.
    """
    ours, replica = Replica(msgspec.structs.replace(source, server=target.server)), Replica(target)
    for name, table in sorted(ours.tables.items()):
        there = replica.tables.get(name)
        if there is None:
            missing = FoundRow("all", "all", "stops with 1146: the table is missing")
            yield DefinitionPair(table.name, (), (), (missing,))
            continue
        width = len(table.columns)
        further = tuple(column.name for column in there.definitions[width:] if column.row_hash is None)
        columns = tuple(_column(table, there, index, replica) for index in range(width))
        yield DefinitionPair(table.name, columns, further, tuple(_rows(table, there, replica)))


def _column(table: ReplicaTable, there: ReplicaTable, index: int, replica: Replica) -> ColumnPair:
    name = table.definitions[index].name
    if index >= len(there.columns):
        return ColumnPair(name, None, "", "dropped: the replica has no such column")
    becomes, rule = there.definitions[index].name, ""
    for words in _CONVERSIONS:
        settings = TypeConversions.of(words, replica.line.applier)
        try:
            found = column_conversion(table.columns[index], there.columns[index], settings, index, there.name)
        except StopError as stop:
            rule = rule or stop.rule
        except UnsupportedError as error:
            return ColumnPair(name, becomes, None, f"not known: {error}")
        else:
            wrong = "; read wrongly, the replica stops" if found.misread else ""
            return ColumnPair(name, becomes, words, found.rule + wrong)
    return ColumnPair(name, becomes, None, rule)


def _rows(table: ReplicaTable, there: ReplicaTable, replica: Replica) -> Iterator[FoundRow]:
    width = len(table.columns)
    own = {one.columns for one in table.unique}
    for key in there.unique:
        if key.columns not in own:
            outcome = f"R6: unique key {key.key.name} is the replica's alone: 1062 for a duplicate"
            yield FoundRow("all", "INSERT, UPDATE", outcome)
    for image in _IMAGES:
        present = [index for index in _present(table, image) if index < len(there.columns)]
        try:
            lookup = lookup_of(there, present, width, replica.line.applier)
        except UnsupportedError as error:
            outcome = f"not known: {error}"
        else:
            outcome = lookup.rule if lookup.by != "nothing" else f"stops with 1032: {lookup.rule}"
            lacks = set(lookup.columns) - set(present)
            if lookup.by == "image" and lookup.index is None and replica.line.applier.looks_up == "row" and lacks:
                names = ", ".join(there.definitions[index].name for index in sorted(lacks))
                outcome += f"; the image lacks {names}: found only where these have their defaults, else 1032"
            if lookup.index is not None and not set(lookup.index.columns) <= set(present):
                outcome += "; the image lacks a column of it: 1032 unless that has its default"
        yield FoundRow(image, "UPDATE, DELETE", outcome)


def _present(table: ReplicaTable, image: str) -> Sequence[int]:
    """The columns of the source's before images."""
    everything = range(len(table.columns))
    own = next((one for one in table.unique if one.is_plain and not one.takes_null and not one.key.hashed), None)
    if image == "full" or own is None:
        return everything
    if image == "minimal":
        return sorted(own.columns)
    lobs = {index for index in everything if table.definitions[index].type_facts.is_blob}
    return [index for index in everything if index not in lobs or index in own.columns]


def lines_of(pairs: Sequence[DefinitionPair]) -> Iterator[str]:
    """The pairs as text."""
    for pair in pairs:
        yield pair.table
        for column in pair.columns:
            needs = "never converted" if column.needs is None else column.needs or "as it is"
            yield f"  column {column.column} -> {column.becomes or '-'}: {needs} ({column.rule})"
        for name in pair.further:
            yield f"  column - -> {name}: its default, or the implicit one"
        for row in pair.rows:
            yield f"  {row.image} images, {row.operation}: {row.outcome}"
