"""The rows of tables, put together when somebody asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from forge.engine.dictionary.table_state import TableState
from forge.plan.tables import Row


class TableContents(Mapping[str, tuple[Row, ...]]):
    """The rows of every table by its full name, in the order of the clustering key."""

    def __init__(self, tables: Mapping[str, TableState]) -> None:
        self._tables = tables

    def __getitem__(self, name: str) -> tuple[Row, ...]:
        table = self._tables[name]
        return tuple(table.rows[number] for number in table.ordered())

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        return repr(dict(self))
