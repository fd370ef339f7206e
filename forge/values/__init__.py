"""Column values and their bytes: ``encode``, ``decode`` and ``explain`` one cell of a named type.

>>> from forge import values
>>> values.encode("DECIMAL(5,2)", "-1.5").hex(" ")
'7f fe cd'
>>> values.decode("DATETIME(3)", bytes.fromhex("99b2bac8b81ed2"))
datetime.datetime(2024, 2, 29, 12, 34, 56, 789000)

A cell is what a row event holds of a value, length prefix included.  docs/values.md has the table of what each
type accepts and returns.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from forge.errors import ScenarioError
from forge.values.base import Column, Piece, Value
from forge.values.declaration.sqltype import SqlType

__all__ = ["Column", "Piece", "SqlType", "Value", "column", "decode", "encode", "explain"]

#: Type text, a declared type, or a column as TABLE_MAP describes it.
TypeLike = str | SqlType | Column


def column(type: TypeLike, *, server: str = "mysql") -> Column:
    """The column description of a type; text without a named character set is utf8mb4.

    ``server`` is a family or line such as "mariadb-11.8".  Raises ScenarioError for a type that it cannot have.
    """
    # Importing the package must not load the codecs: forge.values.base is imported by everybody.
    from forge.charsets import default_collation
    from forge.values.declaration.typetext import parse_type
    from forge.values.registry import column_for

    if isinstance(type, Column):
        return type
    sql_type = parse_type(type, server=server) if isinstance(type, str) else type
    if sql_type.collation is None:
        sql_type = replace(sql_type, collation=default_collation("utf8mb4", server).id)
    return column_for(sql_type, server=server)


def encode(type: TypeLike, value: Any, *, server: str = "mysql") -> bytes:
    """The cell that ``server`` logs for ``value`` in a column of this type.

    Takes what a declaration may say: int, bool, float, Decimal, str, bytes, the types of ``datetime``, members of a
    SET as a list, and whatever :func:`decode` returns (but 0 of a YEAR(2), which means 2000).  Raises ScenarioError if
    a server in strict mode would refuse.
    """
    from forge.values.registry import codec_for

    if value is None:
        raise ScenarioError("NULL has no bytes", expected="a bit in the row's null bitmap")
    described = column(type, server=server)
    codec = codec_for(described)
    return codec.encode(described, codec.accept(described, value))


def decode(type: TypeLike, data: bytes, *, server: str = "mysql") -> Any:
    """The value of one whole cell, as the Python type that holds it exactly.

    TIME is a timedelta, DATE a date, DATETIME a naive and TIMESTAMP an aware (UTC) datetime; those that these types
    cannot hold (zero and partial dates) are exact text.  JSON is its text.  Raises FormatError for bytes that no
    server writes.
    """
    from forge.values.registry import codec_for

    described = column(type, server=server)
    codec = codec_for(described)
    return codec.python_value(described, codec.decode(described, bytes(data)))


def explain(type: TypeLike, data: bytes, *, server: str = "mysql") -> list[Piece]:
    """The bytes of one whole cell, piece by piece: (offset, data, meaning), without gaps.  Raises FormatError."""
    from forge.values.registry import codec_for

    described = column(type, server=server)
    return codec_for(described).explain(described, bytes(data))
