"""What the body of a trigger may change, by its tokens: rows of tables, and columns of its own row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forge.sql.ast.objects import RowEvent
from forge.sql.lexer import Token, tokenize

#: (database, name)
Name = tuple[str, str]
_MODIFIERS = ("IGNORE", "LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "QUICK")
_ROW_WORDS = ("INSERT", "REPLACE", "UPDATE", "DELETE")


@dataclass(frozen=True, slots=True)
class BodyChanges:
    """The tables that a body changes, in order, with what it may do to their rows; the columns (lower case) of its own
    row that it may set, and those that it names as NEW and OLD.
    """

    tables: tuple[tuple[Name, tuple[RowEvent, ...]], ...]
    sets: frozenset[str]
    new: frozenset[str]
    old: frozenset[str]


def body_changes(body: str, database: str) -> BodyChanges:
    """What the text behind FOR EACH ROW may change; ``database`` is the trigger's.

    Raises SqlError for a quote that is not closed.
    """
    tokens = tokenize(body, several=True)
    return BodyChanges(
        _changed_tables(tokens, database),
        frozenset(_set_columns(tokens)),
        _named_columns(tokens, "NEW"),
        _named_columns(tokens, "OLD"),
    )


def _named_columns(tokens: Sequence[Token], row: str) -> frozenset[str]:
    names = (_own_column(tokens, index, row) for index in range(len(tokens)))
    return frozenset(name for name in names if name is not None)


def _changed_tables(tokens: Sequence[Token], database: str) -> tuple[tuple[Name, tuple[RowEvent, ...]], ...]:
    tables: dict[Name, dict[RowEvent, None]] = {}
    for index, token in enumerate(tokens):
        if not token.is_word(*_ROW_WORDS) or (index and tokens[index - 1].is_mark(".")):
            continue
        name = _changed_table(tokens, index, database)
        if name is None:
            continue
        events = tables.setdefault(name, {})
        match token.text.upper():
            case "UPDATE":
                events["update"] = None
            case "DELETE":
                events["delete"] = None
            case "REPLACE":
                events |= {"insert": None, "delete": None}
            case _:
                events["insert"] = None
                if _updates_duplicates(tokens, index):
                    events["update"] = None
    return tuple((name, tuple(events)) for name, events in tables.items())


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
    elif not verb.is_word("UPDATE") and tokens[index].is_word("INTO"):
        index += 1
    if not tokens[index].is_name:
        return None
    if tokens[index + 1].is_mark(".") and tokens[index + 2].is_name:
        return tokens[index].text, tokens[index + 2].text
    return database, tokens[index].text


def _updates_duplicates(tokens: Sequence[Token], index: int) -> bool:
    """Whether the statement at ``index`` has ON DUPLICATE KEY."""
    for token in tokens[index:]:
        if token.is_mark(";"):
            return False
        if token.is_word("DUPLICATE"):
            return True
    return False


def _set_columns(tokens: Sequence[Token]) -> Iterator[str]:
    """``SET NEW.a = ...``, and ``INTO NEW.a`` of SELECT and FETCH."""
    for index, token in enumerate(tokens):
        if token.is_word("SET"):
            yield from _assigned_columns(tokens, index + 1)
        elif token.is_word("INTO"):
            yield from _target_columns(tokens, index + 1)


def _own_column(tokens: Sequence[Token], index: int, row: str = "NEW") -> str | None:
    """The column of ``NEW.column`` at a token."""
    if tokens[index].is_word(row) and tokens[index + 1].is_mark(".") and tokens[index + 2].is_name:
        return tokens[index + 2].text.lower()
    return None


def _assigned_columns(tokens: Sequence[Token], index: int) -> Iterator[str]:
    """The columns of NEW among the assignments at ``index``, which end with the statement."""
    depth, begins = 0, True
    while tokens[index].kind != "end" and not tokens[index].is_mark(";"):
        depth += tokens[index].is_mark("(") - tokens[index].is_mark(")")
        column = _own_column(tokens, index) if begins and depth == 0 else None
        if column is not None and tokens[index + 3].text in ("=", ":="):
            yield column
        begins = depth == 0 and tokens[index].is_mark(",")
        index += 1


def _target_columns(tokens: Sequence[Token], index: int) -> Iterator[str]:
    """The columns of NEW in the list of variables at ``index``."""
    while True:
        column = _own_column(tokens, index)
        if column is not None:
            yield column
            index += 3
        else:
            index += 2 if tokens[index].is_mark("@") else 1
        if index >= len(tokens) or not tokens[index].is_mark(","):
            return
        index += 1
