"""Hypothesis strategies for tests of programs that read binary logs (docs/hypothesis.md).

>>> @given(logs(server="mysql-9.7", types=("JSON", "DECIMAL")))
... def test_my_reader(log):
...     assert my_reader(log.data) == [row.after for row in log.rows]

Logs are those of generated scenarios: valid, with the rows that a correct reader must see.  What fails is shrunk to a
small table, few rows, and plain values.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from forge.engine.requests.transactions import Transaction
from forge.errors import ScenarioError, nearest
from forge.plan.tables import Row as TableRow
from forge.plan.tables import Table
from forge.scenario.model import Scenario
from forge.servers import server_line
from forge.testing import tables as table_strategies
from forge.testing.drawn import HypothesisSource
from forge.testing.draws.scenarios import Choices, scenario_of
from forge.testing.events import events
from forge.testing.logs import Log, build
from forge.testing.mutations import MutatedLog, mutated
from forge.values.registry import column_types

__all__ = ["events", "logs", "mutated_logs", "register", "rows", "scenarios", "tables", "transactions"]

_DEFAULT = "mysql-9.7"
#: Scenarios that are drawn for one log, until the line takes one.
_ATTEMPTS = 4

Names = str | Sequence[str]


def tables(server: str = _DEFAULT, *, max_columns: int = 24) -> st.SearchStrategy[Table]:
    """A table of columns of all types that the line knows, with a primary or unique key or none."""
    return table_strategies.tables(server, max_columns)


def rows(table: Table, server: str = _DEFAULT, *, max_rows: int = 3) -> st.SearchStrategy[list[TableRow]]:
    """Rows that the table can hold; values are those of ``forge.values``, None is NULL."""
    return table_strategies.rows_of(table, server, max_rows)


def transactions(
    server: Names = _DEFAULT, *, types: Names = (), charsets: Names = ()
) -> st.SearchStrategy[Transaction]:
    """A transaction of a scenario as :func:`scenarios` draws them."""
    return scenarios(server, types=types, charsets=charsets).flatmap(lambda one: st.sampled_from(one.transactions))


def scenarios(
    server: Names = (),
    *,
    types: Names = (),
    charsets: Names = (),
    session: bool = True,
    max_columns: int = 6,
    max_rows: int = 3,
) -> st.SearchStrategy[Scenario]:
    """A scenario of one table: an INSERT of some rows, and updates and deletes of them.

    ``server``: one line or more (any by default); ``types`` and ``charsets``: names of column types and of character
    sets; ``session``: settings vary, else they are the server's own.  Now and then a server would refuse what is drawn,
    two equal keys for example: :func:`forge.build` raises ScenarioError then.
    Raises ScenarioError for a line or type that there is not.
    """  # fmt: skip
    servers, kinds = _names(server), tuple(name.upper() for name in _names(types))
    for name in servers:
        server_line(name)
    for kind in kinds:
        if kind not in column_types():
            raise ScenarioError(f"there is no type {kind!r}", suggestion=nearest(kind, column_types()))
    choices = Choices(servers, kinds, _names(charsets), not session, max_columns, max_rows)
    return _scenarios(choices)


def logs(
    server: Names = _DEFAULT,
    *,
    types: Names = (),
    charsets: Names = (),
    session: bool = True,
    max_columns: int = 6,
    max_rows: int = 3,
) -> st.SearchStrategy[Log]:
    """A log with its rows (:class:`forge.Log`), of a scenario as :func:`scenarios` draws them."""  # fmt: skip
    drawn = scenarios(
        server, types=types, charsets=charsets, session=session, max_columns=max_columns, max_rows=max_rows
    )
    return _logs(drawn)


def mutated_logs(
    server: Names = _DEFAULT, *, types: Names = (), charsets: Names = (), session: bool = True
) -> st.SearchStrategy[MutatedLog]:
    """A log with one thing wrong, what that is, and what a reader may do with it."""
    return _mutated(logs(server, types=types, charsets=charsets, session=session))


def register() -> None:
    """What ``st.from_type`` gives for :class:`forge.Log` and :class:`forge.Scenario`; Hypothesis calls it."""
    st.register_type_strategy(Log, logs())
    st.register_type_strategy(Scenario, scenarios())
    st.register_type_strategy(MutatedLog, mutated_logs())


@st.composite
def _scenarios(draw: st.DrawFn, choices: Choices) -> Scenario:
    try:
        return scenario_of(HypothesisSource(draw), "drawn", choices)
    except ScenarioError:
        raise UnsatisfiedAssumption from None


@st.composite
def _logs(draw: st.DrawFn, drawn: st.SearchStrategy[Scenario]) -> Log:
    for _ in range(_ATTEMPTS):
        try:
            return build(draw(drawn))
        except ScenarioError:
            continue  # Two equal keys, for example.
    raise UnsatisfiedAssumption


@st.composite
def _mutated(draw: st.DrawFn, drawn: st.SearchStrategy[Log]) -> MutatedLog:
    return mutated(HypothesisSource(draw), draw(drawn).files[0].data)


def _names(given: Names) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
