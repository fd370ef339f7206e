"""The declared form of a transaction, and where a request stands for the errors about it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Annotated, Any, Literal, Protocol

from msgspec import Meta, Struct

from forge.engine.requests.statements import Statement


class RequestPlace(Protocol):
    """The place of a request in what a person edits: an entry of a file, a line of a script."""

    @property
    def line(self) -> int | None:
        """The line; None if there is none."""

    def at(self, *steps: str | int) -> AbstractContextManager[None]:
        """Errors of the block belong to the part of the request that the steps lead to, unless they know better."""

    def sql(self, text: str, *steps: str | int) -> AbstractContextManager[None]:
        """As :meth:`at`, for the SQL ``text`` of that part: an error's offset in it becomes a line."""

    def inside(self, *steps: str | int) -> RequestPlace:
        """The place of a part of the request."""


class XaName(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Identifier of an XA transaction."""

    gtrid: Annotated[Any, Meta(description="Global transaction: text, or {hex: ...}; at most 64 bytes.")]
    bqual: Annotated[Any, Meta(description="Branch qualifier: text, or {hex: ...}; at most 64 bytes.")] = ""
    format_id: Annotated[int, Meta(ge=0, le=2**31 - 1, description="Number of the identifier's format.")] = 1


class Xa(XaName, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """An XA transaction: its identifier, and what comes after XA END."""

    one_phase: Annotated[bool, Meta(description="XA COMMIT ... ONE PHASE, without XA PREPARE.")] = False
    end: Annotated[
        Literal["commit", "rollback", "prepared"],
        Meta(
            description="After XA PREPARE: XA COMMIT, XA ROLLBACK, or nothing, for a later transaction with"
            " `xa_commit` or `xa_rollback` to end it."
        ),
    ] = "commit"

    def __post_init__(self) -> None:
        if self.one_phase and self.end != "commit":
            raise ValueError("`one_phase` commits: `end` is commit")


class Transaction(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Statements that end together, with their circumstances; or the second phase of an XA transaction."""

    statements: list[Statement] = []
    database: Annotated[
        str | None, Meta(description="USE of that database before it; it stays the session's until another is named.")
    ] = None
    gtid: Annotated[
        str | int | None,
        Meta(
            description="The GTID that the client gives it: MySQL's gtid_next (`uuid:tag:number`, without the UUID the"
            " server's own), MariaDB's gtid_seq_no (`domain-server-number`, or the number alone)."
        ),
    ] = None
    connection: Annotated[
        str, Meta(description="Name of the client that sends it, where there are several; by default the first.")
    ] = ""
    explicit: Annotated[
        bool | None,
        Meta(description="true: BEGIN ... COMMIT also around a single statement, which otherwise commits by itself."),
    ] = None
    end: Annotated[
        Literal["commit", "rollback", "open"],
        Meta(
            description="COMMIT or ROLLBACK (an XA transaction that is rolled back here was never prepared); `open`:"
            " the next transaction of the connection goes on with it."
        ),
    ] = "commit"
    xa: Annotated[Xa | None, Meta(description="The statements run between XA START and XA END.")] = None
    xa_commit: Annotated[XaName | None, Meta(description="XA COMMIT of a transaction prepared before.")] = None
    xa_rollback: Annotated[XaName | None, Meta(description="XA ROLLBACK of a transaction prepared before.")] = None

    @property
    def in_block(self) -> bool:
        """Whether it says that its statements run between BEGIN and COMMIT, or XA START and XA END."""
        return bool(self.explicit) or self.xa is not None or self.end != "commit"

    def __post_init__(self) -> None:
        ends = [name for name in ("xa_commit", "xa_rollback") if getattr(self, name) is not None]
        if ends and (len(ends) > 1 or self.statements or self.xa is not None or self.end != "commit"):
            raise ValueError(f"`{ends[0]}` must be the only statement of its transaction")
        if not ends and not self.statements and (not self.explicit or self.end == "open"):
            raise ValueError("a transaction has at least one statement, or `xa_commit` or `xa_rollback`")
        if self.end == "open" and (self.xa is not None or self.explicit is False):
            raise ValueError("`end: open` excludes `xa` and `explicit: false`")
        if self.xa is not None and self.explicit is False:
            raise ValueError("`xa` excludes `explicit`")
