"""Row events on a replica's table: columns by position, their conversions, the lookup; made once for each form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from forge.decode.cells import Cell, Kind, MappedTable, kind_of
from forge.errors import UnsupportedError
from forge.events.row_image import images_of, present_columns
from forge.events.rows import RowsBody
from forge.replay.replica_table import ReplicaTable
from forge.replay.row_lookup import Lookup, lookup_of
from forge.replay.stops import StopError
from forge.replay.type_conversions import ColumnConversion, TypeConversions, column_conversion
from forge.servers.facts.applier import Applier

#: TABLE_MAP says that the first column is an invisible key that the server generated.
GENERATED_KEY = 4


@dataclass(frozen=True, slots=True)
class EventForm:
    """What is the same for all row events of a table map with the same bitmaps."""

    table: ReplicaTable
    kind: Kind
    #: The replica's column of each of the event's; None for those that it lacks.
    places: tuple[int | None, ...]
    conversions: tuple[ColumnConversion | None, ...]
    #: The replica's columns in the images.
    before: tuple[int, ...]
    after: tuple[int, ...]
    lookup: Lookup | None
    #: No new value has a column here.
    is_empty: bool


def event_form(mapped: MappedTable, body: RowsBody, table: ReplicaTable, settings: TypeConversions) -> EventForm:
    """The form of an event.

    Raises StopError for types that stop the applier, UnsupportedError for what has not been measured.
    """
    source = mapped.columns or ()
    _refuse_unknown(table, settings)
    shift = _shift(mapped, table) if settings.applier.matches_generated_keys else 0
    places = tuple(
        place if 0 <= (place := index + shift) < len(table.columns) else None for index in range(len(source))
    )
    conversions = tuple(
        None if place is None else column_conversion(column, table.columns[place], settings, place, table.name)
        for column, place in zip(source, places, strict=True)
    )
    before, after = (
        () if bitmap is None else tuple(
            here for one in present_columns(bitmap, len(source)) if (here := places[one]) is not None
        )
        for bitmap in images_of(body)
    )  # fmt: skip
    kind = kind_of(body)
    lookup = None if kind == "insert" else lookup_of(table, before, len(source) + shift, settings.applier)
    return EventForm(table, kind, places, conversions, before, after, lookup, kind == "update" and not after)


def _refuse_unknown(table: ReplicaTable, settings: TypeConversions) -> None:
    """Raises UnsupportedError for tables of which too little has been measured."""
    plan = table.table
    if plan.row_end is not None:
        raise UnsupportedError(f"system-versioned table {plan.full_name} on a replica is not measured")
    if any(key.hashed for key in plan.keys) and settings.applier.passes_extra_keys:
        raise UnsupportedError(f"a long UNIQUE key of {plan.full_name} on a replica is not measured")


def _shift(mapped: MappedTable, table: ReplicaTable) -> int:
    """How many columns the replica has in front of the event's first one: those of generated invisible keys."""
    logged = bool(mapped.body.table_flags & GENERATED_KEY)
    return int(table.table.has_generated_key) - int(logged)


def local_image(form: EventForm, cells: tuple[Cell, ...], behind: int, applier: Applier) -> dict[int, bytes | None]:
    """An image by the replica's columns; ``behind``: bytes of the event behind this row.  Raises StopError."""
    image: dict[int, bytes | None] = {}
    for at, cell in enumerate(cells):
        place = form.places[cell.number - 1]
        if place is None:
            continue
        conversion = form.conversions[cell.number - 1]
        assert conversion is not None
        raw = cell.raw
        if raw is None or cell.partial:
            image[place] = None if raw is None else b""
            continue
        if conversion.misread:
            if behind:
                raise UnsupportedError("a temporal cell with precision 0, misread in an event of several rows")
            raise _misread(form, conversion.rule, applier, is_last=at == len(cells) - 1)
        image[place] = raw if conversion.convert is None else conversion.convert(raw)
    return image


class ShortRow(Exception):
    """The applier reads past the end of a row."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


def _misread(form: EventForm, rule: str, applier: Applier, *, is_last: bool) -> Exception:
    """What comes of reading a cell with precision 0 as one with digits, in the only row of an event."""
    if applier.looks_up == "row":
        if form.kind == "insert":
            return ShortRow(rule)
        if form.lookup is not None and form.lookup.by == "key":
            return UnsupportedError("a temporal cell with precision 0, misread in an image whose key is trusted")
        return StopError(1032, f"Can't find record in '{form.table.table.name}'", rule, "end_of_file")
    if is_last and form.kind == "insert":
        return ShortRow(rule)
    if form.lookup is not None and form.lookup.by == "key":
        return UnsupportedError("a temporal cell with precision 0, misread in an image that finds a row by its key")
    if is_last and form.kind == "delete":
        return UnsupportedError("a temporal cell with precision 0, misread in a DELETE: 1030 or 1032, as memory has it")
    return StopError(1610, "Corrupted replication event was detected", rule, "none")


def not_null_cells(
    table: ReplicaTable, image: Mapping[int, bytes | None], default: Callable[[int], bytes | None]
) -> dict[int, bytes | None]:
    """The image with the column's default for a NULL that it cannot hold (warning 1048)."""
    return {
        place: default(place) if raw is None and not table.table.columns[place].nullable else raw
        for place, raw in image.items()
    }
