"""Definitions that MariaDB keeps with the name of a character set, which it looks up whenever it reads them again."""

from __future__ import annotations

from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.partitions import has_text_values
from forge.servers import server_line
from forge.sql.expressions import parse_expression


def keeps_charset(definition: Definition) -> bool:
    """Whether a definition has CAST(... AS CHAR), or partitions with values that are text (recorded on 11.8)."""
    if has_text_values(definition.partitions):
        return True
    expressions = [expression for column in definition.columns for expression in (column.default, column.generated)]
    grammar = server_line(definition.server).grammar
    expressions += [parse_expression(check.expression, grammar) for check in definition.checks]
    return any(expression is not None and expression.casts_to_text for expression in expressions)
