"""CREATE TABLE of a table that has a given table map: one of many, where the map does not tell the table."""

from __future__ import annotations

from forge.events.column_kinds import is_character, is_enum, is_set
from forge.events.columns import columns_of
from forge.events.plain import name_text
from forge.events.table_map import TableMap
from forge.render.column_facts import ColumnFacts, column_facts
from forge.servers import ServerLine
from forge.sql.write import identifier
from forge.values.base import Column

#: Members that a table map does not name, of which there are more than one byte can count, or fewer.
_MEMBERS = {1: 255, 2: 256}


def definition_of(mapped: TableMap, line: ServerLine, *, engine: str | None) -> str:
    """CREATE TABLE of a table that has this table map.  Raises ForgeError where it cannot be read."""
    columns = columns_of(mapped, mariadb=line.family == "mariadb")
    facts = column_facts(mapped, columns, mariadb=line.family == "mariadb")
    names = [fact.name if fact.name is not None else f"col{fact.position}" for fact in facts]
    lines = [
        f"  {identifier(name)} {_type(column, fact)}{_charset(column, fact)} {_nullability(fact)}"
        for name, column, fact in zip(names, columns, facts, strict=True)
    ]
    key = mapped.primary_key()
    if key:
        parts = ", ".join(identifier(names[index]) + (f"({prefix})" if prefix else "") for index, prefix in key)
        lines.append(f"  PRIMARY KEY ({parts})")
    table = f"{identifier(name_text(mapped.database))}.{identifier(name_text(mapped.table))}"
    return f"CREATE TABLE {table} (\n" + ",\n".join(lines) + "\n)" + (f" ENGINE={engine}" if engine else "")


def _type(column: Column, fact: ColumnFacts) -> str:
    if column.members is not None or not (is_enum(column) or is_set(column)):
        # A length in bytes is one in characters of latin1.
        return fact.sql_type.replace(" bytes)", ")")
    size = column.metadata[1] if len(column.metadata) == 2 else 1
    count = _MEMBERS.get(size, 255) if is_enum(column) else 8 * size
    return f"{fact.sql_type}({','.join(repr(str(number)) for number in range(1, count + 1))})"


def _nullability(fact: ColumnFacts) -> str:
    # Old servers give a TIMESTAMP without a default one that a strict mode refuses.
    default = " DEFAULT '1970-01-02 00:00:00'" if fact.sql_type.startswith("TIMESTAMP") else ""
    return "NULL" if fact.nullable else f"NOT NULL{default}"


def _charset(column: Column, fact: ColumnFacts) -> str:
    if fact.collation is not None:
        return f" CHARACTER SET {fact.charset} COLLATE {fact.collation}"
    words = fact.sql_type.upper()
    texts = is_character(column) and not any(word in words for word in ("BINARY", "BLOB", "VECTOR"))
    # Of the same number of bytes as the metadata says.
    return " CHARACTER SET latin1" if texts or is_enum(column) or is_set(column) else ""
