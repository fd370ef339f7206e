"""``--where``: which rows are meant, by an expression over their columns as servers compute it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from forge.changed.known_tables import KnownTables
from forge.decode.cells import Cell, MappedTable, RowChange
from forge.engine.rows.predicates import Predicate, parse_predicates
from forge.errors import UnsupportedError
from forge.values.base import Column
from forge.values.registry import codec_for


class LackingImage(UnsupportedError):
    """No image of the row has a column that the condition reads."""


@dataclass(slots=True)
class Condition:
    """An expression of SQL; a row meets it if one of its images does."""

    sql: str
    tables: KnownTables
    _parsed: dict[int, tuple[MappedTable, list[Predicate]]] = field(default_factory=dict)

    def holds(self, change: RowChange, columns: Sequence[Column]) -> bool:
        """Whether the row meets it.

        Raises LackingImage; ScenarioError for what the table does not have, and for what cannot be computed.
        """
        mapped = change.mapped
        kept = self._parsed.get(mapped.body.table_id)
        if kept is None or kept[0].body is not mapped.body:
            known = self.tables.state_of(mapped.body)
            state = self.tables.guessed(mapped.body) if known is None else known[0]
            kept = self._parsed[mapped.body.table_id] = (
                mapped, parse_predicates(self.sql, state, self.tables.context()),
            )  # fmt: skip
        images = [image for image in (change.before, change.after) if image is not None]
        return any(self._meets(kept[1], image, columns) for image in images)

    def _meets(self, predicates: Sequence[Predicate], image: Sequence[Cell], columns: Sequence[Column]) -> bool:
        row: list[Any] = [None] * len(columns)
        told = set()
        for cell in image:
            column = columns[cell.number - 1]
            if not cell.partial:
                told.add(cell.number - 1)
                row[cell.number - 1] = None if cell.raw is None else codec_for(column).decode(column, cell.raw)
        for predicate in predicates:
            if missing := set(predicate.columns) - told:
                raise LackingImage(f"the image lacks column {min(missing) + 1}, which the condition reads")
            if not predicate.holds(tuple(row)):
                return False
        return True
