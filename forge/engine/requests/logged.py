"""The declared form of a statement as the server logs it."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct


class Logged(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A QUERY event as the server writes it, for statements that are not run here: accounts, routines, events."""

    text: Annotated[
        Annotated[str, Meta(min_length=1)] | dict[str, str],
        Meta(description="The text that the log says, or its bytes as {hex: ...}."),
    ]
    sent: Annotated[
        str | dict[str, str] | None,
        Meta(description="What a client sends to have that logged; by default the same text."),
    ] = None
    database: Annotated[
        str | None, Meta(description="The current database that the event names; by default the session's.")
    ] = None
    status: Annotated[
        dict[str, Any],
        Meta(
            description="Status variables as the listing shows them, beside those that every statement of the session"
            " has, or in their place; null leaves one out."
        ),
    ] = {}
    numbered: Annotated[
        bool,
        Meta(description="false: it does not carry the number of a storage engine's transaction (`ddl_xid`)."),
    ] = True
    flags: Annotated[list[str], Meta(description="Flags of the event's header, such as `THREAD_SPECIFIC`.")] = []
