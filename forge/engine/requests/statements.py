"""The declared form of a statement."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from forge.engine.requests.rows import Delete, Insert, LoadData, Replace, Update
from forge.engine.requests.settings import SessionChange
from forge.errors import ScenarioError
from forge.plan.transactions import EventPlace
from forge.sql.ast.definitions import TableRef
from forge.sql.cursor import Cursor
from forge.sql.parse.queries import table_references
from forge.sql.write import identifier


def exactly_one(struct: Struct, names: tuple[str, ...], subject: str) -> None:
    """Raises ValueError unless exactly one of the fields has a value; ``subject`` is what the message calls it."""
    present = [name for name in names if getattr(struct, name) is not None]
    if len(present) != 1:
        raise ValueError(
            f"{subject} has exactly one of {', '.join(names)}; this one has {' and '.join(present) or 'none'}"
        )


class PlacedEvent(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """An event that no statement writes: informational, private, or of an unknown type (WL#4033)."""

    type: Annotated[str | int, Meta(description="Name of the event type, such as `ROWS_QUERY`, or its number.")]
    text: Annotated[
        str | None,
        Meta(description="The body as text: a statement, message or file name, by type; else the body in UTF-8."),
    ] = None
    hex: Annotated[str | None, Meta(description="The body, as hex; without text, hex and fields it is empty.")] = None
    fields: Annotated[
        dict[str, Any] | None,
        Meta(description="The body as fields of the event type, by their names in a listing; others are derived."),
    ] = None
    ignorable: Annotated[
        bool | None, Meta(description="The flag IGNORABLE; by default only on IGNORABLE and ROWS_QUERY.")
    ] = None
    flags: Annotated[list[str], Meta(description="Further flags of the header, such as `ARTIFICIAL`.")] = []
    place: Annotated[
        EventPlace,
        Meta(
            description="`here`; `begin` between GTID and BEGIN and `rows` between TABLE_MAP and rows of the next"
            " statement, inside a transaction; `description` after FORMAT_DESCRIPTION, `head` before the file's first"
            " group, `end` as the file's last event, by itself."
        ),
    ] = "here"
    timestamp: Annotated[Annotated[int, Meta(ge=0, le=2**32 - 1)] | None, Meta(description="Seconds.")] = None
    server_id: Annotated[
        Annotated[int, Meta(ge=0, le=2**32 - 1)] | None, Meta(description="Server id in the header.")
    ] = None
    post_header_length: Annotated[
        Annotated[int, Meta(ge=0, le=255)] | None,
        Meta(description="Lists the type in FORMAT_DESCRIPTION, with this length: readers refuse types beyond it."),
    ] = None

    def __post_init__(self) -> None:
        if sum(form is not None for form in (self.text, self.hex, self.fields)) > 1:
            raise ValueError("an event has one of `text`, `hex` and `fields`")


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


#: Kinds of statements: each statement has exactly one.
KINDS = (
    "insert", "replace", "update", "delete", "load_data",
    "savepoint", "rollback_to", "release_savepoint", "ddl", "logged", "flush", "restart", "event", "set",
)  # fmt: skip


class Statement(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One statement: exactly one of insert, replace, update, delete, load_data, savepoint, rollback_to,
    release_savepoint, ddl, logged, flush, restart, event and set.
    """

    insert: Insert | None = None
    replace: Replace | None = None
    update: Update | None = None
    delete: Delete | None = None
    load_data: LoadData | None = None
    savepoint: Annotated[str | None, Meta(description="SAVEPOINT of that name.")] = None
    rollback_to: Annotated[str | None, Meta(description="ROLLBACK TO SAVEPOINT of that name.")] = None
    release_savepoint: Annotated[str | None, Meta(description="RELEASE SAVEPOINT of that name.")] = None
    ddl: Annotated[
        str | None,
        Meta(
            description="A data definition statement as SQL text: a transaction of its own, but for CREATE and DROP"
            " TEMPORARY TABLE."
        ),
    ] = None
    logged: Annotated[
        Logged | None,
        Meta(
            description="A statement as the server logs it, for those that `ddl` does not take (accounts, routines,"
            " events): a transaction of its own."
        ),
    ] = None
    flush: Annotated[
        Literal["binary_logs"] | None,
        Meta(
            description="FLUSH BINARY LOGS: the log continues in the next file; must be the only statement of its"
            " transaction."
        ),
    ] = None
    restart: Annotated[
        Literal["clean", "crash"] | None,
        Meta(
            description="The server is shut down (`clean`) or killed (`crash`) and started again, which begins another"
            " file; must be the only statement of its transaction."
        ),
    ] = None
    event: Annotated[
        PlacedEvent | None,
        Meta(
            description="An event that no statement writes; in a transaction of its own it stands between two groups."
        ),
    ] = None
    set: Annotated[
        SessionChange | None,
        Meta(description="SET: settings of the session that are other ones from here on, until it ends."),
    ] = None
    query: Annotated[
        str | None,
        Meta(
            description="SQL text to log (ROWS_QUERY) and to replay instead of the generated text;"
            " it must have the same effect."
        ),
    ] = None
    found_by: Annotated[
        str | None,
        Meta(
            description="The key by which the server finds the rows of an update or delete with a `query`, or `scan`,"
            " where it may choose and their order depends on it."
        ),
    ] = None
    logged_as: Annotated[
        Literal["rows", "text"] | None,
        Meta(
            description="How the server logs the statement in the formats `mixed` and `statement`, where it chooses"
            " otherwise than is known here; rows that did not change are not logged."
        ),
    ] = None
    rows_query: Annotated[
        bool | None,
        Meta(description="Whether the statement's text is logged beside its rows, whatever session.rows_query says."),
    ] = None
    user_variables: Annotated[
        dict[str, Any] | None,
        Meta(
            description="User variables that are SET before the statement, for its `query` and those of later ones:"
            " literals, or {unsigned|real|decimal|hex: ...}, {text: ..., collation: ...}."
        ),
    ] = None
    told_variables: Annotated[
        list[str] | None,
        Meta(
            description="The user variables whose values the log has before the text of the `query`; by default those"
            " that it names."
        ),
    ] = None
    further: Annotated[
        list[Further],
        Meta(description="Row changes that triggers make as part of the statement, or the statement in other tables."),
    ] = []
    locks: Annotated[
        list[str] | None,
        Meta(
            description="The tables that the server opens for writing besides the statement's own, in its order; by"
            " default those of foreign keys and of `further`."
        ),
    ] = None
    triggers: Annotated[
        Literal["run"] | None,
        Meta(description="run: the bodies of triggers are run, instead of `further` and `set_by_trigger`."),
    ] = None
    under_lock: Annotated[
        list[str] | None,
        Meta(
            description="The tables that LOCK TABLES holds for WRITE while the statement runs, in that order: the log"
            " has a TABLE_MAP of each."
        ),
    ] = None
    rand_seeds: Annotated[
        tuple[
            Annotated[int, Meta(ge=0, le=2**32 - 1)],
            Annotated[int, Meta(ge=0, le=2**32 - 1)],
        ]
        | None,
        Meta(description="rand_seed1 and rand_seed2, SET before a statement whose `query` calls RAND()."),
    ] = None

    def __post_init__(self) -> None:
        exactly_one(self, KINDS, "a statement")
        if self.query is not None and (self.target is None or self.load_data is not None):
            raise ValueError("`query` is only for insert, replace, update and delete")
        if self.found_by is not None and (self.query is None or (self.update or self.delete) is None):
            raise ValueError("`found_by` is only for update and delete with a `query`")
        if self.rows_query is not None and self.target is None:
            raise ValueError("`rows_query` is only for statements that change rows")
        if self.triggers is not None and (self.further or self.locks is not None):
            raise ValueError("`triggers: run` takes no `further` and `locks`")
        if self.under_lock is not None and self.target is None:
            raise ValueError("`under_lock` is only for statements that change rows")
        if (self.further or self.locks is not None) and self.target is None:
            raise ValueError("`further` and `locks` are only for insert, replace, update and delete")

    @property
    def kind(self) -> str:
        """Its kind, one of KINDS."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def change(self) -> Insert | Replace | Update | Delete | LoadData | None:
        """The request that changes rows, if it is one."""
        return self.insert or self.replace or self.update or self.delete or self.load_data

    @property
    def target(self) -> str | None:
        """The table that the statement changes, as it names it; None if it changes no rows itself."""
        change = self.change
        if change is None:
            return None
        if isinstance(change, Update | Delete):
            return change.table if change.tables is None else first_table(change.tables)
        return change.into


@lru_cache(maxsize=256)
def first_table(tables: str) -> str:
    """The name of the first table that a join names.  Raises SqlError."""
    named = (one.table for one in table_references(Cursor(tables)))
    table = next((one for one in named if isinstance(one, TableRef)), None)
    if table is None:
        raise ScenarioError("the join names no table", expected="a JOIN b ON ...")
    return ".".join(identifier(part) for part in (table.database, table.name) if part is not None)


class Further(Statement, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A statement that changes rows as part of another one."""

    row: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="Which row of the other statement fires it, counted from 1; the last by default."),
    ] = None
    before: Annotated[bool, Meta(description="true: a BEFORE trigger, which changes its rows first.")] = False
    joined: Annotated[
        bool,
        Meta(description="true: no trigger; the other is an UPDATE or DELETE of several tables, with its `query`."),
    ] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.target is None:
            raise ValueError("`further` takes only insert, replace, update and delete")
