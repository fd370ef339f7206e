"""Grammar of FOREIGN KEY in CREATE TABLE, and of table names."""

from __future__ import annotations

from forge.compile.tables import ReferentialAction
from forge.scenario.syntax import ForeignKeyDraft, PartDraft, TableRef
from forge.scenario.tokens import Cursor, SqlError

_ACTIONS = ("RESTRICT", "CASCADE", "SET NULL", "NO ACTION")


def table_ref(cursor: Cursor) -> TableRef:
    """``database.table`` or ``table``.  Raises SqlError."""
    offset = cursor.token.start
    first = cursor.name("table")
    if cursor.accept_mark("."):
        return TableRef(first, cursor.name("table"), offset)
    return TableRef(None, first, offset)


def is_foreign_key(cursor: Cursor) -> bool:
    """Whether ``[CONSTRAINT [name]] FOREIGN KEY`` comes next."""
    ahead = [cursor.following(number) for number in range(3)]
    if ahead[0].is_word("CONSTRAINT"):
        ahead = ahead[1:] if ahead[1].is_word("FOREIGN") else ahead[2:]
    return ahead[0].is_word("FOREIGN")


def foreign_key(cursor: Cursor) -> ForeignKeyDraft:
    """``FOREIGN KEY [index] (columns) REFERENCES table (columns) [MATCH ...] [ON DELETE ...] [ON UPDATE ...]``."""
    offset = cursor.token.start
    name = None
    if cursor.accept("CONSTRAINT") and not cursor.token.is_word("FOREIGN"):
        name = cursor.name("constraint")
    cursor.expect("FOREIGN")
    cursor.expect("KEY")
    if not cursor.token.is_mark("("):
        cursor.name("key")
    columns = _columns(cursor)
    cursor.expect("REFERENCES")
    parent = table_ref(cursor)
    parent_columns = tuple(part.column for part in _columns(cursor))
    if len(parent_columns) != len(columns):
        raise SqlError(f"{len(columns)} columns refer to {len(parent_columns)}", offset, expected="as many")
    if cursor.accept("MATCH"):
        cursor.advance()
    actions: dict[str, ReferentialAction] = {"DELETE": "restrict", "UPDATE": "restrict"}
    while cursor.accept("ON"):
        event = cursor.accept_any("DELETE", "UPDATE") or cursor.wrong("DELETE or UPDATE", ("DELETE", "UPDATE"))
        actions[event] = _action(cursor)
    return ForeignKeyDraft(name, columns, parent, parent_columns, actions["DELETE"], actions["UPDATE"], offset)


def _columns(cursor: Cursor) -> tuple[PartDraft, ...]:
    cursor.expect_mark("(")
    parts = []
    while True:
        offset = cursor.token.start
        parts.append(PartDraft(cursor.name("column"), None, offset))
        if not cursor.accept_mark(","):
            break
    cursor.expect_mark(")")
    return tuple(parts)


def _action(cursor: Cursor) -> ReferentialAction:
    offset = cursor.token.start
    if cursor.accept("CASCADE"):
        return "cascade"
    if cursor.accept("SET", "NULL"):
        return "set_null"
    if cursor.accept("SET", "DEFAULT"):
        raise SqlError("InnoDB refuses SET DEFAULT", offset, expected=f"one of {', '.join(_ACTIONS)}")
    if not cursor.accept("RESTRICT") and not cursor.accept("NO", "ACTION"):
        cursor.wrong("an action", _ACTIONS)
    return "restrict"
