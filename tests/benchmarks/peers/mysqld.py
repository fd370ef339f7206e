"""The real server itself: what LOAD DATA and INSERT cost it, its client included."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial

from tests.benchmarks.measure import Cost, Pass
from tests.benchmarks.server import WorkloadServer


@dataclass(frozen=True, slots=True)
class Mysqld:
    """Statements that fill a table which was made just before."""

    server: Callable[[], WorkloadServer]
    table: str
    statements: Callable[[], str]
    rows: int

    def prepare(self) -> None:
        self.server()

    def started(self) -> AbstractContextManager[Pass]:
        return nullcontext(partial(self._once, self.statements()))

    def _once(self, statements: str) -> Cost:
        self.server().create(self.table)
        cost = self.server().run(statements)
        self.server().forget()
        return Cost(cost.wall, cost.cpu, self.rows)
