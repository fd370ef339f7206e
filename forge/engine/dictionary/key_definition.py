"""Keys of a table definition, with the names that servers give them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.engines import NUMBERS_GROUPS
from forge.engine.dictionary.json_cells import cells_for
from forge.engine.dictionary.system_columns import hashed_keys, stored_keys
from forge.plan.requirements import expression_features
from forge.plan.tables import Key, KeyExpression, KeyPart, Row
from forge.servers import server_line
from forge.sql.ast.definitions import KeyDraft, PartDraft
from forge.sql.errors import SqlError, SqlUnsupported, at_offset
from forge.sql.expressions import Expression, parse_expression
from forge.sql.expressions.types import text_collation


def named_keys(definition: Definition, columns: tuple[ColumnDefinition, ...]) -> Iterator[Key]:
    """The keys with the names that servers give: PRIMARY, or that of the first column, made unique by _2, _3 ...

    ``columns``: with the hidden ones.
    """
    taken = {key.name.lower() for key in definition.keys if key.name}
    hidden = count(len(columns))
    hashed = list(hashed_keys(definition))
    whole = replace(definition, columns=columns)
    if sum(key.kind == "primary" for key in definition.keys) > 1:
        raise SqlError("the table has two primary keys", definition.keys[-1].offset, expected="one")
    for key, stored in zip(definition.keys, stored_keys(definition), strict=True):
        name = "PRIMARY" if key.kind == "primary" else key.name
        if name is None:
            name = _free_name(_base_name(definition, key), taken)
            taken.add(name.lower())
        parts = tuple(_key_parts(whole, stored, hidden))
        period = (parts[-1].column, parts[-2].column) if key.parts[-1].without_overlaps else None
        yield Key(name, key.kind, parts, period, hashed=key in hashed)


def _base_name(definition: Definition, key: KeyDraft) -> str:
    if any(part.expression is not None for part in key.parts):
        return "functional_index"
    return definition.columns[definition.index_of(key.parts[0].column, key.parts[0].offset)].name


def _free_name(base: str, taken: set[str]) -> str:
    if base.lower() not in taken and base.upper() != "PRIMARY":
        return base
    return next(f"{base}_{n}" for n in count(2) if f"{base}_{n}".lower() not in taken)


def _key_parts(definition: Definition, key: KeyDraft, hidden: Iterator[int]) -> Iterable[KeyPart]:
    for part in key.parts:
        if part.expression is not None:
            yield KeyPart(next(hidden), None, _key_expression(definition, part))
            continue
        index = definition.index_of(part.column, part.offset)
        yield KeyPart(index, kept_prefix(definition.columns[index], part.prefix))


def kept_prefix(column: ColumnDefinition, prefix: int | None) -> int | None:
    """A key's prefix, where it is shorter than the column and of a type that takes one; servers forget others."""
    if prefix is None or column.type_facts.is_lob:
        return prefix
    length = 1 if column.type.length is None else column.type.length
    return prefix if column.type_facts.takes_prefix and prefix < length else None


class RowExpression(Struct, frozen=True):
    """The value of an expression for rows of a table."""

    expression: Expression
    columns: tuple[ColumnDefinition, ...]

    def __call__(self, row: Row) -> Any:
        names = {name.lower() for name in self.expression.columns()}
        return self.expression.evaluate(cells_for(self.columns, row, names))


def _key_expression(definition: Definition, part: PartDraft) -> KeyExpression:
    """The expression of a key's part.  Raises SqlError where the server line has no such keys."""
    assert part.expression is not None
    line = server_line(definition.server)
    with at_offset(part.offset):
        line.require("expression_keys")
        expression = parse_expression(part.expression)
        for name in expression.columns():
            definition.index_of(name, part.offset)
        types = {column.name.lower(): column.type for column in definition.columns}
        key_expression = KeyExpression(
            sql=part.expression,
            compute=RowExpression(expression, definition.columns),
            collation=text_collation(expression.tree, types, line.query.client_charset[1], definition.server),
            arrays=expression.is_array,
            uses=frozenset(name.lower() for name in expression.columns()),
        )
        for feature in expression_features(key_expression):
            line.require(feature)
    return key_expression


def check_numbering(definition: Definition, keys: tuple[Key, ...]) -> None:
    """Raises SqlError for an AUTO_INCREMENT column of no integers, SqlUnsupported for numbers within groups of rows."""
    for index, column in enumerate(definition.columns):
        if not column.column.auto_increment:
            continue
        if not column.type_facts.is_integer:
            problem = f"a {column.type.name} column cannot be AUTO_INCREMENT here"
            raise SqlError(problem, column.offset, expected="an integer")
        is_behind = any(part.column == index for key in keys for part in key.parts[1:])
        is_first = any(key.parts[0].column == index for key in keys)
        if definition.engine in NUMBERS_GROUPS and is_behind and not is_first:
            raise SqlUnsupported("numbers for each value of other columns are not supported yet", column.offset)
