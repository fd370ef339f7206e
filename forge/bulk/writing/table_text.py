"""The table that rows are written of: CREATE TABLE text, or a name whose columns follow from the Arrow schema."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import msgspec
import pyarrow as pa

from forge.bulk.writing.changes import METADATA
from forge.bulk.writing.envelopes import Compiled
from forge.errors import ScenarioError
from forge.plan.facts import Facts
from forge.plan.plan import Plan
from forge.plan.session import Session
from forge.plan.tables import Table
from forge.scenario.model import Scenario
from forge.scenario.planning import plan
from forge.sql.write import identifier

_INTEGERS = {8: "TINYINT", 16: "SMALLINT", 32: "INT", 64: "BIGINT"}
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 6}
_LARGEST_DECIMAL, _LARGEST_SCALE = 65, 30
_LARGEST_BINARY = 255
_CREATE = re.compile(r"\s*create\b.*\(", re.IGNORECASE | re.DOTALL)


def table_text(table: str, schema: pa.Schema) -> str:
    """The text of CREATE TABLE: ``table`` itself, unless it is ``database.name``."""
    return table if _CREATE.match(table) else create_table(table, schema)


class PlannedTable(NamedTuple):
    """The plan of a session that makes a table, the table, and the shapes that were compiled for such a session."""

    plan: Plan
    table: Table
    compiled: Compiled


def table_plan(text: str, server: str, session: Session) -> PlannedTable:
    """The plan of a session that makes the table of a CREATE TABLE text.

    Raises ScenarioError for what a server of the line refuses.
    """
    # Facts say nothing of a table, and may be long.
    plain = msgspec.structs.replace(session, facts=Facts())
    made = _planned(text, server, msgspec.msgpack.encode(plain))
    # What is compiled may hold facts.
    compiled = made.compiled if session.facts == plain.facts else {}
    return PlannedTable(msgspec.structs.replace(made.plan, session=session), made.table, compiled)


@lru_cache(maxsize=16)
def _planned(text: str, server: str, settings: bytes) -> PlannedTable:
    """The same for settings that can be compared: a table is written in many calls, and planning takes milliseconds."""
    session = msgspec.msgpack.decode(settings, type=Session)
    made = plan(Scenario(scenario="rows", server=server, session=session, tables=[text]))
    (only,) = made.tables.values()
    return PlannedTable(made, only, {})


def create_table(name: str, schema: pa.Schema) -> str:
    """CREATE TABLE of the table ``database.name`` with a column for each of the schema's, but for metadata of rows.

    Raises ScenarioError for a name without a database and for an Arrow type that no column has.
    """
    parts = name.split(".")
    if len(parts) != 2 or not all(parts):
        raise ScenarioError(f"{name!r} is not a table", expected="database.name, or the text of CREATE TABLE")
    fields = [field for field in schema if field.name not in METADATA]
    images = [field for field in fields if field.name in ("before", "after") and pa.types.is_struct(field.type)]
    if images:
        struct = images[-1].type
        fields = [struct.field(number) for number in range(struct.num_fields)]
    lines = [f"  {identifier(field.name)} {column_type_of(field)}" for field in fields]
    return f"CREATE TABLE {'.'.join(identifier(part) for part in parts)} (\n" + ",\n".join(lines) + "\n)"


def column_type_of(field: pa.Field) -> str:
    """The SQL type of a column that holds all values of an Arrow field, with NOT NULL if the field says so."""
    sql = _sql_type(field.type)
    if sql is None:
        raise ScenarioError(
            f"no column type follows from column {field.name!r} of the Arrow type {field.type}",
            expected="the text of CREATE TABLE, which names its type",
        )
    # TIMESTAMP alone is NOT NULL on older servers.
    return sql + (" NULL" if field.nullable else " NOT NULL")


def _sql_type(kind: pa.DataType) -> str | None:
    if isinstance(kind, pa.DictionaryType):
        return _sql_type(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return _sql_type(kind.storage_type)
    if pa.types.is_boolean(kind):
        return "TINYINT(1)"
    if pa.types.is_integer(kind):
        return _INTEGERS[kind.bit_width] + (" UNSIGNED" if pa.types.is_unsigned_integer(kind) else "")
    if pa.types.is_floating(kind):
        return "DOUBLE" if kind.bit_width == 64 else "FLOAT"
    if pa.types.is_decimal(kind):
        fits = kind.precision <= _LARGEST_DECIMAL and 0 <= kind.scale <= _LARGEST_SCALE
        return f"DECIMAL({kind.precision},{kind.scale})" if fits else None
    if pa.types.is_timestamp(kind):
        name = "DATETIME" if kind.tz is None else "TIMESTAMP"
        return name + _fraction(kind.unit)
    if pa.types.is_date(kind):
        return "DATE"
    if pa.types.is_duration(kind) or pa.types.is_time(kind):
        return "TIME" + _fraction(kind.unit)
    return _spans(kind)


def _spans(kind: pa.DataType) -> str | None:
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "LONGTEXT"
    if pa.types.is_fixed_size_binary(kind) and kind.byte_width <= _LARGEST_BINARY:
        return f"BINARY({kind.byte_width})"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return "LONGBLOB"
    if pa.types.is_fixed_size_list(kind) and kind.value_type == pa.float32():
        return f"VECTOR({kind.list_size})"
    return None


def _fraction(unit: str) -> str:
    return f"({_DIGITS[unit]})" if _DIGITS[unit] else ""
