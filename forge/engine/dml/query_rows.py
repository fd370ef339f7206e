"""Whether the text of a statement (``query``) can have changed the rows that the scenario declares.

What a text reads is not executed here: only a contradiction that its words show is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from forge.engine.dictionary.table_state import TableState
from forge.engine.requests.statements import Statement
from forge.engine.rows.context import DmlContext
from forge.engine.rows.where import matching, parse_where
from forge.errors import ScenarioError
from forge.plan.tables import Table
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError
from forge.sql.lexer import Token
from forge.sql.parse.select import conditions
from forge.sql.reads.tables import named_tables, table_references
from forge.sql.words import outside, readable_tokens

_OPERATIONS = ("INSERT", "REPLACE", "UPDATE", "DELETE", "LOAD")
#: What keeps a text's WHERE and SET from being all that chooses its rows.
_CHOOSING = ("PARTITION", "JOIN", "STRAIGHT_JOIN", "USING", "PORTION", "RETURNING")


def check_operation(declared: Statement, table: Table, context: DmlContext) -> None:
    """The text is one of the declared operation, on the declared table.  Raises ScenarioError."""
    tokens = readable_tokens(declared.query or "")
    verb = next(word for word in ("insert", "replace", "update", "delete") if getattr(declared, word) is not None)
    if not tokens[0].is_word(*_OPERATIONS):
        return
    if not tokens[0].is_word(verb.upper()):
        raise _contradiction(f"is {_article(tokens[0].text.upper())}, but the statement is {_article(verb)}")
    named = set(named_tables(tokens))
    known = {(database or context.current_database, name) for database, name in named} & set(context.catalog.tables)
    if table.name.lower() not in {name.lower() for _, name in named} and len(known) == len(named) > 0:
        raise _contradiction(f"names {', '.join(sorted(name for _, name in named))}, but not {table.full_name}")
    words = {token.text.lower() for token in tokens if token.kind in ("word", "name")}
    for name in declared.update.set if declared.update is not None else ():
        if name.lower() not in words and table.name.lower() in words:
            raise _contradiction(f"does not set {name}")
    new = declared.insert or declared.replace
    rows = _values(tokens)
    if new is not None and rows:
        count = new.count if new.rows is None else len(new.rows)
        if rows != count:
            raise _contradiction(f"has VALUES for {_rows(rows)}, but {_declared(count or 0)}")


def check_rows(state: TableState, query: str, found: Sequence[int], limit: int | None, context: DmlContext) -> None:
    """WHERE and LIMIT of an UPDATE or DELETE of one table choose rows as ``found`` and ``limit`` do, as far as they can
    be read.  Raises ScenarioError.
    """
    tokens = list(outside(readable_tokens(query)))
    names = [name.lower() for name in table_references(query)]
    if names != [state.table.name.lower()] or any(token.is_word(*_CHOOSING) for token in tokens):
        return
    stated = _limit(tokens)
    if stated is not None and limit != stated and (limit is not None or len(found) > stated):
        ours = f"`limit` is {limit}" if limit is not None else f"`where` finds {_rows(len(found))}"
        raise _contradiction(f"has LIMIT {stated}, but {ours}", f"limit: {stated}")
    wanted = _wanted(state, query, context)
    if wanted is None:
        return
    declared = len(found) if limit is None else min(limit, len(found))
    finds = len(wanted) if stated is None else min(stated, len(wanted))
    fits = set(found) <= set(wanted)
    if declared != finds or not fits:
        other = ", other ones" if declared == finds else ""
        raise _contradiction(f"changes {_rows(finds)} of {state.name}, but {_declared(declared)}{other}")


def _wanted(state: TableState, query: str, context: DmlContext) -> list[int] | None:
    """The rows that WHERE of the text finds; None if it compares anything but integers."""
    start = next((token.start for token in outside(readable_tokens(query)) if token.is_word("WHERE")), None)
    if start is None:
        return list(state.rows)
    try:
        cursor = Cursor(query[start:])
        declared = conditions(cursor, 0, set())
        if not (cursor.at_end() or cursor.token.is_word("ORDER", "LIMIT")):
            return None
        chosen = parse_where(declared, state, dialect=context.catalog.dialect)
    except (SqlError, ScenarioError):
        return None
    if not all(condition.column.type_facts.is_integer for condition in chosen):
        return None
    return matching(chosen, state)


def _limit(tokens: Sequence[Token]) -> int | None:
    for token, behind in pairwise(tokens):
        if token.is_word("LIMIT") and behind.text.isdigit():
            return int(behind.text)
    return None


def _values(tokens: Sequence[Token]) -> int:
    """How many rows VALUES has; 0 without it."""
    count, seen = 0, False
    for token in outside(tokens):
        if token.is_word("SELECT", "SET", "TABLE"):
            return 0
        if token.is_word("ON", "AS", "RETURNING"):
            break
        seen = seen or token.is_word("VALUES", "VALUE")
        count += seen and token.is_mark("(")
    return count


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _declared(count: int) -> str:
    return f"{_rows(count)} {'is' if count == 1 else 'are'} declared"


def _article(verb: str) -> str:
    return f"an {verb}" if verb.upper() in ("INSERT", "UPDATE") else f"a {verb}"


def _contradiction(what: str, expected: str = "the text of the declared change") -> ScenarioError:
    return ScenarioError(f"`query` {what}", expected=expected)
