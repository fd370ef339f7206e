"""What type of value an expression has: as much of it as a key on the expression needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal as Choice

from forge.charsets import collation
from forge.errors import UnsupportedError
from forge.sql.ast.expressions import Call, Cast, CastType, ColumnName, Literal, Node
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import facts_of

UTF8MB4_BIN = 46
_JOINING = ("CONCAT", "CONCAT_WS", "COALESCE", "IFNULL", "IF", "CASE")
_CUTTING = ("SUBSTRING", "LEFT", "RIGHT")
_SAME = ("LOWER", "LCASE", "UPPER", "UCASE", "TRIM", "REVERSE", "COLLATE")


@dataclass(frozen=True, slots=True)
class ResultType:
    """``lob``: text of any length, which no key takes."""

    kind: Choice["number", "text", "moment", "json", "lob", "binary"]
    collation: int | None = None


NUMBER, MOMENT, JSON = ResultType("number"), ResultType("moment"), ResultType("json")


def result_type(node: Node, columns: Mapping[str, SqlType], connection: int, server: str) -> ResultType:
    """The type of a node's value; ``connection`` is the collation of literals and of casts to text.

    Raises UnsupportedError where text of two collations meets.
    """
    match node:
        case ColumnName():
            return _of_column(columns[node.name.lower()])
        case Literal():
            return _of_literal(node, connection)
        case Cast():
            return _of_cast(node.type, connection)
        case Call():
            return _of_call(node, columns, connection, server)
        case _:
            return NUMBER


def _of_literal(node: Literal, connection: int) -> ResultType:
    if node.form == "moment":
        return MOMENT
    return ResultType("text", connection) if isinstance(node.value, str) else NUMBER


def _of_call(node: Call, columns: Mapping[str, SqlType], connection: int, server: str) -> ResultType:
    if node.name == "JSON_VALUE":
        return ResultType("text", UTF8MB4_BIN)
    if node.name in ("->>", "JSON_UNQUOTE"):
        return ResultType("lob", UTF8MB4_BIN)
    if node.name in ("->", "JSON_EXTRACT", "JSON_ARRAY", "JSON_OBJECT"):
        return JSON
    if node.name == "DATE":
        return MOMENT
    if node.name in _JOINING:
        return _joined([result_type(part, columns, connection, server) for part in _values_of(node)], node.name)
    if node.name not in (*_SAME, *_CUTTING):
        return NUMBER
    of_text = result_type(node.arguments[0], columns, connection, server)
    if node.name == "COLLATE":
        name = node.arguments[1]
        return ResultType(of_text.kind, collation(str(name.value), server).id) if isinstance(name, Literal) else of_text
    return ResultType("text", of_text.collation) if node.name in _CUTTING and of_text.kind == "lob" else of_text


def _of_column(sql_type: SqlType) -> ResultType:
    facts = facts_of(sql_type)
    if facts.is_lob:
        return ResultType("lob", sql_type.collation)
    if facts.has_charset:
        return ResultType("text", sql_type.collation)
    if facts.is_bytes:
        return ResultType("binary")
    if facts.is_temporal:
        return MOMENT
    return JSON if facts.is_json else NUMBER


def _of_cast(target: CastType, connection: int) -> ResultType:
    if target.is_array:
        # Elements compare by their bytes (recorded: 'abc' beside 'ABC', 'ab' beside 'ab ').
        return NUMBER
    if target.name in ("CHAR", "NCHAR"):
        return ResultType("text", connection)
    return JSON if target.name == "JSON" else MOMENT if target.name in ("DATE", "DATETIME", "TIME") else NUMBER


def _values_of(node: Call) -> tuple[Node, ...]:
    """The nodes that the value comes from."""
    if node.name == "IF":
        return node.arguments[1:]
    return (*node.arguments[1:-1:2], node.arguments[-1]) if node.name == "CASE" else node.arguments


def _joined(parts: list[ResultType], kind: str) -> ResultType:
    texts = [part for part in parts if part.kind in ("text", "lob")]
    if not texts:
        kinds = {part.kind for part in parts}
        return ResultType("text", None) if kind.startswith("CONCAT") else parts[0] if len(kinds) == 1 else NUMBER
    collations = {part.collation for part in texts}
    if len(collations) > 1:
        raise UnsupportedError("text of several collations in one expression is not supported yet")
    return ResultType("lob" if any(part.kind == "lob" for part in texts) else "text", texts[0].collation)
