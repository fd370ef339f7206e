"""The codes of column types in TABLE_MAP's type list, by the names of the servers' include/field_types.h.

MariaDB's own are in include/mysql_com.h.  ENUM and SET never stand in the list: both travel as STRING, with their own
code as the first metadata byte.
"""

from __future__ import annotations

from enum import IntEnum


class WireType(IntEnum):
    """One byte of TABLE_MAP's type list, or of the metadata of STRING and TYPED_ARRAY."""

    #: DECIMAL of MySQL before 5.0.
    DECIMAL = 0
    TINY = 1
    SHORT = 2
    LONG = 3
    FLOAT = 4
    DOUBLE = 5
    NULL = 6
    #: TIMESTAMP, TIME and DATETIME before 5.6; on MariaDB also with mysql56_temporal_format=OFF.
    TIMESTAMP = 7
    LONGLONG = 8
    INT24 = 9
    DATE = 10
    TIME = 11
    DATETIME = 12
    YEAR = 13
    #: DATE inside the server; not written as a column's type.
    NEWDATE = 14
    VARCHAR = 15
    BIT = 16
    TIMESTAMP2 = 17
    DATETIME2 = 18
    TIME2 = 19
    TYPED_ARRAY = 20
    BLOB_COMPRESSED = 140
    VARCHAR_COMPRESSED = 141
    VECTOR = 242
    JSON = 245
    NEWDECIMAL = 246
    ENUM = 247
    SET = 248
    #: The sizes of BLOB are told by its metadata: these three are not written as a column's type.
    TINY_BLOB = 249
    MEDIUM_BLOB = 250
    LONG_BLOB = 251
    BLOB = 252
    #: VARCHAR before 5.0.
    VAR_STRING = 253
    STRING = 254
    GEOMETRY = 255
