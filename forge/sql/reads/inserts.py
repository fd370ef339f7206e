"""What the text of an INSERT or REPLACE says."""

from __future__ import annotations

from forge.sql.words import readable_tokens

_MODIFIERS = ("LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "IGNORE", "INTO")
#: What a query in parentheses begins with.
_QUERIES = ("SELECT", "WITH", "TABLE", "VALUES")


def has_column_list(sql: str) -> bool:
    """Whether the text of an INSERT or REPLACE names columns: ``(a, b)`` or ``SET a = 1``."""
    tokens = readable_tokens(sql)
    index = 1
    if not tokens[0].is_word("INSERT", "REPLACE"):
        return True
    while tokens[index].is_word(*_MODIFIERS):
        index += 1
    if not tokens[index].is_name:
        return True
    index += 3 if tokens[index + 1].is_mark(".") else 1
    if tokens[index].is_word("PARTITION"):
        while tokens[index].kind != "end" and not tokens[index].is_mark(")"):
            index += 1
        index += tokens[index].is_mark(")")
    if tokens[index].is_mark("("):
        while tokens[index].is_mark("("):
            index += 1
        return not tokens[index].is_word(*_QUERIES)
    return tokens[index].kind == "end" or tokens[index].is_word("SET")
