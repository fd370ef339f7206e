"""ALTER TABLE on its way from one definition to the next: columns, keys, constraints and options so far."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from forge.engine.ddl.ddl_context import DdlContext
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.table_state import TableState
from forge.sql.ast import actions
from forge.sql.ast.definitions import ColumnDraft, KeyDraft, Place, TablePart, TableRef
from forge.sql.errors import SqlError
from forge.sql.lexer import tokenize
from forge.sql.write import identifier

#: Where a definition keeps the parts of a table that have names.
_FIELDS: Final = {
    "key": ("keys",), "foreign key": ("foreign_keys",), "CHECK constraint": ("checks",), "period": ("periods",),
    "constraint": ("foreign_keys", "keys", "checks"),
}  # fmt: skip


class Slot(Struct, frozen=True):
    """A column of the new definition and the index of the old column that it was; None for a new one."""

    column: ColumnDefinition
    source: int | None


class Alteration:
    """What the actions of one ALTER TABLE have made of its definition so far."""

    def __init__(self, state: TableState, context: DdlContext) -> None:
        self.state, self.context = state, context
        self.catalog, self.line = context.catalog, context.line
        #: Its columns are the old ones, to which its foreign keys refer.
        self.definition = replace(state.definition, keys=_named_keys(state))
        self.slots = [Slot(column, index) for index, column in enumerate(state.definition.columns)]
        #: Columns to put into the list once all others are what they will be, in the order of the statement.
        self.placed: list[tuple[Slot, Place | None]] = []
        #: Parts to add: they speak of columns by the names that they have in the end.
        self.parts: list[TablePart] = []
        #: Places of partitions that are dropped or emptied with their rows.
        self.emptied: frozenset[int] = frozenset()
        self.truncates = False
        self.auto_increment: int | None = None
        #: The columns that the statement defines.
        self.defined: list[ColumnDraft] = []
        self.renamed: TableRef | None = None
        #: What the statement does, but for what IF [NOT] EXISTS keeps it from.
        self.applied: list[actions.Action] = []

    def change(self, **changes: Any) -> None:
        """The definition has other parts or options."""
        self.definition = replace(self.definition, **changes)

    def columns(self) -> list[ColumnDefinition]:
        """The columns so far, those without a place last."""
        return [slot.column for slot in (*self.slots, *(slot for slot, _ in self.placed))]

    def renamed_columns(self) -> dict[str, str]:
        """Columns that have another name afterwards: the old name, in lower case, to the new one."""
        old = self.state.columns
        return {old[slot.source].name.lower(): slot.column.name for slot in self.slots if slot.source is not None}

    def index_of(self, name: str, offset: int) -> int:
        """The slot of a column.  Raises SqlError."""
        columns = tuple(slot.column for slot in self.slots)
        return replace(self.definition, columns=columns).index_of(name, offset)

    def find(self, kind: str, name: str, offset: int) -> tuple[str, int]:
        """Where the definition has the part of that kind and name: a field and an index.  Raises SqlError."""
        names = []
        for field in _FIELDS[kind]:
            for index, part in enumerate(getattr(self.definition, field)):
                if same_name(_name_of(part), name):
                    return field, index
                names.append(_name_of(part))
        problem = f"table {self.state.name} has no {kind} {name!r}"
        raise SqlError(problem, offset, expected=", ".join(filter(None, names)) or None)

    def put(self, field: str, index: int, *parts: object) -> None:
        """These parts stand where one stood."""
        kept = list(getattr(self.definition, field))
        kept[index : index + 1] = parts
        self.change(**{field: tuple(kept)})


def _named_keys(state: TableState) -> tuple[KeyDraft, ...]:
    """The keys with the names that the server gave them, and the prefixes that it has kept."""
    return tuple(
        replace(
            draft,
            name=None if key.kind == "primary" else key.name,
            parts=tuple(replace(part, prefix=kept.prefix) for part, kept in zip(draft.parts, key.parts, strict=False)),
        )
        for draft, key in zip(state.definition.keys, state.table.keys, strict=True)
    )


def _name_of(part: Any) -> str:
    """The name of a key, constraint or period, or what a key without one is called."""
    if not isinstance(part, KeyDraft):
        return part.name or getattr(part, "index", None) or ""
    return "PRIMARY" if part.kind == "primary" else part.name or part.parts[0].column


def same_name(name: str | None, other: str) -> bool:
    """Names of columns, keys and constraints compare without case."""
    return name is not None and name.lower() == other.lower()


def is_there(alteration: Alteration, action: actions.PlainAction) -> bool:
    """Whether what the action adds or changes is there already."""
    kind, names = _subject(action)
    there = {name.lower() for name in _names(alteration, kind) if name}
    return {name.lower() for name in names} <= there


def _subject(action: actions.PlainAction) -> tuple[str, list[str]]:
    match action:
        case actions.AddColumn(column=draft):
            return "column", [draft.name]
        case actions.ChangeColumn(old=name) | actions.AlterColumn(name=name):
            return "column", [name]
        case actions.Drop(kind=kind, name=name) | actions.Rename(kind=kind, old=name):
            return kind, [name]
        case actions.Add(part=part):
            return "key" if isinstance(part, KeyDraft) else "constraint", [_name_of(part)]
        case actions.AlterPartitions():
            return "partition", [*action.names] or [part.name for part in action.parts]
    raise AssertionError(action)


def _names(alteration: Alteration, kind: str) -> Iterator[str]:
    if kind == "column":
        yield from (column.name for column in alteration.columns())
    elif kind == "partition":
        clause = alteration.definition.partitions
        yield from (part.name for part in clause.parts) if clause is not None else ()
    else:
        yield from (_name_of(part) for field in _FIELDS[kind] for part in getattr(alteration.definition, field))
        yield from map(_name_of, alteration.parts)


def renamed_in(expression: str, old: str, new: str) -> str:
    """The text of an expression with another name of a column."""
    pieces, end = [], 0
    tokens = tokenize(expression) if expression else []
    for token, behind in pairwise(tokens):
        if token.is_name and same_name(token.text, old) and not behind.is_mark("("):
            pieces += [expression[end : token.start], identifier(new)]
            end = token.end
    return "".join([*pieces, expression[end:]])
