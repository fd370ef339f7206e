"""What an action of ALTER TABLE is about: whether it is there, and what else depends on it."""

from __future__ import annotations

from itertools import pairwise

from forge.engine.ddl.alteration import Alteration
from forge.engine.dictionary.partitions import used_columns
from forge.servers import server_line
from forge.sql.ast import alter_actions as actions
from forge.sql.ast.definitions import CheckDraft
from forge.sql.errors import SqlError
from forge.sql.expressions import parse_expression
from forge.sql.lexer import tokenize
from forge.sql.write import identifier


def same_name(name: str | None, other: str) -> bool:
    """Names of columns, keys and constraints compare without case."""
    return name is not None and name.lower() == other.lower()


def is_there(alteration: Alteration, action: actions.Action) -> bool:
    """Whether what the action adds or changes is there already."""
    foreign_keys = [foreign.name for foreign in alteration.foreign_keys]
    checks = [check.name for check in alteration.checks]
    match action:
        case actions.AddColumn():
            return has_column(alteration, action.column.name)
        case actions.AlterColumn() | actions.DropColumn():
            return has_column(alteration, action.name)
        case actions.ChangeColumn() | actions.RenameColumn():
            return has_column(alteration, action.old)
        case actions.AddKey(key=key):
            return _has_key(alteration, None if key.kind == "primary" else key.name or key.parts[0].column)
        case actions.DropKey():
            return _has_key(alteration, action.name)
        case actions.RenameKey():
            return _has_key(alteration, action.old)
        case actions.AddForeignKey(key=foreign):
            return _is_among(foreign_keys, foreign.name or foreign.index or "")
        case actions.DropForeignKey():
            return _is_among(foreign_keys, action.name)
        case actions.AddCheck(check=check):
            return _is_among(checks, check.name or "")
        case actions.DropCheck():
            unique = [key.name for key in alteration.keys if key.kind == "unique"]
            return _is_among([*checks, *foreign_keys, *unique], action.name)
        case actions.AlterPartitions():
            parts = () if alteration.partitions is None else alteration.partitions.parts
            wanted = action.names or tuple(part.name for part in action.parts)
            return all(_is_among([part.name for part in parts], name) for name in wanted)
    return False


def _is_among(names: list[str | None] | list[str], wanted: str) -> bool:
    return any(same_name(name, wanted) for name in names)


def has_column(alteration: Alteration, name: str) -> bool:
    slots = (*alteration.slots, *(slot for slot, _ in alteration.placed))
    return any(same_name(slot.column.name, name) for slot in slots)


def _has_key(alteration: Alteration, name: str | None) -> bool:
    keys = (*alteration.keys, *alteration.new_keys)
    return any(key.kind == "primary" if name is None else same_name(key.name, name) for key in keys)


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
    source = alteration.slots[alteration.index_of(name, offset)].source
    users = [f"foreign key {foreign.name}" for foreign in alteration.foreign_keys if source in foreign.columns]
    users += [
        f"generated column {slot.column.name!r}"
        for slot in alteration.slots
        if slot.column.generated is not None and _is_among(list(slot.column.generated.columns()), name)
    ]
    if alteration.partitions is not None:
        clustering = alteration.state.clustering
        places = [part.column for part in clustering.parts] if clustering else []
        by = used_columns(alteration.partitions, alteration.state.definition, places)
        users += ["PARTITION BY" for index in by if same_name(alteration.state.columns[index].name, name)]
    users += [
        f"CHECK constraint {check.name!r}"
        for check in alteration.checks
        if _is_among(_columns_of(alteration, check.expression), name)
    ]
    users += [
        f"key {key.name!r}"
        for key in alteration.keys
        for part in key.parts
        if part.expression is not None and _is_among(_columns_of(alteration, part.expression), name)
    ]
    if users:
        raise SqlError(f"{users[0]} uses column {name!r}", offset)


def is_on(alteration: Alteration, check: CheckDraft, name: str) -> bool:
    """Whether a constraint is on that column alone."""
    used = _columns_of(alteration, check.expression)
    return bool(used) and all(same_name(column, name) for column in used)


def _columns_of(alteration: Alteration, expression: str) -> list[str]:
    return list(parse_expression(expression, server_line(alteration.server).grammar).columns())
