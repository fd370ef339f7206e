"""Grammar of FOREIGN KEY and REFERENCES."""

from __future__ import annotations

from msgspec.structs import replace

from forge.sql.ast.definitions import ForeignKeyDraft, PartDraft, ReferentialAction, TableRef
from forge.sql.cursor import Cursor
from forge.sql.parse.names import table_ref

_ACTIONS = ("RESTRICT", "CASCADE", "SET NULL", "NO ACTION", "SET DEFAULT")
_NOWHERE = TableRef(None, "", 0)


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
    cursor.accept("IF", "NOT", "EXISTS")
    index = None
    if not cursor.token.is_mark("("):
        index = cursor.name("key")
    draft = ForeignKeyDraft(name, _columns(cursor), _NOWHERE, (), "restrict", "restrict", offset, index)
    return _references(cursor, draft)


def column_reference(cursor: Cursor, column: str) -> ForeignKeyDraft:
    """``REFERENCES table (column) ...`` on a column."""
    offset = cursor.token.start
    parts = (PartDraft(column, None, offset),)
    return _references(cursor, ForeignKeyDraft(None, parts, _NOWHERE, (), "restrict", "restrict", offset))


def _references(cursor: Cursor, draft: ForeignKeyDraft) -> ForeignKeyDraft:
    """The draft with what follows its columns."""
    cursor.expect("REFERENCES")
    parent = table_ref(cursor)
    # Without columns the parent's primary key is meant.
    parent_columns = tuple(part.column for part in _columns(cursor)) if cursor.token.is_mark("(") else ()
    if cursor.accept("MATCH"):
        cursor.advance()
    actions: dict[str, ReferentialAction] = {"DELETE": "restrict", "UPDATE": "restrict"}
    while cursor.accept("ON"):
        event = cursor.accept_any("DELETE", "UPDATE") or cursor.wrong("DELETE or UPDATE", ("DELETE", "UPDATE"))
        actions[event] = _action(cursor)
    return replace(
        draft,
        parent=parent,
        parent_columns=parent_columns,
        on_delete=actions["DELETE"],
        on_update=actions["UPDATE"],
    )


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
    if cursor.accept("CASCADE"):
        return "cascade"
    if cursor.accept("SET", "NULL"):
        return "set_null"
    # InnoDB knows no SET DEFAULT.
    if not any(cursor.accept(*words.split()) for words in _ACTIONS):
        cursor.wrong("an action", _ACTIONS)
    return "restrict"
