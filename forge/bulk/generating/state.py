"""The state that a volume's log leaves: the rows that are there at its end, as Parquet."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from forge.bulk.generating.lives import SPAN, Numbers, Rows, states_of
from forge.bulk.generating.setup import VolumeSetup
from forge.bulk.generating.volume_folder import PartOutput

#: Rows that are looked at for one file: those of them that are there are in it.
PART_ROWS: Final = 1 << 20
#: Rows of a row group, and of a batch of cells.
_GROUP: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class StatePart:
    """The rows from ``begin`` to ``end`` of a table, as file ``number`` of its state."""

    table: int
    number: int
    begin: int
    end: int

    @property
    def name(self) -> str:
        return f"part-{self.number:05d}.parquet"


def state_parts(setup: VolumeSetup) -> list[StatePart]:
    """All parts, by table."""
    return [
        StatePart(table.index, number, begin, min(begin + PART_ROWS, table.lives.rows))
        for table in setup.tables
        for number, begin in enumerate(range(0, table.lives.rows, PART_ROWS))
    ]


def state_schema(setup: VolumeSetup, table: int) -> pa.Schema:
    """Columns as they are at the end, of the types that ``forge.read_rows`` gives them."""
    columns = setup.definitions.epochs[-1].tables[table].columns
    sources = setup.sources[-1].of_table(table)
    return pa.schema([
        pa.field(column.name, source.kind, nullable=column.nullable)
        for column, source in zip(columns, sources, strict=True)
    ])  # fmt: skip


def living(setup: VolumeSetup, part: StatePart) -> tuple[Numbers, Numbers]:
    """The numbers and versions of a part's rows that are there at the end."""
    lives = setup.tables[part.table].lives
    versions = np.asarray(states_of(*lives.arguments, part.begin, part.end, SPAN))
    there = np.flatnonzero(versions >= 0)
    return there + part.begin, versions[there]


class _Sink(io.RawIOBase):
    """An output as the file that Parquet is written to."""

    def __init__(self, output: PartOutput) -> None:
        self.output = output

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.output.write(memoryview(data))
        return len(data)


def write_state(setup: VolumeSetup, part: StatePart, output: PartOutput) -> int:
    """Write a part; the number of its rows."""
    import pyarrow.parquet as pq

    schema = state_schema(setup, part.table)
    sources = setup.sources[-1].of_table(part.table)
    lives = setup.tables[part.table].lives
    numbers, versions = living(setup, part)
    dictionaries: Any = [field.name for field in schema if pa.types.is_dictionary(field.type)] or False
    with pq.ParquetWriter(_Sink(output), schema, compression="zstd", use_dictionary=dictionaries) as writer:
        for begin in range(0, len(numbers), _GROUP):
            some = slice(begin, begin + _GROUP)
            rows = Rows(lives, numbers[some], versions[some])
            batch = pa.RecordBatch.from_arrays([source.array(rows) for source in sources], schema=schema)
            writer.write_table(pa.Table.from_batches([batch]), row_group_size=_GROUP)
    return len(numbers)
