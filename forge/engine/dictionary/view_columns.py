"""Which columns of a view have a moment as their default.

MySQL reads the defaults of the columns that a view names when it is made, and a DATETIME or TIMESTAMP literal takes the
session's time zone (recorded on 9.7: a column alone, also of another view; none inside expressions, UNION and WHERE).
"""

from __future__ import annotations

import re

from forge.engine.dictionary.catalog import Catalog
from forge.sql.ast.definitions import TableRef
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlUnsupported

Name = tuple[str, str]
#: Literals and functions that ask for the time zone wherever they stand among the columns.
_NOT_FOLLOWED = "a view of this form on tables with DATETIME or TIMESTAMP defaults is not supported yet"
_ZONED = re.compile(r"\bTIMESTAMP\s*'|\bFROM_UNIXTIME\s*\(", re.IGNORECASE)
_SETS = ("UNION", "EXCEPT", "INTERSECT")
_ENDS = ("WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "WINDOW", "WITH", "FOR")
_JOINS = ("JOIN", "INNER", "LEFT", "RIGHT", "OUTER", "CROSS", "NATURAL", "STRAIGHT_JOIN")


def moments_of(catalog: Catalog, body: str, current: str, names: tuple[str, ...], offset: int) -> frozenset[str]:
    """The view's columns (lower case) that have such a default; ``names`` are those that the statement lists.

    Raises SqlUnsupported for a SELECT that names such a table in a way that is not followed.
    """
    cursor = Cursor(body.strip("() \n\t") if body.startswith("(") else body)
    words = [cursor.following(number) for number in range(cursor.left)]
    if any(word.is_word(*_SETS) for word in words):
        return frozenset()
    if not cursor.accept("SELECT") or any(word.is_word("SELECT") for word in words[1:]):
        if any(_has_moments(catalog, name) for name in _mentioned(catalog, words, current)):
            raise SqlUnsupported(_NOT_FOLLOWED, offset)
        return frozenset()
    items = _items(cursor)
    tables = _tables(cursor, current) if cursor.accept("FROM") else {}
    found: dict[str, bool] = {}
    for item in items:
        found |= _item(catalog, item, tables)
    if names:
        found = dict(zip((name.lower() for name in names), found.values(), strict=False))
    return frozenset(name for name, moment in found.items() if moment)


def _mentioned(catalog: Catalog, words: list, current: str) -> list[Name]:  # type: ignore[type-arg]
    texts = {word.text for word in words}
    return [name for name in (*catalog.tables, *catalog.view_moments) if name[1] in texts]


def _has_moments(catalog: Catalog, name: Name) -> bool:
    return any(_columns(catalog, name).values())


def _columns(catalog: Catalog, name: Name) -> dict[str, bool]:
    """Columns of a table or view, and whether they have a moment as their default."""
    state = catalog.find(name)
    if state is not None:
        return {
            column.name.lower(): column.type.name in ("DATETIME", "TIMESTAMP")
            and column.has_default
            and column.default is not None
            for column in state.table.columns
        }
    return dict.fromkeys(catalog.view_moments.get(name, ()), True)


def _items(cursor: Cursor) -> list[str]:
    """The texts of the SELECT's columns."""
    items: list[str] = []
    cursor.accept_any("DISTINCT", "ALL", "DISTINCTROW")
    start = cursor.token.start
    while True:
        if cursor.at_end() or cursor.token.is_word("FROM", *_ENDS) or cursor.token.is_mark(","):
            items.append(cursor.sql[start : cursor.previous_end].strip())
            if not cursor.accept_mark(","):
                return items
            start = cursor.token.start
        elif cursor.token.is_mark("("):
            cursor.balanced_end()
        else:
            cursor.advance()


def _tables(cursor: Cursor, current: str) -> dict[str, Name]:
    """Aliases of the tables behind FROM."""
    found: dict[str, Name] = {}
    wanted = True
    while not cursor.at_end() and not cursor.token.is_word(*_ENDS):
        if cursor.token.is_word(*_JOINS) or cursor.token.is_mark(","):
            cursor.advance()
            wanted = True
        elif cursor.token.is_mark("("):
            cursor.balanced_end()
            wanted = False
        elif wanted and cursor.token.kind in ("word", "name"):
            ref = _ref(cursor)
            alias = ref.name
            cursor.accept("AS")
            if cursor.token.kind in ("word", "name") and not cursor.token.is_word("ON", "USING", *_JOINS, *_ENDS):
                alias = cursor.advance().text
            found[alias.lower()] = (ref.database or current, ref.name)
            wanted = False
        else:
            cursor.advance()
    return found


def _ref(cursor: Cursor) -> TableRef:
    first = cursor.advance().text
    if cursor.accept_mark("."):
        return TableRef(first, cursor.advance().text, 0)
    return TableRef(None, first, 0)


_COLUMN = re.compile(
    r"(?:(?P<table>`(?:[^`]|``)+`|[\w$]+)\s*\.\s*)?(?P<column>\*|`(?:[^`]|``)+`|[\w$]+)"
    r"(?:\s+(?:AS\s+)?(?P<alias>`(?:[^`]|``)+`|[\w$]+))?",
    re.IGNORECASE,
)


def _item(catalog: Catalog, item: str, tables: dict[str, Name]) -> dict[str, bool]:
    match = _COLUMN.fullmatch(item)
    if match is None:
        return {item.lower(): _ZONED.search(item) is not None}
    chosen = [
        name for alias, name in tables.items() if match["table"] is None or alias == _bare(match["table"]).lower()
    ]
    known = [_columns(catalog, name) for name in chosen]
    column = _bare(match["column"]).lower()
    if column == "*":
        return {name: moment for columns in known for name, moment in columns.items()}
    return {_bare(match["alias"] or column).lower(): any(columns.get(column, False) for columns in known)}


def _bare(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
