"""Changes that a scenario makes to its finished files: what no server writes (docs/scenario/edits.md)."""

from __future__ import annotations

from typing import Any

import msgspec


class Edit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One change of one event.  Positions, sizes and checksums are derived again behind it."""

    #: Name or number of an event type; the ``nth`` such event is meant.
    event: str | int
    #: Which of them, from 1; a negative number counts from the end.
    nth: int = 1
    #: In which of the files, from 1; a negative number counts from the end.
    file: int = -1
    #: Fields of the event in the listing, by their names; a path of names and numbers (``rows.0.id``) leads inside.
    set: dict[str, Any] = {}
    #: Such fields that are left out.
    drop: list[str] = []
    #: Where in the body ``hex``, ``insert`` and ``cut`` begin; a negative number counts from its end.
    at: int | None = None
    #: Bytes in hexadecimal that take the place of as many of the body.
    hex: str | None = None
    #: Bytes in hexadecimal that are put between those of the body.
    insert: str | None = None
    #: So many bytes of the body are left out.
    cut: int = 0
    #: No more than so many bytes of the body are left, its first ones.
    keep: int | None = None
    #: The event is left out.
    remove: bool = False
    #: So many copies of the event stand behind it.
    copies: int = 0
    #: Documents of a listing that are put before the event, and behind it.
    before: list[dict[str, Any]] = []
    after: list[dict[str, Any]] = []
