"""How a server makes an ALTER TABLE: by metadata alone, in place with the data, or by copying the table.

It shows in the log: changing the data evaluates CURRENT_TIMESTAMP defaults, copying converts moments
(docs/servers/data-definition.md, 800 combinations measured on MySQL 9.7).  The action that needs most decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from forge.engine.ddl.alter_copy import Kept, needs_copy
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.table_state import TableState
from forge.plan.definitions import AlterMethod, TableAlteration
from forge.plan.engines import is_defined_atomically
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
    ConvertCharset,
    DropColumn,
    DropKey,
    EnforceCheck,
    OrderRows,
    RenameColumn,
    RenameKey,
    RenameTo,
    SetOptions,
    SwitchKeys,
)
from forge.sql.ast.definitions import CharsetClause, ExpressionDefault, TableOptions

_ORDER: tuple[AlterMethod, ...] = ("rename", "metadata", "in_place", "copy")


def alter_method(
    actions: Sequence[Action], before: TableState, after: TableState, kept: Kept, algorithm: str = ""
) -> AlterMethod:
    """The method for these actions together; ``algorithm`` is what the statement asks for."""
    if keeps_keys(actions, before, after):
        return "metadata"
    if not actions:
        return "metadata"
    if all(isinstance(action, (RenameTo, SwitchKeys)) for action in actions):
        return "rename"
    first = actions[0]
    if isinstance(first, AlterPartitions) and first.is_of_parts:
        return _of_parts(first)
    copied = any(
        (isinstance(action, AddCheck) and action.check.enforced)
        or (isinstance(action, EnforceCheck) and action.enforced)
        or isinstance(action, (AlterPartitions, AlterTimes, OrderRows, SwitchKeys))
        or (isinstance(action, AddColumn) and isinstance(action.column.default, ExpressionDefault))
        or (isinstance(action, AddColumn | ChangeColumn) and any(check.enforced for check in action.column.checks))
        for action in actions
    )
    if copied or needs_copy(before, after, kept) or _moves_hidden_columns(actions, before, after):
        return "copy"
    method: AlterMethod = max((_method(action, before, after) for action in actions), key=_ORDER.index)
    if not (is_defined_atomically(before.table) and is_defined_atomically(after.table)):
        # Other engines change nothing but metadata without a copy.
        remade = any(isinstance(action, (AddColumn, DropColumn, AddKey, DropKey)) for action in actions)
        return "copy" if remade or method == "in_place" else method
    return _innodb_method(actions, before, after, kept, method, algorithm)


def _innodb_method(
    actions: Sequence[Action],
    before: TableState,
    after: TableState,
    kept: Kept,
    method: AlterMethod,
    algorithm: str,
) -> AlterMethod:
    """The method where the clauses by themselves are done by ``method`` (180 statements with tables of three kinds
    measured on MySQL 9.7; docs/servers/data-definition.md).

    Columns come and go instantly only by themselves, and where the table has records.  Where the data has to be
    changed, it is copied if virtual columns come or go too, or the table has a FULLTEXT key.
    """
    come = {action.column.generated == "virtual" for action in actions if isinstance(action, AddColumn)}
    gone = {_is_virtual(before, action.name) for action in actions if isinstance(action, DropColumn)}
    goes_along = all(_goes_with_columns(action, before, after) for action in actions)
    # Where a number comes too, the table is made in place.
    numbered = any(isinstance(action, AddColumn) and action.column.auto_increment for action in actions)
    copies = _has_fulltext(before) and not numbered
    if False in come | gone:
        replaces_virtual = True in gone and False not in gone
        has_records = bool(before.rows) or algorithm == "instant"
        is_instant = goes_along and algorithm != "inplace" and has_records
        if is_instant and not (replaces_virtual or copies or _is_compressed(before)):
            return "metadata"
        return "copy" if True in come | gone or copies else "in_place"
    if _moves_virtual(after, kept):
        return "copy"
    if come | gone:
        if any(map(_renames_column, actions)):
            return "copy"
        of_keys = all(_goes_with_virtual_columns(action, before) for action in actions)
        return method if goes_along or of_keys else "copy"
    return "copy" if copies and any(_changes_data(action, before, after) for action in actions) else method


def _goes_with_columns(action: Action, before: TableState, after: TableState) -> bool:
    """Whether columns come and go instantly beside the clause."""
    if isinstance(action, ChangeColumn):
        old, new = _column(before, action.old), _column(after, action.column.name)
        is_same = old is None or new is None or (old.type, old.column.nullable) == (new.type, new.column.nullable)
        return is_same and not action.column.keys
    if isinstance(action, AddColumn | DropColumn):
        return _method(action, before, after) == "metadata"
    return isinstance(action, AlterColumn | RenameColumn | RenameTo)


def _goes_with_virtual_columns(action: Action, before: TableState) -> bool:
    """Whether virtual columns come and go beside the clause while keys do."""
    if isinstance(action, AddKey):
        return action.key.kind == "index" and (action.key.special != "FULLTEXT" or _has_fulltext(before))
    if isinstance(action, DropKey):
        names = {key.name.lower() for key in before.table.keys if key.kind == "index"}
        return action.name is not None and action.name.lower() in names
    return isinstance(action, AddColumn | DropColumn) and not (isinstance(action, AddColumn) and action.column.keys)


def _changes_data(action: Action, before: TableState, after: TableState) -> bool:
    """Whether the records change where the clause is done in place: it does not only add keys to them."""
    if isinstance(action, AddKey):
        return action.key.kind == "primary" or _becomes_clustering(before, after)
    if isinstance(action, ChangeColumn) and set(action.column.keys) == {"unique"}:
        return _moves_or_nulls(action, before, after) or _becomes_clustering(before, after)
    return _method(action, before, after) == "in_place" and not isinstance(action, AddForeignKey)


def _becomes_clustering(before: TableState, after: TableState) -> bool:
    """Whether a unique key becomes the one that the records are in."""
    return before.clustering is None and after.clustering is not None


def _has_fulltext(state: TableState) -> bool:
    return any(key.special == "FULLTEXT" for key in state.definition.keys)


def _renames_column(action: Action) -> bool:
    if isinstance(action, ChangeColumn):
        return action.old.lower() != action.column.name.lower()
    return isinstance(action, RenameColumn)


def _is_compressed(state: TableState) -> bool:
    options = dict(state.definition.options)
    return options.get("KEY_BLOCK_SIZE", "0") != "0" or options.get("ROW_FORMAT", "").upper() == "COMPRESSED"


def _moves_virtual(after: TableState, kept: Kept) -> bool:
    """Whether virtual columns that stay change places among themselves, or others come ahead of them."""
    sources = {new.name.lower(): source for source, _, new in kept}
    places = [sources.get(column.name.lower()) for column in after.columns if column.column.generated == "virtual"]
    come_last = places[: len(places) - places.count(None)]
    return None in come_last or come_last != sorted(place for place in places if place is not None)


def has_two_phases(statement: TableAlteration) -> bool:
    """Whether MariaDB logs START ALTER of it (recorded on 10.11 and 11.8): not where only names or partitions change,
    nor of temporary tables.
    """
    change = statement.change
    return change is not None and change.method != "rename" and not (change.manages_partitions or statement.temporary)


def _of_parts(action: AlterPartitions) -> AlterMethod:
    """The method of what is done to single partitions (recorded on 9.7, 10.11 and 11.8)."""
    if action.kind in ("truncate", "analyze", "check", "repair"):
        return "rename"
    return "in_place" if action.kind == "optimize" else "metadata"


def keeps_keys(actions: Sequence[Action], before: TableState, after: TableState) -> bool:
    """Whether the statement drops and adds keys, and the table has those in the end that it had before."""
    if not actions or not all(isinstance(action, (AddKey, DropKey)) for action in actions):
        return False
    return set(before.table.keys) == set(after.table.keys)


def _moves_hidden_columns(actions: Sequence[Action], before: TableState, after: TableState) -> bool:
    """Whether hidden columns of keys on expressions make a copy necessary.

    Recorded on MySQL 9.7: such a key comes in place by itself, or with ordinary keys that come or go, if it is not
    UNIQUE and its hidden column is the last one; these columns stand in the order of the keys' names, after the
    table's own.
    """
    renamed = {action.old.lower(): action.new.lower() for action in actions if isinstance(action, RenameKey)}
    old = {renamed.get(name, name): unique for name, unique in _expression_keys(before).items()}
    new = _expression_keys(after)
    added, gone = new.keys() - old.keys(), old.keys() - new.keys()
    if added:
        keys_only = all(
            isinstance(action, DropKey) or (isinstance(action, AddKey) and action.key.kind == "index")
            for action in actions
        )
        return bool(gone) or not keys_only or any(name < other for name in added for other in old)
    columns = [action.column for action in actions if isinstance(action, AddColumn)]
    if gone:
        return bool(columns) or any(old[name] for name in gone)
    return bool(old) and any(column.generated == "virtual" for column in columns)


def _expression_keys(state: TableState) -> dict[str, bool]:
    """Names of the keys on expressions, and whether they are UNIQUE."""
    return {
        key.name.lower(): key.kind == "unique"
        for key in state.table.keys
        if any(part.expression is not None for part in key.parts)
    }


def _method(action: Action, before: TableState, after: TableState) -> AlterMethod:
    if isinstance(action, AddColumn):
        return "in_place" if action.column.auto_increment or action.column.keys else "metadata"
    if isinstance(action, DropColumn):
        is_virtual = _is_virtual(before, action.name)
        return "in_place" if _is_indexed(before, action.name) and not is_virtual else "metadata"
    if isinstance(action, AddKey) or (isinstance(action, DropKey) and action.name is None):
        return "in_place"
    if isinstance(action, AddForeignKey):
        names = {key.name.lower() for key in before.table.keys}
        return "metadata" if all(key.name.lower() in names for key in after.table.keys) else "in_place"
    if isinstance(action, ChangeColumn):
        changes = bool(action.column.keys) or _moves_or_nulls(action, before, after)
        return "in_place" if changes else "metadata"
    if isinstance(action, ConvertCharset):
        return "metadata" if is_defined_atomically(before.table) else "in_place"
    return "in_place" if isinstance(action, SetOptions) and _remakes(action.options, before, after) else "metadata"


def _remakes(options: TableOptions, before: TableState, after: TableState) -> bool:
    """Whether options make the table anew.  Those of MEMORY and MyISAM are others than InnoDB's, some if they change
    (recorded on 9.7).
    """
    if is_defined_atomically(before.table) and is_defined_atomically(after.table):
        return options.rebuild
    set_now, old = dict(options.idle), dict(before.definition.options)
    if options.engine is not None or (options.rebuild and not set_now) or options.charset != CharsetClause():
        return True
    number, is_myisam = options.auto_increment, before.table.engine == "MyISAM"
    if number is not None and not (is_myisam and number == before.next_auto_increment):
        return True
    changing = {"ROW_FORMAT": "DEFAULT"} | ({"CHECKSUM": "0", "DELAY_KEY_WRITE": "0"} if is_myisam else {})
    changed = (
        name in set_now and set_now[name].upper() != old.get(name, untouched).upper()
        for name, untouched in changing.items()
    )
    return "MAX_ROWS" in set_now or "PACK_KEYS" in set_now or any(changed)


def _moves_or_nulls(action: ChangeColumn, before: TableState, after: TableState) -> bool:
    old, new = _column(before, action.old), _column(after, action.column.name)
    if old is None or new is None:
        return False
    moved = action.place is not None and new.column.generated != "virtual"
    return moved or old.column.nullable != new.column.nullable


def _column(state: TableState, name: str) -> ColumnDefinition | None:
    return next((column for column in state.columns if column.name.lower() == name.lower()), None)


def _is_virtual(state: TableState, name: str) -> bool:
    column = _column(state, name)
    return column is not None and column.column.generated == "virtual"


def _is_indexed(state: TableState, name: str) -> bool:
    places = {index for index, column in enumerate(state.columns) if column.name.lower() == name.lower()}
    return any(part.column in places for key in state.table.keys for part in key.parts)
