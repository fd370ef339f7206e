"""The tables of a volume: how many rows each has, when they live, and what their columns are made of."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from typing import Final

import numpy as np

from forge.bulk.generating import lives as places
from forge.bulk.generating.column_generators import Reference, columns_of, updated_columns
from forge.bulk.generating.lives import MOST_ROWS, MOST_UPDATES, SPAN, Lives
from forge.errors import ScenarioError, about, nearest
from forge.plan.tables import Table
from forge.scenario.counter_hash import key_of
from forge.scenario.volume_model import (
    Volume,
    VolumeColumn,
    VolumeSizes,
    VolumeTable,
    VolumeUpdates,
)

_UPDATES, _DELETES = VolumeUpdates(mean=0.5), 0.05
_WHOLE: Final = 1 << 64
#: Births of a table that the changes of a row come after at most: how far back a part of the log looks.
_REACH: Final = 1 << 20
#: A table whose rows are few has them early: parts of all time that a row takes at most, and that lie between the
#: first rows of a table and of those that refer to it.
_SLOTS, _LEAD = 1 << 7, 1 << 10


@dataclass(frozen=True, slots=True)
class PlannedTable:
    """One table: ``columns`` and ``references`` are by the lower-case name of the column."""

    index: int
    definition: Table
    lives: Lives
    columns: Mapping[str, VolumeColumn]
    references: Mapping[str, Reference]
    #: Lower-case names.
    updated: frozenset[str]
    owner: int | None
    #: The tables whose rows are inside of these.
    inside: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.definition.full_name


def threshold(part: float | Fraction) -> int:
    """How many of 2^64 numbers are that part of them."""
    exact = part if isinstance(part, Fraction) else Fraction(str(part))
    return min(int(exact * _WHOLE), _WHOLE - 1)


def planned_tables(
    definitions: Sequence[Table], later: Sequence[Collection[str]], volume: Volume, rows: int, seed: int
) -> list[PlannedTable]:
    """``definitions``: the tables at the beginning; ``later``: names (lower-case) of the columns that each gets.

    Raises ScenarioError for what cannot be, and UnsupportedError."""
    names = {table.full_name.lower(): index for index, table in enumerate(definitions)}
    declared = _declared(definitions, names, volume)
    owners = [_owner(table, declared[index], names) for index, table in enumerate(definitions)]
    for index, owner in enumerate(owners):
        if owner is not None and owners[owner] is not None:
            raise ScenarioError(f"{definitions[index].full_name} is inside a table that is inside another itself")
    shares = _shares(declared, rows)
    columns, references = [], []
    for index, table in enumerate(definitions):
        with about(table.full_name):
            made, found = columns_of(table, declared[index], definitions, owners[index], later[index])
        columns.append(made)
        references.append(found)
    _check_first_rows(definitions, owners, references)
    updated = []
    for index, table in enumerate(definitions):
        with about(table.full_name):
            updated.append(updated_columns(table, _updates(declared[index]).columns, columns[index], references[index]))
    families = [_family(index, owners) for index in range(len(definitions))]
    needs = [_needs(index, owners, families, references) for index in range(len(definitions))]
    lives: dict[int, Lives] = {}
    referred = {reference.parent for each in references for reference in each.values()}
    for index in _order(definitions, needs):
        parents = [lives[parent] for parent in needs[index]]
        owner = owners[index]
        lives[index] = _lives(
            definitions[index].full_name,
            declared[index],
            shares[index],
            parents,
            lives[owner] if owner is not None else None,
            changes=bool(updated[index]),
            # The rows inside of another that is never deleted are not either.
            guarded=any(place in referred for place in families[index]),
            lifetime=volume.lifetime,
            seed=seed,
        )
    return [
        PlannedTable(
            index,
            table,
            lives[index],
            columns[index],
            references[index],
            updated[index],
            owners[index],
            tuple(place for place, owner in enumerate(owners) if owner == index),
        )
        for index, table in enumerate(definitions)
    ]


def _declared(definitions: Sequence[Table], names: Mapping[str, int], volume: Volume) -> list[VolumeTable]:
    found: dict[int, VolumeTable] = {}
    for name, table in volume.tables.items():
        found[_index(name, definitions, names, "volume.tables")] = table
    return [found.get(index, VolumeTable()) for index in range(len(definitions))]


def _index(name: str, definitions: Sequence[Table], names: Mapping[str, int], where: str) -> int:
    """The table of a name, which may lack its database where that is clear."""
    alike = [index for full, index in names.items() if full == name.lower() or full.endswith("." + name.lower())]
    if len(alike) != 1:
        known = [table.full_name for table in definitions]
        raise ScenarioError(
            f"{where}: there is no table {name!r}", expected=", ".join(known), suggestion=nearest(name, known)
        )
    return alike[0]


def _owner(table: Table, declared: VolumeTable, names: Mapping[str, int]) -> int | None:
    if declared.inside is None:
        return None
    inside = declared.inside.lower()
    owner = names.get(inside, names.get(f"{table.database.lower()}.{inside}"))
    if owner is None or table.full_name.lower() == declared.inside.lower():
        raise ScenarioError(f"{table.full_name}: inside {declared.inside!r}, which is no other table of the scenario")
    return owner


def _shares(declared: Sequence[VolumeTable], rows: int) -> list[int]:
    """The rows of each table: at least one, together ``rows``."""
    if not len(declared) <= rows <= MOST_ROWS:
        raise ScenarioError(f"{rows} rows for {len(declared)} tables", expected=f"one each, and at most {MOST_ROWS}")
    weights = [Fraction(str(table.share)) for table in declared]
    total = sum(weights)
    shares = [max(int(rows * weight / total), 1) for weight in weights]
    largest = shares.index(max(shares))
    shares[largest] += rows - sum(shares)
    if shares[largest] < 1:
        raise ScenarioError(f"{rows} rows are too few for the shares of {len(declared)} tables")
    return shares


def _check_first_rows(
    definitions: Sequence[Table], owners: Sequence[int | None], references: Sequence[Mapping[str, Reference]]
) -> None:
    """Rows that refer to rows of their own table, or of one that comes with theirs, need NULL for the first."""
    for index, table in enumerate(definitions):
        owner = owners[index]
        family = _family(index if owner is None else owner, owners)
        for column in table.columns:
            reference = references[index].get(column.name.lower())
            circular = reference is not None and reference.key is not None and reference.parent in family
            if circular and not column.nullable:
                raise ScenarioError(
                    f"{table.full_name}: column {column.name!r} is NOT NULL, and the first rows have none to refer to",
                    expected="a column that may be NULL",
                )


def _family(index: int, owners: Sequence[int | None]) -> set[int]:
    """A table, and those whose rows are inside of its."""
    return {index, *(place for place, owner in enumerate(owners) if owner == index)}


def _needs(
    index: int,
    owners: Sequence[int | None],
    families: Sequence[set[int]],
    references: Sequence[Mapping[str, Reference]],
) -> set[int]:
    """The tables whose first rows have to be there before those of a table, and of what is inside of them."""
    owner = owners[index]
    if owner is not None:
        return {owner}
    family = families[index]
    return {reference.parent for place in family for reference in references[place].values()} - family


def _order(definitions: Sequence[Table], needs: Sequence[set[int]]) -> list[int]:
    """Tables after those that they need.  Raises ScenarioError for a circle."""
    try:
        return list(TopologicalSorter(dict(enumerate(needs))).static_order())
    except CycleError as error:
        names = [definitions[index].full_name for index in sorted(set(error.args[1]))]
        raise ScenarioError(
            f"the tables {', '.join(names)} refer to each other in a circle",
            expected="a `value` (NULL) for a column of it, under volume.tables",
        ) from None


def _updates(declared: VolumeTable) -> VolumeUpdates:
    if declared.updates is None:
        return _UPDATES
    return declared.updates if isinstance(declared.updates, VolumeUpdates) else VolumeUpdates(mean=declared.updates)


def _lives(
    name: str,
    declared: VolumeTable,
    rows: int,
    parents: Sequence[Lives],
    owner: Lives | None,
    *,
    changes: bool,
    guarded: bool,
    lifetime: float,
    seed: int,
) -> Lives:
    offset = max(map(_after_first, parents), default=0) if owner is None else int(owner.numbers[places.OFFSET])
    if offset > SPAN // 2:
        raise ScenarioError(f"{name} refers to a table with too few rows inside of many others")
    slot = min((SPAN - offset) // rows, SPAN // _SLOTS)
    updates = _updates(declared)
    if not 0 <= updates.mean <= 16:
        raise ScenarioError(f"{name}: {updates.mean:g} updates of a row", expected="0 to 16 on average")
    mean = Fraction(str(updates.mean)) if changes else Fraction(0)
    again = mean / (1 + mean)
    most = 0
    while most < MOST_UPDATES and again**most > Fraction(1, 1000) and again:
        most += 1
    sizes = declared.rows_per_transaction
    if isinstance(sizes, int) and not 1 <= sizes <= 1 << 16:
        raise ScenarioError(f"{name}: rows_per_transaction is {sizes}", expected="1 to 65536")
    birth_slot = slot if owner is None else int(owner.numbers[places.SLOT])
    numbers = {
        places.ROWS: rows,
        places.OFFSET: offset,
        places.SLOT: slot,
        places.BLOCK: sizes.max if isinstance(sizes, VolumeSizes) else sizes,
        places.GROUP: 1 if owner is not None else declared.changes_per_transaction,
        places.DELAY: max(min(int(SPAN * lifetime), birth_slot * _REACH) // (most + 1), 1),
        places.UPDATES: most,
        places.GUARDED: guarded,
        places.INSIDE: owner is not None,
    }
    cut = threshold(1 / Fraction(str(sizes.mean))) if isinstance(sizes, VolumeSizes) else 0
    deletes = _DELETES if declared.deletes is None else declared.deletes
    if owner is not None and declared.deletes:
        raise ScenarioError(f"{name}: its rows are deleted with those that they are inside of", expected="no `deletes`")
    keys = [key_of(seed, name, word) for word in ("birth", "cut", "updates", "delay", "end", "inside")]
    keys += [cut, threshold(deletes), *(threshold(again ** (count + 1)) for count in range(most)), 0]
    return Lives(np.array(list(numbers.values()), np.int64), np.array(keys, np.uint64), owner)


def _after_first(parent: Lives) -> int:
    """The first moment at which a row of the parent's is sure to be there."""
    root = parent.owner or parent
    # Of rows inside others, enough owners for one row.
    owners = 2 if parent.owner is None else 2 * math.ceil(root.rows / parent.rows) + 2
    return int(root.numbers[places.OFFSET] + max(owners * root.numbers[places.SLOT], SPAN // _LEAD))
