"""ALTER TABLE on its way from one definition to the next: columns, keys, constraints and options so far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from forge.charsets import collation, default_collation
from forge.engine.ddl.context import DdlContext
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.partitions import used_columns
from forge.engine.dictionary.table_state import TableState
from forge.sql.ast import alter_actions as actions
from forge.sql.ast.alter_actions import Action
from forge.sql.ast.definitions import CheckDraft, ColumnDraft, ForeignKeyDraft, KeyDraft, Place, TableRef
from forge.sql.errors import SqlError
from forge.sql.expressions import parse_expression
from forge.sql.lexer import tokenize
from forge.sql.write import identifier


@dataclass(frozen=True, slots=True)
class Slot:
    """A column of the new definition and the index of the old column that it was; None for a new one."""

    column: ColumnDefinition
    source: int | None


class Alteration:
    """What the actions of one ALTER TABLE have made of its definition so far."""

    def __init__(self, state: TableState, context: DdlContext) -> None:
        catalog = context.catalog
        self.state, self.server, self.line = state, catalog.server, context.line
        self.dialect, self.clips = catalog.dialect, catalog.clips
        self.database_collation = catalog.databases[state.table.database]
        self.keys: list[KeyDraft] = list(named_keys(state))
        #: Columns to put into the list once all others are what they will be, in the order of the statement.
        self.placed: list[tuple[Slot, Place | None]] = []
        #: Keys to add: they speak of columns by the names that they have in the end.
        self.new_keys: list[KeyDraft] = []
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
        line = self.line
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


def same_name(name: str | None, other: str) -> bool:
    """Names of columns, keys and constraints compare without case."""
    return name is not None and name.lower() == other.lower()


def is_there(alteration: Alteration, action: actions.Action) -> bool:
    """Whether what the action adds or changes is there already."""
    match action:
        case actions.AddColumn(column=draft):
            return has_column(alteration, draft.name)
        case actions.AlterColumn(name=name) | actions.DropColumn(name=name):
            return has_column(alteration, name)
        case actions.ChangeColumn(old=name) | actions.RenameColumn(old=name):
            return has_column(alteration, name)
        case actions.AddKey(key=key):
            return _has_key(alteration, None if key.kind == "primary" else key.name or key.parts[0].column)
        case actions.DropKey(name=key_name):
            return _has_key(alteration, key_name)
        case actions.RenameKey(old=name):
            return _has_key(alteration, name)
        case actions.AddForeignKey(key=foreign):
            return _has_constraint(alteration, foreign.name or foreign.index or "")
        case actions.AddCheck(check=check):
            return _has_constraint(alteration, check.name or "")
        case actions.DropForeignKey(name=name) | actions.DropCheck(name=name):
            return _has_constraint(alteration, name)
        case actions.AlterPartitions():
            parts = () if alteration.partitions is None else alteration.partitions.parts
            wanted = action.names or tuple(part.name for part in action.parts)
            return {name.lower() for name in wanted} <= {part.name.lower() for part in parts}
    return False


def has_column(alteration: Alteration, name: str) -> bool:
    slots = (*alteration.slots, *(slot for slot, _ in alteration.placed))
    return any(same_name(slot.column.name, name) for slot in slots)


def _has_key(alteration: Alteration, name: str | None) -> bool:
    keys = (*alteration.keys, *alteration.new_keys)
    return any(key.kind == "primary" if name is None else same_name(key.name, name) for key in keys)


def _has_constraint(alteration: Alteration, name: str) -> bool:
    names = {check.name for check in alteration.checks} | {foreign.name for foreign in alteration.foreign_keys}
    names |= {key.name for key in alteration.keys if key.kind == "unique"}
    return any(same_name(one, name) for one in names)


def renamed_in(expression: str, old: str, new: str) -> str:
    """The text of an expression with another name of a column."""
    pieces, end = [], 0
    tokens = tokenize(expression) if expression else []
    for token, behind in pairwise(tokens):
        if token.is_name and same_name(token.text, old) and not behind.is_mark("("):
            pieces += [expression[end : token.start], identifier(new)]
            end = token.end
    return "".join([*pieces, expression[end:]])


def refuse_dependents(alteration: Alteration, name: str, offset: int) -> None:
    """Raises SqlError for a column that foreign keys, generated columns, partitions or CHECK constraints use."""
    state, source = alteration.state, alteration.slots[alteration.index_of(name, offset)].source
    users = [f"foreign key {one.name}" for one in alteration.foreign_keys if source in one.columns]
    expressions = {
        f"generated column {slot.column.name!r}": slot.column.generated.sql
        for slot in alteration.slots
        if slot.column.generated is not None
    }
    expressions |= {f"CHECK constraint {check.name!r}": check.expression for check in alteration.checks}
    expressions |= {f"key {key.name!r}": part.expression or "" for key in alteration.keys for part in key.parts}
    used_by = [*users, *(user for user, sql in expressions.items() if name.lower() in _columns_of(alteration, sql))]
    if alteration.partitions is not None:
        places = [part.column for part in state.clustering.parts] if state.clustering else []
        by = used_columns(alteration.partitions, state.definition, places)
        used_by += ["PARTITION BY" for index in by if same_name(state.columns[index].name, name)]
    if used_by:
        raise SqlError(f"{used_by[0]} uses column {name!r}", offset)


def is_on(alteration: Alteration, check: CheckDraft, name: str) -> bool:
    """Whether a constraint is on that column alone."""
    return _columns_of(alteration, check.expression) == {name.lower()}


def _columns_of(alteration: Alteration, expression: str) -> set[str]:
    grammar = alteration.line.grammar
    return {name.lower() for name in parse_expression(expression, grammar).columns()} if expression else set()
