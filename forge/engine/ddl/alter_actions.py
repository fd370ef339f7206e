"""What each action of ALTER TABLE does to the definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from forge.charsets import collation, default_collation
from forge.engine.ddl.alteration import Alteration, Slot, is_there, renamed_in, same_name
from forge.engine.ddl.timestamp_columns import timestamp_columns
from forge.engine.dictionary.column_drafts import define_column, with_default, without_default
from forge.engine.dictionary.columns import ColumnDefinition, in_charset
from forge.engine.dictionary.engines import chosen_engine
from forge.engine.dictionary.foreign_key_definition import own_parts
from forge.engine.dictionary.partitions import altered_partitions, partition_places
from forge.sql.ast import actions
from forge.sql.ast.definitions import ColumnDraft, PartDraft, PartitionClause
from forge.sql.errors import SqlError, SqlUnsupported, at_offset
from forge.sql.expressions import parse_expression
from forge.values.text.column_charset import BINARY_COLLATION


def apply_action(alteration: Alteration, action: actions.Action) -> None:
    """Take one action.  Raises SqlError for what it names and is not there."""
    if isinstance(action, actions.Conditional):
        if is_there(alteration, action.action) != action.exists:
            return
        action = action.action
    alteration.applied.append(action)
    _HANDLERS[type(action)](alteration, action)


def _add_column(alteration: Alteration, action: actions.AddColumn) -> None:
    draft = action.column
    if any(same_name(column.name, draft.name) for column in alteration.columns()):
        raise SqlError(f"table {alteration.state.name} has a column {draft.name!r} already", draft.offset)
    alteration.placed.append((Slot(_defined(alteration, draft), None), action.place))


def _change_column(alteration: Alteration, action: actions.ChangeColumn) -> None:
    index = alteration.index_of(action.old, action.offset)
    if not same_name(action.column.name, action.old):
        _rename_column(alteration, index, action.column.name, action.column.offset)
    column = _defined(alteration, action.column)
    alteration.slots[index] = replace(alteration.slots[index], column=column)
    if action.place is not None:
        alteration.placed.append((alteration.slots.pop(index), action.place))


def _defined(alteration: Alteration, draft: ColumnDraft) -> ColumnDefinition:
    """The column as the statement defines it; its keys and constraints are to be added."""
    catalog = alteration.catalog
    clocks = [column.name for column in alteration.columns() if column.is_timestamp]
    has_first = bool(clocks) and not same_name(clocks[0], draft.name)
    (draft,) = timestamp_columns((draft,), catalog, has_first=has_first)
    alteration.parts += own_parts(draft, alteration.line)
    alteration.defined.append(draft)
    return define_column(draft, alteration.definition.collation, catalog.server, dialect=catalog.dialect)


def _alter_column(alteration: Alteration, action: actions.AlterColumn) -> None:
    index = alteration.index_of(action.name, action.offset)
    column = alteration.slots[index].column
    if action.visible is not None:
        column = column.replace(visible=action.visible)
    elif action.default is not None:
        column = with_default(column, action.default, alteration.line, dialect=alteration.catalog.dialect)
    else:
        # MySQL leaves no default at all, not even NULL (sql/sql_table.cc; recorded).
        lacks = column.column.nullable and alteration.line.ddl.drops_null_default
        column = without_default(column, lacks_default=lacks)
    alteration.slots[index] = replace(alteration.slots[index], column=column)


def _add(alteration: Alteration, action: actions.Add) -> None:
    alteration.parts.append(action.part)


def _drop(alteration: Alteration, action: actions.Drop) -> None:
    if action.kind != "column":
        alteration.put(*alteration.find(action.kind, action.name, action.offset))
        return
    del alteration.slots[alteration.index_of(action.name, action.offset)]
    keys = [
        replace(key, parts=tuple(part for part in key.parts if not same_name(part.column, action.name)))
        for key in alteration.definition.keys
    ]
    # A constraint on the column alone goes with it.
    grammar = alteration.line.grammar
    alteration.change(
        keys=tuple(key for key in keys if key.parts),
        checks=tuple(
            check
            for check in alteration.definition.checks
            if {name.lower() for name in parse_expression(check.expression, grammar).columns()} != {action.name.lower()}
        ),
    )


def _rename(alteration: Alteration, action: actions.Rename) -> None:
    if action.kind == "column":
        _rename_column(alteration, alteration.index_of(action.old, action.offset), action.new, action.offset)
    else:
        field, index = alteration.find("key", action.old, action.offset)
        alteration.put(field, index, replace(alteration.definition.keys[index], name=action.new))


def _rename_column(alteration: Alteration, index: int, new: str, offset: int) -> None:
    """The column has another name, also in what uses it."""
    definition, slots = alteration.definition, alteration.slots
    old, grammar = slots[index].column.name, alteration.line.grammar
    if any(i != index and same_name(slot.column.name, new) for i, slot in enumerate(slots)):
        raise SqlError(f"table {alteration.state.name} has a column {new!r} already", offset)
    slots[index] = replace(slots[index], column=slots[index].column.replace(name=new))
    for place, slot in enumerate(slots):
        generated = slot.column.generated
        if generated is not None and any(same_name(name, old) for name in generated.columns()):
            expression = parse_expression(renamed_in(generated.sql, old, new), grammar)
            column = slot.column.replace(uses=frozenset(name.lower() for name in expression.columns()))
            slots[place] = replace(slot, column=replace(column, generated=expression))

    def named(name: str) -> str:
        return new if same_name(name, old) else name

    def renamed_part(part: PartDraft) -> PartDraft:
        expression = None if part.expression is None else renamed_in(part.expression, old, new)
        return replace(part, column=named(part.column), expression=expression)

    def renamed_clause(clause: PartitionClause | None) -> PartitionClause | None:
        if clause is None:
            return None
        expression, columns = renamed_in(clause.expression, old, new), tuple(map(named, clause.columns))
        return replace(clause, expression=expression, columns=columns, inner=renamed_clause(clause.inner))

    alteration.change(
        keys=tuple(replace(key, parts=tuple(map(renamed_part, key.parts))) for key in definition.keys),
        checks=tuple(replace(check, expression=renamed_in(check.expression, old, new)) for check in definition.checks),
        periods=tuple(
            replace(period, start=named(period.start), end=named(period.end)) for period in definition.periods
        ),
        partitions=renamed_clause(definition.partitions),
    )


def _enforce(alteration: Alteration, action: actions.EnforceCheck) -> None:
    field, index = alteration.find("CHECK constraint", action.name, action.offset)
    alteration.put(field, index, replace(alteration.definition.checks[index], enforced=action.enforced))


def _rename_table(alteration: Alteration, action: actions.RenameTo) -> None:
    alteration.renamed = action.table


def _set_options(alteration: Alteration, action: actions.SetOptions) -> None:
    options, definition = action.options, alteration.definition
    if options.charset.charset is not None or options.charset.collation is not None:
        chosen = options.charset.resolve(definition.collation, definition.server)
        alteration.change(collation=chosen.id)
    if options.auto_increment is not None:
        alteration.auto_increment = options.auto_increment
    alteration.change(engine=chosen_engine(options) or definition.engine)


def _convert(alteration: Alteration, action: actions.ConvertCharset) -> None:
    """Every text column in the table gets the character set, members of bytes do not (recorded)."""
    clause, server = action.charset, alteration.catalog.server
    chosen = clause.resolve(_default_collation(alteration), server).id
    alteration.change(collation=chosen)
    for index, slot in enumerate(alteration.slots):
        if slot.column.type_facts.has_charset and slot.column.type.collation != BINARY_COLLATION:
            with at_offset(clause.offset):
                column = in_charset(slot.column, chosen, server)
            if column.wire.members != slot.column.wire.members:
                # MySQL keeps the bytes of the old set in the new one, MariaDB mostly refuses the rows (recorded).
                problem = f"CONVERT TO CHARACTER SET where members of {column.name!r} get other bytes is not supported"
                raise SqlUnsupported(problem, clause.offset, expected="MODIFY with the members")
            alteration.slots[index] = replace(slot, column=column)


def _default_collation(alteration: Alteration) -> int:
    """What DEFAULT means: the database's; on MariaDB the compiled-in default of its set (recorded on 11.8: 45)."""
    line, catalog = alteration.line, alteration.catalog
    own = catalog.databases[alteration.state.table.database]
    if line.ddl.convert_default == "database":
        return own
    usual = default_collation(collation(own, catalog.server).charset, catalog.server).id
    return {chosen: compiled for compiled, chosen in line.query.character_set_collations}.get(usual, usual)


def _alter_partitions(alteration: Alteration, action: actions.AlterPartitions) -> None:
    clause = alteration.definition.partitions
    alteration.truncates |= action.kind == "truncate"
    if action.kind in ("drop", "truncate") and clause is not None:
        alteration.emptied = frozenset(partition_places(clause, action))
    alteration.change(partitions=altered_partitions(clause, action))


def _order_rows(alteration: Alteration, action: actions.OrderRows) -> None:
    for name in action.columns:
        alteration.index_of(name, action.offset)
    if alteration.state.clustering is None and len(alteration.state.rows) > 1:
        raise SqlUnsupported("ORDER BY of a table without a key is not supported yet", action.offset)


def _set_versioning(alteration: Alteration, action: actions.SetVersioning) -> None:
    alteration.change(versioned=action.versioned)


def _switch_keys(alteration: Alteration, action: actions.SwitchKeys) -> None:
    """No row shows it."""


_HANDLERS: Final[dict[type[Any], Callable[[Alteration, Any], None]]] = {
    actions.Add: _add,
    actions.AddColumn: _add_column,
    actions.AlterColumn: _alter_column,
    actions.AlterPartitions: _alter_partitions,
    actions.ChangeColumn: _change_column,
    actions.ConvertCharset: _convert,
    actions.Drop: _drop,
    actions.EnforceCheck: _enforce,
    actions.OrderRows: _order_rows,
    actions.Rename: _rename,
    actions.RenameTo: _rename_table,
    actions.SetOptions: _set_options,
    actions.SetVersioning: _set_versioning,
    actions.SwitchKeys: _switch_keys,
}
