"""The SQL type of a column, as a declaration states it (everything that decides its bytes)."""

from __future__ import annotations

from msgspec import Struct


class SqlType(Struct, frozen=True):
    """One SQL column type with its arguments.

    ``name`` is the canonical upper-case name of the type: ``TINYINT SMALLINT MEDIUMINT INT BIGINT FLOAT DOUBLE
    DECIMAL BIT YEAR DATE TIME DATETIME TIMESTAMP CHAR VARCHAR BINARY VARBINARY TINYTEXT TEXT MEDIUMTEXT LONGTEXT
    TINYBLOB BLOB MEDIUMBLOB LONGBLOB ENUM SET JSON GEOMETRY POINT ... VECTOR`` and MariaDB's ``UUID INET4 INET6``.
    Aliases (BOOL, INTEGER, NUMERIC, SERIAL, NCHAR, ...) are resolved by the front end.
    """

    name: str
    #: CHAR/VARCHAR: characters; BINARY/VARBINARY: bytes; BIT: bits; VECTOR: dimensions; YEAR: digits if not 4.
    length: int | None = None
    #: DECIMAL(p, s); FLOAT/DOUBLE(M, D).
    precision: int | None = None
    scale: int | None = None
    #: Fractional seconds digits of TIME, DATETIME, TIMESTAMP: 0..6.
    fsp: int = 0
    unsigned: bool = False
    zerofill: bool = False
    #: Collation id of character types (CHAR, VARCHAR, TEXT family, ENUM, SET); None for the others.
    collation: int | None = None
    #: Members of ENUM and SET, in order.
    members: tuple[str, ...] = ()
    #: Spatial reference system of a geometry column.
    srid: int | None = None
    #: MariaDB's COMPRESSED attribute.
    compressed: bool = False
