"""The declared form of ``volume:``: how much happens to the tables of a scenario, and what their rows are made of.

``forge generate`` reads it (forge.bulk.generating); everything in it has a default that follows from the tables.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from forge.engine.requests.rows import TableName

#: Hours of a day.
HOURS = 24

Rate = Annotated[float, Meta(ge=0, le=1)]


class Normal(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Numbers around a mean, as a sum of evenly distributed ones; those outside of ``min`` and ``max`` are moved."""

    mean: float
    deviation: Annotated[float, Meta(ge=0)]
    min: float | None = None
    max: float | None = None


class VolumeColumn(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What the cells of a column are made of: one generator, and how it is drawn from."""

    faker: Annotated[str | None, Meta(description="A pool of values that a provider of Faker gives.")] = None
    args: Annotated[dict[str, Any], Meta(description="With `faker`: arguments of the provider.")] = {}
    locale: Annotated[str | None, Meta(description="With `faker`: its locale, such as de_DE.")] = None
    choice: Annotated[list[Any] | None, Meta(description="A pool of these values.")] = None
    text: Annotated[Any, Meta(description="A pool of letters and digits: a length, or {length, min}.")] = None
    bytes: Annotated[Any, Meta(description="A pool of bytes: a length, or {length, min}.")] = None
    value: Annotated[Any, Meta(description="The same value in all rows.")] = msgspec.UNSET
    random_int: Annotated[
        dict[str, int] | None, Meta(description="Whole numbers from `min` to `max`, all as likely.")
    ] = None
    normal: Annotated[Normal | None, Meta(description="Numbers of a normal distribution.")] = None
    sequence: Annotated[
        int | dict[str, int] | None, Meta(description="1, 2, 3 ... by row: the first, or {start, step}.")
    ] = None
    position: Annotated[
        int | None, Meta(description="The number of the row among those inside the same row, from this one on.")
    ] = None
    reference: Annotated[
        str | None,
        Meta(description="The key of a row of that table (`shop.customers`, or `shop.customers.id`), which is there."),
    ] = None
    template: Annotated[str | None, Meta(description="Text with {row}, {hex} and {name of another column} in it.")] = (
        None
    )
    moment: Annotated[
        Literal["insert", "change"] | None,
        Meta(description="The time of the row's insert, or of its last change."),
    ] = None
    datetime: Annotated[dict[str, Any] | None, Meta(description="Moments from `from` to `to`, all as likely.")] = None
    uuid: Annotated[bool, Meta(description="true: 128 bits that no other row has, as a UUID or as bytes.")] = False
    pool: Annotated[int, Meta(ge=1, le=1_000_000, description="How many different values a pool has.")] = 1000
    zipf: Annotated[
        Annotated[float, Meta(gt=0, le=8)] | None,
        Meta(description="Skew: the n-th value (row of a reference) is as likely as 1 / n to this power."),
    ] = None
    nulls: Annotated[Rate, Meta(description="How many cells are NULL, from 0 to 1.")] = 0.0

    def __post_init__(self) -> None:
        given = [name for name in GENERATORS if getattr(self, name) is not _ABSENT.get(name)]
        if len(given) != 1:
            raise ValueError(f"a column of `volume` has exactly one of {', '.join(GENERATORS)}")


#: What a generator is that is not there, where that is not None.
_ABSENT: dict[str, Any] = {"value": msgspec.UNSET, "uuid": False}
GENERATORS = (
    "faker", "choice", "text", "bytes", "value", "random_int", "normal", "sequence", "position", "reference",
    "template", "moment", "datetime", "uuid",
)  # fmt: skip


class VolumeUpdates(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """How often rows are updated (a geometric distribution), and which columns."""

    mean: Annotated[float, Meta(ge=0, le=16, description="Updates of a row, on average.")]
    columns: Annotated[list[str] | None, Meta(description="Columns that updates set.")] = None


class VolumeSizes(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Sizes of a geometric distribution: many small ones, few large ones."""

    mean: Annotated[float, Meta(ge=1)]
    max: Annotated[int, Meta(ge=1, le=1 << 16)] = 100


class VolumeTable(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What happens to one table."""

    share: Annotated[float, Meta(gt=0, description="Its part of all rows, as a weight beside the other tables.")] = 1.0
    inside: Annotated[
        TableName | None,
        Meta(description="Its rows are inserted and deleted with a row of that table, in the same transaction."),
    ] = None
    columns: Annotated[dict[str, VolumeColumn], Meta(description="Generators, by column.")] = {}
    updates: Annotated[float | VolumeUpdates | None, Meta(description="Updates of a row, on average.")] = None
    deletes: Annotated[Rate | None, Meta(description="How many rows are deleted, from 0 to 1.")] = None
    rows_per_transaction: Annotated[
        int | VolumeSizes, Meta(description="Rows that are inserted together: a number, or {mean, max}.")
    ] = VolumeSizes(mean=3)
    changes_per_transaction: Annotated[
        int, Meta(ge=1, le=1 << 16, description="Rows that are updated or deleted together.")
    ] = 1


class VolumeDefinition(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A data definition statement in between."""

    at: Annotated[Rate, Meta(description="Where it stands, from 0 (the beginning) to 1.")]
    ddl: str


class Volume(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """How much happens, when, and to which tables."""

    start: Annotated[str, Meta(description="Time of the first transaction, as text, UTC.")] = "2024-01-02 00:00:00"
    days: Annotated[float, Meta(gt=0, le=36500, description="Days that the transactions are spread over.")] = 30.0
    rate: Annotated[
        Literal["even", "daily"] | list[float],
        Meta(description="`even`, `daily` (a wave: little at night, most at noon), or 24 weights, one an hour."),
    ] = "even"
    sessions: Annotated[int, Meta(ge=1, le=10_000, description="Connections whose transactions alternate.")] = 8
    lifetime: Annotated[
        float, Meta(gt=0, le=1, description="Longest time from insert to last change, as a part of all time.")
    ] = 0.05
    tables: Annotated[dict[TableName, VolumeTable], Meta(description="By table; others have the defaults.")] = {}
    definitions: Annotated[list[VolumeDefinition], Meta(description="Data definition statements in between.")] = []

    def __post_init__(self) -> None:
        if isinstance(self.rate, list) and (
            len(self.rate) != HOURS or min(self.rate) < 0 or not 0 < sum(self.rate) < float("inf")
        ):
            raise ValueError("volume.rate needs 24 weights, of which one is above 0")
