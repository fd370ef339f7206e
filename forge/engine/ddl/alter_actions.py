"""What each action of ALTER TABLE does to the definition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from forge.engine.ddl.alter_targets import is_on, is_there, refuse_dependents, refuse_foreign_keys, same_name
from forge.engine.ddl.alteration import Alteration, Slot
from forge.engine.dictionary.column_defaults import with_default, without_default
from forge.engine.dictionary.column_drafts import define_column
from forge.engine.dictionary.columns import in_charset, key_refusal
from forge.engine.dictionary.engines import chosen_engine
from forge.engine.dictionary.foreign_key_definition import (
    declared_references,
)
from forge.engine.dictionary.partitions import altered_partitions, partition_places
from forge.servers import server_line
from forge.sql.ast.alter_actions import (
    Action,
    AddCheck,
    AddColumn,
    AddForeignKey,
    AddKey,
    AlterColumn,
    AlterPartitions,
    AlterTimes,
    ChangeColumn,
    ColumnAction,
    Conditional,
    ConvertCharset,
    DropCheck,
    DropColumn,
    DropForeignKey,
    DropKey,
    EnforceCheck,
    OrderRows,
    RenameColumn,
    RenameKey,
    RenameTo,
    SetOptions,
    SwitchKeys,
)
from forge.sql.ast.definitions import (
    ColumnDraft,
    KeyDraft,
    LiteralDefault,
)
from forge.sql.errors import SqlError, SqlUnsupported, strict_at
from forge.values.text.column_charset import BINARY_COLLATION


def apply_action(alteration: Alteration, action: Action) -> None:
    """Take one action.  Raises SqlError where a server would refuse it."""
    if isinstance(action, Conditional):
        if is_there(alteration, action.action) == action.exists:
            apply_action(alteration, action.action)
        else:
            alteration.skipped.append(action.action)
        return
    alteration.applied.append(action)
    _check_versions(alteration, action)
    _HANDLERS[type(action)](alteration, action)


def _convert(alteration: Alteration, action: ConvertCharset) -> None:
    """Every text column in the table gets the character set, members of bytes do not (recorded)."""
    clause = action.charset
    alteration.collation = clause.resolve(alteration.default_collation(), alteration.server).id
    for index, slot in enumerate(alteration.slots):
        if slot.column.type_facts.has_charset and slot.column.type.collation != BINARY_COLLATION:
            if slot.column.holds_json:
                raise SqlUnsupported("CONVERT TO CHARACTER SET of a JSON column is not supported yet", clause.offset)
            with strict_at(clause.offset):
                column = in_charset(slot.column, alteration.collation, alteration.server)
            if column.wire.members != slot.column.wire.members:
                # MySQL keeps the bytes of the old set in the new one, MariaDB mostly refuses the rows (recorded).
                problem = f"CONVERT TO CHARACTER SET where members of {column.name!r} get other bytes is not supported"
                raise SqlUnsupported(problem, clause.offset, expected="MODIFY with the members")
            alteration.slots[index] = replace(slot, column=column)


def _order_rows(alteration: Alteration, action: OrderRows) -> None:
    for name in action.columns:
        alteration.index_of(name, action.offset)
    if alteration.state.clustering is None and len(alteration.state.rows) > 1:
        raise SqlUnsupported("ORDER BY of a table without a key is not supported yet", action.offset)


def _alter_partitions(alteration: Alteration, action: AlterPartitions) -> None:
    alteration.truncates |= action.kind == "truncate"
    by_hash = alteration.partitions is not None and alteration.partitions.kind in ("hash", "key")
    alteration.reorganizes |= action.kind == "reorganize" or (by_hash and action.kind in ("add", "coalesce"))
    if action.kind in ("drop", "truncate") and alteration.partitions is not None:
        alteration.emptied = frozenset(partition_places(alteration.partitions, action))
    alteration.partitions = altered_partitions(alteration.partitions, action)


def _foreign_key_index(alteration: Alteration, name: str, offset: int) -> int:
    for index, foreign in enumerate(alteration.foreign_keys):
        if same_name(foreign.name, name):
            return index
    names = ", ".join(foreign.name for foreign in alteration.foreign_keys)
    raise SqlError(f"table {alteration.state.name} has no foreign key {name!r}", offset, expected=names or None)


def _drop_constraint(alteration: Alteration, action: DropCheck) -> None:
    """DROP CONSTRAINT is for constraints of all kinds."""
    if any(same_name(foreign.name, action.name) for foreign in alteration.foreign_keys):
        del alteration.foreign_keys[_foreign_key_index(alteration, action.name, action.offset)]
        return
    for index, key in enumerate(alteration.keys):
        if same_name(key.name, action.name) and key.kind == "unique":
            del alteration.keys[index]
            return
    del alteration.checks[_check_index(alteration, action.name, action.offset)]


def _check_index(alteration: Alteration, name: str, offset: int) -> int:
    for index, check in enumerate(alteration.checks):
        if same_name(check.name, name):
            return index
    raise SqlError(f"table {alteration.state.name} has no CHECK constraint {name!r}", offset)


def _old_index(alteration: Alteration, name: str, offset: int) -> int:
    """Place of a column that the statement finds: one that is new, or changed by it already, does not count."""
    index = alteration.index_of(name, offset)
    slot = alteration.slots[index]
    if slot.source is None or slot.touched:
        raise SqlError(f"column {name!r} is changed twice", offset, expected="one action for a column")
    alteration.slots[index] = replace(slot, touched=True)
    return index


def _key_index(alteration: Alteration, name: str | None, offset: int) -> int:
    for index, key in enumerate(alteration.keys):
        if (name is None and key.kind == "primary") or (name is not None and same_name(key.name, name)):
            return index
    shown = "primary key" if name is None else f"key {name!r}"
    names = [key.name for key in alteration.keys if key.name]
    expected = f"one of {', '.join(names)}" if names and name is not None else None
    raise SqlError(f"table {alteration.state.name} has no {shown}", offset, expected=expected)


def _add_column(alteration: Alteration, action: AddColumn) -> None:
    draft = action.column
    slots = (*alteration.slots, *(slot for slot, _ in alteration.placed))
    if any(slot.column.name.lower() == draft.name.lower() for slot in slots):
        raise SqlError(f"table {alteration.state.name} has a column {draft.name!r} already", draft.offset)
    old = alteration.state.definition.find(draft.name)
    is_gone = old is not None and all(slot.source != old for slot in slots)
    if is_gone and any(part.column == old for key in alteration.state.table.keys for part in key.parts):
        # MySQL finds it by its name in the keys of the one that goes.
        problem = f"a new column {draft.name!r} in place of one with a key is not supported yet"
        raise SqlUnsupported(problem, draft.offset, expected="another name")
    column = define_column(draft, alteration.collation, alteration.server, dialect=alteration.dialect)
    alteration.placed.append((Slot(column, None), action.place))
    _own_keys(alteration, draft)
    alteration.defined.append(draft)


def _own_keys(alteration: Alteration, draft: ColumnDraft) -> None:
    alteration.new_keys += draft.own_keys()
    alteration.new_checks += draft.checks
    alteration.new_foreign_keys += declared_references([draft], server_line(alteration.server))


def _change_column(alteration: Alteration, action: ChangeColumn) -> None:
    index = _old_index(alteration, action.old, action.offset)
    draft = action.column
    if draft.name.lower() != action.old.lower():
        _rename(alteration, index, draft.name, draft.offset)
    column = define_column(draft, alteration.collation, alteration.server, dialect=alteration.dialect)
    if (column.column.generated == "virtual") != (alteration.slots[index].column.column.generated == "virtual"):
        # ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN
        problem = f"column {draft.name!r} cannot become virtual, nor be so no longer"
        raise SqlError(problem, draft.offset, expected="DROP COLUMN and ADD COLUMN")
    alteration.slots[index] = replace(alteration.slots[index], column=column)
    _own_keys(alteration, draft)
    alteration.defined.append(draft)
    if action.place is not None:
        alteration.placed.append((alteration.slots.pop(index), action.place))


def _rename(alteration: Alteration, index: int, new: str, offset: int) -> None:
    old = alteration.slots[index].column.name
    if any(i != index and slot.column.name.lower() == new.lower() for i, slot in enumerate(alteration.slots)):
        raise SqlError(f"table {alteration.state.name} has a column {new!r} already", offset)
    # MariaDB renames it in what uses it (recorded on 10.11 and 11.8).
    refuse_dependents(alteration, old, offset, refusal=key_refusal(server_line(alteration.server)))
    alteration.slots[index] = replace(alteration.slots[index], column=alteration.slots[index].column.replace(name=new))
    for place, key in enumerate(alteration.keys):
        parts = tuple(replace(part, column=new) if same_name(part.column, old) else part for part in key.parts)
        alteration.keys[place] = replace(key, parts=parts)


def _drop_column(alteration: Alteration, action: DropColumn) -> None:
    index = _old_index(alteration, action.name, action.offset)
    # A constraint on the column alone goes with it.
    alteration.checks = [check for check in alteration.checks if not is_on(alteration, check, action.name)]
    refuse_dependents(alteration, action.name, action.offset)
    refuse_foreign_keys(alteration, index, action.offset)
    del alteration.slots[index]
    kept: list[KeyDraft] = []
    for key in alteration.keys:
        parts = tuple(part for part in key.parts if not same_name(part.column, action.name))
        shortened = 0 < len(parts) < len(key.parts) and key.kind != "index"
        if shortened and server_line(alteration.server).ddl.lenient_keys:
            # MariaDB refuses it (1072), unless the key goes in the same statement.
            problem = f"DROP of column {action.name!r} from a unique key of several columns is not supported on MariaDB"
            raise SqlUnsupported(problem, action.offset, expected="the key dropped before")
        if parts:
            kept.append(replace(key, parts=parts))
    alteration.keys = kept


def _alter_column(alteration: Alteration, action: AlterColumn) -> None:
    index = alteration.index_of(action.name, action.offset)
    column = alteration.slots[index].column
    if action.visible is not None:
        column = column.replace(visible=action.visible)
    elif action.default is not None:
        if column.generated is not None:
            # MariaDB takes it, and forgets it.
            line = server_line(alteration.server)
            refusal = SqlUnsupported if line.ddl.forgets_generated_values else SqlError
            raise refusal(f"generated column {column.name!r} cannot have a default", action.offset)
        is_null = isinstance(action.default, LiteralDefault) and action.default.value is None
        if column.column.auto_increment and not is_null:
            # Servers take it, and give it to rows instead of a number.
            raise SqlUnsupported(
                f"a default of AUTO_INCREMENT column {column.name!r} is not supported yet", action.offset
            )
        column = with_default(column, action.default, server_line(alteration.server), dialect=alteration.dialect)
    elif column.column.auto_increment:
        raise SqlUnsupported(
            f"DROP DEFAULT of AUTO_INCREMENT column {column.name!r} is not supported yet", action.offset
        )
    elif column.column.default_now and alteration.clips and server_line(alteration.server).ddl.drops_null_default:
        # MySQL goes on to give it the time (recorded on 9.7).
        problem = f"DROP DEFAULT of column {column.name!r}, which is the time, without strict mode"
        raise SqlUnsupported(f"{problem} is not supported yet", action.offset)
    else:
        # MySQL leaves no default at all, not even NULL (sql/sql_table.cc; recorded).
        lacks = column.column.nullable and server_line(alteration.server).ddl.drops_null_default
        column = without_default(column, lacks_default=lacks)
    alteration.slots[index] = replace(alteration.slots[index], column=column)


def _set_options(alteration: Alteration, action: SetOptions) -> None:
    options = action.options
    if options.charset.charset is not None or options.charset.collation is not None:
        alteration.collation = options.charset.resolve(alteration.collation, alteration.server).id
    if options.auto_increment is not None:
        alteration.auto_increment = options.auto_increment
    alteration.engine = chosen_engine(options) or alteration.engine
    alteration.options.update(options.idle)


def _alter_times(alteration: Alteration, action: AlterTimes) -> None:
    """Raises SqlError where a server would refuse it, SqlUnsupported for declared columns of versions."""
    if action.period is not None:
        alteration.periods = (*alteration.periods, action.period)
    elif action.dropped:
        left = tuple(period for period in alteration.periods if not same_name(period.name, action.dropped))
        if left == alteration.periods:
            raise SqlError(f"table {alteration.state.name} has no period {action.dropped!r}", action.offset)
        alteration.periods = left
    else:
        if alteration.versioned == action.versioned:
            has = "has system versioning already" if action.versioned else "has no system versioning"
            raise SqlError(f"table {alteration.state.name} {has}", action.offset)
        if any(slot.column.column.system for slot in alteration.slots):
            raise SqlUnsupported("DROP SYSTEM VERSIONING beside declared columns is not supported yet", action.offset)
        alteration.versioned = bool(action.versioned)


def _check_versions(alteration: Alteration, action: Action) -> None:
    """Columns of a system-versioned table stay as they are (error 4119), as long as the session does not say KEEP."""
    if alteration.state.definition.versioned and isinstance(action, ColumnAction | ConvertCharset):
        problem = f"a change of the columns of the system-versioned table {alteration.state.name} is not supported"
        raise SqlUnsupported(problem, 0, expected="DROP SYSTEM VERSIONING before")


def _rename_column(alteration: Alteration, action: RenameColumn) -> None:
    _rename(alteration, _old_index(alteration, action.old, action.offset), action.new, action.offset)


def _add_key(alteration: Alteration, action: AddKey) -> None:
    alteration.new_keys.append(action.key)


def _drop_key(alteration: Alteration, action: DropKey) -> None:
    del alteration.keys[_key_index(alteration, action.name, action.offset)]


def _rename_key(alteration: Alteration, action: RenameKey) -> None:
    index = _key_index(alteration, action.old, action.offset)
    alteration.keys[index] = replace(alteration.keys[index], name=action.new)


def _rename_table(alteration: Alteration, action: RenameTo) -> None:
    alteration.renamed = action.table


def _add_check(alteration: Alteration, action: AddCheck) -> None:
    alteration.new_checks.append(action.check)


def _enforce_check(alteration: Alteration, action: EnforceCheck) -> None:
    index = _check_index(alteration, action.name, action.offset)
    alteration.checks[index] = replace(alteration.checks[index], enforced=action.enforced)


def _add_foreign_key(alteration: Alteration, action: AddForeignKey) -> None:
    alteration.new_foreign_keys.append(action.key)


def _drop_foreign_key(alteration: Alteration, action: DropForeignKey) -> None:
    del alteration.foreign_keys[_foreign_key_index(alteration, action.name, action.offset)]


def _switch_keys(alteration: Alteration, action: SwitchKeys) -> None:
    """The definition stays as it is."""


_HANDLERS: Final[dict[type[Any], Callable[[Alteration, Any], None]]] = {
    AddCheck: _add_check,
    AddColumn: _add_column,
    AddForeignKey: _add_foreign_key,
    AddKey: _add_key,
    AlterColumn: _alter_column,
    AlterPartitions: _alter_partitions,
    ChangeColumn: _change_column,
    ConvertCharset: _convert,
    DropCheck: _drop_constraint,
    DropColumn: _drop_column,
    DropForeignKey: _drop_foreign_key,
    DropKey: _drop_key,
    EnforceCheck: _enforce_check,
    OrderRows: _order_rows,
    RenameColumn: _rename_column,
    RenameKey: _rename_key,
    RenameTo: _rename_table,
    SetOptions: _set_options,
    AlterTimes: _alter_times,
    SwitchKeys: _switch_keys,
}
