"""Bodies as plain data (dicts, lists, text, numbers) and back: the fields of a listing document.

``plain_fields`` serves every body.  ``body_to_fields`` shows table maps, queries and rows as a person would want
them: columns one by one, flags by name, cells as values.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple

from forge.binlog.listing.rows import rows_from_fields, rows_to_fields
from forge.binlog.listing.tables import ListedTable
from forge.binlog.listing.text import is_safe
from forge.binlog.payload import inner_format
from forge.errors import ForgeError, ScenarioError, nearest
from forge.events.columns import bare_columns, columns_of
from forge.events.event import Event, advance
from forge.events.format import FormatContext
from forge.events.giving import NOT_GIVEN
from forge.events.layout import Body, as_tuples, flag_table
from forge.events.mariadb_compressed import QueryCompressed, compress_block, decompress_block
from forge.events.optional_metadata import METADATA_CODES, MetadataRecord, build_record
from forge.events.plain import FlagTable, flag_names, flag_value, to_bytes, to_text
from forge.events.registry import EVENT_TYPES, event_name
from forge.events.rows import ROWS_BODIES
from forge.events.table_map import TableMap
from forge.values.wire_types import WireType

Fields = dict[str, Any]


#: Bytes of a member of an ENUM or SET; a name has fewer.
_LONGEST = 1020


class MappedBody(NamedTuple):
    """A TABLE_MAP as it stood, and the table that it maps."""

    body: TableMap
    mariadb: bool
    table: ListedTable
    #: Whether a name or a member is longer than any server's: rows, which would repeat it, stay bytes.
    is_long: bool = False


@dataclass(slots=True)
class ListingState:
    """What earlier events say of later ones: the framing, and each mapped table."""

    format: FormatContext = field(default_factory=FormatContext)
    mapped: dict[int, MappedBody] = field(default_factory=dict)
    #: Payloads around the events.
    depth: int = 0

    def inside(self) -> ListingState:
        """What holds for the first event inside a payload."""
        return ListingState(inner_format(self.format), dict(self.mapped), self.depth + 1)

    def note(self, event: Event) -> None:
        self.format = advance(self.format, event)
        if isinstance(event.body, TableMap):
            self._map(event.body, self.format.mariadb)

    def table(self, table_id: int) -> ListedTable | None:
        mapped = self.mapped.get(table_id)
        return None if mapped is None or mapped.is_long else mapped.table

    def _map(self, body: TableMap, mariadb: bool) -> None:
        last = self.mapped.get(body.table_id)
        if last is not None and last.mariadb == mariadb and (last.body is body or last.body == body):
            return
        self.mapped.pop(body.table_id, None)
        for columns in (partial(columns_of, mariadb=mariadb), bare_columns):
            # Rows can be edited under a table map whose optional metadata no reader takes.
            with suppress(ForgeError, ValueError, TypeError, LookupError):
                table = ListedTable(columns(body))
                long = any(max(map(len, (c.name or "", *(c.members or ())))) > _LONGEST for c in table.columns)
                self.mapped[body.table_id] = MappedBody(body, mariadb, table, long)
                break


def plain_fields(body: Body) -> Fields:
    """Every field of the body that is not left to be derived or at its default."""
    fields: Fields = {}
    for name, item in _known_fields(type(body)).items():  # type: ignore[arg-type]
        value = getattr(body, name)
        if value is None and item.optional:
            continue
        fields[name] = to_plain(value) if item.flags is None else flag_names(value, item.flags)
    return fields


def may_be_null(item: dataclasses.Field[Any]) -> bool:
    """Whether a field that is left out has a default, and null says that it is absent (of older servers)."""
    return "None" in str(item.type) and item.default not in (None, dataclasses.MISSING)


class _Field(NamedTuple):
    """A field of a body: how it is read, the names of its bits, whether it may be absent, and whether it must stand."""

    read: Callable[[Any], Any]
    flags: FlagTable | None
    optional: bool
    required: bool
    nullable: bool


@cache
def _known_fields(kind: type[Any]) -> dict[str, _Field]:
    found = {}
    for item in dataclasses.fields(kind):
        flags = flag_table(item)
        read = from_plain(str(item.type), item.name) if flags is None else partial(flag_value, table=flags)
        is_required = item.default is dataclasses.MISSING
        found[item.name] = _Field(read, flags, item.default is None, is_required, may_be_null(item))
    return found


@cache
def _required(kind: type[Any]) -> tuple[str, ...]:
    known = _known_fields(kind)  # type: ignore[arg-type]
    return tuple(name for name, item in known.items() if item.required)


def body_to_fields(body: Body, state: ListingState) -> Fields | None:
    """The readable form, or None where there is none."""
    try:
        if isinstance(body, ROWS_BODIES):
            table = state.table(body.table_id)
            return None if table is None else rows_to_fields(body, table)
        fields = plain_fields(body)
        if isinstance(body, TableMap):
            return _table_map_to_fields(body, fields)
        if isinstance(body, QueryCompressed):
            fields.pop("block")
            fields["query"] = to_plain(to_text(decompress_block(body.block)))
    except ForgeError:
        return None
    if "status_variables" in fields:
        fields["status_variables"] = dict(fields["status_variables"])
    return fields


def body_from_fields(type_code: int, fields: Fields, state: ListingState) -> Body:
    """The body that the fields of a document describe.  Raises ScenarioError naming the field."""
    kind = EVENT_TYPES.get(type_code)
    if kind is None:
        raise ScenarioError(
            f"{event_name(type_code)} events are kept as bytes", expected="the field body, in hexadecimal"
        )
    fields = dict(fields)
    if kind is TableMap and "columns" in fields:
        fields = _table_map_from_fields(fields)
    made: Fields = {}
    if issubclass(kind, ROWS_BODIES) and isinstance(fields.get("rows"), list):
        fields = rows_from_fields(kind, fields, state.table(fields.get("table_id", -1)))
        made["rows"] = fields.pop("rows")
    if kind is QueryCompressed and "query" in fields:
        text = from_plain("str", "query")(fields.pop("query"))
        fields["block"] = compress_block(to_bytes(text)).hex()
    if isinstance(fields.get("status_variables"), dict):
        fields["status_variables"] = as_tuples(list(fields["status_variables"].items()))
    return _body(kind, fields, made)


def _body(kind: type[Body], fields: Fields, made: Fields) -> Body:
    """The body of fields as the listing has them, and of those that are ``made`` already."""
    expected = _known_fields(kind)  # type: ignore[arg-type]
    values: Fields = dict(made)
    for name, value in fields.items():
        item = expected.get(name)
        if item is None:
            raise ScenarioError(
                f"{kind.type_name} has no field {name!r}",
                expected=f"one of {', '.join(expected)}",
                suggestion=nearest(name, expected),
            )
        if value is None and item.nullable:
            values[name] = None
        else:
            values[name] = item.read(value)
    for name in _required(kind):  # type: ignore[arg-type]
        if name not in values:
            raise ScenarioError(f"{kind.type_name} needs the field {name!r}")
    return kind(**values)


def to_plain(value: Any) -> Any:
    """Numbers, safe text, lists; bytes and unsafe text as hexadecimal (text in a mapping ``{hex: ...}``)."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, str):
        return value if is_safe(value) else {"hex": to_bytes(value).hex()}
    if isinstance(value, MetadataRecord):
        width = [] if value.length_size is None else [value.length_size]
        return [value.type_code, _metadata_to_plain(value.value), *width]
    if isinstance(value, tuple):
        return [_tagged(item) for item in value]
    return value


def _tagged(value: Any) -> Any:
    """Inside lists bytes need a mark, since nothing else says what the text is."""
    return {"bytes": value.hex()} if isinstance(value, bytes) else to_plain(value)


@cache
def from_plain(annotation: str, name: str) -> Callable[[Any], Any]:
    """The inverse of :func:`to_plain` for the field of that name and annotation.  It raises ScenarioError."""
    if annotation.startswith("bytes"):
        return lambda value: _unhex(value, name)
    if name == "optional_metadata":
        return lambda value: tuple(_record_from_plain(item) for item in _listed(value, name))
    for words, kind, expected in _PLAIN:
        if annotation.startswith(words):
            return partial(_of_kind, kind=kind, name=name, expected=expected)
    return lambda value: _untag(value, name)


#: The kinds of plain values by how their annotations begin, and what is expected.
_PLAIN: tuple[tuple[str, type[Any], str], ...] = (
    ("str", str, "text"),
    ("bool", bool, "true or false"),
    ("int", int, "a whole number"),
)


def _of_kind(value: Any, kind: type[Any], name: str, expected: str) -> Any:
    found = _untag(value, name) if kind is str else value
    if found.__class__ is not kind:
        raise ScenarioError(f"{name} is {value!r}", expected=expected)
    return found


def _untag(value: Any, name: str) -> Any:
    if isinstance(value, list):
        return tuple(_untag(item, name) for item in value)
    if isinstance(value, dict):
        if set(value) == {"bytes"}:
            return _unhex(value["bytes"], name)
        if set(value) == {"hex"}:
            return to_text(_unhex(value["hex"], name))
        raise ScenarioError(f"{name} has the mapping {value!r}", expected="{hex: ...} or {bytes: ...}")
    return value


def _listed(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise ScenarioError(f"{name} is {value!r}", expected="a list")
    return value


def _unhex(value: Any, name: str) -> bytes:
    try:
        return bytes.fromhex(value)
    except (ValueError, TypeError):
        raise ScenarioError(f"{name} is {value!r}", expected="hexadecimal digits in quotes") from None


def _record_from_plain(item: Any) -> MetadataRecord:
    if not isinstance(item, list) or len(item) not in (2, 3):
        raise ScenarioError(
            f"a record of optional_metadata is {item!r}",
            expected="[type number, value] or [type number, value, size of the length]",
        )
    record = MetadataRecord(item[0], _metadata_from_plain(item[0], item[1]), *item[2:])
    try:
        build_record(record)
    except NOT_GIVEN:
        raise ScenarioError(
            f"a record of optional_metadata is {item!r}", expected="a value of the form that records of its type have"
        ) from None
    return record


def _metadata_to_plain(value: Any) -> Any:
    """Member names are bytes in the column's charset: shown as text where that is safe UTF-8."""
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, tuple):
        return [
            to_text(item) if isinstance(item, bytes) and is_safe(to_text(item)) else _metadata_to_plain(item)
            for item in value
        ]
    return to_plain(value)


def _metadata_from_plain(type_code: int, value: Any) -> Any:
    records = _untag(value, "optional_metadata")
    if type_code in _MEMBER_RECORDS and isinstance(records, tuple):
        return tuple(
            tuple(to_bytes(item) if isinstance(item, str) else item for item in members) for members in records
        )
    return records


_MEMBER_RECORDS = (METADATA_CODES["set_members"], METADATA_CODES["enum_members"])


def _table_map_to_fields(body: TableMap, fields: Fields) -> Fields:
    """Columns as a list, records by name.  None of it hides anything: the caller compares bytes."""
    if body.bare:
        columns: list[Fields] = [{"type": type_word(code)} for code in body.types]
    else:
        columns = [
            {"type": type_word(column.type_code)}
            | ({"metadata": column.metadata.hex()} if column.metadata else {})
            | ({"nullable": True} if column.nullable else {})
            for column in bare_columns(body)
        ]
    names = [record.type_name for record in body.optional_metadata]
    simple = len(set(names)) == len(names) and all(record.length_size is None for record in body.optional_metadata)
    shown: Fields = {}
    for name, value in fields.items():
        if name == "types":
            shown["columns"] = columns
        elif name == "optional_metadata":
            if names and simple:
                shown[name] = {record.type_name: _metadata_to_plain(record.value) for record in body.optional_metadata}
            elif names:
                shown[name] = value
        elif name not in ("metadata", "nullable") and not (name == "bare" and value is False):
            shown[name] = value
    return shown


def _table_map_from_fields(fields: Fields) -> Fields:
    columns = _listed(fields.pop("columns"), "columns")
    types = bytearray()
    metadata = bytearray()
    nullable = bytearray((len(columns) + 7) // 8)
    for index, column in enumerate(columns):
        if not isinstance(column, dict) or "type" not in column:
            raise ScenarioError(
                f"column {index + 1} is {column!r}", expected="{type: NAME, metadata: hex, nullable: true}"
            )
        types.append(type_number(column["type"]))
        metadata += _unhex(column.get("metadata", ""), "metadata")
        if column.get("nullable"):
            nullable[index // 8] |= 1 << (index % 8)
    if fields.get("bare") is True:
        nullable.clear()
    fields = fields | {"types": types.hex(), "metadata": metadata.hex(), "nullable": nullable.hex()}
    records = fields.get("optional_metadata")
    if isinstance(records, dict):
        built = []
        for name, value in records.items():
            code = METADATA_CODES.get(name)
            if code is None and name.startswith("type_") and name[5:].isdigit():
                code = int(name[5:])
            if code is None:
                raise ScenarioError(
                    f"unknown metadata record {name!r}",
                    expected=f"one of {', '.join(METADATA_CODES)}",
                    suggestion=nearest(name, METADATA_CODES),
                )
            built.append([code, value])
        fields["optional_metadata"] = built
    return fields


TYPE_WORDS: dict[int, str] = {wire_type: wire_type.name for wire_type in WireType}
_TYPE_NUMBERS = {word: code for code, word in TYPE_WORDS.items()}


def type_word(code: int) -> str | int:
    """The name of a column's wire type (include/field_types.h), or its number."""
    return TYPE_WORDS.get(code, code)


def type_number(word: Any) -> int:
    if isinstance(word, int) and 0 <= word < 256:
        return word
    if word in _TYPE_NUMBERS:
        return _TYPE_NUMBERS[word]
    raise ScenarioError(
        f"unknown column type {word!r}", expected="a wire type", suggestion=nearest(str(word), _TYPE_NUMBERS)
    )
