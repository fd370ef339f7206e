"""The recordings of this folder's ``data``: what was run on which server, and how to record it again.

``python -m tests.check.recordings`` needs the real servers (``make servers``).  Times, table ids and XIDs differ from
recording to recording; nothing in the tests depends on them.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from forge.record.server import RealServer

DATA = Path(__file__).parent / "data"
SESSION = "SET sql_mode='NO_ENGINE_SUBSTITUTION', time_zone='+00:00', timestamp=1709210096.789123; USE p; "
LONG_NAME = "列" * 60
LONG_LABEL = "x" * 130

#: Recorded on MySQL 9.7 with binlog_row_metadata=FULL.
MYSQL_FULL: dict[str, str] = {
    "types-full": (DATA / "types.sql").read_text(),
    "images-full": (DATA / "images.sql").read_text(),
    # What foreign decoders get wrong: docs/findings.md.
    "time-negative": "CREATE TABLE a (t TIME(1)); INSERT INTO a VALUES ('-00:00:00.1')",
    "timestamp-zero": "CREATE TABLE a (t TIMESTAMP NULL); INSERT INTO a VALUES (0)",
    "year-zero": "CREATE TABLE a (y YEAR); INSERT INTO a VALUES (0)",
    "binary-padded": "CREATE TABLE a (b BINARY(4)); INSERT INTO a VALUES (x'61000000')",
    "latin1-81": "CREATE TABLE a (v VARCHAR(4) CHARACTER SET latin1); INSERT INTO a VALUES (x'6181')",
    "utf16": "CREATE TABLE a (v VARCHAR(4) CHARACTER SET utf16); INSERT INTO a VALUES ('ab')",
    "utf32": "CREATE TABLE a (v VARCHAR(4) CHARACTER SET utf32); INSERT INTO a VALUES ('ab')",
    "enum-latin1": "CREATE TABLE a (e ENUM('grün','ß') CHARACTER SET latin1); INSERT INTO a VALUES ('grün')",
    "enum-long-label": f"CREATE TABLE a (e ENUM('{LONG_LABEL}')); INSERT INTO a VALUES (1)",
    "column-name-long": f"CREATE TABLE a (`{LONG_NAME}` INT); INSERT INTO a VALUES (5)",
    "json-time-negative": "CREATE TABLE a (j JSON); INSERT INTO a SELECT JSON_ARRAY(CAST('-12:34:56.789' AS TIME(3)))",
    "json-time-long": "CREATE TABLE a (j JSON); INSERT INTO a SELECT JSON_ARRAY(CAST('25:00:00' AS TIME))",
    "json-timestamp": (
        "CREATE TABLE b (t TIMESTAMP(6)); INSERT INTO b VALUES ('2024-02-29 12:34:56.5');"
        " CREATE TABLE a (j JSON); INSERT INTO a SELECT JSON_ARRAY(t) FROM b"
    ),
    "json-bytes": "CREATE TABLE a (j JSON); INSERT INTO a SELECT JSON_ARRAY(x'0102ff')",
    "no-columns": (
        "SET binlog_row_image=MINIMAL; CREATE TABLE a (i INT DEFAULT 5, j INT); INSERT INTO a () VALUES ()"
    ),
    "vector": (
        "CREATE TABLE a (i INT, v VECTOR(3), u INT UNSIGNED);"
        " INSERT INTO a VALUES (1, TO_VECTOR('[1,2,0.1]'), 4294967295)"
    ),
    "vector-empty": "CREATE TABLE a (i INT, v VECTOR(3) NOT NULL); INSERT IGNORE INTO a (i) VALUES (1)",
    "geometry": (
        "CREATE TABLE a (i INT, p POINT); INSERT INTO a VALUES (1, ST_GeomFromText('POINT(1 2)')), (2, NULL);"
        " CREATE TABLE b (i INT); INSERT INTO b VALUES (7)"
    ),
    "year-signed": (
        "CREATE TABLE a (y YEAR, i TINYINT, u TINYINT UNSIGNED, k TINYINT); INSERT INTO a VALUES (2024, -1, 255, -2)"
    ),
    "statement": "SET binlog_format=STATEMENT; CREATE TABLE a (i INT); SET @x='é'; INSERT INTO a VALUES (LENGTH(@x))",
    "compressed": "SET binlog_transaction_compression=1; CREATE TABLE a (i INT); INSERT INTO a VALUES (1), (2)",
    "partial-json": (
        "SET binlog_row_value_options=PARTIAL_JSON; CREATE TABLE a (id INT PRIMARY KEY, j JSON);"
        """ INSERT INTO a VALUES (1, '{"s": "abcdefghij", "n": 123456789, "b": [1, 2]}');"""
        " UPDATE a SET j = JSON_SET(j, '$.s', 'X''Y', '$.n', 1); UPDATE a SET j = JSON_REMOVE(j, '$.b[0]')"
    ),
    # Rows of one statement in several events; the readers print them at its end.
    "partitions": (
        "CREATE TABLE a (i INT PRIMARY KEY) PARTITION BY HASH(i) PARTITIONS 3; INSERT INTO a VALUES (1), (2);"
        " UPDATE a SET i = 6 WHERE i = 1; DELETE FROM a WHERE i = 2"
    ),
    "odd-names": (
        "CREATE TABLE `a``b\n'c` (`x``y` INT, `n\nl` INT, `q'\\\\` INT); INSERT INTO `a``b\n'c` VALUES (1, 2, 3)"
    ),
    "invisible": (
        "SET sql_generate_invisible_primary_key=1; CREATE TABLE a (i INT, j INT INVISIBLE);"
        " INSERT INTO a (i, j) VALUES (1, 2)"
    ),
    "prefix-key": "CREATE TABLE a (b VARCHAR(10), c INT, PRIMARY KEY (c, b(3))); INSERT INTO a VALUES ('abc', 1)",
}  # fmt: skip
#: With binlog_row_metadata=MINIMAL.
MYSQL_MINIMAL = {"types-minimal": MYSQL_FULL["types-full"], "images-minimal": MYSQL_FULL["images-full"]}
#: With FULL metadata and binlog_checksum=NONE.
MYSQL_NO_CHECKSUM = {"images-no-checksum": MYSQL_FULL["images-full"]}
#: With gtid_mode=ON; the second file's PREVIOUS_GTIDS has the tag of the first's transaction.
MYSQL_GTID = {
    "gtid-tagged": "SET gtid_next='AUTOMATIC:blue'; CREATE TABLE a (i INT); INSERT INTO a VALUES (1)",
    "previous-gtids-tagged": "CREATE TABLE a (i INT); INSERT INTO a VALUES (1)",
}
#: Recorded on MariaDB 10.11 with binlog_row_metadata=FULL.
MARIADB = {
    "mariadb-types": (
        "CREATE TABLE a (u UUID, a INET4, b INET6, j JSON, g POINT, k TINYINT UNSIGNED, t TIME(2), s VARCHAR(9));"
        " INSERT INTO a VALUES ('123e4567-e89b-12d3-a456-426614174000', '1.2.3.0', '::1', '{\"a\":1}', POINT(1, 2),"
        " 255, '-00:00:00.01', 'a''b\\\\c\\n')"
    ),
    "mariadb-compressed-rows": (
        "CREATE TABLE a (v VARCHAR(3000)); SET GLOBAL log_bin_compress=1; INSERT INTO a VALUES (REPEAT('a', 3000));"
        " UPDATE a SET v = REPEAT('b', 300); DELETE FROM a; SET GLOBAL log_bin_compress=0"
    ),
    "mariadb-compressed-column": (
        "CREATE TABLE a (v VARCHAR(300) COMPRESSED, i INT); INSERT INTO a VALUES (REPEAT('a', 300), 1)"
    ),
}  # fmt: skip


def record(server: str, options: list[str], cases: Mapping[str, str]) -> None:
    """Run each case on a fresh database, in a binary log of its own, and keep that."""
    with RealServer(name=server, options=options) as real:
        numbers = {}
        for name, sql in cases.items():
            real.run_sql("DROP DATABASE IF EXISTS p; CREATE DATABASE p; FLUSH BINARY LOGS;")
            real.run_sql(f"{SESSION}{sql};\nFLUSH BINARY LOGS;")
            numbers[name] = len(real.binlog_files()) - 2
        real.stop()
        files = real.binlog_files()
        for name, number in numbers.items():
            shutil.copy(files[number], DATA / f"{name}.binlog")


def main() -> None:
    record("mysql97", ["--binlog-row-metadata=FULL"], MYSQL_FULL)
    record("mysql97", ["--binlog-row-metadata=MINIMAL"], MYSQL_MINIMAL)
    record("mysql97", ["--binlog-row-metadata=FULL", "--binlog-checksum=NONE"], MYSQL_NO_CHECKSUM)
    record("mysql97", ["--binlog-row-metadata=FULL", "--gtid-mode=ON", "--enforce-gtid-consistency=ON"], MYSQL_GTID)
    record("maria1011", ["--binlog-row-metadata=FULL", "--binlog-format=ROW"], MARIADB)


if __name__ == "__main__":
    main()
