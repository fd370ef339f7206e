"""Grammar of column definitions: type, attributes, default; of character sets and options, which tables have too."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Literal

from msgspec.structs import replace

from forge.sql.ast.definitions import CharsetClause, CheckDraft, ColumnDraft, TypeDraft
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlError, SqlUnsupported, at_offset
from forge.sql.lexer import without_comments
from forge.sql.parse.defaults import default_clause, now
from forge.sql.parse.references import column_reference
from forge.values.declaration.sqltype import SqlType
from forge.values.declaration.typetext import NATIONAL, continuing_words, parse_type
from forge.values.registry import facts_of

_CHARSET_WORDS = {"ASCII": "latin1", "UNICODE": "ucs2", "BYTE": "binary"}
#: Words that may follow a type.
_ATTRIBUTES = (
    "NOT NULL", "NULL", "DEFAULT", "AUTO_INCREMENT", "PRIMARY KEY", "UNIQUE", "COMMENT", "COLLATE", "CHARACTER SET",
    "ON UPDATE", "GENERATED ALWAYS AS", "VIRTUAL", "STORED", "VISIBLE", "INVISIBLE", "UNSIGNED", "ZEROFILL", "SRID",
    "COMPRESSED",
)  # fmt: skip
#: Attributes with a value that leave no trace in a binlog.
_IDLE_ATTRIBUTES = ("COLUMN_FORMAT", "STORAGE", "ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE", "REF_SYSTEM_ID")


def column_definition(cursor: Cursor) -> ColumnDraft:
    """``name type attribute...``.  Raises SqlError."""
    offset = cursor.token.start
    name = cursor.name("column")
    serial = cursor.token.is_word("SERIAL")
    column = ColumnDraft(name, column_type(cursor), offset)
    if serial:
        column = replace(column, nullable=False, auto_increment=True, keys=("unique",))
    while not (cursor.at_end() or cursor.token.is_mark(",") or cursor.token.is_mark(")")):
        if cursor.token.is_word("FIRST", "AFTER", "PARTITION", "REMOVE"):
            break
        column = _attribute(cursor, column)
    return column


def column_type(cursor: Cursor) -> TypeDraft:
    """A type with what belongs to it: arguments, signedness, character set.  Raises SqlError."""
    first = cursor.token
    if first.kind != "word":
        cursor.wrong("a column type")
    end = cursor.advance().end
    while cursor.token.is_word(*continuing_words()) and not cursor.following().is_word("SET"):
        end = cursor.advance().end
    width = 1 if first.is_word("BOOL", "BOOLEAN") else None
    if cursor.token.is_mark("("):
        width = int(cursor.following().text) if _is_width(cursor) else width
        end = cursor.balanced_end()
    while cursor.token.is_word("UNSIGNED", "SIGNED", "ZEROFILL"):
        end = cursor.advance().end
    with at_offset(first.start):
        sql_type = parse_type(without_comments(cursor.sql[first.start : end]))
    clause = CharsetClause(offset=first.start)
    if first.is_word(*NATIONAL):
        clause = replace(clause, charset="utf8mb3", binary=cursor.accept("BINARY"))
        return TypeDraft(replace(sql_type, collation=None), clause, first.start)
    if cursor.token.is_word("COMPRESSED"):
        sql_type = _compressed(cursor, sql_type)
    return TypeDraft(sql_type, _charset_of_type(cursor, sql_type, clause), first.start, width)


def _is_width(cursor: Cursor) -> bool:
    """Whether one short number stands in the parentheses that come next."""
    number, behind = cursor.following(), cursor.following(2)
    return number.kind == "number" and number.text.isdigit() and len(number.text) < 5 and behind.is_mark(")")


def _charset_of_type(cursor: Cursor, sql_type: SqlType, clause: CharsetClause) -> CharsetClause:
    """The character set written directly after a type, with BINARY before or after it."""
    offset = cursor.token.start
    binary = cursor.accept("BINARY")
    name = None
    if accept_charset(cursor):
        name = charset_name(cursor)
    elif word := cursor.accept_any(*_CHARSET_WORDS):
        name = _CHARSET_WORDS[word]
    binary = cursor.accept("BINARY") or binary
    if (binary or name) and not facts_of(sql_type).has_charset:
        raise SqlError(f"a {sql_type.name} column has no character set", offset)
    return replace(clause, charset=name, binary=binary, offset=offset if binary or name else clause.offset)


def accept_charset(cursor: Cursor) -> bool:
    """Take CHARACTER SET or a synonym, with the mark behind it, if they come next."""
    found = cursor.accept("CHARACTER", "SET") or cursor.accept("CHAR", "SET") or cursor.accept("CHARSET")
    if found:
        cursor.accept_mark("=")
    return found


def charset_name(cursor: Cursor, role: str = "character set") -> str:
    """The name after CHARACTER SET or COLLATE, which may be quoted, or the word BINARY."""
    if cursor.accept("BINARY"):
        return "binary"
    return cursor.advance().text if cursor.token.kind == "string" else cursor.name(role)


def charset_clause(cursor: Cursor, clause: CharsetClause) -> CharsetClause | None:
    """The clause with the CHARACTER SET or COLLATE that comes next; None if neither does."""
    offset = cursor.token.start
    if accept_charset(cursor):
        return replace(clause, charset=charset_name(cursor), offset=offset)
    if cursor.accept("COLLATE"):
        cursor.accept_mark("=")
        return replace(clause, collation=charset_name(cursor, "collation"), offset=offset)
    return None


def _attribute(cursor: Cursor, column: ColumnDraft) -> ColumnDraft:
    offset = cursor.token.start
    if cursor.accept("GENERATED", "ALWAYS", "AS") or cursor.accept("AS"):
        return _generated(cursor, column)
    if cursor.accept("NOT", "NULL"):
        return replace(column, nullable=False)
    if cursor.accept("NULL"):
        return replace(column, nullable=True)
    if cursor.accept("DEFAULT"):
        return replace(column, default=default_clause(cursor))
    if cursor.accept("SERIAL", "DEFAULT", "VALUE"):
        return replace(column, nullable=False, auto_increment=True, keys=(*column.keys, "unique"))
    if cursor.accept("ON", "UPDATE"):
        return replace(column, on_update=now(cursor))
    if cursor.accept("AUTO_INCREMENT"):
        # It says NOT NULL as well; the last word counts (recorded).
        return replace(column, auto_increment=True, nullable=False)
    if cursor.accept("PRIMARY", "KEY") or cursor.accept("KEY"):
        return _with_key(column, "primary")
    if cursor.accept("UNIQUE"):
        cursor.accept("KEY")
        return _with_key(column, "unique")
    if word := cursor.accept_any("INVISIBLE", "VISIBLE"):
        return replace(column, visible=word == "VISIBLE")
    if cursor.token.is_word("COMPRESSED"):
        return replace(column, type=replace(column.type, type=_compressed(cursor, column.type.type)))
    if cursor.accept("SRID"):
        return replace(column, type=replace(column.type, type=replace(column.type.type, srid=cursor.integer("a SRID"))))
    if cursor.accept("COMMENT"):
        return replace(column, comment=cursor.string("a comment"))
    if word := cursor.accept_any("WITH", "WITHOUT"):
        cursor.expect("SYSTEM", "VERSIONING")
        return replace(column, versioned=word == "WITH")
    if cursor.token.is_word("CHECK", "CONSTRAINT"):
        return replace(column, checks=(*column.checks, check_constraint(cursor)))
    if cursor.token.is_word("REFERENCES"):
        return replace(column, references=(*column.references, column_reference(cursor, column.name)))
    if clause := charset_clause(cursor, column.type.charset):
        return _collated(cursor, column, replace(clause, offset=offset))
    if not accept_option(cursor, *_IDLE_ATTRIBUTES) and not cursor.accept("NOT", "SECONDARY"):
        cursor.wrong("an attribute of the column, a comma or ')'", _ATTRIBUTES)
    return column


def _with_key(column: ColumnDraft, kind: Literal["primary", "unique"]) -> ColumnDraft:
    return column if kind in column.keys else replace(column, keys=(*column.keys, kind))


def _generated(cursor: Cursor, column: ColumnDraft) -> ColumnDraft:
    """What follows [GENERATED ALWAYS] AS."""
    if cursor.accept("ROW"):
        return replace(column, system="row_start" if cursor.expect_any("START", "END") == "START" else "row_end")
    expression = cursor.balanced()
    word = cursor.accept_any("VIRTUAL", "STORED", "PERSISTENT")
    kind: Literal["virtual", "stored"] = "stored" if word in ("STORED", "PERSISTENT") else "virtual"
    return replace(column, generated=kind, expression=expression)


def _collated(cursor: Cursor, column: ColumnDraft, clause: CharsetClause) -> ColumnDraft:
    """The column with a collation.  Raises SqlUnsupported for one that makes it another type."""
    facts = facts_of(column.type.type)
    makes_text = cursor.grammar.bytes_take_collations and (facts.is_bytes or facts.is_json)
    if makes_text and clause.collation != "binary":
        problem = f"COLLATE of a {column.type.type.name} column makes a text of it, which is not supported yet"
        raise SqlUnsupported(problem, clause.offset)
    return replace(column, type=replace(column.type, charset=clause))


def _compressed(cursor: Cursor, sql_type: SqlType) -> SqlType:
    """MariaDB's COMPRESSED [= zlib]."""
    offset = cursor.advance().start
    if not facts_of(sql_type).takes_compressed:
        raise SqlError(f"a {sql_type.name} column cannot be COMPRESSED", offset)
    if cursor.accept_mark("="):
        cursor.advance()
    return replace(sql_type, compressed=True)


def is_named_option(cursor: Cursor) -> bool:
    """Whether ``name = value`` comes next: an option that storage engines may know."""
    return cursor.token.is_name and cursor.following().is_mark("=")


def accept_option(cursor: Cursor, *names: str) -> tuple[str, str] | None:
    """Take one of these options with its value, which may stand without ``=``, or any ``name = value``; None if none
    comes next.
    """
    if not (cursor.token.is_word(*names) or is_named_option(cursor)):
        return None
    name = cursor.token.text.upper()
    if name not in names and get_close_matches(name, ("ENGINE", *names), cutoff=0.85):
        cursor.wrong("an option", names)
    cursor.advance()
    return name, option_value(cursor)


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
        cursor.accept("IF", "NOT", "EXISTS")
        name = cursor.name("constraint")
    cursor.expect("CHECK")
    expression = cursor.balanced()
    enforced = not cursor.accept("NOT", "ENFORCED")
    cursor.accept("ENFORCED")
    return CheckDraft(name, expression, offset, enforced)
