"""The collation by which a key on an expression compares."""

from __future__ import annotations

from collections.abc import Mapping

from forge.charsets import collation
from forge.sql.ast.expressions import Call, Cast, ColumnName, Literal, Node
from forge.values.declaration.sqltype import SqlType

UTF8MB4_BIN = 46
#: Functions whose text has the collation of their arguments.
KEEPS_COLLATION = (
    "COALESCE", "CONCAT", "CONCAT_WS", "IFNULL", "LCASE", "LEFT", "LOWER", "REVERSE", "RIGHT", "SUBSTRING", "TRIM",
    "UCASE", "UPPER", "LPAD", "RPAD", "REPEAT", "REPLACE", "NULLIF", "GREATEST", "LEAST", "ELT", "INSERT", "LTRIM",
    "RTRIM", "SUBSTRING_INDEX", "MAX", "MIN", "GROUP_CONCAT",
)  # fmt: skip


def text_collation(node: Node, columns: Mapping[str, SqlType], connection: int, server: str) -> int | None:
    """The collation of a node's text; None for other values.

    ``columns`` are the types by lower-case name, ``connection`` is the collation of literals and of casts to text.
    """
    match node:
        case ColumnName():
            return columns[node.name.lower()].collation
        case Literal(value=str(), form=""):
            return connection
        case Cast(type=target):
            # Elements of arrays compare by their bytes (recorded: 'abc' beside 'ABC', 'ab' beside 'ab ').
            return connection if target.name in ("CHAR", "NCHAR") and not target.is_array else None
        case Call(name="COLLATE", arguments=(_, Literal(value=str() as name))):
            return collation(name, server).id
        case Call(name="JSON_VALUE" | "->>" | "JSON_UNQUOTE"):
            return UTF8MB4_BIN
        case Call(name="IF"):
            values = node.arguments[1:]
        case Call(name="CASE"):
            values = (*node.arguments[1:-1:2], node.arguments[-1])
        case Call(name=name) if name in KEEPS_COLLATION:
            values = node.arguments
        case _:
            return None
    found = (text_collation(value, columns, connection, server) for value in values)
    return next((one for one in found if one is not None), None)
