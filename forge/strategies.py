"""Hypothesis strategies for tests of programs that read binary logs (docs/hypothesis.md).

>>> @given(logs(server="mysql-9.7", types=("JSON", "DECIMAL")))
... def test_my_reader(log):
...     assert my_reader(log.data) == [row.after for row in log.rows]

Logs are those of generated scenarios: valid, with the rows that a correct reader must see.  What fails is shrunk to a
small table, few rows, and plain values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Unpack

from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from forge.engine.requests.transactions import Transaction
from forge.errors import ScenarioError, nearest
from forge.events.event import Event
from forge.hypothesis_types import register
from forge.logs import Log, build
from forge.plan.tables import Row as TableRow
from forge.plan.tables import Table
from forge.scenario.model import Scenario
from forge.servers import server_line
from forge.testing import events as event_strategies
from forge.testing.drawn import HypothesisSource, drawn
from forge.testing.draws import tables as draws
from forge.testing.draws.scenarios import Choices
from forge.testing.mutations import MutatedLog, mutated
from forge.testing.replays import ReplayedLog, replayed_logs
from forge.testing.scenarios import scenarios as drawn_scenarios
from forge.values.registry import column_types

__all__ = [
    "ReplayedLog", "events", "logs", "mutated_logs", "replayed_logs", "rows", "scenarios", "tables", "transactions",
]  # fmt: skip

_DEFAULT = "mysql-9.7"

Names = str | Sequence[str]


class Kinds(TypedDict, total=False):
    """What is drawn: ``types`` and ``charsets`` are names of column types and of character sets; without ``session``
    all settings are the server's own.
    """

    types: Names
    charsets: Names
    session: bool
    max_columns: int
    max_rows: int


def tables(
    server: str = _DEFAULT, *, types: Names = (), charsets: Names = (), max_columns: int = 24
) -> st.SearchStrategy[Table]:
    """A table of columns of the types that the line knows, or of these, with a primary or unique key or none.

    Raises ScenarioError for a line or type that does not exist.
    """
    return drawn(draws.table_of, _line(server), max_columns, _types(types), _names(charsets))


def rows(table: Table, server: str = _DEFAULT, *, max_rows: int = 3) -> st.SearchStrategy[list[TableRow]]:
    """Rows that the table can hold; values are those of ``forge.values``, None is NULL."""
    return drawn(draws.rows_of, table, server, max_rows)


def transactions(server: Names = _DEFAULT, **kinds: Unpack[Kinds]) -> st.SearchStrategy[Transaction]:
    """A transaction of a scenario as :func:`scenarios` draws them: inserts, updates and deletes, or a rollback."""
    return scenarios(server, **kinds).flatmap(lambda one: st.sampled_from(one.transactions))


def events(types: Names = ()) -> st.SearchStrategy[Event]:
    """An event of any type, or of the types with these names (``TABLE_MAP``): to be encoded alone, sensible or not.

    Raises ScenarioError for a name that no type has.
    """
    return event_strategies.events(_names(types))


def scenarios(server: Names = (), **kinds: Unpack[Kinds]) -> st.SearchStrategy[Scenario]:
    """A scenario of one table: an INSERT of some rows, and updates and deletes of them.

    ``server``: one line or more (any by default).  Now and then a server would refuse what is drawn, two equal keys for
    example: :func:`forge.build` raises ScenarioError then.
    Raises ScenarioError for a line or type that does not exist.
    """
    choices = Choices(
        tuple(map(_line, _names(server))),
        _types(kinds.get("types", ())),
        _names(kinds.get("charsets", ())),
        not kinds.get("session", True),
        kinds.get("max_columns", 6),
        kinds.get("max_rows", 3),
    )
    return _taken(choices)


def logs(server: Names = _DEFAULT, **kinds: Unpack[Kinds]) -> st.SearchStrategy[Log]:
    """A log with its rows (:class:`forge.Log`), of a scenario as :func:`scenarios` draws them."""
    return _logs(scenarios(server, **kinds))


def mutated_logs(server: Names = _DEFAULT, **kinds: Unpack[Kinds]) -> st.SearchStrategy[MutatedLog]:
    """A log with one thing wrong, what that is, and what a reader may do with it."""
    return _mutated(logs(server, **kinds))


@st.composite
def _taken(draw: st.DrawFn, choices: Choices) -> Scenario:
    try:
        return draw(drawn_scenarios(choices))
    except ScenarioError:
        raise UnsatisfiedAssumption from None


@st.composite
def _logs(draw: st.DrawFn, drawn: st.SearchStrategy[Scenario]) -> Log:
    try:
        return build(draw(drawn))
    except ScenarioError:  # Two equal keys, for example.
        raise UnsatisfiedAssumption from None


@st.composite
def _mutated(draw: st.DrawFn, drawn: st.SearchStrategy[Log]) -> MutatedLog:
    return mutated(HypothesisSource(draw), draw(drawn).files[0].data)


def _names(given: Names) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _line(name: str) -> str:
    return server_line(name).name


def _types(given: Names) -> tuple[str, ...]:
    names = tuple(name.upper() for name in _names(given))
    for name in names:
        if name not in column_types():
            raise ScenarioError(f"there is no type {name!r}", suggestion=nearest(name, column_types()))
    return names


register()  # The types are loaded now.
