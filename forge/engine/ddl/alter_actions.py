"""What each action of ALTER TABLE does to the definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from forge.engine.ddl.alteration import (
    Alteration,
    Slot,
    has_column,
    is_on,
    is_there,
    refuse_dependents,
    renamed_in,
    same_name,
)
from forge.engine.dictionary.column_drafts import define_column, with_default, without_default
from forge.engine.dictionary.columns import in_charset
from forge.engine.dictionary.engines import chosen_engine
from forge.engine.dictionary.foreign_key_definition import (
    declared_references,
)
from forge.engine.dictionary.partitions import altered_partitions, partition_places
from forge.sql.ast import alter_actions as actions
from forge.sql.ast.definitions import ColumnDraft, PartDraft, PartitionClause
from forge.sql.errors import SqlError, SqlUnsupported, at_offset
from forge.sql.expressions import parse_expression
from forge.values.text.column_charset import BINARY_COLLATION


def apply_action(alteration: Alteration, action: actions.Action) -> None:
    """Take one action.  Raises SqlError for what it names and is not there."""
    if isinstance(action, actions.Conditional):
        if is_there(alteration, action.action) == action.exists:
            apply_action(alteration, action.action)
        return
    alteration.applied.append(action)
    match action:
        case actions.AddColumn():
            _add_column(alteration, action)
        case actions.ChangeColumn():
            _change_column(alteration, action)
        case actions.RenameColumn():
            _rename(alteration, alteration.index_of(action.old, action.offset), action.new, action.offset)
        case actions.DropColumn():
            _drop_column(alteration, action)
        case actions.AlterColumn():
            _alter_column(alteration, action)
        case actions.RenameTo(table=table):
            alteration.renamed = table
        case actions.SetOptions():
            _set_options(alteration, action)
        case actions.ConvertCharset():
            _convert(alteration, action)
        case actions.AlterPartitions():
            _alter_partitions(alteration, action)
        case actions.OrderRows():
            _order_rows(alteration, action)
        case actions.AlterTimes():
            _alter_times(alteration, action)
        case actions.SwitchKeys():
            pass
        case _:
            _change_keys(alteration, action)


def _change_keys(alteration: Alteration, action: actions.KeyAction) -> None:
    match action:
        case actions.AddKey(key=key):
            alteration.new_keys.append(key)
        case actions.DropKey():
            del alteration.keys[_key_index(alteration, action.name, action.offset)]
        case actions.RenameKey():
            index = _key_index(alteration, action.old, action.offset)
            alteration.keys[index] = replace(alteration.keys[index], name=action.new)
        case actions.AddCheck(check=check):
            alteration.new_checks.append(check)
        case actions.DropCheck():
            _drop_constraint(alteration, action)
        case actions.EnforceCheck():
            index = _check_index(alteration, action.name, action.offset)
            alteration.checks[index] = replace(alteration.checks[index], enforced=action.enforced)
        case actions.AddForeignKey(key=foreign):
            alteration.new_foreign_keys.append(foreign)
        case actions.DropForeignKey():
            names = [foreign.name for foreign in alteration.foreign_keys]
            del alteration.foreign_keys[_index(alteration, "foreign key", names, action.name, action.offset)]


def _convert(alteration: Alteration, action: actions.ConvertCharset) -> None:
    """Every text column in the table gets the character set, members of bytes do not (recorded)."""
    clause = action.charset
    alteration.collation = clause.resolve(alteration.default_collation(), alteration.server).id
    for index, slot in enumerate(alteration.slots):
        if slot.column.type_facts.has_charset and slot.column.type.collation != BINARY_COLLATION:
            with at_offset(clause.offset):
                column = in_charset(slot.column, alteration.collation, alteration.server)
            if column.wire.members != slot.column.wire.members:
                # MySQL keeps the bytes of the old set in the new one, MariaDB mostly refuses the rows (recorded).
                problem = f"CONVERT TO CHARACTER SET where members of {column.name!r} get other bytes is not supported"
                raise SqlUnsupported(problem, clause.offset, expected="MODIFY with the members")
            alteration.slots[index] = replace(slot, column=column)


def _order_rows(alteration: Alteration, action: actions.OrderRows) -> None:
    for name in action.columns:
        alteration.index_of(name, action.offset)
    if alteration.state.clustering is None and len(alteration.state.rows) > 1:
        raise SqlUnsupported("ORDER BY of a table without a key is not supported yet", action.offset)


def _alter_partitions(alteration: Alteration, action: actions.AlterPartitions) -> None:
    alteration.truncates |= action.kind == "truncate"
    if action.kind in ("drop", "truncate") and alteration.partitions is not None:
        alteration.emptied = frozenset(partition_places(alteration.partitions, action))
    alteration.partitions = altered_partitions(alteration.partitions, action)


def _index(alteration: Alteration, kind: str, names: Sequence[str | None], name: str, offset: int) -> int:
    """The place of a key or constraint among ``names``.  Raises SqlError if it is not there."""
    for index, other in enumerate(names):
        if same_name(other, name):
            return index
    known = ", ".join(filter(None, names))
    raise SqlError(f"table {alteration.state.name} has no {kind} {name!r}", offset, expected=known or None)


def _check_index(alteration: Alteration, name: str, offset: int) -> int:
    return _index(alteration, "CHECK constraint", [check.name for check in alteration.checks], name, offset)


def _key_index(alteration: Alteration, name: str | None, offset: int) -> int:
    if name is not None:
        return _index(alteration, "key", [key.name for key in alteration.keys], name, offset)
    for index, key in enumerate(alteration.keys):
        if key.kind == "primary":
            return index
    raise SqlError(f"table {alteration.state.name} has no primary key", offset)


def _drop_constraint(alteration: Alteration, action: actions.DropCheck) -> None:
    """DROP CONSTRAINT is for constraints of all kinds."""
    constraints: list[list[Any]] = [alteration.foreign_keys, alteration.keys, alteration.checks]
    for kind in constraints:
        for index, constraint in enumerate(kind):
            if same_name(constraint.name, action.name):
                del kind[index]
                return
    _check_index(alteration, action.name, action.offset)


def _add_column(alteration: Alteration, action: actions.AddColumn) -> None:
    draft = action.column
    if has_column(alteration, draft.name):
        raise SqlError(f"table {alteration.state.name} has a column {draft.name!r} already", draft.offset)
    column = define_column(draft, alteration.collation, alteration.server, dialect=alteration.dialect)
    alteration.placed.append((Slot(column, None), action.place))
    _own_keys(alteration, draft)
    alteration.defined.append(draft)


def _own_keys(alteration: Alteration, draft: ColumnDraft) -> None:
    alteration.new_keys += draft.own_keys()
    alteration.new_checks += draft.checks
    alteration.new_foreign_keys += declared_references([draft], alteration.line)


def _change_column(alteration: Alteration, action: actions.ChangeColumn) -> None:
    index = alteration.index_of(action.old, action.offset)
    draft = action.column
    if draft.name.lower() != action.old.lower():
        _rename(alteration, index, draft.name, draft.offset)
    column = define_column(draft, alteration.collation, alteration.server, dialect=alteration.dialect)
    alteration.slots[index] = replace(alteration.slots[index], column=column)
    _own_keys(alteration, draft)
    alteration.defined.append(draft)
    if action.place is not None:
        alteration.placed.append((alteration.slots.pop(index), action.place))


def _rename(alteration: Alteration, index: int, new: str, offset: int) -> None:
    """The column has another name, also in what uses it."""
    old, grammar = alteration.slots[index].column.name, alteration.line.grammar
    if any(i != index and slot.column.name.lower() == new.lower() for i, slot in enumerate(alteration.slots)):
        raise SqlError(f"table {alteration.state.name} has a column {new!r} already", offset)
    alteration.slots[index] = replace(alteration.slots[index], column=alteration.slots[index].column.replace(name=new))
    for place, slot in enumerate(alteration.slots):
        generated = slot.column.generated
        if generated is not None and any(same_name(name, old) for name in generated.columns()):
            expression = parse_expression(renamed_in(generated.sql, old, new), grammar)
            column = slot.column.replace(uses=frozenset(name.lower() for name in expression.columns()))
            alteration.slots[place] = replace(slot, column=replace(column, generated=expression))
    for place, key in enumerate(alteration.keys):
        alteration.keys[place] = replace(key, parts=tuple(_renamed_part(part, old, new) for part in key.parts))
    for place, check in enumerate(alteration.checks):
        alteration.checks[place] = replace(check, expression=renamed_in(check.expression, old, new))
    if alteration.partitions is not None:
        alteration.partitions = _renamed_clause(alteration.partitions, old, new)


def _renamed_part(part: PartDraft, old: str, new: str) -> PartDraft:
    if part.expression is not None:
        return replace(part, expression=renamed_in(part.expression, old, new))
    return replace(part, column=new) if same_name(part.column, old) else part


def _renamed_clause(clause: PartitionClause, old: str, new: str) -> PartitionClause:
    return replace(
        clause,
        expression=renamed_in(clause.expression, old, new),
        columns=tuple(new if same_name(name, old) else name for name in clause.columns),
        inner=None if clause.inner is None else _renamed_clause(clause.inner, old, new),
    )


def _drop_column(alteration: Alteration, action: actions.DropColumn) -> None:
    index = alteration.index_of(action.name, action.offset)
    # A constraint on the column alone goes with it.
    alteration.checks = [check for check in alteration.checks if not is_on(alteration, check, action.name)]
    refuse_dependents(alteration, action.name, action.offset)
    del alteration.slots[index]
    left = [
        replace(key, parts=tuple(part for part in key.parts if not same_name(part.column, action.name)))
        for key in alteration.keys
    ]
    alteration.keys = [key for key in left if key.parts]


def _alter_column(alteration: Alteration, action: actions.AlterColumn) -> None:
    index = alteration.index_of(action.name, action.offset)
    column = alteration.slots[index].column
    if action.visible is not None:
        column = column.replace(visible=action.visible)
    elif action.default is not None:
        column = with_default(column, action.default, alteration.line, dialect=alteration.dialect)
    else:
        # MySQL leaves no default at all, not even NULL (sql/sql_table.cc; recorded).
        lacks = column.column.nullable and alteration.line.ddl.drops_null_default
        column = without_default(column, lacks_default=lacks)
    alteration.slots[index] = replace(alteration.slots[index], column=column)


def _set_options(alteration: Alteration, action: actions.SetOptions) -> None:
    options = action.options
    if options.charset.charset is not None or options.charset.collation is not None:
        alteration.collation = options.charset.resolve(alteration.collation, alteration.server).id
    if options.auto_increment is not None:
        alteration.auto_increment = options.auto_increment
    alteration.engine = chosen_engine(options) or alteration.engine


def _alter_times(alteration: Alteration, action: actions.AlterTimes) -> None:
    """Periods and system versioning.  Raises SqlError for a period that is not there."""
    if action.period is not None:
        alteration.periods = (*alteration.periods, action.period)
    elif action.dropped:
        left = tuple(period for period in alteration.periods if not same_name(period.name, action.dropped))
        if left == alteration.periods:
            raise SqlError(f"table {alteration.state.name} has no period {action.dropped!r}", action.offset)
        alteration.periods = left
    else:
        alteration.versioned = bool(action.versioned)
