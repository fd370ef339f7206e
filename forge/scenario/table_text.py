"""CREATE TABLE text of a table that is given as a mapping."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import msgspec

from forge.errors import ScenarioError
from forge.scenario.table_model import ColumnDeclaration, KeyDeclaration, TableDeclaration
from forge.sql.parse.defaults import is_default_expression
from forge.sql.write import identifier
from forge.values.literals import hexadecimal, quoted


def table_text(table: TableDeclaration) -> str:
    """The statement that the declaration stands for, as the log contains it.

    Its parts are checked when it is read, as those of text that a person wrote.
    """
    lines = [_column(column) for column in table.columns]
    lines += [_key(key) for key in table.keys]
    options = ""
    if table.charset is not None:
        options += f" DEFAULT CHARSET={table.charset}"
    if table.collation is not None:
        options += f" COLLATE={table.collation}"
    name = ".".join(identifier(part.strip("`")) for part in table.table.split("."))
    body = ",\n".join(f"  {line}" for line in lines)
    return f"CREATE TABLE {name} (\n{body}\n){options}"


def _column(column: ColumnDeclaration) -> str:
    parts = [identifier(column.name), column.type]
    if column.nullable is not None:
        parts.append("NULL" if column.nullable else "NOT NULL")
    if column.default is not msgspec.UNSET:
        parts.append(f"DEFAULT {_default(column.name, column.default)}")
    if column.on_update is not None:
        parts.append(f"ON UPDATE {column.on_update}")
    if column.auto_increment:
        parts.append("AUTO_INCREMENT")
    if not column.visible:
        parts.append("INVISIBLE")
    return " ".join(parts)


def _default(name: str, value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, Decimal)):
        return str(value)
    if isinstance(value, bytes):
        return hexadecimal(value)
    if isinstance(value, str):
        return value if is_default_expression(value) else quoted(value)
    raise ScenarioError(f"the default of column {name!r} is not a literal", expected="text, a number, or null")


def _key(key: KeyDeclaration) -> str:
    name = f" {identifier(key.name)}" if key.name else ""
    if key.primary is not None:
        return f"PRIMARY KEY ({_parts(key.primary)})"
    if key.unique is not None:
        return f"UNIQUE KEY{name} ({_parts(key.unique)})"
    return f"KEY{name} ({_parts(key.index or ())})"


def _parts(parts: Iterable[str]) -> str:
    rendered = []
    for part in parts:
        name, bracket, size = part.removesuffix(")").rpartition("(")
        has_prefix = part.endswith(")") and bracket and size.isdecimal()
        rendered.append(f"{identifier(name)}({size})" if has_prefix else identifier(part))
    return ", ".join(rendered)
