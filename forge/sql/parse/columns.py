"""Grammar of column definitions: type, attributes, default."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from forge.errors import ScenarioError
from forge.sql.ast.definitions import (
    CharsetClause,
    CheckDraft,
    ColumnDraft,
    ExpressionDefault,
    TypeDraft,
)
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError, SqlUnsupported, at_offset
from forge.sql.lexer import without_comments
from forge.sql.parse.defaults import default_clause, now
from forge.sql.parse.foreign_keys import column_reference
from forge.values.declaration.sqltype import SqlType
from forge.values.declaration.typetext import NATIONAL, continuing_words, parse_type
from forge.values.registry import facts_of

_CHARSET_WORDS = {"ASCII": "latin1", "UNICODE": "ucs2", "BYTE": "binary"}
_MAX_WIDTH = 255
#: Words that may follow a type.
_ATTRIBUTES = (
    "NOT NULL", "NULL", "DEFAULT", "AUTO_INCREMENT", "PRIMARY KEY", "UNIQUE", "COMMENT", "COLLATE", "CHARACTER SET",
    "ON UPDATE", "GENERATED ALWAYS AS", "VIRTUAL", "STORED", "VISIBLE", "INVISIBLE", "UNSIGNED", "ZEROFILL", "SRID",
    "COMPRESSED",
)  # fmt: skip
#: Words that may follow the expression of a generated column where not all attributes may.
_OF_GENERATED = ("UNIQUE", "COMMENT", "INVISIBLE", "CHECK", "CONSTRAINT")
_OF_SERIAL = (*_OF_GENERATED, "NOT", "PRIMARY", "KEY")


def column_definition(cursor: Cursor) -> ColumnDraft:
    """``name type attribute...``.  Raises SqlError."""
    offset = cursor.token.start
    name = cursor.name("column")
    serial = cursor.token.is_word("SERIAL")
    column = ColumnDraft(name, column_type(cursor), offset)
    if serial:
        column = replace(column, nullable=False, auto_increment=True, keys=("unique",), serial=True)
    while cursor.token.is_word("COLLATE"):
        column = _attribute(cursor, column)
    column = _generation(cursor, column)
    while not (cursor.at_end() or cursor.token.is_mark(",") or cursor.token.is_mark(")")):
        if cursor.token.is_word("FIRST", "AFTER", "PARTITION", "REMOVE"):
            break
        column = _attribute(cursor, column)
    return column


def column_type(cursor: Cursor) -> TypeDraft:
    """A type with what belongs to it: arguments, signedness, character set.  Raises SqlError."""
    first = cursor.token
    if first.kind != "word" or (first.is_word("GEOMCOLLECTION") and not cursor.grammar.geomcollection):
        cursor.wrong("a column type")
    end = cursor.advance().end
    while cursor.token.is_word(*continuing_words()) and not cursor.following().is_word("SET"):
        end = cursor.advance().end
    width = 1 if first.is_word("BOOL", "BOOLEAN") else None
    if cursor.token.is_mark("("):
        width = int(cursor.following().text) if _is_width(cursor) else width
        end = cursor.balanced_end()
    signs: list[str] = []
    while cursor.token.is_word("UNSIGNED", "SIGNED", "ZEROFILL"):
        word = cursor.token.text.upper()
        if not cursor.grammar.repeats_signs and (word in signs or "SIGNED" in signs or (signs and word == "SIGNED")):
            cursor.wrong("an attribute of the column, a comma or ')'")
        signs.append(word)
        end = cursor.advance().end
    with at_offset(first.start):
        sql_type = parse_type(without_comments(cursor.sql[first.start : end]))
        if width is not None and width > _MAX_WIDTH and facts_of(sql_type).display_widths is not None:
            raise ScenarioError(f"{sql_type.name} cannot have the display width {width}", expected=f"0 to {_MAX_WIDTH}")
    clause = CharsetClause(offset=first.start)
    if first.is_word(*NATIONAL):
        clause = replace(clause, charset="utf8mb3", binary=cursor.accept("BINARY"))
        return TypeDraft(replace(sql_type, collation=None), clause, first.start, national=True)
    if cursor.token.is_word("COMPRESSED"):
        sql_type = _compressed(cursor, sql_type)
    return TypeDraft(sql_type, _charset_clause(cursor, sql_type, clause), first.start, width)


def _is_width(cursor: Cursor) -> bool:
    """Whether one short number stands in the parentheses that come next."""
    number, behind = cursor.following(), cursor.following(2)
    return number.kind == "number" and number.text.isdigit() and len(number.text) < 5 and behind.is_mark(")")


def _charset_clause(cursor: Cursor, sql_type: SqlType, clause: CharsetClause) -> CharsetClause:
    """The character set written directly after a type, with BINARY before or after it."""
    offset = cursor.token.start
    binary = cursor.accept("BINARY")
    name = None
    if cursor.accept("CHARACTER", "SET") or cursor.accept("CHAR", "SET") or cursor.accept("CHARSET"):
        name = charset_name(cursor)
    elif word := cursor.accept_any(*_CHARSET_WORDS):
        name = _CHARSET_WORDS[word]
    binary = cursor.accept("BINARY") or binary
    if (binary or name) and not facts_of(sql_type).has_charset:
        raise SqlError(f"a {sql_type.name} column has no character set", offset)
    return replace(clause, charset=name, binary=binary, offset=offset if binary or name else clause.offset)


def charset_name(cursor: Cursor) -> str:
    """The name after CHARACTER SET, which may be quoted, or the word BINARY."""
    if cursor.accept("BINARY"):
        return "binary"
    return cursor.advance().text if cursor.token.kind == "string" else cursor.name("character set")


def collation_name(cursor: Cursor) -> str:
    """The name after COLLATE, which may be quoted, or the word BINARY."""
    if cursor.accept("BINARY"):
        return "binary"
    return cursor.advance().text if cursor.token.kind == "string" else cursor.name("collation")


def _attribute(cursor: Cursor, column: ColumnDraft) -> ColumnDraft:
    offset = cursor.token.start
    if not cursor.grammar.free_attributes:
        if column.serial and not cursor.token.is_word(*_OF_SERIAL):
            cursor.wrong("an attribute of a SERIAL column", _OF_SERIAL)
        if column.checks:
            cursor.wrong("a comma or ')' behind CHECK")
        if column.generated is not None and not cursor.token.is_word(*_OF_GENERATED):
            cursor.wrong("UNIQUE, COMMENT, INVISIBLE or CHECK of a generated column", _OF_GENERATED)
    if cursor.accept("NOT", "NULL"):
        return replace(column, nullable=False)
    if cursor.accept("NULL"):
        return replace(column, nullable=True, says_null=True)
    if cursor.accept("DEFAULT"):
        default = default_clause(cursor)
        if column.default is not None and ExpressionDefault in (type(default), type(column.default)):
            raise SqlUnsupported(f"column {column.name!r} has two defaults", offset, expected="one")
        return replace(column, default=default)
    if cursor.accept("SERIAL", "DEFAULT", "VALUE"):
        return replace(column, nullable=False, auto_increment=True, keys=(*column.keys, "unique"))
    if cursor.accept("ON", "UPDATE"):
        if cursor.grammar.local_time_default and cursor.token.is_word("LOCALTIME", "LOCALTIMESTAMP"):
            # Functions of their own there (recorded on 11.8).
            cursor.wrong("CURRENT_TIMESTAMP")
        return replace(column, on_update=now(cursor))
    if cursor.accept("AUTO_INCREMENT"):
        # It says NOT NULL as well; the last word counts (recorded).
        return replace(column, auto_increment=True, nullable=False)
    if cursor.accept("PRIMARY", "KEY") or cursor.accept("KEY"):
        return column if "primary" in column.keys else replace(column, keys=(*column.keys, "primary"))
    if cursor.accept("UNIQUE"):
        cursor.accept("KEY")
        return column if "unique" in column.keys else replace(column, keys=(*column.keys, "unique"))
    if cursor.accept("COLLATE"):
        return _collated(cursor, column, offset)
    if word := cursor.accept_any("INVISIBLE", *(("VISIBLE",) if cursor.grammar.storage_attributes else ())):
        return replace(column, visible=word == "VISIBLE")
    if cursor.token.is_word("COMPRESSED"):
        return replace(column, type=replace(column.type, type=_compressed(cursor, column.type.type)))
    if cursor.accept("SRID"):
        if not facts_of(column.type.type).is_geometry:
            raise SqlError(f"a {column.type.type.name} column has no SRID", offset)
        return replace(column, type=replace(column.type, type=replace(column.type.type, srid=cursor.integer("a SRID"))))
    if cursor.grammar.reference_system_ids and cursor.accept("REF_SYSTEM_ID"):
        if not facts_of(column.type.type).is_geometry:
            raise SqlError(f"a {column.type.type.name} column has no REF_SYSTEM_ID", offset)
        cursor.expect_mark("=")
        cursor.integer("the id of a reference system")
        return column  # It is for clients to look at.
    return _idle_attribute(cursor, column)


def _generation(cursor: Cursor, column: ColumnDraft) -> ColumnDraft:
    """[GENERATED ALWAYS] AS, which stands before all other attributes but COLLATE."""
    if not (cursor.accept("GENERATED", "ALWAYS", "AS") or cursor.accept("AS")):
        return column
    if cursor.accept("ROW"):
        if cursor.accept("START"):
            return replace(column, system="row_start")
        if not cursor.accept("END"):
            cursor.wrong("START or END", ("START", "END"))
        return replace(column, system="row_end")
    expression = cursor.balanced()
    word = cursor.accept_any("VIRTUAL", "STORED", "PERSISTENT")
    kind: Literal["virtual", "stored"] = "stored" if word in ("STORED", "PERSISTENT") else "virtual"
    return replace(column, generated=kind, expression=expression, persistent=word == "PERSISTENT")


def _collated(cursor: Cursor, column: ColumnDraft, offset: int) -> ColumnDraft:
    """The column with the collation that comes next.  Raises SqlError, SqlUnsupported."""
    facts, bare = facts_of(column.type.type), cursor.token.is_word("BINARY")
    clause = replace(column.type.charset, collation=collation_name(cursor), offset=offset)
    before = column.type.charset.collation
    if before is not None and before != clause.collation:
        raise SqlError(f"column {column.name!r} has the collations {before} and {clause.collation}", offset)
    column = replace(column, type=replace(column.type, charset=clause))
    if facts.has_charset:
        if column.type.national and cursor.grammar.bytes_take_collations and cursor.token.is_word("AS", "GENERATED"):
            cursor.wrong("an attribute of the column")
        return column
    if cursor.grammar.bytes_take_collations and facts.kind == "vector" and bare:
        cursor.wrong("a collation of text")
    if cursor.grammar.bytes_take_collations and facts.kind != "vector":
        if bare or cursor.token.is_word("AS", "GENERATED"):
            cursor.wrong("a collation of text" if bare else "an attribute of the column")
        if clause.collation != "binary" and (facts.is_bytes or facts.is_json):
            name = column.type.type.name
            raise SqlUnsupported(f"COLLATE of a {name} column makes a text of it, which is not supported yet", offset)
    elif clause.collation != "binary" and facts.has_binary_collation:
        raise SqlError(f"a {column.type.type.name} column has the collation binary", offset)
    return column


def _compressed(cursor: Cursor, sql_type: SqlType) -> SqlType:
    """MariaDB's COMPRESSED [= zlib]."""
    offset = cursor.advance().start
    if not facts_of(sql_type).takes_compressed:
        raise SqlError(f"a {sql_type.name} column cannot be COMPRESSED", offset)
    if cursor.accept_mark("="):
        cursor.advance()
    return replace(sql_type, compressed=True)


def _idle_attribute(cursor: Cursor, column: ColumnDraft) -> ColumnDraft:
    """Constraints, and attributes that leave no trace in a binlog."""
    if cursor.accept("COMMENT"):
        return replace(column, comment=cursor.string("a comment"))
    if cursor.token.is_word("WITH", "WITHOUT"):
        return replace(column, versioned=_versioning(cursor))
    if cursor.token.is_word("CHECK", "CONSTRAINT"):
        return replace(column, checks=(*column.checks, check_constraint(cursor)))
    if cursor.grammar.storage_attributes and (word := cursor.accept_any("COLUMN_FORMAT", "STORAGE")):
        if column.generated is not None:
            raise SqlError(f"generated column {column.name!r} has no {word}", cursor.token.start)
        cursor.advance()
    elif cursor.accept_any("ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE"):
        cursor.accept_mark("=")
        cursor.string("an attribute")
    elif cursor.token.is_word("REFERENCES"):
        return replace(column, references=(*column.references, column_reference(cursor, column.name)))
    elif cursor.grammar.named_options and is_named_option(cursor):
        cursor.advance()
        option_value(cursor)
    elif not (cursor.grammar.storage_attributes and cursor.accept("NOT", "SECONDARY")):
        cursor.wrong("an attribute of the column, a comma or ')'", _ATTRIBUTES)
    return column


def _versioning(cursor: Cursor) -> bool:
    """WITH or WITHOUT SYSTEM VERSIONING."""
    versioned = cursor.advance().is_word("WITH")
    cursor.expect("SYSTEM", "VERSIONING")
    return versioned


def is_named_option(cursor: Cursor) -> bool:
    """Whether ``name = value`` comes next: an option of a table, a column or a key that storage engines may know."""
    return cursor.token.kind in ("word", "name") and cursor.following().is_mark("=")


def option_value(cursor: Cursor) -> str:
    """The value of an option, with or without ``=``, as written.  Raises SqlError."""
    cursor.accept_mark("=")
    start = cursor.token.start
    if cursor.token.is_mark("("):
        return cursor.sql[start : cursor.balanced_end()]
    if cursor.token.text in ("-", "+"):
        cursor.advance()
    if cursor.token.kind not in ("word", "name", "number", "string", "hex"):
        cursor.wrong("the option's value")
    text = cursor.advance().text
    while cursor.accept_mark("."):
        text += f".{cursor.advance().text}"
    return text


def check_constraint(cursor: Cursor) -> CheckDraft:
    """``[CONSTRAINT name] CHECK (expression) [[NOT] ENFORCED]``.  Raises SqlError."""
    offset = cursor.token.start
    name = None
    if cursor.accept("CONSTRAINT") and not cursor.token.is_word("CHECK"):
        cursor.accept_if_not_exists()
        name = cursor.name("constraint")
    cursor.expect("CHECK")
    expression = cursor.balanced()
    enforced = True
    if cursor.grammar.enforces_checks:
        enforced = not cursor.accept("NOT", "ENFORCED")
        cursor.accept("ENFORCED")
    return CheckDraft(name, expression, offset, enforced)
