"""Facts about replicas: how an applier of row events finds rows, checks types and stores values."""

from __future__ import annotations

from typing import Literal

import msgspec


class Applier(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Facts about replicas: how an applier of row events finds rows, checks types and stores values."""

    #: Its outcomes were recorded (corpora/replays); ``forge replay`` refuses to be another line.
    measured: bool
    #: What a row is looked up by: MySQL takes a key whose columns the before image has and compares the image's
    #: columns; MariaDB takes a key of the table, whatever the image has, and compares whole rows.
    looks_up: Literal["image", "row"]
    #: A key with a column beyond the event's is passed over, and such columns are not compared.
    passes_extra_keys: bool
    #: An UPDATE none of whose new values has a column on the replica is passed over.
    passes_empty_updates: bool
    #: -0 and 0 are different rows in a comparison.
    tells_negative_zero: bool
    #: Number of the error for a type that is not converted, and the number of the first column in its text.
    conversion_error: int
    first_column: int
    #: Number of the error for a row that ends too early.
    short_row_error: int
    #: What becomes of a moment whose fraction gets another number of bytes.
    dropped_fraction: Literal["error", "cut"]
    #: DATE and DATETIME are converted into each other.
    converts_dates: bool
    #: ALL_SIGNED and ALL_UNSIGNED exist.
    converts_signs: bool
    #: A VARCHAR whose bytes are not of the column's set is cut where it stops being well-formed.
    cuts_malformed: bool
    #: An integer of another width is extended by its own sign or, with ``target``, by the column's.
    takes_sign_of: Literal["none", "target"]
    #: A geometry of another type than the column has becomes empty.
    checks_geometries: bool
    #: Absent columns whose default is the time get it.
    fills_clock_defaults: bool
    #: A row that IDEMPOTENT replaces takes the rows that refer to it along.
    replaces_by_deleting: bool
    #: Number of the error for a table in a database that is missing.
    database_error: int
    #: CHECK constraints of the replica refuse rows.
    checks_constraints: bool
    #: An UPDATE or DELETE of a BLACKHOLE table finds its row.
    blackhole_finds: bool
    #: A stored generated column gets what the replica computes of it, whatever the event has.
    replaces_generated: bool
    #: The first column may be a key that the server generated, on one side alone.
    matches_generated_keys: bool
    #: Error texts say ``master``, keys without their table, and events with a version.
    old_words: bool
    #: Types in error texts have widths, and lengths in octets.
    says_octets: bool
