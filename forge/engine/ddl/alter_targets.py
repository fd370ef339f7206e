"""What an action of ALTER TABLE is about: whether it is there, and what else depends on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from forge.engine.ddl.alteration import Alteration
from forge.engine.dictionary.partitions import used_columns
from forge.servers import server_line
from forge.sql.ast.alter_actions import (
    Action,
    AddCheck,
    AddColumn,
    AddForeignKey,
    AddKey,
    AlterColumn,
    AlterPartitions,
    ChangeColumn,
    DropCheck,
    DropColumn,
    DropForeignKey,
    DropKey,
    RenameColumn,
    RenameKey,
)
from forge.sql.ast.definitions import CheckDraft
from forge.sql.errors import SqlError
from forge.sql.expressions import parse_expression


def same_name(name: str | None, other: str) -> bool:
    """Names of columns, keys and constraints compare without case."""
    return name is not None and name.lower() == other.lower()


def is_there(alteration: Alteration, action: Action) -> bool:
    """Whether what the action adds or changes is there already."""
    return _TARGETS[type(action)](alteration, action)


def _key_is_there(alteration: Alteration, action: AddKey) -> bool:
    key = action.key
    name = "PRIMARY" if key.kind == "primary" else key.name or key.parts[0].column
    return has_key(alteration, None if name == "PRIMARY" else name)


def _foreign_key_is_there(alteration: Alteration, name: str) -> bool:
    return any(same_name(foreign.name, name) for foreign in alteration.foreign_keys)


def _constraint_is_there(alteration: Alteration, action: DropCheck) -> bool:
    names = [*(check.name for check in alteration.checks), *(foreign.name for foreign in alteration.foreign_keys)]
    names += [key.name for key in alteration.keys if key.kind == "unique"]
    return any(same_name(name, action.name) for name in names)


def _partitions_are_there(alteration: Alteration, action: AlterPartitions) -> bool:
    parts = () if alteration.partitions is None else alteration.partitions.parts
    wanted = action.names or tuple(part.name for part in action.parts)
    return all(any(same_name(part.name, name) for part in parts) for name in wanted)


def has_column(alteration: Alteration, name: str) -> bool:
    slots = (*alteration.slots, *(slot for slot, _ in alteration.placed))
    return any(same_name(slot.column.name, name) for slot in slots)


def has_key(alteration: Alteration, name: str | None) -> bool:
    keys = (*alteration.keys, *alteration.new_keys)
    return any(key.kind == "primary" if name is None else same_name(key.name, name) for key in keys)


def refuse_foreign_keys(alteration: Alteration, index: int, offset: int) -> None:
    """A column goes after the foreign keys that are on it (1828)."""
    source = alteration.slots[index].source
    for foreign in alteration.foreign_keys:
        if source in foreign.columns:
            raise SqlError(f"foreign key {foreign.name} is on column {alteration.slots[index].column.name!r}", offset)


def refuse_dependents(alteration: Alteration, name: str, offset: int, *, refusal: type[SqlError] = SqlError) -> None:
    """Raises a ``refusal`` for a column that generated columns, partitions or CHECK constraints use."""
    for slot in alteration.slots:
        generated = slot.column.generated
        if generated is not None and any(same_name(used, name) for used in generated.columns()):
            raise refusal(f"generated column {slot.column.name!r} depends on column {name!r}", offset)
    if alteration.partitions is not None:
        clustering = alteration.state.clustering
        places = [part.column for part in clustering.parts] if clustering else []
        by = used_columns(alteration.partitions, alteration.state.definition, places)
        if any(same_name(alteration.state.columns[index].name, name) for index in by):
            raise refusal(f"column {name!r} distributes rows over partitions", offset)
    for check in alteration.checks:
        if any(same_name(column, name) for column in _columns_of(alteration, check.expression)):
            raise refusal(f"CHECK constraint {check.name!r} uses column {name!r}", offset)
    for key in alteration.keys:
        for part in key.parts:
            used = () if part.expression is None else _columns_of(alteration, part.expression)
            if any(same_name(column, name) for column in used):
                raise refusal(f"key {key.name!r} is on an expression that uses column {name!r}", offset)


def is_on(alteration: Alteration, check: CheckDraft, name: str) -> bool:
    used = _columns_of(alteration, check.expression)
    return bool(used) and all(same_name(column, name) for column in used)


def _columns_of(alteration: Alteration, expression: str) -> tuple[str, ...]:
    return parse_expression(expression, server_line(alteration.server).grammar).columns()


_TARGETS: Final[dict[type[Any], Callable[[Alteration, Any], bool]]] = {
    AddCheck: lambda alteration, action: any(
        same_name(check.name, action.check.name or "") for check in alteration.checks
    ),
    AddColumn: lambda alteration, action: has_column(alteration, action.column.name),
    AddForeignKey: lambda alteration, action: _foreign_key_is_there(
        alteration, action.key.name or action.key.index or ""
    ),
    AddKey: _key_is_there,
    AlterColumn: lambda alteration, action: has_column(alteration, action.name),
    AlterPartitions: _partitions_are_there,
    ChangeColumn: lambda alteration, action: has_column(alteration, action.old),
    DropCheck: _constraint_is_there,
    DropColumn: lambda alteration, action: has_column(alteration, action.name),
    DropForeignKey: lambda alteration, action: _foreign_key_is_there(alteration, action.name),
    DropKey: lambda alteration, action: has_key(alteration, action.name),
    RenameColumn: lambda alteration, action: has_column(alteration, action.old),
    RenameKey: lambda alteration, action: has_key(alteration, action.old),
}
