"""What feeds the rows of a table to a real server: tab-separated text for LOAD DATA, and INSERT statements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

#: Rows that become text at a time.
_CHUNK = 100_000


def _text_of(column: pa.Array, *, quoted: bool) -> pa.Array:
    """Each cell as text; NULL stays null.  Bytes are hexadecimal digits."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_binary(column.type):
        digits = pa.array([None if cell is None else cell.hex() for cell in column.to_pylist()], pa.string())
        return pc.binary_join_element_wise("x'", digits, "'", "") if quoted else digits
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us")).cast(pa.string())
        return pc.binary_join_element_wise("'", column, "'", "") if quoted else column
    if pa.types.is_string(column.type):
        column = pc.replace_substring(column, "\\", "\\\\")
        if quoted:
            return pc.binary_join_element_wise("'", pc.replace_substring(column, "'", "''"), "'", "")
        return column
    return column.cast(pa.string())


def _lines(table: pa.Table, separator: str, null: str, *, quoted: bool) -> Iterator[list[str]]:
    for batch in table.to_batches(max_chunksize=_CHUNK):
        cells = [_text_of(column, quoted=quoted) for column in batch.columns]
        joined = pc.binary_join_element_wise(*cells, separator, null_handling="replace", null_replacement=null)
        yield joined.to_pylist()


def write_tab_separated(table: pa.Table, path: Path) -> None:
    """The form that LOAD DATA reads; bytes as hexadecimal digits."""
    with path.open("w", encoding="utf-8") as file:
        for lines in _lines(table, "\t", "\\N", quoted=False):
            file.write("\n".join(lines) + "\n")


def write_inserts(table: pa.Table, name: str, rows_per_statement: int, path: Path) -> None:
    """INSERT statements for the table ``name`` with so many rows each."""
    rest: list[str] = []
    with path.open("w", encoding="utf-8") as file:
        for lines in _lines(table, ",", "NULL", quoted=True):
            rest += lines
            whole = len(rest) - len(rest) % rows_per_statement
            file.write(_statements(name, rest[:whole], rows_per_statement))
            rest = rest[whole:]
        file.write(_statements(name, rest, rows_per_statement))


def _statements(name: str, rows: list[str], rows_per_statement: int) -> str:
    groups = (rows[first : first + rows_per_statement] for first in range(0, len(rows), rows_per_statement))
    return "".join(f"INSERT INTO {name} VALUES ({'),('.join(group)});\n" for group in groups)
