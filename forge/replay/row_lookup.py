"""Which row an UPDATE or DELETE changes: the key that finds it, and what is compared (Rows_log_event::find_row).

MySQL takes, of the keys whose columns the before image all has, the primary key, else the first unique one without
NULLs; it believes what such a key finds.  Else it hashes the event's rows and scans the table, or another key, and
compares the bytes of the image's columns: rows are changed in the table's order, not the event's.

MariaDB takes the primary key, else the first unique one without NULLs, else another one, whatever the image has, and
fills what the image lacks with defaults.  It believes a unique key without NULL in it; otherwise the whole row counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from forge.errors import UnsupportedError
from forge.plan.keys import key_prefix
from forge.plan.tables import Key
from forge.replay.replica_table import Cells, ReplicaTable, UniqueIndex
from forge.servers.facts.applier import Applier
from forge.values.wire_types import WireType

#: Cells by column.
Image = Mapping[int, bytes | None]


@dataclass(frozen=True, slots=True)
class Lookup:
    """How the rows of an event are found."""

    #: ``key`` believes the unique key ``index``; ``image`` compares ``columns``; ``nothing`` finds no row at all.
    by: Literal["key", "image", "nothing", "all"]
    rule: str
    index: UniqueIndex | None = None
    columns: tuple[int, ...] = ()
    #: Rows are changed in the table's order, or key by key.
    hashed: bool = False
    by_key: bool = False
    #: IDEMPOTENT does not pass over it.
    ends: bool = False


def lookup_of(table: ReplicaTable, present: Sequence[int], width: int, applier: Applier) -> Lookup:
    """The lookup for a before image with these of the replica's columns, of an event that is ``width`` wide.

    Raises UnsupportedError for what has not been measured.
    """
    if table.table.engine == "BLACKHOLE":
        return Lookup("all" if applier.blackhole_finds else "nothing", "BLACKHOLE holds no rows")
    return (_by_image if applier.looks_up == "image" else _by_row)(table, present, width, applier)


def _by_image(table: ReplicaTable, present: Sequence[int], width: int, applier: Applier) -> Lookup:
    if not present:
        return Lookup("nothing", "R2: the before image has none of the replica's columns", ends=True)
    has = set(present)
    for index in table.unique:
        if index.is_plain and not index.takes_null and not index.key.hashed and has.issuperset(index.columns):
            primary = index.key.kind == "primary"
            words = "the primary key" if primary else f"unique key {index.key.name}"
            return Lookup("key", f"R4: {words} is all in the image", index)
    compared = tuple(one for one in present if table.table.columns[one].generated != "virtual")
    if not compared:
        raise UnsupportedError(f"an image of {table.name} with virtual columns alone is not measured")
    key = next((key for key in table.keys if _is_in(table, key, has)), None)
    words = "the table" if key is None else f"key {key.name}"
    return Lookup(
        "image",
        f"R1: no unique key without NULL is all in the image: hash scan over {words}",
        columns=compared,
        hashed=True,
        by_key=key is not None,
    )


def _is_in(table: ReplicaTable, key: Key, present: set[int]) -> bool:
    return all(part.expression is None and part.column in present for part in key.parts)


def _by_row(table: ReplicaTable, present: Sequence[int], width: int, applier: Applier) -> Lookup:
    if table.keys and table.keys[0].hashed:
        return Lookup("nothing", f"long unique key {table.keys[0].name}: its hash is not in the record")
    # From 11.8 on a key is of use by its first column, if the event has that.
    passes = applier.passes_extra_keys
    keys = [key for key in table.keys if not passes or key.parts[0].column < width]
    whole = [key for key in keys if not (passes and _has_extra(key, width))]
    for key in whole:
        if key.kind != "index" and not key.hashed and not any(map(table.table.takes_null, key.parts)):
            words = "the primary key" if key.kind == "primary" else f"unique key {key.name}"
            return Lookup("key", f"R5: {words}, whatever the image has", table.unique_index(key))
    chosen = keys[0] if keys else None
    if chosen is not None and _finds_nothing(table, chosen, width, applier):
        return Lookup("nothing", f"key {chosen.name} finds no row: what it needs is not in the event")
    columns = _compared_columns(table, present, width, applier)
    first = next((key for key in keys if key.kind == "unique"), None)
    if first is not None and not first.hashed and table.table.engine != "MEMORY":
        if first not in whole:
            raise UnsupportedError(f"unique key {first.name} of {table.name}, partly on further columns: not measured")
        rule = f"unique key {first.name}, trusted if no part is NULL, whatever the image has"
        return Lookup("image", rule, table.unique_index(first), columns)
    words = f"key {chosen.name}" if chosen is not None else "the table"
    return Lookup("image", f"R1: the whole row is compared along {words}", columns=columns)


def _finds_nothing(table: ReplicaTable, chosen: Key, width: int, applier: Applier) -> bool:
    """Whether a read by a key never finds a row: a SPATIAL key, one on a virtual column that the event lacks, or one
    that InnoDB goes on with a primary key on further columns.
    """
    special = {key.name for key in table.state.definition.keys if key.special == "SPATIAL"}
    if special:
        if {key.name for key in table.keys} - special:
            raise UnsupportedError(f"a SPATIAL key of {table.name} beside others is not measured")
        return True
    if not applier.passes_extra_keys:
        return _has_virtual(table, chosen, width)
    clustering = table.state.clustering
    if chosen.kind != "index" or clustering is None or table.table.engine != "InnoDB":
        return False
    further = {part.column for part in clustering.parts if part.column >= width}
    unfilled = further - {part.column for part in chosen.parts}
    if unfilled and any(table.columns[part.column].type_code == WireType.BIT for part in chosen.parts):
        raise UnsupportedError(f"key {chosen.name} of {table.name}, on a BIT, with a primary key on further columns")
    for column in sorted(unfilled):
        # What the key is read on with is not the default: recorded where that is a number other than 0.
        definition = table.definitions[column]
        if not definition.type_facts.is_integer or not definition.column.default:
            raise UnsupportedError(f"key {chosen.name} of {table.name} goes on with {definition.name}: not measured")
    return bool(unfilled)


def _has_virtual(table: ReplicaTable, key: Key, width: int) -> bool:
    return any(
        part.column >= width and part.expression is None and table.table.columns[part.column].generated == "virtual"
        for part in key.parts
    )


def _compared_columns(table: ReplicaTable, present: Sequence[int], width: int, applier: Applier) -> tuple[int, ...]:
    """What a whole row is, to MariaDB."""
    stored = [index for index, column in enumerate(table.table.columns) if column.generated != "virtual"]
    if not applier.passes_extra_keys:
        return tuple(stored)
    extra = [(index, column) for index, column in enumerate(table.table.columns) if index >= width]
    own = [index for index, column in extra if column.generated is not None or column.auto_increment]
    if not own:
        return tuple(stored)
    if len(own) < len(extra) or (set(present) != set(range(width)) and table.state.auto_increment in own):
        raise UnsupportedError(f"what is compared of {table.name}, with such further columns, is not measured")
    # Columns without a value in the event's record are not compared once the replica fills one by itself.
    return tuple(index for index in present if table.table.columns[index].generated != "virtual")


def _has_extra(key: Key, width: int) -> bool:
    return any(part.column >= width for part in key.parts)


class RowFinder:
    """Finds the rows of one event."""

    def __init__(self, table: ReplicaTable, lookup: Lookup, applier: Applier) -> None:
        self._table, self._lookup = table, lookup
        self._values = not applier.tells_negative_zero
        self._floats = [
            column for column in lookup.columns if table.columns[column].type_code in (WireType.FLOAT, WireType.DOUBLE)
        ]

    def find(self, image: Image | Cells) -> int | None:
        """The number of the row that an image means; None if there is none."""
        lookup = self._lookup
        if lookup.by != "image":
            if lookup.index is None:
                return None
            entry = lookup.index.entry(image)
            return None if entry is None else lookup.index.numbers.get(entry)
        if lookup.index is not None:
            entry = lookup.index.entry(image)
            if entry is not None:
                return lookup.index.numbers.get(entry)
        found = self.candidates(image)
        return found[0] if found else None

    def candidates(self, image: Image | Cells) -> list[int]:
        """The numbers of all rows that are equal to the image, in the order of a scan."""
        columns, table = self._lookup.columns, self._table
        wanted = tuple(image[column] for column in columns)
        found = list(table.matching(columns, wanted))
        if self._values and any(self._is_zero(image[column]) for column in self._floats):
            for other in self._zeros(image):
                found += table.matching(columns, other)
        return table.ordered(found) if len(found) > 1 else found

    @staticmethod
    def _is_zero(raw: bytes | None) -> bool:
        return raw is not None and not any(raw[:-1]) and raw[-1] in (0, 0x80)

    def _zeros(self, image: Image | Cells) -> list[Cells]:
        """The image with the other zeros."""
        columns = self._lookup.columns
        forms: list[Cells] = [()]
        for column in columns:
            raw = image[column]
            own = [raw]
            if column in self._floats and raw is not None and self._is_zero(raw):
                own = [bytes(len(raw)), bytes(len(raw) - 1) + b"\x80"]
            forms = [(*form, one) for form in forms for one in own]
        wanted = tuple(image[column] for column in columns)
        return [form for form in forms if form != wanted]


def prefix_parts(table: ReplicaTable, key: Key) -> bool:
    """Whether a key covers a column in part."""
    return any(key_prefix(table.table, part) is not None for part in key.parts)
