"""The table behind a TABLE_MAP: a CREATE TABLE and a column list, with what the event cannot tell marked as unknown.

What can be told is in forge.render.column_facts.  A primary-key record may stand for a unique key of NOT NULL columns
(the server promotes one), so keys say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from forge.binlog.logged import LoggedEvent, logged_events
from forge.binlog.mapped import mapped_columns
from forge.binlog.window import LogSource
from forge.errors import UnsupportedError
from forge.events.plain import name_text, text_or_hex
from forge.events.table_map import TableMap
from forge.render.aligned import aligned
from forge.render.column_facts import ColumnFacts, column_facts, unknown_of_table
from forge.sql.write import identifier

GENERATED_INVISIBLE_PK = 0x0004
#: Words of the column list.
_NOT_TOLD, _NOT_APPLICABLE = "unknown", "-"
_HEAD = (
    "#", "name", "type", "null", "sign", "key", "unique", "characters", "octets", "charset", "collation", "visible",
    "unknown",
)  # fmt: skip
#: Characters of a type that a column list shows; the members of an ENUM or SET may be many.
_TYPE_WIDTH = 60


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A table as a table map tells it, and where the event stands.

    ``columns`` is None, and ``problem`` says why, where one of them is of a type that is not known: where the next
    one's metadata starts cannot be told then.
    """

    index: int
    offset: int
    table_map: TableMap
    columns: tuple[ColumnFacts, ...] | None
    problem: str | None = None

    @property
    def full_name(self) -> str:
        return f"{_identifier(self.table_map.database)}.{_identifier(self.table_map.table)}"

    @property
    def unknown(self) -> tuple[str, ...]:
        if self.columns is None:
            return (f"all {len(self.table_map.types)} columns: {self.problem}",)
        return unknown_of_table(self.table_map)

    def create_table(self) -> str:
        """CREATE TABLE text; what the event does not tell stands in comments."""
        mapped, columns = self.table_map, self.columns or ()
        generated = bool(mapped.table_flags & GENERATED_INVISIBLE_PK)
        lines = [_definition(column, generated and column.position == 1) for column in columns]
        if columns:
            lines.extend(_key_lines(mapped, columns))
        body = ",\n".join(f"  {line}" for line in lines) + "\n" * bool(lines)
        end = f") /* unknown: {_comment(', '.join(self.unknown))} */;" if self.unknown else ");"
        return f"CREATE TABLE {self.full_name} (\n{body}{end}\n"

    def column_list(self) -> str:
        """A line a column with its properties, under a line of headings; ``-`` where a property is not of its type."""
        if self.columns is None:
            return f"{self.full_name}\nunknown: {', '.join(self.unknown)}\n"
        rows = [_HEAD, *(_row(column, self.unknown) for column in self.columns)]
        return f"{self.full_name}\n" + "".join(line + "\n" for line in aligned(rows))

    def as_json(self) -> dict[str, Any]:
        return {
            "event": self.index,
            "offset": self.offset,
            "database": text_or_hex(self.table_map.database),
            "table": text_or_hex(self.table_map.table),
            "columns": None if self.columns is None else [column.as_json() for column in self.columns],
            "unknown": list(self.unknown),
        }


def schemas_of(source: LogSource) -> Iterator[TableSchema]:
    """Every new definition in a file, those inside payloads too.  Raises FormatError."""
    seen: dict[int, TableMap] = {}
    for logged in logged_events(source):
        body = logged.placed.event.body
        if isinstance(body, TableMap) and seen.get(body.table_id) != body:
            seen[body.table_id] = body
            yield _schema(logged, body)


def _schema(logged: LoggedEvent, body: TableMap) -> TableSchema:
    placed = logged.placed
    try:
        columns = mapped_columns(placed, body, inner=logged.inner > 0)
        facts = column_facts(body, columns, mariadb=placed.format.mariadb)
    except UnsupportedError as error:
        return TableSchema(placed.index, placed.offset, body, None, error.problem)
    return TableSchema(placed.index, placed.offset, body, facts)


def _identifier(name: str) -> str:
    """A quoted name on one line; the bytes of one that is not UTF-8, as no statement can have it."""
    return identifier(_printable(name_text(name)))


def _comment(text: str) -> str:
    """Text that does not end the comment it stands in."""
    return text.replace("*/", "* /")


def _definition(column: ColumnFacts, generated: bool) -> str:
    words = [_identifier(column.name if column.name is not None else f"@{column.position}"), column.sql_type]
    if column.collation is not None:
        words.append(f"CHARACTER SET {column.charset} COLLATE {column.collation}")
    words.append("NULL" if column.nullable else "NOT NULL")
    if generated:
        words.append("AUTO_INCREMENT INVISIBLE")
    elif column.visible is False:
        words.append("INVISIBLE")
    if column.unknown:
        words.append(f"/* unknown: {_comment(', '.join(column.unknown))} */")
    return " ".join(words)


def _key_lines(table_map: TableMap, facts: tuple[ColumnFacts, ...]) -> Iterator[str]:
    key = table_map.primary_key()
    if key:
        parts = ", ".join(_part(facts[index], prefix) for index, prefix in key)
        yield f"PRIMARY KEY ({parts}) /* or the first UNIQUE key of NOT NULL columns */"
    elif table_map.table_flags & GENERATED_INVISIBLE_PK:
        yield f"PRIMARY KEY ({_part(facts[0], 0)})"


def _part(column: ColumnFacts, prefix: int) -> str:
    name = column.name if column.name is not None else f"@{column.position}"
    return _identifier(name) + (f"({prefix})" if prefix else "")


def _row(column: ColumnFacts, unknown: tuple[str, ...]) -> tuple[str, ...]:
    sign = _NOT_TOLD if "sign" in column.unknown else _NOT_APPLICABLE
    if column.unsigned is not None:
        sign = "unsigned" if column.unsigned else "signed"
    key = _NOT_TOLD if "key" in unknown else _NOT_APPLICABLE
    if column.key_part is not None:
        key = str(column.key_part) + (f" ({column.key_prefix})" if column.key_prefix else "")
    charset = _NOT_TOLD if "character set" in column.unknown else _NOT_APPLICABLE
    characters = _NOT_TOLD if "character set" in column.unknown else _NOT_APPLICABLE
    kind = column.sql_type if len(column.sql_type) <= _TYPE_WIDTH else column.sql_type[: _TYPE_WIDTH - 3] + "..."
    return (
        str(column.position),
        _NOT_TOLD if column.name is None else _printable(name_text(column.name)),
        _printable(kind),
        "yes" if column.nullable else "no",
        sign,
        key,
        "yes" if column.unique else _NOT_TOLD,
        characters if column.characters is None else str(column.characters),
        _NOT_APPLICABLE if column.octets is None else str(column.octets),
        column.charset or charset,
        column.collation or charset,
        _NOT_TOLD if column.visible is None else "yes" if column.visible else "no",
        ", ".join(column.unknown) or _NOT_APPLICABLE,
    )


def _printable(text: str) -> str:
    """Text on one line."""
    return text if text.isprintable() else repr(text)[1:-1]
