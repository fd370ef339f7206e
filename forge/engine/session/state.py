"""What a session and its server know between two requests."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from forge.engine.dictionary.catalog import Catalog
from forge.engine.session.prepared import PreparedTransactions
from forge.plan.statement_text import UserVariable


@dataclass(slots=True)
class SessionState:
    """The catalog with the tables' rows, what was prepared, and what the texts of statements can read."""

    catalog: Catalog
    prepared: PreparedTransactions = field(default_factory=PreparedTransactions)
    #: The current database; empty if there is none.
    database: str = ""
    variables: dict[str, UserVariable] = field(default_factory=dict)
    #: Variables whose values are not known: a statement computed them.
    unknown: set[str] = field(default_factory=set)
    #: What LAST_INSERT_ID() gives; None: not known.
    last_insert_id: int | None = 0
    #: MIXED has logged rows while there were temporary tables, and goes on until there are none (MariaDB).
    keeps_rows: bool = False

    def begin(self) -> None:
        """Another client comes: it finds the tables, and no variables."""
        self.variables, self.unknown = {}, set()
        self.last_insert_id, self.keeps_rows = 0, False

    def fork(self) -> SessionState:
        """The same state, which goes a way of its own: what happens to one is not seen in the other.

        Rows are copied only as one of the two changes a table.
        """
        twins = {id(table): table.fork() for table in self.catalog.states()}
        return replace(
            self,
            catalog=self.catalog.fork(twins),
            prepared=self.prepared.fork(twins),
            variables=dict(self.variables),
            unknown=set(self.unknown),
        )
