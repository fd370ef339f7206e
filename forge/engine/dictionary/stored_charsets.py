"""Character sets of what MariaDB keeps of a definition as text: that which it names, and the one that it is in."""

from __future__ import annotations

from collections.abc import Iterator

from forge.charsets import charset, collation
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.partitions import has_text_values
from forge.errors import UnsupportedError
from forge.servers import server_line
from forge.sql.ast.definitions import LiteralDefault
from forge.sql.errors import at_offset, unsupported_at
from forge.sql.expressions import parse_expression
from forge.values.text.column_charset import BINARY_COLLATION, charset_of


def keeps_charset(definition: Definition) -> bool:
    """Whether a definition is kept with the name of a character set, which is looked up whenever it is read again:
    CAST(... AS CHAR), and partitions with values that are text (recorded on 11.8).
    """
    if has_text_values(definition.partitions):
        return True
    expressions = [expression for column in definition.columns for expression in (column.default, column.generated)]
    grammar = server_line(definition.server).grammar
    expressions += [parse_expression(check.expression, grammar) for check in definition.checks if check.computed]
    return any(expression is not None and expression.casts_to_text for expression in expressions)


def check_texts(definition: Definition) -> None:
    """MariaDB keeps expressions, and literals that it treats as such, in the table's character set.

    Raises ScenarioError for one that this cannot hold (error 1918; recorded on 10.11 and 11.8), UnsupportedError for a
    BLOB, which gets the bytes that the text has there.
    """
    if not server_line(definition.server).grammar.opens_literal_defaults or definition.collation == BINARY_COLLATION:
        return
    kept_in = charset(collation(definition.collation, definition.server).charset)
    for text, offset in _texts(definition):
        if not text.isascii():
            with at_offset(offset):
                kept_in.encode(text)
    for column in definition.columns:
        literal = column.column.default if column.column.computed_default else None
        if isinstance(literal, str):
            written = _written(column)
            # Hex is kept as it is; the column may have got another set since.
            own = charset_of(column.wire) if isinstance(written, bytes) else None
            with at_offset(column.offset) if isinstance(written, str) else unsupported_at(column.offset):
                (own or kept_in).encode(literal)
        if isinstance(literal, bytes) and kept_in.min_length > 1:
            problem = f"a default of the {column.type.name} column {column.name!r} in a table of wide characters"
            raise UnsupportedError(f"{problem} is not supported yet")


def _written(column: ColumnDefinition) -> object:
    """The literal of the default as the column's definition has it; None for one that was set later."""
    default = column.draft.default if column.draft is not None else None
    return default.value if isinstance(default, LiteralDefault) else None


def _texts(definition: Definition) -> Iterator[tuple[str, int]]:
    for column in definition.columns:
        yield from ((one.sql, column.offset) for one in (column.default, column.generated) if one is not None)
    yield from ((check.expression, check.offset) for check in definition.checks)
