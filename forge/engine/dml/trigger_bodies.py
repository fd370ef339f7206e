"""The bodies of triggers, run for each row: changes of other rows, and what SET NEW.column gives the row itself.

A body is one statement or BEGIN ... END of INSERT, REPLACE, UPDATE, DELETE, SET NEW.column and IF.  Anything else is
refused by name: what it would do is declared as `further` and `set_by_trigger`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import msgspec
from msgspec import Struct

from forge.engine.dictionary.table_state import TableState
from forge.engine.requests.sql_rows import RowsOfScript
from forge.engine.requests.statements import Further
from forge.engine.rows.cells import not_null, stored_value
from forge.engine.rows.context import DmlContext
from forge.engine.rows.defaults import with_generated
from forge.engine.rows.foreign_keys import Operation
from forge.engine.rows.scope import Scope, Source
from forge.engine.rows.selects import read_query
from forge.engine.rows.where import column_index, value_sql
from forge.errors import ScenarioError, UnsupportedError
from forge.plan.statements import RowsStatement
from forge.plan.tables import Row
from forge.servers.facts.grammar import Grammar
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError
from forge.sql.expressions import Operand
from forge.sql.expressions.evaluation import evaluate, truth
from forge.sql.lexer import Token, tokenize
from forge.sql.parse.changes import parse_rows_change, term
from forge.sql.parse.expressions import expression
from forge.sql.reads.triggers import Trigger

_CHANGES = ("INSERT", "REPLACE", "UPDATE", "DELETE")


class _Assignment(Struct, frozen=True):
    """``SET NEW.column = expression``."""

    column: str
    sql: str


class _Branches(Struct, frozen=True):
    """IF: (condition, what runs then), in order; the condition of ELSE is None."""

    branches: tuple[tuple[str | None, tuple[_Step, ...]], ...]


#: What a body does: a statement on rows is its text.
_Step = str | _Assignment | _Branches


def has_triggers(state: TableState, event: Operation, context: DmlContext) -> bool:
    """Whether triggers run for the rows of a statement."""
    return context.nested is not None and bool(context.references.triggers(state.table, event))


def run_triggers(
    state: TableState,
    event: Operation,
    timing: str,
    rows: tuple[Row | None, Row | None],
    context: DmlContext,
    place: Callable[[RowsStatement], None],
) -> Row | None:
    """Run the triggers of a row, (old, new): ``place`` takes what each statement of their bodies does.

    The new row as BEFORE triggers leave it.  Raises UnsupportedError for a body that is not understood.
    """  # fmt: skip
    old, new = rows
    if context.nested is None:
        return new
    for trigger in context.references.triggers(state.table, event):
        if trigger.timing == timing:
            body = _Body(state, trigger, old, new, context, place)
            body.run(_steps(trigger.body, context.references.line.grammar))
            new = body.new
    return new


def without_triggers(cascaded: list[RowsStatement], context: DmlContext) -> list[RowsStatement]:
    """What foreign keys do to other rows.  Raises UnsupportedError where triggers would run for these, as on MySQL 9.7
    (recorded: rpl_foreign_key_sql_child_trig of the vendor's suite).
    """
    for change in cascaded:
        if context.nested is not None and context.references.triggers(change.table, change.kind):
            problem = f"triggers of {change.table.full_name}, whose rows a foreign key changes, are not run yet"
            raise UnsupportedError(problem, expected=_INSTEAD)
    return cascaded


class _Body(Struct):
    """One trigger, for one row."""

    state: TableState
    trigger: Trigger
    old: Row | None
    new: Row | None
    context: DmlContext
    place: Callable[[RowsStatement], None]

    def run(self, steps: Sequence[_Step]) -> None:
        for step in steps:
            match step:
                case str():
                    assert self.context.nested is not None
                    change = parse_rows_change(self._with_values(step), self.context.references.line.grammar)
                    request = RowsOfScript({}).request(change)
                    if "tables" in next(iter(request.values())):
                        problem = "a trigger that changes several tables at once is not run yet"
                        raise UnsupportedError(problem, expected=_INSTEAD)
                    further = msgspec.convert({**request, "query": step}, Further)
                    self.place(self.context.nested(further, self.context))
                case _Assignment():
                    self._assign(step)
                case _Branches():
                    chosen = (then for condition, then in step.branches if condition is None or self._holds(condition))
                    self.run(next(chosen, ()))

    def _holds(self, condition: str) -> bool:
        return truth(self._value(condition)) is True

    def _value(self, sql: str) -> Operand:
        """What an expression of NEW.column and OLD.column gives."""
        cursor = Cursor(sql, self.context.references.line.grammar)
        rows = {name: row for name, row in (("new", self.new), ("old", self.old)) if row is not None}
        scope = Scope([Source.of(name, self.state.columns) for name in rows], self.context, read_query)
        return evaluate(scope.bound(expression(cursor)), scope.cells(list(rows.values())))

    def _assign(self, step: _Assignment) -> None:
        state, context = self.state, self.context
        if self.trigger.timing != "before" or self.new is None:
            raise ScenarioError(f"a trigger of {state.name} sets a column of NEW, which it cannot")
        index = column_index(state, step.column)
        column = state.columns[index]
        value = stored_value(column, self._value(step.sql), context)
        value = not_null(column, value, state.name, clips=context.clips)
        row = [value if place == index else cell for place, cell in enumerate(self.new)]
        self.new = with_generated(state.columns, row, clips=context.clips)

    def _with_values(self, sql: str) -> str:
        """The text with the values of the row instead of NEW.column and OLD.column."""
        pieces, end = [], 0
        tokens = tokenize(sql)
        for index, token in enumerate(tokens[:-2]):
            if token.is_word("NEW", "OLD") and tokens[index + 1].is_mark(".") and tokens[index + 2].is_name:
                row = self.new if token.is_word("NEW") else self.old
                if row is None:
                    raise ScenarioError(f"a trigger of {self.state.name} reads {token.text.upper()}, which is no row")
                column = column_index(self.state, tokens[index + 2].text)
                pieces += [sql[end : token.start], value_sql(self.state.columns[column], row[column])]
                end = tokens[index + 2].end
        return "".join((*pieces, sql[end:]))


@cache
def _steps(body: str, grammar: Grammar) -> tuple[_Step, ...]:
    """What a body does.  Raises UnsupportedError for statements that are not run."""
    cursor = Cursor(body, grammar, several=True)
    try:
        steps = tuple(_block(cursor)) if cursor.accept("BEGIN") else (*_step(cursor),)
        cursor.accept_mark(";")
        if not cursor.at_end():
            cursor.wrong("the end of the body")
    except SqlError as error:
        raise UnsupportedError(f"the body of a trigger is not read: {error.problem}", expected=_INSTEAD) from None
    return steps


_INSTEAD = "`further` with what it changes"


def _block(cursor: Cursor, *ends: str) -> Iterator[_Step]:
    """Statements up to END, or to one of the words that end a branch, which is left to be read."""
    while not cursor.token.is_word(*(ends or ("END",))):
        yield from _step(cursor)
        cursor.expect_mark(";")
    if not ends:
        cursor.expect("END")


def _step(cursor: Cursor) -> Iterator[_Step]:
    if cursor.token.is_word(*_CHANGES):
        start = cursor.token.start
        while not (cursor.at_end() or cursor.token.is_mark(";")):
            cursor.advance()
        yield cursor.sql[start : cursor.previous_end]
    elif cursor.accept("BEGIN"):
        yield from _block(cursor)
    elif cursor.accept("IF"):
        yield _branches(cursor)
    elif cursor.token.is_word("SET") and cursor.following().is_word("NEW"):
        yield from _assignments(cursor)
    else:
        problem = f"a trigger whose body has {_shown(cursor.token)} is not run yet"
        raise UnsupportedError(problem, expected=_INSTEAD)


def _branches(cursor: Cursor) -> _Branches:
    branches: list[tuple[str | None, tuple[_Step, ...]]] = []
    while True:
        condition = term(cursor).sql
        cursor.expect("THEN")
        branches.append((condition, tuple(_block(cursor, "ELSEIF", "ELSE", "END"))))
        if not cursor.accept("ELSEIF"):
            break
    if cursor.accept("ELSE"):
        branches.append((None, tuple(_block(cursor, "END"))))
    cursor.expect("END")
    cursor.expect("IF")
    return _Branches(tuple(branches))


def _assignments(cursor: Cursor) -> Iterator[_Assignment]:
    cursor.expect("SET")
    while True:
        cursor.expect("NEW")
        cursor.expect_mark(".")
        column = cursor.name("column")
        if not cursor.accept_mark("="):
            cursor.expect_mark(":=")
        yield _Assignment(column, term(cursor).sql)
        if not cursor.accept_mark(","):
            return


def _shown(token: Token) -> str:
    return token.text.upper() if token.kind == "word" else token.shown()
