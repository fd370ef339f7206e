"""What the body of a trigger may change, by its tokens: rows of tables, and columns of its own row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from forge.sql.ast.statements import CreateTrigger, RowEvent
from forge.sql.lexer import Token, tokenize

#: (database, name)
Name = tuple[str, str]
_MODIFIERS = ("IGNORE", "LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "QUICK", "INTO")
_EVENTS: dict[str, tuple[RowEvent, ...]] = {
    "INSERT": ("insert",), "REPLACE": ("insert", "delete"), "UPDATE": ("update",), "DELETE": ("delete",),
}  # fmt: skip
#: What ends the list behind SET or INTO.
_ENDS = ("FROM", "VALUES", "VALUE", "SELECT", "WHERE", "DO", "THEN", "BEGIN")


class Trigger(Struct, frozen=True):
    """A trigger: its table, the text that it runs, and the tables that this changes, in order, with how."""

    table: Name
    timing: Literal["before", "after"]
    event: RowEvent
    body: str
    changes: tuple[tuple[Name, tuple[RowEvent, ...]], ...]
    #: Lower-case names of the columns of its own row that it may set.
    sets: frozenset[str]
    #: Those that it names as NEW and OLD, and of a BEFORE trigger those of NEW, which servers count as written.
    names: frozenset[str]
    writes: frozenset[str]


def trigger_of(statement: CreateTrigger, table: Name) -> Trigger:
    """The trigger that the statement makes on a table, whose database is meant by names without one.

    Raises SqlError for a quote that is not closed.
    """
    tokens = tokenize(statement.body, several=True)
    tables: dict[Name, dict[RowEvent, None]] = {}
    for name, events in _changes(tokens, table[0]):
        tables.setdefault(name, {}).update(dict.fromkeys(events))
    new, old = (
        frozenset(column for index in range(len(tokens)) if (column := _own_column(tokens, index, row)) is not None)
        for row in ("NEW", "OLD")
    )
    return Trigger(
        table=table,
        timing=statement.timing,
        event=statement.event,
        body=statement.body,
        changes=tuple((name, tuple(events)) for name, events in tables.items()),
        sets=frozenset(_set_columns(tokens)),
        names=new | old,
        writes=new if statement.timing == "before" else frozenset(),
    )


def _changes(tokens: Sequence[Token], database: str) -> Iterator[tuple[Name, tuple[RowEvent, ...]]]:
    """The table of each statement on rows, and what it does to them."""
    for index, token in enumerate(tokens):
        if not token.is_word(*_EVENTS) or (index and tokens[index - 1].is_mark(".")):
            continue
        name = _changed_table(tokens, index, database)
        if name is not None:
            duplicates = token.is_word("INSERT") and _updates_duplicates(tokens, index)
            yield name, (*_EVENTS[token.text.upper()], *(("update",) if duplicates else ()))


def _changed_table(tokens: Sequence[Token], index: int, database: str) -> Name | None:
    """The table of the statement whose verb is at ``index``; None if the word is no verb there."""
    verb = tokens[index]
    if verb.is_word("UPDATE") and index and tokens[index - 1].is_word("FOR", "KEY"):
        # SELECT ... FOR UPDATE, ON DUPLICATE KEY UPDATE.
        return None
    index += 1
    while tokens[index].is_word(*_MODIFIERS):
        index += 1
    if verb.is_word("DELETE"):
        if not tokens[index].is_word("FROM"):
            return None
        index += 1
    if not tokens[index].is_name:
        return None
    if tokens[index + 1].is_mark(".") and tokens[index + 2].is_name:
        return tokens[index].text, tokens[index + 2].text
    return database, tokens[index].text


def _updates_duplicates(tokens: Sequence[Token], index: int) -> bool:
    """Whether the statement at ``index`` has ON DUPLICATE KEY."""
    end = next((place for place, token in enumerate(tokens) if place > index and token.is_mark(";")), len(tokens))
    return any(token.is_word("DUPLICATE") for token in tokens[index:end])


def _set_columns(tokens: Sequence[Token]) -> Iterator[str]:
    """``SET NEW.a = ...``, and ``INTO NEW.a`` of SELECT and FETCH."""
    clause = ""
    for index, token in enumerate(tokens):
        if token.is_word("SET", "INTO"):
            clause = token.text.upper()
        elif token.is_mark(";") or token.is_word(*_ENDS):
            clause = ""
        column = _own_column(tokens, index, "NEW")
        listed = index > 0 and (tokens[index - 1].is_mark(",") or tokens[index - 1].is_word("SET", "INTO"))
        if column is not None and listed and (clause == "INTO" or (clause and tokens[index + 3].text in ("=", ":="))):
            yield column


def _own_column(tokens: Sequence[Token], index: int, row: str) -> str | None:
    """The column of ``NEW.column`` at a token."""
    if tokens[index].is_word(row) and tokens[index + 1].is_mark(".") and tokens[index + 2].is_name:
        return tokens[index + 2].text.lower()
    return None
