"""Table definitions: what drafts of columns and keys mean on a server, and whether it would accept them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from forge.charsets import compare_key
from forge.compile.model import Key, KeyPart, Table, TableColumn
from forge.compile.requirements import column_features
from forge.errors import ScenarioError, UnsupportedError, nearest
from forge.scenario.expressions import Expression, parse_expression
from forge.scenario.literals import strict_value
from forge.scenario.syntax import (
    ColumnDraft,
    Default,
    ExpressionDefault,
    KeyDraft,
    LiteralDefault,
    NowDefault,
    PartDraft,
)
from forge.scenario.tokens import SqlError, at_offset
from forge.servers import server_line
from forge.values.base import Codec, Column
from forge.values.column_charset import charset_of
from forge.values.registry import codec_for, column_for
from forge.values.sqltype import SqlType

#: Types whose keys need a prefix length (TEXT and BLOB), and those without an ordinary key at all.
LOBS = frozenset(f"{size}{kind}" for size in ("TINY", "", "MEDIUM", "LONG") for kind in ("TEXT", "BLOB"))
_GEOMETRIES = frozenset(
    {"GEOMETRY", "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON"}
    | {"GEOMETRYCOLLECTION"}
)
_WITHOUT_KEY = _GEOMETRIES | {"JSON", "VECTOR"}
_WITHOUT_LITERAL_DEFAULT = LOBS | _WITHOUT_KEY
#: MariaDB's JSON is LONGTEXT with this collation.
UTF8MB4_BIN = 46
#: Types whose keys may have a prefix.
_PREFIXABLE = LOBS | {"CHAR", "VARCHAR", "BINARY", "VARBINARY"}
_FULLTEXT = frozenset({"CHAR", "VARCHAR", "TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT"})
_INTEGERS = frozenset({"TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT"})
#: Limits of sql/sql_table.cc and of InnoDB's DYNAMIC row format.
MAX_COLUMNS, MAX_KEYS, MAX_KEY_PARTS, MAX_KEY_BYTES, MAX_ROW_BYTES = 1017, 65, 16, 3072, 65535


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """A column, with the expressions that its values come from, and how its cells are coded."""

    column: TableColumn
    wire: Column
    codec: Codec
    default: Expression | None = None
    generated: Expression | None = None
    offset: int = 0

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def type(self) -> SqlType:
        return self.column.type

    @property
    def holds_json(self) -> bool:
        """Whether the column was declared as JSON, whatever the server makes of that."""
        return self.wire.declared is not None and self.wire.declared.name == "JSON"

    def replace(self, **changes: object) -> ColumnDefinition:
        """The definition with other facts of its column."""
        column = replace(self.column, **changes)  # type: ignore[arg-type]
        return replace(self, column=column, wire=replace(self.wire, name=column.name, nullable=column.nullable))


@dataclass(frozen=True, slots=True)
class Definition:
    """A table's definition with keys by column name, which ALTER TABLE can change."""

    database: str
    name: str
    columns: tuple[ColumnDefinition, ...]
    keys: tuple[KeyDraft, ...]
    collation: int

    def find(self, name: str) -> int | None:
        """Index of the column of that name (case-insensitive); None if there is none."""
        wanted = name.lower()
        return next((i for i, column in enumerate(self.columns) if column.name.lower() == wanted), None)

    def index_of(self, name: str, offset: int) -> int:
        """As :meth:`find`.  Raises SqlError with the nearest name."""
        found = self.find(name)
        if found is None:
            names = [column.name for column in self.columns]
            raise SqlError(
                f"table {self.database}.{self.name} has no column {name!r}", offset, suggestion=nearest(name, names)
            )
        return found

    def with_not_null_keys(self) -> Definition:
        """The definition in which the columns of the primary key are NOT NULL, as servers make them."""
        primary = next((key for key in self.keys if key.kind == "primary"), None)
        names = {part.column.lower() for part in primary.parts} if primary else set()
        columns = tuple(
            column.replace(nullable=False) if column.name.lower() in names else column for column in self.columns
        )
        return replace(self, columns=columns)

    def table(self, version: int) -> Table:
        """The compiler's form of the definition.  Raises SqlError where a server would refuse it."""
        _check_columns(self)
        keys = tuple(_named_keys(self))
        _check_auto_increment(self, keys)
        return Table(
            database=self.database,
            name=self.name,
            columns=tuple(column.column for column in self.columns),
            keys=keys,
            collation=self.collation,
            version=version,
        )


def define_column(draft: ColumnDraft, table_collation: int, server: str) -> ColumnDefinition:
    """What a column draft means in a table of that default collation.  Raises SqlError and SqlUnsupported."""
    sql_type = draft.type.resolve(table_collation, server)
    # AUTO_INCREMENT says NOT NULL as well (sql/sql_yacc.yy).
    nullable = draft.nullable if draft.nullable is not None else not (draft.auto_increment or "primary" in draft.keys)
    if nullable and "primary" in draft.keys:
        raise SqlError(f"column {draft.name!r} of the primary key cannot be NULL", draft.offset, expected="NOT NULL")
    line = server_line(server)
    with at_offset(draft.type.offset):
        for feature in column_features(TableColumn(draft.name, sql_type)):
            line.require(feature)
        wire = column_for(sql_type, name=draft.name, nullable=nullable, server=server)
        try:
            codec = codec_for(wire)
        except UnsupportedError:
            raise UnsupportedError(f"column type {sql_type.name} is not supported yet") from None
    if sql_type.name == "JSON" and line.family == "mariadb":
        # The column is LONGTEXT in every way but one: its values have to be documents, which ``wire`` knows.
        sql_type = SqlType("LONGTEXT", collation=UTF8MB4_BIN)
    _check_members(sql_type, draft)
    column = TableColumn(
        name=draft.name,
        type=sql_type,
        nullable=nullable,
        auto_increment=draft.auto_increment,
        visible=draft.visible,
        generated=draft.generated,
        on_update_now=draft.on_update is not None,
    )
    with at_offset(draft.offset):
        for feature in column_features(column):
            line.require(feature)
    defined = ColumnDefinition(column, wire, codec, offset=draft.offset)
    if draft.on_update is not None:
        _check_now(sql_type, draft.on_update, "ON UPDATE", draft.offset)
    if draft.generated is not None:
        if draft.default is not None or draft.auto_increment or draft.on_update is not None:
            raise SqlError(f"generated column {draft.name!r} cannot have a default", draft.offset)
        with at_offset(draft.offset):
            expression = parse_expression(draft.expression)
        uses = frozenset(name.lower() for name in expression.columns())
        return replace(defined.replace(uses=uses), generated=expression)
    if draft.default is None:
        return defined
    defined = with_default(defined, draft.default)
    with at_offset(draft.default.offset):
        for feature in column_features(defined.column):
            line.require(feature)
    return defined


def _check_members(sql_type: SqlType, draft: ColumnDraft) -> None:
    """Members have to differ as the collation compares them."""
    seen: dict[str, str] = {}
    for member in sql_type.members:
        key = compare_key(sql_type.collation, member) if sql_type.collation else member
        if key in seen:
            problem = f"{sql_type.name} has the members {seen[key]!r} and {member!r}, which its collation calls equal"
            raise SqlError(problem, draft.type.offset)
        seen[key] = member


def with_default(defined: ColumnDefinition, default: Default) -> ColumnDefinition:
    """The column with a default.  Raises SqlError where a server would refuse it."""
    column, name = defined.column, defined.type.name
    if column.auto_increment:
        raise SqlError(f"column {column.name!r} is AUTO_INCREMENT and cannot have a default", default.offset)
    if isinstance(default, NowDefault):
        _check_now(defined.type, default.fsp, "DEFAULT", default.offset)
        return without_default(defined).replace(default_now=True)
    if isinstance(default, ExpressionDefault):
        with at_offset(default.offset):
            expression = parse_expression(default.sql)
            if expression.columns():
                raise UnsupportedError("DEFAULT expressions that use other columns are not supported yet")
        return replace(without_default(defined).replace(computed_default=True), default=expression)
    if default.value is None:
        if not column.nullable:
            raise SqlError(f"column {column.name!r} is NOT NULL and cannot have the default NULL", default.offset)
        return without_default(defined).replace(has_default=True)
    if name in _WITHOUT_LITERAL_DEFAULT:
        raise SqlError(
            f"a {name} column cannot have a literal default", default.offset, expected="DEFAULT (expression)"
        )
    value = _default_value(defined, default)
    return without_default(defined).replace(has_default=True, default=value)


def without_default(defined: ColumnDefinition) -> ColumnDefinition:
    """The column with no default of any kind."""
    facts = defined.replace(has_default=False, default=None, default_now=False, computed_default=False)
    return replace(facts, default=None)


def _default_value(defined: ColumnDefinition, default: LiteralDefault) -> object:
    literal = default.value
    if not isinstance(literal, (str, bytes)) and defined.type.name in ("ENUM", "SET"):
        problem = f"the default of column {defined.name!r} is impossible: {defined.type.name} has no member {literal!r}"
        raise SqlError(problem, default.offset, expected="a member in quotes")
    if isinstance(literal, str) and defined.type.name == "BIT":
        # In SQL text a string is bytes to a BIT column; cells of a scenario are more generous.
        literal = int.from_bytes(literal.encode(), "big")
    with at_offset(default.offset):
        try:
            return strict_value(defined.wire, defined.codec, literal)
        except ScenarioError as error:
            error.problem = f"the default of column {defined.name!r} is impossible: {error.problem}"
            raise


def _check_now(sql_type: SqlType, fsp: int, clause: str, offset: int) -> None:
    if sql_type.name not in ("TIMESTAMP", "DATETIME"):
        raise SqlError(
            f"{clause} CURRENT_TIMESTAMP is not for {sql_type.name}", offset, expected="TIMESTAMP or DATETIME"
        )
    if fsp != sql_type.fsp:
        expected = f"CURRENT_TIMESTAMP({sql_type.fsp})" if sql_type.fsp else "CURRENT_TIMESTAMP"
        raise SqlError(f"{clause} has {fsp} fractional digits, its column {sql_type.fsp}", offset, expected=expected)


def _check_columns(definition: Definition) -> None:
    seen: set[str] = set()
    for column in definition.columns:
        if column.name.lower() in seen:
            raise SqlError(f"column {column.name!r} is there twice", column.offset)
        seen.add(column.name.lower())
        if column.generated is not None:
            for name in column.generated.columns():
                definition.index_of(name, column.offset)
    if len(definition.columns) > MAX_COLUMNS:
        raise SqlError(f"the table has {len(definition.columns)} columns", 0, expected=f"at most {MAX_COLUMNS}")
    if not any(column.column.visible for column in definition.columns):
        raise SqlError("the table has no visible column", 0, expected="at least one")
    size = sum(stored_bytes(column) for column in definition.columns)
    size += (sum(column.column.nullable for column in definition.columns) + 7) // 8
    if size > MAX_ROW_BYTES:
        expected = f"at most {MAX_ROW_BYTES}; TEXT and BLOB columns do not count"
        raise SqlError(f"a row can take {size} bytes", 0, expected=expected)


def stored_bytes(column: ColumnDefinition) -> int:
    """Bytes that the column takes in a row, as servers count them for the limit of 65535."""
    kind, metadata = column.type.name, column.wire.metadata
    if kind in LOBS:
        return 8 + metadata[0]
    if kind in _WITHOUT_KEY:
        return 12
    if kind in ("VARCHAR", "VARBINARY"):
        longest = int.from_bytes(metadata, "little")
        return longest + (1 if longest < 256 else 2)
    if kind in ("CHAR", "BINARY"):
        return metadata[1] | ((metadata[0] & 0x30) ^ 0x30) << 4
    sizes = {"TINYINT": 1, "SMALLINT": 2, "MEDIUMINT": 3, "INT": 4, "FLOAT": 4, "YEAR": 1, "DATE": 3}
    return sizes.get(kind, 8)


def _named_keys(definition: Definition) -> Iterable[Key]:
    """The keys with the names that servers give: PRIMARY, or that of the first column, made unique by _2, _3 ..."""
    if len(definition.keys) > MAX_KEYS:
        raise SqlError(f"the table has {len(definition.keys)} keys", 0, expected=f"at most {MAX_KEYS}")
    taken = {key.name.lower() for key in definition.keys if key.name}
    primary_seen = False
    used: set[str] = set()
    for key in definition.keys:
        if key.kind == "primary":
            if primary_seen:
                raise SqlError("the table has two primary keys", key.offset, expected="one")
            primary_seen = True
        name = "PRIMARY" if key.kind == "primary" else key.name
        if name is None:
            column = definition.columns[definition.index_of(key.parts[0].column, key.parts[0].offset)]
            name = _free_name(column.name, taken)
            taken.add(name.lower())
        elif name.lower() in used:
            raise SqlError(f"key {name!r} is there twice", key.offset)
        used.add(name.lower())
        yield Key(name, key.kind, tuple(_key_parts(definition, key)))


def _free_name(base: str, taken: set[str]) -> str:
    if base.lower() not in taken and base.upper() != "PRIMARY":
        return base
    return next(f"{base}_{n}" for n in range(2, 1000) if f"{base}_{n}".lower() not in taken)


def _key_parts(definition: Definition, key: KeyDraft) -> Iterable[KeyPart]:
    if len(key.parts) > MAX_KEY_PARTS:
        raise SqlError(f"a key has {len(key.parts)} columns", key.offset, expected=f"at most {MAX_KEY_PARTS}")
    seen: set[int] = set()
    total = 0
    for part in key.parts:
        index = definition.index_of(part.column, part.offset)
        column = definition.columns[index]
        if index in seen:
            raise SqlError(f"column {column.name!r} is in the key twice", part.offset)
        seen.add(index)
        if key.special:
            _check_special(column, key.special, part)
        else:
            part = _checked_part(column, part)
            size = _part_bytes(column, part.prefix)
            total += size
            if size > MAX_KEY_BYTES or total > MAX_KEY_BYTES:
                raise SqlError(f"a key takes {total} bytes", part.offset, expected=f"at most {MAX_KEY_BYTES}")
        if key.kind == "primary" and column.column.generated == "virtual":
            raise SqlError(f"virtual column {column.name!r} cannot be in the primary key", part.offset)
        yield KeyPart(index, part.prefix)


def _check_special(column: ColumnDefinition, special: str, part: PartDraft) -> None:
    """FULLTEXT keys are for text, SPATIAL ones for geometries that are not NULL."""
    if special == "FULLTEXT" and column.type.name not in _FULLTEXT:
        raise SqlError(f"a {column.type.name} column cannot be in a FULLTEXT key", part.offset, expected="text")
    if special == "SPATIAL" and (column.type.name not in _GEOMETRIES or column.column.nullable):
        problem = f"column {column.name!r} cannot be in a SPATIAL key"
        raise SqlError(problem, part.offset, expected="a geometry that is NOT NULL")


def _checked_part(column: ColumnDefinition, part: PartDraft) -> PartDraft:
    """The part with a prefix only where it is shorter than the column."""
    kind = column.type.name
    if kind in _WITHOUT_KEY:
        raise SqlError(f"a {kind} column cannot be in a key", part.offset)
    if column.type.length == 0 and kind not in LOBS:
        raise SqlError(f"a column of length 0 cannot be in a key: {column.name!r}", part.offset)
    if part.prefix is None:
        if kind in LOBS:
            expected = f"a prefix, {part.column}(20)"
            raise SqlError(
                f"{kind} column {column.name!r} is in a key without a length", part.offset, expected=expected
            )
        return part
    if kind not in _PREFIXABLE:
        raise SqlError(f"a key on a {kind} column cannot have a prefix", part.offset)
    if part.prefix == 0:
        raise SqlError("a prefix has no length", part.offset, expected="1 or more")
    if kind in LOBS:
        return part
    length = 1 if column.type.length is None else column.type.length
    if part.prefix > length:
        raise SqlError(f"a prefix of {part.prefix} is longer than the column", part.offset, expected=f"1 to {length}")
    return replace(part, prefix=None) if part.prefix == length else part


def _part_bytes(column: ColumnDefinition, prefix: int | None) -> int:
    """Bytes that count for the limit of a key; the length in front of a VARCHAR does not."""
    if prefix is None:
        if column.type.name in ("VARCHAR", "VARBINARY"):
            return int.from_bytes(column.wire.metadata, "little")
        return stored_bytes(column)
    known = charset_of(column.wire)
    return prefix * (known.max_length if known else 1)


def _check_auto_increment(definition: Definition, keys: tuple[Key, ...]) -> None:
    numbered = [i for i, column in enumerate(definition.columns) if column.column.auto_increment]
    for index in numbered:
        column = definition.columns[index]
        if len(numbered) > 1:
            offset = definition.columns[numbered[1]].offset
            raise SqlError("the table has two AUTO_INCREMENT columns", offset, expected="one")
        if column.type.name not in _INTEGERS:
            raise SqlError(
                f"a {column.type.name} column cannot be AUTO_INCREMENT", column.offset, expected="an integer"
            )
        if not any(key.parts[0].column == index for key in keys):
            raise SqlError(
                f"AUTO_INCREMENT column {column.name!r} is not the first of a key",
                column.offset,
                expected=f"PRIMARY KEY or UNIQUE on {column.name}",
            )
