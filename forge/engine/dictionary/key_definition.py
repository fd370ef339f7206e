"""Keys of a table definition: the names that servers give them, and whether a server would accept them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from forge.engine.dictionary.column_sizes import part_bytes
from forge.engine.dictionary.columns import ColumnDefinition, key_refusal
from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.engines import INNODB, NUMBERS_GROUPS, key_limit
from forge.engine.dictionary.json_cells import cells_for
from forge.engine.dictionary.system_columns import hashed_keys, stored_keys
from forge.errors import ScenarioError
from forge.plan.requirements import expression_features
from forge.plan.tables import Key, KeyExpression, KeyPart, Row
from forge.servers import ServerLine, server_line
from forge.sql.ast.definitions import KeyDraft, PartDraft
from forge.sql.ast.expressions import ColumnName
from forge.sql.errors import SqlError, SqlUnsupported, StrictRefusal, at_offset
from forge.sql.expressions import Expression, parse_expression
from forge.sql.expressions.types import result_type
from forge.values.cells import FixedWidthCodec
from forge.values.text.column_charset import charset_of

#: Limits of sql/sql_const.h and of InnoDB's DYNAMIC row format.
MAX_KEYS, MAX_KEY_PARTS = 65, 16


def named_keys(definition: Definition, columns: tuple[ColumnDefinition, ...]) -> Iterable[Key]:
    """The keys with the names that servers give: PRIMARY, or that of the first column, made unique by _2, _3 ...

    ``columns``: with the hidden ones.
    """
    if len(definition.keys) > MAX_KEYS:
        raise SqlError(f"the table has {len(definition.keys)} keys", 0, expected=f"at most {MAX_KEYS}")
    taken = {key.name.lower() for key in definition.keys if key.name}
    primary_seen = False
    used: set[str] = set()
    hidden = count(len(columns))
    _check_visible(definition)
    hashed = list(hashed_keys(definition))
    for key, stored in zip(definition.keys, stored_keys(definition), strict=True):
        if key.kind == "primary":
            if primary_seen:
                refusal = key_refusal(server_line(definition.server))
                raise refusal("the table has two primary keys", key.offset, expected="one")
            primary_seen = True
            if not key.visible:
                raise SqlError("the primary key cannot be invisible", key.offset)
        name = "PRIMARY" if key.kind == "primary" else key.name
        if name is None:
            name = _free_name(_base_name(definition, key), taken)
            taken.add(name.lower())
        elif name.lower() in used:
            raise SqlError(f"key {name!r} is defined twice", key.offset)
        used.add(name.lower())
        whole = replace(definition, columns=columns)
        parts = tuple(_key_parts(whole, stored, hidden, hashed=key in hashed))
        period = (parts[-1].column, parts[-2].column) if key.parts[-1].without_overlaps else None
        yield Key(name, key.kind, parts, period, hashed=key in hashed)


def _check_visible(definition: Definition) -> None:
    """The first UNIQUE key without NULLs is the primary key where there is no other: it is visible (error 3522)."""
    if any(key.kind == "primary" for key in definition.keys):
        return
    for key in definition.keys:
        parts = key.parts if key.kind == "unique" else ()
        columns = [definition.find(part.column) for part in parts]
        if parts and all(index is not None and not definition.columns[index].column.nullable for index in columns):
            if not key.visible:
                # Of keys with a prefix, those of a TEXT are primary, others not.
                refusal = SqlError if all(part.prefix is None for part in parts) else SqlUnsupported
                raise refusal("the key that is the primary key cannot be invisible", key.offset)
            return


def with_spatial(key: KeyDraft, columns: Iterable[ColumnDefinition], line: ServerLine) -> KeyDraft:
    """A new key, SPATIAL on MySQL where a column is a geometry (recorded on 9.7).  Raises SqlError."""
    named = {part.column.lower() for part in key.parts if part.expression is None}
    of_geometry = any(column.type_facts.is_geometry and column.name.lower() in named for column in columns)
    if line.ddl.lenient_keys or key.kind != "index" or key.special or not of_geometry:
        return key
    if key.using or any(part.ordered for part in key.parts):
        raise SqlError("a key on a geometry is SPATIAL", key.offset, expected="no USING, and no order")
    return replace(key, special="SPATIAL")


def _base_name(definition: Definition, key: KeyDraft) -> str:
    if any(part.expression is not None for part in key.parts):
        return "functional_index"
    return definition.columns[definition.index_of(key.parts[0].column, key.parts[0].offset)].name


def _free_name(base: str, taken: set[str]) -> str:
    if base.lower() not in taken and base.upper() != "PRIMARY":
        return base
    return next(f"{base}_{n}" for n in range(2, 1000) if f"{base}_{n}".lower() not in taken)


def _key_parts(definition: Definition, key: KeyDraft, hidden: Iterator[int], *, hashed: bool) -> Iterable[KeyPart]:
    if len(key.parts) > MAX_KEY_PARTS:
        raise SqlError(f"a key has {len(key.parts)} columns", key.offset, expected=f"at most {MAX_KEY_PARTS}")
    seen: set[int] = set()
    total = 0
    arrays = 0
    line = server_line(definition.server)
    refusal = key_refusal(line)
    if key.special == "FULLTEXT":
        _check_collations(definition, key)
    if key.special in ("SPATIAL", "VECTOR") and len(key.parts) > 1:
        raise SqlError(f"a {key.special} key has several columns", key.parts[1].offset, expected="one")
    for part in key.parts:
        if part.expression is not None:
            expression = _key_expression(definition, key, part)
            yield KeyPart(next(hidden), None, expression)
            arrays += expression.arrays
            if arrays > 1:
                raise SqlUnsupported("a key can have only one multi-valued part", part.offset)
            continue
        index = definition.index_of(part.column, part.offset)
        column = definition.columns[index]
        if index in seen:
            raise SqlError(f"column {column.name!r} is in the key twice", part.offset)
        seen.add(index)
        if key.special:
            _check_special(definition, column, key.special, part, refusal)
        elif not hashed:
            part = _checked_part(column, part, refusal)
            size = part_bytes(column, part.prefix)
            total += size
            limit = key_limit(definition.engine)
            if definition.engine == INNODB and key.kind != "index" and size > line.ddl.key_part_bytes:
                expected = f"at most {line.ddl.key_part_bytes}"
                raise SqlError(f"a column of a unique key takes {size} bytes", part.offset, expected=expected)
            if size > limit or total > limit:
                too_long = refusal if line.ddl.lenient_keys else StrictRefusal
                raise too_long(f"a key takes {total} bytes", part.offset, expected=f"at most {limit}")
        stored_too = not server_line(definition.server).ddl.generated_take_null
        if key.kind == "primary" and (column.column.generated == "virtual" or (column.generated and stored_too)):
            raise SqlError(f"generated column {column.name!r} cannot be in the primary key", part.offset)
        yield KeyPart(index, part.prefix)


@dataclass(frozen=True, slots=True)
class RowExpression:
    """The value of an expression for rows of a table."""

    expression: Expression
    columns: tuple[ColumnDefinition, ...]

    def __call__(self, row: Row) -> Any:
        names = {name.lower() for name in self.expression.columns()}
        return self.expression.evaluate(cells_for(self.columns, row, names))


def _key_expression(definition: Definition, key: KeyDraft, part: PartDraft) -> KeyExpression:
    """The expression of a key's part.  Raises SqlError where a server would refuse it (ER_FUNCTIONAL_INDEX_...)."""
    assert part.expression is not None
    line = server_line(definition.server)
    with at_offset(part.offset):
        line.require("expression_keys")
    if key.kind == "primary" or key.special:
        subject = "the primary key" if key.kind == "primary" else f"a {key.special} key"
        raise SqlError(f"{subject} cannot be on an expression", part.offset, expected="a column")
    with at_offset(part.offset):
        expression = parse_expression(part.expression)
        if isinstance(expression.tree, ColumnName):
            raise ScenarioError("the expression of a key is a column by itself", expected="the column, without ( )")
        for name in expression.columns():
            if definition.columns[definition.index_of(name, part.offset)].column.auto_increment:
                raise ScenarioError(f"a key on an expression uses the AUTO_INCREMENT column {name!r}")
        types = {column.name.lower(): column.type for column in definition.columns}
        result = result_type(expression.tree, types, line.query.client_charset[1], definition.server)
        if result.kind in ("lob", "json"):
            kind = "TEXT" if result.kind == "lob" else "JSON"
            raise ScenarioError(f"a key cannot be on an expression that gives {kind}", expected="CAST(... AS CHAR(20))")
        key_expression = KeyExpression(
            sql=part.expression,
            compute=RowExpression(expression, definition.columns),
            collation=result.collation,
            arrays=expression.is_array,
            uses=frozenset(name.lower() for name in expression.columns()),
            casts_to_datetime=expression.casts_to_datetime,
        )
        for feature in expression_features(key_expression):
            line.require(feature)
    return key_expression


def _check_collations(definition: Definition, key: KeyDraft) -> None:
    """The columns of a FULLTEXT key have one collation, of a set that has characters of one byte (error 1283)."""
    collations: set[int | None] = set()
    for part in key.parts if all(part.expression is None for part in key.parts) else ():
        column = definition.columns[definition.index_of(part.column, part.offset)]
        collations.add(column.type.collation)
        charset = charset_of(column.wire)
        if len(collations) > 1 or (charset is not None and charset.min_length > 1):
            problem = f"column {column.name!r} cannot be part of the FULLTEXT key"
            raise SqlError(problem, part.offset, expected="columns of one collation, with characters of one byte")


def _check_special(
    definition: Definition, column: ColumnDefinition, special: str, part: PartDraft, refusal: type[SqlError]
) -> None:
    """FULLTEXT keys are for text, SPATIAL ones for a whole geometry that is not NULL; both for values that are stored.

    Raises SqlError, or a ``refusal``.
    """
    if definition.engine == INNODB and column.column.generated == "virtual":
        raise SqlError(f"virtual column {column.name!r} cannot be in a {special} key", part.offset, expected="STORED")
    if column.type.length == 0 and not column.type_facts.is_blob:
        known_refusal = refusal if column.type_facts.is_text else SqlError
        raise known_refusal(f"a column of length 0 cannot be in a key: {column.name!r}", part.offset)
    if special == "FULLTEXT" and not column.type_facts.is_text:
        raise SqlError(f"a {column.type.name} column cannot be in a FULLTEXT key", part.offset, expected="text")
    if special == "VECTOR" and (column.type_facts.kind != "vector" or column.column.nullable):
        problem = f"column {column.name!r} cannot be in a VECTOR key"
        raise SqlError(problem, part.offset, expected="a VECTOR that is NOT NULL")
    if special == "FULLTEXT" and part.prefix == 0:
        raise SqlError("a prefix has no length", part.offset, expected="1 or more")
    if special == "SPATIAL" and part.prefix is not None:
        raise SqlError("a SPATIAL key cannot have a prefix", part.offset, expected="the whole column")
    if special == "SPATIAL" and (not column.type_facts.is_geometry or column.column.nullable):
        problem = f"column {column.name!r} cannot be in a SPATIAL key"
        raise SqlError(problem, part.offset, expected="a geometry that is NOT NULL")


def _checked_part(column: ColumnDefinition, part: PartDraft, refusal: type[SqlError]) -> PartDraft:
    """The part with a prefix only where it is shorter than the column.  Raises SqlError, or a ``refusal``."""
    kind, facts = column.type.name, column.type_facts
    if facts.in_key == "none":
        raise refusal(f"a {kind} column cannot be in a key", part.offset)
    if column.type.length == 0 and not facts.is_lob:
        raise refusal(f"a column of length 0 cannot be in a key: {column.name!r}", part.offset)
    if part.prefix is None:
        if facts.is_lob:
            expected = f"a prefix, {part.column}(20)"
            raise refusal(f"{kind} column {column.name!r} is in a key without a length", part.offset, expected=expected)
        return part
    if not facts.takes_prefix:
        whole = isinstance(column.codec, FixedWidthCodec) and column.codec.size(column.wire) == part.prefix
        if whole and not facts.has_members:
            return replace(part, prefix=None)  # All its bytes: servers take that, and forget it (recorded).
        raise refusal(f"a key on a {kind} column cannot have a prefix", part.offset)
    if part.prefix == 0:
        raise SqlError("a prefix has no length", part.offset, expected="1 or more")
    if facts.is_lob:
        return part
    length = 1 if column.type.length is None else column.type.length
    if part.prefix > length:
        raise SqlError(f"a prefix of {part.prefix} is longer than the column", part.offset, expected=f"1 to {length}")
    return replace(part, prefix=None) if part.prefix == length else part


def check_auto_increment(definition: Definition, keys: tuple[Key, ...]) -> None:
    numbered = [i for i, column in enumerate(definition.columns) if column.column.auto_increment]
    for index in numbered:
        column = definition.columns[index]
        if len(numbered) > 1:
            offset = definition.columns[numbered[1]].offset
            raise SqlError("the table has two AUTO_INCREMENT columns", offset, expected="one")
        if column.type_facts.is_approximate:
            problem = f"a {column.type.name} column cannot be AUTO_INCREMENT here"
            raise SqlUnsupported(problem, column.offset, expected="an integer")
        if not column.type_facts.is_integer:
            raise SqlError(
                f"a {column.type.name} column cannot be AUTO_INCREMENT", column.offset, expected="an integer"
            )
        if not any(key.parts[0].column == index for key in keys):
            if definition.engine in NUMBERS_GROUPS and any(part.column == index for key in keys for part in key.parts):
                raise SqlUnsupported("numbers for each value of other columns are not supported yet", column.offset)
            raise SqlError(
                f"AUTO_INCREMENT column {column.name!r} is not the first of a key",
                column.offset,
                expected=f"PRIMARY KEY or UNIQUE on {column.name}",
            )
