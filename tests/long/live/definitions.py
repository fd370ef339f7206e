"""Definitions at random: CREATE TABLE with what people write beside a column's type, and rows of defaults."""

from __future__ import annotations

from random import Random

from forge.scenario import ddl
from tests.long.live.cases import Asked, Case, inserted
from tests.long.live.literals import date_text, digits, number_text, time_text

_TYPES = (
    "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "INT(3)", "INT(255)", "BOOL", "SERIAL", "DECIMAL",
    "DECIMAL(5)",
    "DECIMAL(10,2)", "DEC(65,30)", "NUMERIC(4,4)", "FIXED(3,1)", "FLOAT", "FLOAT(5,2)", "DOUBLE", "DOUBLE PRECISION",
    "REAL",
    "FLOAT(24)", "FLOAT(25)", "BIT", "BIT(9)", "YEAR", "YEAR(4)", "DATE", "TIME", "TIME(3)", "DATETIME", "DATETIME(6)",
    "TIMESTAMP", "TIMESTAMP(2)", "CHAR", "CHAR(0)", "CHAR(5)", "VARCHAR(5)", "VARCHAR(300)", "VARCHAR(70000)",
    "TINYTEXT", "TEXT",
    "TEXT(300)", "TEXT(70000)", "MEDIUMTEXT", "LONGTEXT", "BINARY", "BINARY(3)", "VARBINARY(4)", "TINYBLOB", "BLOB",
    "BLOB(10)",
    "LONGBLOB", "ENUM('a','b')", "ENUM('a','A')", "ENUM('a ','b')", "SET('a','b')", "SET('a,b')", "ENUM('')", "JSON",
    "GEOMETRY",
    "POINT", "NCHAR(3)", "NVARCHAR(4)", "NATIONAL CHAR(3)", "CHARACTER VARYING(5)", "LONG", "LONG VARCHAR",
    "LONG VARBINARY",
    "CHAR BYTE", "INT1", "INT8", "MIDDLEINT", "FLOAT4", "FLOAT8", "INTEGER(5)", "LINESTRING", "INET6", "UUID",
    "VECTOR(2)",
)  # fmt: skip
_NUMERIC = ("INT", "DEC", "NUM", "FIX", "FLO", "DOU", "REA", "TIN", "SMA", "MED", "BIG", "MID")
_COLLATIONS = (
    "latin1_swedish_ci", "utf8mb4_bin", "utf8mb4_general_ci", "utf8mb3_general_ci", "ascii_general_ci", "binary",
    "ucs2_bin",
    "latin1_bin", "utf8_unicode_ci", "utf16le_general_ci", "cp932_japanese_ci",
)  # fmt: skip
_CHARSETS = (
    "latin1", "utf8mb4", "utf8", "utf8mb3", "ascii", "binary", "ucs2", "utf16", "cp932", "koi8r", "latin2", "gbk",
    "big5", "euckr", "cp1251", "utf32", "ujis", "greek",
)  # fmt: skip


def draw_definitions(random: Random, table: str) -> Case:
    """A table of one to four odd columns, a row of defaults, a row of simple values, sometimes an ALTER TABLE."""
    names = [f"c{number}" for number in range(random.randint(1, 4))]
    columns = [_column(random, name) for name in names]
    keys = [_key(random, names) for _ in range(random.choice((0, 0, 0, 1, 1, 2)))]
    sql = f"CREATE TABLE {table} ({', '.join([*columns, *keys])}){_options(random)}"
    statements = [inserted(table, {})]
    if random.random() < 0.6:
        statements.append(inserted(table, {random.choice(names): random.choice((1, "a", "2024-02-29", None, "0"))}))
    if random.random() < 0.4:
        text = f"ALTER TABLE {table} {_action(random, names)}"
        statements += [Asked(ddl(text), text), inserted(table, {})]
    return Case(sql, tuple(statements))


def _column(random: Random, name: str) -> str:
    type_text = random.choice(_TYPES)
    parts = [name, type_text]
    if type_text.startswith(_NUMERIC) and "TEXT" not in type_text and random.random() < 0.3:
        parts.append(random.choice(("UNSIGNED", "ZEROFILL", "UNSIGNED ZEROFILL", "SIGNED", "ZEROFILL UNSIGNED")))
    elif random.random() < 0.2:
        parts.append(
            random.choice(
                (f"CHARACTER SET {random.choice(_CHARSETS)}", f"CHARSET {random.choice(_CHARSETS)}", "BINARY", "ASCII",
                 "UNICODE",
                 f"COLLATE {random.choice(_COLLATIONS)}", f"CHARACTER SET utf8mb4 COLLATE {random.choice(_COLLATIONS)}",
                 "BYTE")
            )
        )  # fmt: skip
    parts += random.sample(
        (_default(random), _default(random), "NOT NULL", "NULL", "COMMENT 'c'", "AUTO_INCREMENT", "UNIQUE",
         "PRIMARY KEY", "KEY",
         "INVISIBLE", "ON UPDATE CURRENT_TIMESTAMP", "CHECK (1)", "AS (1)", "GENERATED ALWAYS AS (1 + 1) STORED",
         "AS (CONCAT('a', 1)) VIRTUAL",
         "AS (UPPER('ab'))", "AS (LENGTH('abc') * 2) STORED", "AS (ROUND(2.5))",
         "COLUMN_FORMAT FIXED",
         "VISIBLE", "SRID 4326", "UNIQUE KEY", "STORAGE DISK"),
        k=random.choice((0, 0, 1, 1, 1, 2, 3)),
    )  # fmt: skip
    return " ".join(parts)


def _default(random: Random) -> str:
    value = random.choice(
        ("NULL", "0", "1", "-1", "''", "'a'", "'abc   '", "'1'", "1.5", "1e3", "x'41'", "0x41", "b'1'", "TRUE", "'b'",
         "'2024-02-29'", "(CONCAT('a', 'b'))", "(UPPER('b'))", "(ABS(-2))", "(7 DIV 2)", "(LEFT('abc', 1))",
         "(1.5 * 2)",
         "CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP(3)", "NOW()", "NOW(6)", "LOCALTIME", "CURRENT_DATE", "(1)", "(1 + 1)",
         "('a')", "('[]')",
         "20240229", "'0000-00-00'", "'10:11:12'", "(CURRENT_DATE)", "(NULL)", "N'a'", "_latin1'a'",
         "DATE '2024-02-29'", "+1", "- 1",
         f"'{date_text(random)}'", f"'{time_text(random)}'", f"'{digits(random, 4)}'",
         f"'{number_text(random).strip()}'")
    )  # fmt: skip
    return f"DEFAULT {value}".replace("\0", "")


def _key(random: Random, names: list[str]) -> str:
    parts = [
        name + random.choice(("", "", "(3)", " DESC", " ASC", "(0)", "(4000)"))
        for name in random.sample(names, k=random.randint(1, min(2, len(names))))
    ]
    word = random.choice(
        ("PRIMARY KEY", "UNIQUE KEY", "KEY", "INDEX k", "UNIQUE", "CONSTRAINT pk PRIMARY KEY", "FULLTEXT KEY",
         "SPATIAL KEY",
         "UNIQUE INDEX u USING BTREE")
    )  # fmt: skip
    return f"{word} ({', '.join(parts)})" + random.choice(("", "", "", " COMMENT 'k'", " USING HASH", " INVISIBLE"))


def _options(random: Random) -> str:
    options = random.sample(
        ("ENGINE=InnoDB", "ENGINE = MyISAM", "ENGINE=MEMORY", "AUTO_INCREMENT=5", "COMMENT='t'", "ROW_FORMAT=DYNAMIC",
         f"DEFAULT CHARSET={random.choice(_CHARSETS)}", f"COLLATE {random.choice(_COLLATIONS)}", "KEY_BLOCK_SIZE=8",
         "CHECKSUM=1",
         f"CHARACTER SET {random.choice(_CHARSETS)} COLLATE {random.choice(_COLLATIONS)}", "STATS_PERSISTENT=0",
         "MAX_ROWS=10",
         "PACK_KEYS=1", "DELAY_KEY_WRITE=1", "AVG_ROW_LENGTH=10", "TRANSACTIONAL=1", "ENGINE=Aria", "ENGINE=BLACKHOLE",
         "COMPRESSION='zlib'"),
        k=random.choice((0, 0, 0, 1, 1, 2)),
    )  # fmt: skip
    return (" " if options else "") + random.choice((" ", ", ")).join(options)


def _action(random: Random, names: list[str]) -> str:
    name = random.choice(names)
    return random.choice(
        (f"ADD {_column(random, 'x')}", f"ADD COLUMN {_column(random, 'x')} FIRST", f"DROP {name}",
         f"MODIFY {_column(random, name)}",
         f"CHANGE {name} {_column(random, 'y')} AFTER {random.choice(names)}", f"ALTER {name} SET {_default(random)}",
         f"ALTER COLUMN {name} DROP DEFAULT", f"RENAME COLUMN {name} TO z", f"ADD {_key(random, names)}", "COMMENT 'n'",
         "ENGINE=InnoDB",
         f"CONVERT TO CHARACTER SET {random.choice(_CHARSETS)}", f"ADD x INT, DROP {name}", "FORCE",
         "DROP PRIMARY KEY", "AUTO_INCREMENT=50")
    )  # fmt: skip
