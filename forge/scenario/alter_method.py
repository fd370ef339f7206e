"""How a server makes an ALTER TABLE: by metadata alone, in place with the data, or by copying the table.

It shows in the log: changing the data evaluates CURRENT_TIMESTAMP defaults, copying converts moments
(docs/servers.md, 260 combinations measured on MySQL 9.7).  The action that needs most decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from forge.compile.model import AlterMethod
from forge.scenario.definition import ColumnDefinition
from forge.scenario.state import TableState
from forge.scenario.syntax import (
    Action,
    AddColumn,
    AddKey,
    ChangeColumn,
    DropColumn,
    DropKey,
    RenameColumn,
    RenameTo,
)
from forge.values.sqltype import SqlType

_ORDER: tuple[AlterMethod, ...] = ("rename", "metadata", "in_place", "copy")
_SHORT = 255


def alter_method(actions: Sequence[Action], before: TableState, after: TableState) -> AlterMethod:
    """The method for these actions together."""
    if all(isinstance(action, RenameTo) for action in actions):
        return "rename"
    method: AlterMethod = max((_method(action, actions, before, after) for action in actions), key=_ORDER.index)
    columns = any(isinstance(action, (AddColumn, DropColumn)) for action in actions)
    others = any(not isinstance(action, (AddColumn, DropColumn, RenameColumn, RenameTo)) for action in actions)
    # Columns come and go instantly only by themselves, and only where the table has records.
    if columns and method == "metadata" and (others or not before.rows):
        return "in_place"
    return method


def copies_moments(after: TableState) -> bool:
    """Whether copying the table's rows converts a moment: some row has one."""
    places = [index for index, column in enumerate(after.columns) if column.type.name in ("DATETIME", "TIMESTAMP")]
    return any(row[place] is not None for row in after.rows.values() for place in places)


def _method(action: Action, actions: Sequence[Action], before: TableState, after: TableState) -> AlterMethod:
    if isinstance(action, AddColumn):
        draft = action.column
        if draft.generated == "stored":
            return "copy"
        return "in_place" if draft.auto_increment or draft.keys else "metadata"
    if isinstance(action, DropColumn):
        return "in_place" if _is_indexed(before, action.name) else "metadata"
    if isinstance(action, AddKey):
        return "in_place"
    if isinstance(action, DropKey) and action.name is None:
        replaced = any(isinstance(other, AddKey) and other.key.kind == "primary" for other in actions)
        return "in_place" if replaced else "copy"
    if isinstance(action, ChangeColumn):
        return _change(action, before, after)
    return "metadata"


def _change(action: ChangeColumn, before: TableState, after: TableState) -> AlterMethod:
    old = _column(before, action.old)
    new = _column(after, action.column.name)
    if old is None or new is None:
        return "metadata"
    if not _same_cells(old.type, new.type):
        return "copy"
    moved = action.place is not None
    return "in_place" if moved or old.column.nullable != new.column.nullable else "metadata"


def _same_cells(old: SqlType, new: SqlType) -> bool:
    """Whether every cell of the old type is a cell of the new one as it stands."""
    if old == new:
        return True
    if old.name != new.name or old.collation != new.collation:
        return False
    if old.name in ("ENUM", "SET"):
        width = (len(old.members) > _SHORT) == (len(new.members) > _SHORT)
        return new.members[: len(old.members)] == old.members and (old.name == "SET" or width)
    if old.name in ("VARCHAR", "VARBINARY"):
        longer = (new.length or 0) >= (old.length or 0)
        return longer and (_octets(old) > _SHORT) == (_octets(new) > _SHORT)
    return False


def _octets(sql_type: SqlType) -> int:
    from forge.charsets import charset, collation

    width = 1 if sql_type.collation is None else charset(collation(sql_type.collation).charset).max_length
    return (sql_type.length or 0) * width


def _column(state: TableState, name: str) -> ColumnDefinition | None:
    return next((column for column in state.columns if column.name.lower() == name.lower()), None)


def _is_indexed(state: TableState, name: str) -> bool:
    places = {index for index, column in enumerate(state.columns) if column.name.lower() == name.lower()}
    return any(part.column in places for key in state.table.keys for part in key.parts)
