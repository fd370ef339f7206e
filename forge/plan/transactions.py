"""What a client sends together: transactions of statements, savepoints and placed events, and the ends of XA ones."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from forge.events.layout import Body
from forge.plan.definitions import DdlStatement
from forge.plan.session import Session
from forge.plan.statements import RowsStatement


class Savepoint(Struct, frozen=True):
    """SAVEPOINT; it replaces an earlier one of the same name."""

    name: str
    #: The session's settings, where they are no longer those that it began with.
    session: Session | None = None


class RollbackTo(Struct, frozen=True):
    """ROLLBACK TO SAVEPOINT."""

    name: str
    #: The session's settings, where they are no longer those that it began with.
    session: Session | None = None


class ReleaseSavepoint(Struct, frozen=True):
    """RELEASE SAVEPOINT; never logged."""

    name: str


#: Where an event of a scenario's own stands: where it is written; between GTID and BEGIN; between the TABLE_MAP and
#: the rows of the next statement; after FORMAT_DESCRIPTION, before the first group, or at the very end of its file.
EventPlace = Literal["here", "begin", "rows", "description", "head", "end"]


class OwnEvent(Struct, frozen=True):
    """An event that no statement logs, which the scenario places: informational, private, or of an unknown type.

    ``data`` is its body, or ``text`` what a body of that type says, or ``body`` the body itself.
    ``post_header_length`` puts the type into the list of FORMAT_DESCRIPTION.
    """

    type_code: int
    data: bytes = b""
    text: str | None = None
    body: Body | None = None
    flags: int = 0
    place: EventPlace = "here"
    timestamp: int | None = None
    server_id: int | None = None
    post_header_length: int | None = None


#: A statement inside a transaction (data definition: of temporary tables), or an event that is placed there.
Step = RowsStatement | DdlStatement | Savepoint | RollbackTo | ReleaseSavepoint | OwnEvent


class XaId(Struct, frozen=True):
    """Identifier of an XA transaction: global part, branch, format."""

    gtrid: bytes
    bqual: bytes = b""
    format_id: int = 1


#: How a transaction ends: of an XA one, ``prepare`` leaves it to a later XaEnd, ``commit`` is COMMIT ONE PHASE.
End = Literal["commit", "rollback", "prepare"]


class Transaction(Struct, frozen=True):
    """Statements that end together.  One statement without ``explicit`` runs in autocommit mode.

    It is what the client sends; what of it is logged, and in which groups, ``forge.plan.grouping.logged_groups`` says.
    """

    statements: tuple[Step, ...]
    current_database: str
    explicit: bool = False
    end: End = "commit"
    #: It runs between XA START and XA END.
    xa: XaId | None = None
    #: binlog_format=STATEMENT, in which MariaDB logs the rollback of a transaction that changed what stays.
    statement_format: bool = False
    #: It was there before the log began.
    unlogged: bool = False

    @property
    def has_text(self) -> bool:
        """Whether a statement is logged as its text."""
        return any(statement.as_text for statement in self.rows_statements)

    @property
    def in_block(self) -> bool:
        """Whether the statements run between BEGIN and COMMIT, or XA START and XA END."""
        return self.explicit or self.xa is not None or self.end != "commit" or self._several

    @property
    def _several(self) -> bool:
        return sum(not isinstance(step, OwnEvent) for step in self.statements) > 1

    @property
    def rows_statements(self) -> tuple[RowsStatement, ...]:
        """The statements that change rows."""
        return tuple(step for step in self.statements if isinstance(step, RowsStatement))


class XaEnd(Struct, frozen=True):
    """XA COMMIT or XA ROLLBACK of a prepared transaction."""

    xa: XaId
    end: Literal["commit", "rollback"]
    current_database: str
    #: Its preparation was logged.
    logged: bool = True
    #: An engine that knows transactions took part, and before the log did.
    engine_first: bool = True
    #: A statement changed tables that no rollback reaches.
    mixed: bool = False


class LoggedStatement(Struct, frozen=True):
    """One QUERY event, in a group of its own.

    ``text`` is what the log says, ``sent`` what a client sends for it.  ``variables`` are status variables beside those
    that every statement of the session has, or in their place; None leaves one out.
    """

    text: str
    sent: str
    #: The session's current database when the statement ran, "" if none.
    current_database: str
    variables: tuple[tuple[str, Any], ...] = ()
    #: It carries the number of a storage engine's transaction.
    numbered: bool = True
    #: Flags of the event's header.
    flags: int = 0
    #: (second, microsecond) at which it has to run for its status variables to come out so; None for any time.
    time: tuple[int, int] | None = None
    line: int | None = None


Group = Transaction | DdlStatement | LoggedStatement | XaEnd
