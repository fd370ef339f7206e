"""The tables of a case, as a reader gets them that asks a server for columns: ``tables.json``, ``schema.sql``.

They are those of the log's table maps.  A column that the log does not name is ``col1``, ``col2``, ... in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from forge.errors import ForgeError
from forge.events.plain import name_text
from forge.render.column_facts import ColumnFacts
from forge.render.definition_of import definition_of
from forge.render.schema_of import TableSchema, schemas_of
from forge.servers import server_line
from forge.sql.write import identifier


class MappedTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table map in ``tables.json``; ``columns`` is null where one is of a type that is not known."""

    file: str
    event: int
    offset: int
    database: str | dict[str, str]
    table: str | dict[str, str]
    columns: list[ColumnFacts] | None
    unknown: list[str]


TABLES, SCHEMA = "tables.json", "schema.sql"


def definition_files(files: Mapping[str, bytes], server: str) -> dict[str, bytes]:
    """The two files of a case; none if no table is mapped.  Raises nothing for any bytes."""
    tables: list[dict[str, Any]] = []
    statements: dict[str, None] = {}
    for name, data in files.items():
        for schema in _schemas(data):
            tables.append({"file": name} | _named(schema.as_json()))
            statements.setdefault(_statement(schema, server))
    if not tables:
        return {}
    text = "\n\n".join(statements) + "\n"
    return {TABLES: msgspec.json.format(msgspec.json.encode(tables), indent=2) + b"\n", SCHEMA: text.encode()}


def _schemas(data: bytes) -> Iterator[TableSchema]:
    """Up to where our own reader stops."""
    try:
        yield from schemas_of(data)
    except ForgeError:
        return


def _named(shown: dict[str, Any]) -> dict[str, Any]:
    for column in shown["columns"] or ():
        if column["name"] is None:
            column["name"] = f"col{column['position']}"
    return shown


def _statement(schema: TableSchema, server: str) -> str:
    mapped = schema.table_map
    try:
        sql = definition_of(mapped, server_line(server), engine=None)
    except ForgeError as error:
        return f"-- {schema.full_name} cannot be told: {' '.join(str(error).split())}"
    return f"CREATE DATABASE IF NOT EXISTS {identifier(name_text(mapped.database))};\n{sql};"
