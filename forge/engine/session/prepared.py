"""XA transactions that are prepared, and wait for their second phase."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from forge.engine.dictionary.table_state import UndoLog, undo
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
    #: The session that prepared it, by number.
    session: int
    #: What its second phase logs, and the settings before it, where XA PREPARE logs nothing.
    later: tuple[Transaction, Settings] | None = None


@dataclass(slots=True)
class PreparedTransactions:
    """The XA transactions that are prepared."""

    waiting: dict[XaId, Prepared] = field(default_factory=dict)

    def add(self, xa: XaId, prepared: Prepared) -> None:
        """Raises ScenarioError if there is one of that name."""
        if xa in self.waiting:
            raise ScenarioError("an XA transaction of that name is prepared already", expected="another gtrid or bqual")
        self.waiting[xa] = prepared
        for state, number, _ in prepared.log:
            state.lock(number)

    def restart(self) -> None:
        """The server is started again: InnoDB alone keeps what was prepared, if it has changed something (recorded)."""
        self.waiting = {xa: prepared for xa, prepared in self.waiting.items() if prepared.log}

    def end(
        self, xa: XaId, end: Literal["commit", "rollback"], current_database: str, session: int
    ) -> tuple[XaEnd | Transaction, Settings | None]:
        """Its second phase, and the settings before it.  Raises ScenarioError if no such transaction is prepared."""
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
        if caches.keeps and prepared.session != session:
            # Another session of MariaDB finds only that it is prepared (recorded).
            if not caches.prepares:
                raise ScenarioError(
                    "the transaction has changed nothing, so another session cannot end it (error 1402)",
                    expected="xa_commit or xa_rollback directly after it",
                )
            return XaEnd(xa, end, current_database), None
        return XaEnd(xa, end, current_database, caches.prepares, caches.engine_first, caches.mixed), None

    def forget(self) -> None:
        """The scenario ends: nobody sees what waits for its second phase still."""
        for prepared in reversed(self.waiting.values()):
            undo(prepared.log)
