"""Hypothesis strategies for columns and the values that they hold, aimed at boundaries.

``columns()`` draws a column of any type, ``values_for(column)`` a value that its codec encodes: the internal
values of forge.values.registry (exact text for temporal types, the bitmap of a SET).  A type that has no function in
``forge.testing.draws`` is drawn from what it says of itself: ``ColumnType.examples`` and ``Codec.examples``.

>>> @given(columns().flatmap(lambda column: tuples(just(column), values_for(column))))
... def test_my_decoder(pair): ...
"""

from __future__ import annotations

from hypothesis import strategies as st

from forge.testing.drawn import drawn
from forge.testing.draws import types
from forge.testing.draws.cells import value_of
from forge.values.base import Column, Value
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import column_for, column_types


def _declared(sql_type: st.SearchStrategy[SqlType], server: str = "mysql") -> st.SearchStrategy[Column]:
    return sql_type.map(lambda declared: column_for(declared, server=server))


def integer_columns() -> st.SearchStrategy[Column]:
    return _declared(drawn(types.integer_type))


def float_columns() -> st.SearchStrategy[Column]:
    return _declared(drawn(types.float_type))


def decimal_columns() -> st.SearchStrategy[Column]:
    return _declared(drawn(types.decimal_type))


def bit_columns() -> st.SearchStrategy[Column]:
    return _declared(drawn(types.bit_type))


def temporal_columns() -> st.SearchStrategy[Column]:
    """YEAR, MariaDB's YEAR(2), DATE, and TIME, DATETIME, TIMESTAMP with every fsp."""
    short = _declared(st.just(SqlType("YEAR", length=2)), "mariadb")
    return st.one_of(short, _declared(drawn(types.temporal_type)))


def old_temporal_columns() -> st.SearchStrategy[Column]:
    """TIME, DATETIME, TIMESTAMP of servers before 5.6, with MariaDB's fractional forms."""
    declared = drawn(types.fractional_type)
    return declared.map(lambda sql_type: column_for(sql_type, server="mariadb", temporals="old"))


def string_columns() -> st.SearchStrategy[Column]:
    """CHAR, VARCHAR, BINARY, VARBINARY, around the lengths where their prefixes change."""
    return _declared(drawn(types.string_type))


def blob_columns() -> st.SearchStrategy[Column]:
    return _declared(drawn(types.blob_type))


def compressed_columns() -> st.SearchStrategy[Column]:
    """MariaDB's COMPRESSED columns."""
    return _declared(drawn(types.compressed_type), "mariadb")


def member_columns() -> st.SearchStrategy[Column]:
    """ENUM and SET, around the numbers of members where their sizes change."""
    return _declared(drawn(types.member_type))


def declared_examples() -> st.SearchStrategy[Column]:
    """The columns that every type of MySQL names as examples of itself."""
    examples = [example for sql_type in column_types().values() for example in sql_type.examples]
    return _declared(st.sampled_from(examples))


def columns() -> st.SearchStrategy[Column]:
    """A column of any type."""
    return st.one_of(
        integer_columns(),
        float_columns(),
        decimal_columns(),
        bit_columns(),
        temporal_columns(),
        old_temporal_columns(),
        string_columns(),
        blob_columns(),
        compressed_columns(),
        member_columns(),
        declared_examples(),
    )


def columns_with_values() -> st.SearchStrategy[tuple[Column, Value]]:
    return columns().flatmap(lambda column: st.tuples(st.just(column), values_for(column)))


def values_for(column: Column) -> st.SearchStrategy[Value]:
    """Values that the column's codec encodes, its examples among them.

    Drawing raises UnsupportedError for a type with neither examples nor a function of its own.
    """
    return drawn(value_of, column)
