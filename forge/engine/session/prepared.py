"""XA transactions that are prepared, and wait for their second phase."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from forge.engine.dictionary.table_state import TableState, UndoLog, undo
from forge.engine.requests.transactions import XaName
from forge.errors import ScenarioError
from forge.plan.grouping.caches import Caches
from forge.plan.session import Session as Settings
from forge.plan.transactions import Transaction, XaEnd, XaId
from forge.servers import ServerLine

XA_PART = 64


def xa_id(name: XaName, line: ServerLine) -> XaId:
    """The identifier that an entry names.  Raises ScenarioError for parts that are too long, or empty on MariaDB."""
    xa = XaId(_part(name.gtrid, "gtrid"), _part(name.bqual, "bqual"), name.format_id)
    if not xa.gtrid and not line.groups.empty_gtrids:
        raise ScenarioError("gtrid is empty", expected="1 to 64 bytes on MariaDB (error 1398)")
    return xa


def _part(declared: Any, part_name: str) -> bytes:
    literal = declared
    if isinstance(declared, dict) and declared.keys() == {"hex"}:
        with suppress(ValueError, TypeError):
            literal = bytes.fromhex(declared["hex"])
    part = str(literal).encode() if isinstance(literal, (str, int)) else literal
    if not isinstance(part, bytes) or len(part) > XA_PART:
        raise ScenarioError(f"{part_name} is {declared!r}", expected=f"text or {{hex: ...}} of at most {XA_PART} bytes")
    return part


@dataclass(slots=True)
class Prepared:
    """An XA transaction that waits for its second phase, and what it had gathered."""

    log: UndoLog
    caches: Caches
    #: What its second phase logs, and the settings before it, where XA PREPARE logs nothing.
    later: tuple[Transaction, Settings] | None = None
    #: The session that prepared it, by number.
    session: int = 0


@dataclass(slots=True)
class PreparedTransactions:
    """The XA transactions that are prepared."""

    waiting: dict[XaId, Prepared] = field(default_factory=dict)
    #: The one that the session is still bound to.
    bound: XaId | None = None
    #: Number of the session, and how many there were.
    session: int = 0
    sessions: int = 1

    def add(self, xa: XaId, prepared: Prepared, *, detaches: bool) -> None:
        """Raises ScenarioError if there is one of that name.  ``detaches``: XA PREPARE frees the session."""
        if xa in self.waiting:
            raise ScenarioError("an XA transaction of that name is prepared already", expected="another gtrid or bqual")
        self.waiting[xa] = replace(prepared, session=self.session)
        for state, number, _ in prepared.log:
            state.lock(number)
        self.bound = None if detaches else xa

    def leave(self) -> None:
        """The client goes; what it prepared waits for another."""
        self.bound = None
        self.connect()

    def connect(self) -> None:
        """A new session goes on."""
        self.session, self.sessions = self.sessions, self.sessions + 1

    def restart(self) -> None:
        """The server is started again: InnoDB alone keeps what was prepared, if it has changed something (recorded)."""
        self.leave()
        self.waiting = {xa: prepared for xa, prepared in self.waiting.items() if prepared.log}

    def check_free(self) -> None:
        """Raises ScenarioError if the session may only end its prepared transaction (error 1399, recorded)."""
        if self.bound is not None:
            raise ScenarioError(
                "the session has a prepared XA transaction, and refuses everything else until it ends (error 1399)",
                expected="xa_commit or xa_rollback of it first",
            )

    def end(
        self, xa: XaId, end: Literal["commit", "rollback"], current_database: str
    ) -> tuple[XaEnd | Transaction, Settings | None]:
        """Its second phase, and the settings before it.  Raises ScenarioError if no such transaction is prepared."""
        self.bound = None
        prepared = self.waiting.pop(xa, None)
        if prepared is None:
            raise ScenarioError(
                "no XA transaction of that name is prepared", expected="a transaction before, `end: prepared`"
            )
        for state, number, _ in prepared.log:
            state.unlock(number)
        if end == "rollback":
            undo(prepared.log)
        if prepared.later is not None:
            group, begun = prepared.later
            return replace(group, end=end), begun
        caches = prepared.caches
        if caches.keeps and prepared.session != self.session:
            # Another session of MariaDB finds only that it is prepared (recorded).
            if not caches.prepares:
                raise ScenarioError(
                    "the transaction has changed nothing, so another session cannot end it (error 1402)",
                    expected="xa_commit or xa_rollback directly after it",
                )
            return XaEnd(xa, end, current_database), None
        return XaEnd(xa, end, current_database, caches.prepares, caches.engine_first, caches.mixed), None

    def fork(self, twins: Mapping[int, TableState]) -> PreparedTransactions:
        """The same transactions on the twins of their tables, by the ids of these."""
        waiting = {
            xa: replace(
                prepared, log=[(twins.get(id(table), table), number, row) for table, number, row in prepared.log]
            )
            for xa, prepared in self.waiting.items()
        }
        return replace(self, waiting=waiting)

    def forget(self) -> None:
        """The scenario ends: nobody sees what waits for its second phase still."""
        for prepared in reversed(self.waiting.values()):
            undo(prepared.log)
