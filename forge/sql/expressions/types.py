"""What type of value an expression has: as much of it as a key on the expression needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from forge.charsets import collation
from forge.errors import UnsupportedError
from forge.sql.expressions.evaluation import kind_of
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import facts_of

UTF8MB4_BIN = 46
_JOINING = ("Concat", "ConcatWs", "Coalesce", "If", "Case")
_CUTTING = ("Substring", "Left", "Right")
_SAME = ("Lower", "Upper", "Trim", "Reverse", "Paren", "Collate")


@dataclass(frozen=True, slots=True)
class ResultType:
    """``lob``: text of any length, which no key takes."""

    kind: Literal["number", "text", "moment", "json", "lob", "binary"]
    collation: int | None = None


NUMBER, MOMENT, JSON = ResultType("number"), ResultType("moment"), ResultType("json")


def result_type(node: Any, columns: Mapping[str, SqlType], connection: int, server: str) -> ResultType:
    """The type of a node's value; ``connection`` is the collation of literals and of casts to text.

    Raises UnsupportedError where text of two collations meets.
    """
    kind = kind_of(node)
    if kind == "Column":
        return _of_column(columns[node.name.lower()])
    if kind == "Literal":
        return ResultType("text", connection) if node.is_string else NUMBER
    if kind in ("Cast", "JSONValue"):
        return _of_cast(node, connection)
    if kind in ("JSONExtractScalar", "JSON_UNQUOTE"):
        return ResultType("lob", UTF8MB4_BIN)
    if kind in ("JSONExtract", "JSON_ARRAY", "JSONObject"):
        return JSON
    if kind == "TsOrDsToDate":
        return MOMENT
    if kind in _SAME:
        inner = result_type(node.this, columns, connection, server)
        if kind == "Collate":
            return ResultType(inner.kind, collation(node.expression.name, server).id)
        return inner
    if kind in _CUTTING:
        inner = result_type(node.this, columns, connection, server)
        return ResultType("text", inner.collation) if inner.kind == "lob" else inner
    if kind in _JOINING:
        return _joined([result_type(part, columns, connection, server) for part in _values_of(node)], kind)
    return NUMBER


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


def _of_cast(node: Any, connection: int) -> ResultType:
    target = node.args.get("to") or node.args.get("returning")
    if not target:
        return ResultType("text", UTF8MB4_BIN)
    name = target.this.name
    if name == "ARRAY":
        # Elements compare by their bytes (recorded: 'abc' beside 'ABC', 'ab' beside 'ab ').
        return NUMBER
    if name in ("CHAR", "NCHAR"):
        return ResultType("text", connection)
    return JSON if name == "JSON" else MOMENT if name in ("DATE", "DATETIME", "TIME") else NUMBER


def _values_of(node: Any) -> list[Any]:
    """The nodes that the value comes from."""
    kind = kind_of(node)
    if kind == "If":
        return [part for part in (node.args["true"], node.args.get("false")) if part is not None]
    if kind == "Case":
        parts = [branch.args["true"] for branch in node.args["ifs"]]
        return [*parts, node.args["default"]] if node.args.get("default") is not None else parts
    return [node.this, *node.expressions] if kind == "Coalesce" else list(node.expressions)


def _joined(parts: list[ResultType], kind: str) -> ResultType:
    texts = [part for part in parts if part.kind in ("text", "lob")]
    if not texts:
        kinds = {part.kind for part in parts}
        return ResultType("text", None) if kind.startswith("Concat") else parts[0] if len(kinds) == 1 else NUMBER
    collations = {part.collation for part in texts}
    if len(collations) > 1:
        raise UnsupportedError("text of several collations in one expression is not supported yet")
    return ResultType("lob" if any(part.kind == "lob" for part in texts) else "text", texts[0].collation)
