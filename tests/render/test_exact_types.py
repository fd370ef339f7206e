"""WL#4618 F7: the exact SQL type of every column can be had from the event, on every line that writes metadata."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from forge.binlog import read_events, write_binlog
from forge.compile import compile_plan
from forge.events.table_map import TableMap
from forge.plan.session import Session
from forge.record.builds import BUILD_OF_LINE, LINES_OF_TODAY
from forge.record.server import RealServer
from forge.render.column_facts import ColumnFacts
from forge.render.schema_of import TableSchema, schemas_of
from forge.resources import corpora_dir
from forge.scenario import Scenario, insert, plan
from forge.servers import server_line
from forge.sql.write import identifier

MYSQL = ("mysql-8.0", "mysql-8.4", "mysql-9.7")
MARIADB = ("mariadb-10.11", "mariadb-11.8")
#: Declared, and as the event tells it.
EVERYWHERE = {
    "TINYINT": "TINYINT", "SMALLINT UNSIGNED": "SMALLINT UNSIGNED", "MEDIUMINT": "MEDIUMINT",
    "INT(7) ZEROFILL": "INT UNSIGNED", "BIGINT UNSIGNED": "BIGINT UNSIGNED", "BOOL": "TINYINT",
    "FLOAT": "FLOAT", "DOUBLE UNSIGNED": "DOUBLE UNSIGNED", "FLOAT(7,3)": "FLOAT", "NUMERIC": "DECIMAL(10,0)",
    "DECIMAL(65,30) UNSIGNED": "DECIMAL(65,30) UNSIGNED", "BIT(1)": "BIT(1)", "BIT(8)": "BIT(8)", "BIT(64)": "BIT(64)",
    "YEAR": "YEAR", "DATE": "DATE", "TIME": "TIME", "TIME(6)": "TIME(6)", "DATETIME(1)": "DATETIME(1)",
    "TIMESTAMP(3) NULL": "TIMESTAMP(3)",
    "CHAR(0) CHARACTER SET latin1": "CHAR(0)", "CHAR(255) CHARACTER SET utf8mb4": "CHAR(255)",
    "BINARY(255)": "BINARY(255)",
    "VARCHAR(3) CHARACTER SET ucs2": "VARCHAR(3)",
    "VARCHAR(300) CHARACTER SET latin1 COLLATE latin1_bin": "VARCHAR(300)",
    "VARBINARY(300)": "VARBINARY(300)", "CHAR(5) CHARACTER SET binary": "BINARY(5)",
    "TINYTEXT": "TINYTEXT", "TEXT": "TEXT",
    "MEDIUMTEXT": "MEDIUMTEXT", "LONGTEXT": "LONGTEXT", "TEXT(20) CHARACTER SET latin1": "TINYTEXT",
    "TINYBLOB": "TINYBLOB",
    "BLOB": "BLOB", "BLOB(70000)": "MEDIUMBLOB", "LONGBLOB": "LONGBLOB", "TEXT CHARACTER SET binary": "BLOB",
    "ENUM('a','it''s','é') CHARACTER SET latin1": r"ENUM('a','it\'s','é')",
    "SET('x','y') CHARACTER SET ucs2": "SET('x','y')", "ENUM('a') CHARACTER SET binary": "ENUM('a')",
    "GEOMETRY": "GEOMETRY", "POINT": "POINT", "LINESTRING": "LINESTRING", "POLYGON": "POLYGON",
    "MULTIPOINT": "MULTIPOINT", "MULTILINESTRING": "MULTILINESTRING", "MULTIPOLYGON": "MULTIPOLYGON",
    "GEOMETRYCOLLECTION": "GEOMETRYCOLLECTION",
}  # fmt: skip
OF_MYSQL = {"JSON": "JSON"}
OF_MYSQL_9 = {"VECTOR": "VECTOR(2048)", "VECTOR(3)": "VECTOR(3)"}
#: Types of MariaDB that travel as others, with what the event leaves open.
OF_MARIADB = {
    "JSON": ("LONGTEXT", ("or JSON",)),
    "UUID": ("BINARY(16)", ("or UUID", "or INET6")),
    "INET6": ("BINARY(16)", ("or UUID", "or INET6")),
    "INET4": ("BINARY(4)", ("or INET4",)),
    "VARBINARY(12)": ("VARBINARY(12)", ("or VECTOR(3)",)),
    "VARCHAR(10) COMPRESSED CHARACTER SET latin1": ("VARCHAR(10) COMPRESSED", ()),
    "MEDIUMBLOB COMPRESSED": ("MEDIUMBLOB COMPRESSED", ()),
}


def schema(server: str, types: list[str], mode: str) -> TableSchema:
    columns = ", ".join(f"c{place} {text}" for place, text in enumerate(types))
    scenario = Scenario(
        scenario="t",
        server=server,
        session=Session(row_metadata=mode),  # type: ignore[arg-type]
        tables=[f"CREATE TABLE d.t (id INT, {columns})"],
    ).transaction(insert("d.t", {"id": 1}))
    (found,) = schemas_of(write_binlog(compile_plan(plan(scenario))))
    return found


def facts(server: str, types: list[str], mode: str = "full") -> dict[str, ColumnFacts]:
    columns = schema(server, types, mode).columns
    assert columns is not None
    return dict(zip(types, columns[1:], strict=True))


@pytest.mark.parametrize("mode", ["minimal", "full"])
@pytest.mark.parametrize("server", [*MYSQL, *MARIADB])
def test_the_exact_type_of_every_column_is_told(server: str, mode: str) -> None:
    wanted = dict(EVERYWHERE)
    if server in MYSQL:
        wanted |= OF_MYSQL
    if "vector_dimensions" in server_line(server).table_map.full_metadata:
        wanted |= OF_MYSQL_9
    found = facts(server, list(wanted), mode)
    for declared, told in wanted.items():
        unknown = set(found[declared].unknown)
        if mode == "minimal" and told.startswith(("ENUM", "SET")):
            assert {"members", "character set"} <= unknown
            continue
        assert found[declared].sql_type == told, declared
        assert {word for word in unknown if not word.startswith("or ")} == ({"name"} if mode == "minimal" else set())


@pytest.mark.parametrize("server", MARIADB)
def test_what_travels_as_another_type_on_mariadb_is_said_to_be_open(server: str) -> None:
    found = facts(server, list(OF_MARIADB))
    assert {name: (one.sql_type, one.unknown) for name, one in found.items()} == OF_MARIADB


@pytest.mark.parametrize("server", MARIADB)
def test_without_metadata_signs_names_and_character_sets_are_unknown(server: str) -> None:
    types = ["INT UNSIGNED", "YEAR", "VARCHAR(3) CHARACTER SET latin1", "BLOB", "ENUM('a')", "POINT", "DATETIME(3)"]
    assert {name: one.unknown for name, one in facts(server, types, "none").items()} == {
        "INT UNSIGNED": ("sign", "name"),
        "YEAR": ("name",),
        "VARCHAR(3) CHARACTER SET latin1": ("name", "character set"),
        "BLOB": ("name", "character set"),
        "ENUM('a')": ("name", "character set", "members"),
        "POINT": ("name", "geometry type"),
        "DATETIME(3)": ("name",),
    }
    assert schema(server, types, "none").create_table().endswith(") /* unknown: key, visibility */;\n")


def test_lengths_are_those_of_information_schema() -> None:
    # CHARACTER_MAXIMUM_LENGTH and CHARACTER_OCTET_LENGTH as 9.7 gave them.
    recorded = {
        "VARCHAR(5) CHARACTER SET utf8mb4": (5, 20), "CHAR(3) CHARACTER SET ucs2": (3, 6),
        "TEXT CHARACTER SET utf8mb4": (65535, 65535), "TEXT CHARACTER SET ucs2": (32767, 65535),
        "LONGTEXT CHARACTER SET utf8mb4": (4294967295, 4294967295), "VARBINARY(7)": (7, 7), "BLOB": (65535, 65535),
        "ENUM('a','bcd','é') CHARACTER SET utf8mb4": (3, 12), "SET('x','yz') CHARACTER SET latin1": (4, 4),
        "ENUM('ab') CHARACTER SET ucs2": (2, 4), "JSON": (None, None), "BIT(5)": (None, None),
    }  # fmt: skip
    found = facts("mysql-9.7", list(recorded))
    assert {name: (one.characters, one.octets) for name, one in found.items()} == recorded


def test_the_column_list_has_a_line_a_column_and_says_unknown_where_the_mode_does_not_tell() -> None:
    lines = schema("mysql-9.7", ["INT UNSIGNED", "CHAR(2) CHARACTER SET latin1"], "minimal").column_list().splitlines()
    assert lines[0] == "`d`.`t`"
    assert [line.split()[:7] for line in lines[2:]] == [
        ["1", "unknown", "INT", "yes", "signed", "unknown", "unknown"],
        ["2", "unknown", "INT", "UNSIGNED", "yes", "unsigned", "unknown"],
        ["3", "unknown", "CHAR(2)", "yes", "-", "unknown", "unknown"],
    ]
    assert "latin1_swedish_ci" in lines[4]
    told = json.loads(json.dumps(schema("mysql-9.7", ["INT"], "minimal").as_json()))
    assert told["unknown"] == ["key", "visibility"]


def recorded_schemas(line: str) -> Iterator[TableSchema]:
    """The tables of the recordings of values and thresholds with full metadata."""
    for folder in sorted(Path(corpora_dir(), "recordings").glob(f"*/*/{line}")):
        options: list[Any] = yaml.safe_load((folder / "recording.yaml").read_text())["options"]
        if "--binlog-row-metadata=FULL" in options and "--mysql56-temporal-format=OFF" not in options:
            yield from schemas_of((folder / "binlog.000001").read_bytes())


#: What MySQL has no implicit default of, not even with IGNORE.
SHAPES = {
    "POINT": "POINT(0, 0)", "GEOMETRY": "POINT(0, 0)", "LINESTRING": "ST_GeomFromText('LINESTRING(0 0, 1 1)')",
    "POLYGON": "ST_GeomFromText('POLYGON((0 0, 1 0, 1 1, 0 0))')", "MULTIPOINT": "ST_GeomFromText('MULTIPOINT(0 0)')",
    "MULTILINESTRING": "ST_GeomFromText('MULTILINESTRING((0 0, 1 1))')",
    "MULTIPOLYGON": "ST_GeomFromText('MULTIPOLYGON(((0 0, 1 0, 1 1, 0 0)))')",
    "GEOMETRYCOLLECTION": "ST_GeomFromText('GEOMETRYCOLLECTION EMPTY')",
}  # fmt: skip


def first_row(table: str, described: TableSchema) -> str:
    """An INSERT of a row that any definition takes."""
    assert described.columns is not None
    shapes = {
        column.name: SHAPES[column.sql_type]
        for column in described.columns
        if column.name is not None and not column.nullable and column.sql_type in SHAPES
    }
    names = ", ".join(map(identifier, shapes))
    return f"INSERT IGNORE INTO {table} ({names}) VALUES ({', '.join(shapes.values())});\n"


@pytest.mark.servers
@pytest.mark.parametrize("line", LINES_OF_TODAY)
def test_the_create_table_that_is_printed_logs_the_same_description_again(line: str) -> None:
    wanted = list(recorded_schemas(line))
    options = ["--server-id=1", "--binlog-row-metadata=FULL", "--binlog-format=ROW"]
    script = "SET NAMES utf8mb4;\n"
    for number, one in enumerate(wanted):
        table = f"d{number}.{identifier(one.table_map.table)}"
        definition = one.create_table().partition(" (\n")[2]
        script += f"CREATE DATABASE d{number};\nCREATE TABLE {table} (\n{definition}"
        script += first_row(table, one)
    with RealServer(None, BUILD_OF_LINE[line], options[: 3 if line in MARIADB else 2]) as server:
        server.run_sql(script)
        server.stop()
        events = [placed.event.body for file in server.binlog_files() for placed in read_events(file.read_bytes())]
    logged = {body.database: body for body in events if isinstance(body, TableMap)}
    assert len(wanted) > 20
    for number, one in enumerate(wanted):
        again, first = logged[f"d{number}"], one.table_map
        assert (again.types, again.metadata, again.nullable) == (first.types, first.metadata, first.nullable)
        assert again.optional_metadata == first.optional_metadata
