"""The end state of a table as Arrow: numbers and bytes as such, moments and all else as the text that SQL prints."""

from __future__ import annotations

from typing import Any

from forge.engine.dictionary.columns import ColumnDefinition
from forge.errors import EnvironmentMissing, with_extra
from forge.replay.replica_table import ReplicaTable

#: Digits that an Arrow decimal of 128 bits holds.
_DIGITS_128 = 38


def arrow_table(table: ReplicaTable) -> Any:
    """The rows of a table, in the order of a scan, as a ``pyarrow.Table``.

    Integers are int64 or uint64, FLOAT and DOUBLE float64, DECIMAL has its digits, bytes are bytes; a zero date is
    no moment of Arrow, so that dates and times are text.  Raises EnvironmentMissing without PyArrow.
    """
    try:
        import pyarrow
    except ImportError:
        raise EnvironmentMissing(f"Parquet needs PyArrow: {with_extra('rows')}") from None
    order = list(table.ordered(table.rows))
    columns = {}
    for index, name in table.named:
        texts = [table.text(index, table.rows[number][index]) for number in order]
        kind = _arrow_type(pyarrow, table.definitions[index])
        if kind == pyarrow.binary():
            columns[name] = pyarrow.array([_bytes(text) for text in texts], kind)
        else:
            columns[name] = pyarrow.array(texts, pyarrow.string()).cast(kind)
    return pyarrow.table(columns)


def _arrow_type(pyarrow: Any, definition: ColumnDefinition) -> Any:
    declared, facts = definition.type, definition.type_facts
    if facts.is_integer or declared.name == "YEAR":
        return pyarrow.uint64() if declared.unsigned else pyarrow.int64()
    if declared.name in ("FLOAT", "DOUBLE"):
        return pyarrow.float64()
    if declared.name == "DECIMAL":
        digits = 10 if declared.precision is None else declared.precision
        decimal = pyarrow.decimal128 if digits <= _DIGITS_128 else pyarrow.decimal256
        return decimal(digits, declared.scale or 0)
    return pyarrow.binary() if facts.is_bytes or facts.is_geometry else pyarrow.string()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text.removeprefix("0x"))
