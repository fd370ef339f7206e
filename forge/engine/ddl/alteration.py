"""ALTER TABLE: from one definition to the next."""

from __future__ import annotations

from dataclasses import dataclass, replace

from forge.charsets import collation, default_collation
from forge.engine.ddl.alter_rows import altered_table
from forge.engine.ddl.alter_targets import is_on, is_there, refuse_dependents, refuse_foreign_keys, same_name
from forge.engine.dictionary.catalog import Catalog
from forge.engine.dictionary.definition import (
    ColumnDefinition,
    Definition,
    define_column,
    in_charset,
    with_default,
    without_default,
)
from forge.engine.dictionary.foreign_key_definition import (
    check_keys_of,
    checked_again,
    declared_references,
    renamed_constraints,
    with_foreign_keys,
)
from forge.engine.dictionary.partitions import altered_partitions, partition_places
from forge.engine.rows.defaults import StatementTime
from forge.engine.rows.state import TableState
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
)
from forge.sql.ast.definitions import (
    CharsetClause,
    CheckDraft,
    ColumnDraft,
    ForeignKeyDraft,
    KeyDraft,
    Place,
    TableOptions,
    TableRef,
)
from forge.sql.errors import SqlError, SqlUnsupported


@dataclass(frozen=True, slots=True)
class _Slot:
    """A column of the new definition and the index of the old column that it was; None for a new one.

    ``touched``: an action has named it already.
    """

    column: ColumnDefinition
    source: int | None
    touched: bool = False


class Alteration:
    """Actions of one ALTER TABLE on their way to a new state of the table."""

    def __init__(self, state: TableState, server: str, database_collation: int, *, zero_dates: bool = False) -> None:
        self.state = state
        self.server = server
        self.zero_dates = zero_dates
        self.keys: list[KeyDraft] = list(named_keys(state))
        #: Columns to put into the list once all others are what they will be, in the order of the statement.
        self.placed: list[tuple[_Slot, Place | None]] = []
        #: Keys to add: they speak of columns by the names that they have in the end.
        self.new_keys: list[KeyDraft] = []
        self.database_collation = database_collation
        self.partitions = state.definition.partitions
        #: Places of partitions that are dropped with their rows.
        self.emptied: frozenset[int] = frozenset()
        #: The foreign keys that stay, with the old places of their columns, and those that come.
        self.foreign_keys = list(state.definition.foreign_keys)
        self.new_foreign_keys: list[ForeignKeyDraft] = []
        self.truncates = self.reorganizes = False
        self.checks = list(state.definition.checks)
        self.new_checks: list[CheckDraft] = []
        self.collation = state.definition.collation
        self.engine = state.definition.engine
        self.slots = [_Slot(column, index) for index, column in enumerate(state.columns)]
        self.auto_increment: int | None = None
        #: Names of the columns that the statement defines.
        self.defined: list[str] = []
        self.renamed: TableRef | None = None
        #: What the statement does, and what IF [NOT] EXISTS kept it from.
        self.applied: list[Action] = []
        self.skipped: list[Action] = []

    def apply(self, action: Action) -> None:
        """Take one action.  Raises SqlError where a server would refuse it."""
        if isinstance(action, Conditional):
            if is_there(self, action.action) == action.exists:
                self.apply(action.action)
            else:
                self.skipped.append(action.action)
            return
        self.applied.append(action)
        if isinstance(action, AddColumn):
            self._add(action.column, action.place)
        elif isinstance(action, ChangeColumn):
            self._change(action)
        elif isinstance(action, RenameColumn):
            self._rename(self._old_index(action.old, action.offset), action.new, action.offset)
        elif isinstance(action, DropColumn):
            self._drop(action)
        elif isinstance(action, AlterColumn):
            self._alter_column(action)
        elif isinstance(action, AddKey):
            self.new_keys.append(action.key)
        elif isinstance(action, DropKey):
            del self.keys[self._key_index(action.name, action.offset)]
        elif isinstance(action, RenameKey):
            index = self._key_index(action.old, action.offset)
            self.keys[index] = replace(self.keys[index], name=action.new)
        elif isinstance(action, RenameTo):
            self.renamed = action.table
        elif isinstance(action, ConvertCharset):
            self._convert(action.charset)
        elif isinstance(action, AlterPartitions):
            self._partition(action)
        elif isinstance(action, AddCheck):
            self.new_checks.append(action.check)
        elif isinstance(action, EnforceCheck):
            index = self._check_index(action.name, action.offset)
            self.checks[index] = replace(self.checks[index], enforced=action.enforced)
        elif isinstance(action, OrderRows):
            self._order(action)
        elif isinstance(action, AddForeignKey):
            self.new_foreign_keys.append(action.key)
        elif isinstance(action, DropForeignKey):
            del self.foreign_keys[self._foreign_key_index(action.name, action.offset)]
        elif isinstance(action, DropCheck):
            self._drop_constraint(action)
        elif isinstance(action, SetOptions):
            self._options(action.options)

    def finish(
        self, name: tuple[str, str], version: int, time: StatementTime, catalog: Catalog, current: str
    ) -> TableState:
        """The table after the statement, with its rows converted.  Raises SqlError and ScenarioError."""
        self._put_columns()
        if not self.slots:
            raise SqlError("no column is left", 0, expected="at least one; DROP TABLE removes a table")
        for key in self.new_keys:
            if key.kind == "primary" and any(other.kind == "primary" for other in self.keys):
                raise SqlError(f"table {self.state.name} has a primary key already", key.offset, expected="one")
        columns = tuple(slot.column for slot in self.slots)
        keys = (*self.keys, *self.new_keys)
        checks = tuple(self.checks)
        definition = Definition(*name, columns, keys, self.collation, self.server, checks, self.engine)
        definition = replace(definition, partitions=self.partitions, temporary=self.state.definition.temporary)
        definition = definition.with_not_null_keys().with_checks(self.new_checks)
        definition = self._with_foreign_keys(definition, catalog, current)
        return altered_table(self, definition, version, time)

    def kept(self, altered: TableState) -> list[tuple[int, ColumnDefinition, ColumnDefinition]]:
        """(old index, old column, new column) of the columns that were there before."""
        return [
            (slot.source, self.state.columns[slot.source], column)
            for slot, column in zip(self.slots, altered.columns, strict=True)
            if slot.source is not None
        ]

    def renamed_columns(self) -> dict[str, str]:
        """Columns that have another name afterwards: the old name, in lower case, to the new one."""
        old = self.state.columns
        return {old[slot.source].name.lower(): slot.column.name for slot in self.slots if slot.source is not None}

    def _convert(self, clause: CharsetClause) -> None:
        """Every text column in the table gets the character set."""
        self.collation = clause.resolve(self._default_collation(), self.server).id
        for index, slot in enumerate(self.slots):
            if slot.column.type_facts.has_charset:
                if slot.column.holds_json:
                    raise SqlUnsupported(
                        "CONVERT TO CHARACTER SET of a JSON column is not supported yet", clause.offset
                    )
                column = in_charset(slot.column, self.collation, self.server)
                self.slots[index] = replace(slot, column=column)

    def _default_collation(self) -> int:
        """What DEFAULT means: the database's; on MariaDB the compiled-in default of its set (recorded on 11.8: 45)."""
        line = server_line(self.server)
        if line.ddl.convert_default == "database":
            return self.database_collation
        usual = default_collation(collation(self.database_collation, self.server).charset, self.server).id
        return {chosen: compiled for compiled, chosen in line.query.character_set_collations}.get(usual, usual)

    def _order(self, action: OrderRows) -> None:
        for name in action.columns:
            self._index(name, action.offset)
        if self.state.clustering is None and len(self.state.rows) > 1:
            raise SqlUnsupported("ORDER BY of a table without a key is not supported yet", action.offset)

    def _partition(self, action: AlterPartitions) -> None:
        self.truncates |= action.kind == "truncate"
        by_hash = self.partitions is not None and self.partitions.kind in ("hash", "key")
        self.reorganizes |= action.kind == "reorganize" or (by_hash and action.kind in ("add", "coalesce"))
        if action.kind in ("drop", "truncate") and self.partitions is not None:
            self.emptied = frozenset(partition_places(self.partitions, action))
        self.partitions = altered_partitions(self.partitions, action)

    def _with_foreign_keys(self, definition: Definition, catalog: Catalog, current: str) -> Definition:
        """The definition with the foreign keys that stay, and those that come."""
        places = {slot.source: place for place, slot in enumerate(self.slots)}
        own, old = (definition.database, definition.name), (self.state.table.database, self.state.table.name)
        kept = []
        for foreign in self.foreign_keys:
            foreign = replace(foreign, columns=tuple(places[index] for index in foreign.columns))
            if foreign.parent == old:
                names = self.renamed_columns()
                columns = tuple(names.get(name.lower(), name) for name in foreign.parent_columns)
                foreign = replace(foreign, parent=own, parent_columns=columns)
            kept.append(foreign)
        definition = renamed_constraints(replace(definition, foreign_keys=tuple(kept)), old[1])
        # The names are those of the old definition, whatever its foreign keys that go in the same statement.
        for draft in self.new_foreign_keys:
            if draft.name is not None and any(same_name(one.name, draft.name) for one in self.state.table.foreign_keys):
                raise SqlError(f"foreign key {draft.name!r} is there already", draft.offset)
        definition = with_foreign_keys(definition, self.new_foreign_keys, catalog, current)
        check_keys_of(definition)
        return checked_again(definition, catalog)

    def _foreign_key_index(self, name: str, offset: int) -> int:
        for index, foreign in enumerate(self.foreign_keys):
            if same_name(foreign.name, name):
                return index
        known = ", ".join(foreign.name for foreign in self.foreign_keys)
        raise SqlError(f"table {self.state.name} has no foreign key {name!r}", offset, expected=known or None)

    def _drop_constraint(self, action: DropCheck) -> None:
        """DROP CONSTRAINT is for constraints of all kinds."""
        if any(same_name(foreign.name, action.name) for foreign in self.foreign_keys):
            del self.foreign_keys[self._foreign_key_index(action.name, action.offset)]
            return
        for index, key in enumerate(self.keys):
            if same_name(key.name, action.name) and key.kind == "unique":
                del self.keys[index]
                return
        del self.checks[self._check_index(action.name, action.offset)]

    def _check_index(self, name: str, offset: int) -> int:
        for index, check in enumerate(self.checks):
            if same_name(check.name, name):
                return index
        raise SqlError(f"table {self.state.name} has no CHECK constraint {name!r}", offset)

    def _index(self, name: str, offset: int) -> int:
        columns = tuple(slot.column for slot in self.slots)
        return replace(self.state.definition, columns=columns).index_of(name, offset)

    def _old_index(self, name: str, offset: int) -> int:
        """Place of a column that the statement finds: one that is new, or changed by it already, does not count."""
        index = self._index(name, offset)
        slot = self.slots[index]
        if slot.source is None or slot.touched:
            raise SqlError(f"column {name!r} is changed twice", offset, expected="one action for a column")
        self.slots[index] = replace(slot, touched=True)
        return index

    def _key_index(self, name: str | None, offset: int) -> int:
        for index, key in enumerate(self.keys):
            if (name is None and key.kind == "primary") or (name is not None and same_name(key.name, name)):
                return index
        shown = "primary key" if name is None else f"key {name!r}"
        known = [key.name for key in self.keys if key.name]
        expected = f"one of {', '.join(known)}" if known and name is not None else None
        raise SqlError(f"table {self.state.name} has no {shown}", offset, expected=expected)

    def _add(self, draft: ColumnDraft, place: Place | None) -> None:
        slots = (*self.slots, *(slot for slot, _ in self.placed))
        if any(slot.column.name.lower() == draft.name.lower() for slot in slots):
            raise SqlError(f"table {self.state.name} has a column {draft.name!r} already", draft.offset)
        self.placed.append(
            (_Slot(define_column(draft, self.collation, self.server, zero_dates=self.zero_dates), None), place)
        )
        self._own_keys(draft)
        self.defined.append(draft.name)

    def _own_keys(self, draft: ColumnDraft) -> None:
        self.new_keys += draft.own_keys()
        self.new_checks += draft.checks
        self.new_foreign_keys += declared_references([draft], server_line(self.server))

    def _put_columns(self) -> None:
        """FIRST and AFTER find the columns by the names that they have in the end (mysql_prepare_alter_table)."""
        for slot, place in self.placed:
            if place is None:
                self.slots.append(slot)
            else:
                at = self._first() if place.after is None else self._index(place.after, place.offset) + 1
                self.slots.insert(at, slot)

    def _first(self) -> int:
        """FIRST is behind a generated invisible primary key (recorded, whatever the session's setting)."""
        slot = self.slots[0] if self.slots else None
        return int(self.state.table.has_generated_key and slot is not None and slot.source == 0)

    def _change(self, action: ChangeColumn) -> None:
        index = self._old_index(action.old, action.offset)
        draft = action.column
        if draft.name.lower() != action.old.lower():
            self._rename(index, draft.name, draft.offset)
        column = define_column(draft, self.collation, self.server, zero_dates=self.zero_dates)
        self.slots[index] = replace(self.slots[index], column=column)
        self._own_keys(draft)
        self.defined.append(draft.name)
        if action.place is not None:
            self.placed.append((self.slots.pop(index), action.place))

    def _rename(self, index: int, new: str, offset: int) -> None:
        old = self.slots[index].column.name
        if any(i != index and slot.column.name.lower() == new.lower() for i, slot in enumerate(self.slots)):
            raise SqlError(f"table {self.state.name} has a column {new!r} already", offset)
        refuse_dependents(self, old, offset)
        self.slots[index] = replace(self.slots[index], column=self.slots[index].column.replace(name=new))
        for place, key in enumerate(self.keys):
            parts = tuple(replace(part, column=new) if same_name(part.column, old) else part for part in key.parts)
            self.keys[place] = replace(key, parts=parts)

    def _drop(self, action: DropColumn) -> None:
        index = self._old_index(action.name, action.offset)
        # A constraint on the column alone goes with it.
        self.checks = [check for check in self.checks if not is_on(self, check, action.name)]
        refuse_dependents(self, action.name, action.offset)
        refuse_foreign_keys(self, index, action.offset)
        del self.slots[index]
        kept: list[KeyDraft] = []
        for key in self.keys:
            parts = tuple(part for part in key.parts if not same_name(part.column, action.name))
            if parts:
                kept.append(replace(key, parts=parts))
        self.keys = kept

    def _alter_column(self, action: AlterColumn) -> None:
        index = self._index(action.name, action.offset)
        column = self.slots[index].column
        if action.visible is not None:
            column = column.replace(visible=action.visible)
        elif action.default is not None:
            column = with_default(column, action.default, zero_dates=self.zero_dates)
        else:
            column = without_default(column)
            if column.column.nullable:
                # sql/sql_table.cc: the column then has no default at all, not even NULL.
                raise SqlUnsupported("DROP DEFAULT of a column that takes NULL is not supported yet", action.offset)
        self.slots[index] = replace(self.slots[index], column=column)

    def _options(self, options: TableOptions) -> None:
        if options.charset.charset is not None or options.charset.collation is not None:
            self.collation = options.charset.resolve(self.collation, self.server).id
        if options.auto_increment is not None:
            self.auto_increment = options.auto_increment
        self.engine = options.engine or self.engine


def named_keys(state: TableState) -> list[KeyDraft]:
    """The keys with the names that the server gave them."""
    return [
        replace(draft, name=None if key.kind == "primary" else key.name)
        for draft, key in zip(state.definition.keys, state.table.keys, strict=True)
    ]
