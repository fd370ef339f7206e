"""ALTER TABLE on its way from one definition to the next: columns, keys, constraints and options so far."""

from __future__ import annotations

from dataclasses import dataclass, replace

from forge.charsets import collation, default_collation
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.table_state import TableState
from forge.servers import server_line
from forge.servers.facts.values import Dialect
from forge.sql.ast.alter_actions import Action
from forge.sql.ast.definitions import CheckDraft, ColumnDraft, ForeignKeyDraft, KeyDraft, Place, TableRef


@dataclass(frozen=True, slots=True)
class Slot:
    """A column of the new definition and the index of the old column that it was; None for a new one.

    ``touched``: an action has named it already.
    """

    column: ColumnDefinition
    source: int | None
    touched: bool = False


class Alteration:
    """What the actions of one ALTER TABLE have made of its definition so far."""

    def __init__(
        self,
        state: TableState,
        server: str,
        database_collation: int,
        *,
        dialect: Dialect | None = None,
        clips: bool = False,
    ) -> None:
        self.state = state
        self.server = server
        self.dialect = dialect
        #: Values that do not fit are clipped.
        self.clips = clips
        self.keys: list[KeyDraft] = list(named_keys(state))
        #: Columns to put into the list once all others are what they will be, in the order of the statement.
        self.placed: list[tuple[Slot, Place | None]] = []
        #: Keys to add: they speak of columns by the names that they have in the end.
        self.new_keys: list[KeyDraft] = []
        self.database_collation = database_collation
        self.periods = state.definition.periods
        self.versioned = state.definition.versioned
        self.partitions = state.definition.partitions
        #: Places of partitions that are dropped with their rows.
        self.emptied: frozenset[int] = frozenset()
        #: The foreign keys that stay, with the old places of their columns, and those that come.
        self.foreign_keys = list(state.definition.foreign_keys)
        self.new_foreign_keys: list[ForeignKeyDraft] = []
        self.truncates = False
        self.checks = list(state.definition.checks)
        self.new_checks: list[CheckDraft] = []
        self.collation = state.definition.collation
        self.engine = state.definition.engine
        self.slots = [Slot(column, index) for index, column in enumerate(state.definition.columns)]
        self.auto_increment: int | None = None
        #: The columns that the statement defines.
        self.defined: list[ColumnDraft] = []
        self.renamed: TableRef | None = None
        #: What the statement does, but for what IF [NOT] EXISTS keeps it from.
        self.applied: list[Action] = []

    def renamed_columns(self) -> dict[str, str]:
        """Columns that have another name afterwards: the old name, in lower case, to the new one."""
        old = self.state.columns
        return {old[slot.source].name.lower(): slot.column.name for slot in self.slots if slot.source is not None}

    def index_of(self, name: str, offset: int) -> int:
        columns = tuple(slot.column for slot in self.slots)
        return replace(self.state.definition, columns=columns).index_of(name, offset)

    def default_collation(self) -> int:
        """What DEFAULT means: the database's; on MariaDB the compiled-in default of its set (recorded on 11.8: 45)."""
        line = server_line(self.server)
        if line.ddl.convert_default == "database":
            return self.database_collation
        usual = default_collation(collation(self.database_collation, self.server).charset, self.server).id
        return {chosen: compiled for compiled, chosen in line.query.character_set_collations}.get(usual, usual)


def named_keys(state: TableState) -> list[KeyDraft]:
    """The keys with the names that the server gave them, and the prefixes that it has kept."""
    return [
        replace(
            draft,
            name=None if key.kind == "primary" else key.name,
            parts=tuple(replace(part, prefix=kept.prefix) for part, kept in zip(draft.parts, key.parts, strict=False)),
        )
        for draft, key in zip(state.definition.keys, state.table.keys, strict=True)
    ]
