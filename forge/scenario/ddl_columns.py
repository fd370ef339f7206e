"""Grammar of column definitions: type, attributes, default."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from forge.charsets import charset
from forge.errors import FormatError, ScenarioError
from forge.scenario.syntax import (
    CharsetClause,
    ColumnDraft,
    Default,
    ExpressionDefault,
    LiteralDefault,
    NowDefault,
    TypeDraft,
)
from forge.scenario.tokens import Cursor, SqlError, SqlUnsupported, at_offset
from forge.values.sqltype import SqlType

NOW = ("CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP")

_INTEGERS = {
    **dict.fromkeys(("TINYINT", "INT1"), "TINYINT"),
    **dict.fromkeys(("SMALLINT", "INT2"), "SMALLINT"),
    **dict.fromkeys(("MEDIUMINT", "INT3", "MIDDLEINT"), "MEDIUMINT"),
    **dict.fromkeys(("INT", "INTEGER", "INT4"), "INT"),
    **dict.fromkeys(("BIGINT", "INT8"), "BIGINT"),
}
_DECIMALS = ("DECIMAL", "DEC", "NUMERIC", "FIXED")
_FLOATS = {"FLOAT": "FLOAT", "FLOAT4": "FLOAT", "DOUBLE": "DOUBLE", "FLOAT8": "DOUBLE", "REAL": "DOUBLE"}
_TEMPORALS = ("TIME", "DATETIME", "TIMESTAMP")
_LOBS = ("TINYTEXT", "MEDIUMTEXT", "LONGTEXT", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB")
_GEOMETRIES = {
    **{name: name for name in ("GEOMETRY", "POINT", "LINESTRING", "POLYGON", "GEOMETRYCOLLECTION")},
    **{name: name for name in ("MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON")},
    "GEOMCOLLECTION": "GEOMETRYCOLLECTION",
}
_OTHERS = (
    "BIT", "BOOL", "BOOLEAN", "YEAR", "DATE", "CHAR", "CHARACTER", "NCHAR", "NVARCHAR", "NATIONAL", "VARCHAR",
    "VARCHARACTER", "BINARY", "VARBINARY", "TEXT", "BLOB", "LONG", "ENUM", "SET", "JSON", "VECTOR", "SERIAL",
)  # fmt: skip
TYPES = (*_INTEGERS, *_DECIMALS, *_FLOATS, *_TEMPORALS, *_LOBS, *_GEOMETRIES, *_OTHERS)
#: Words that may follow a type.
_ATTRIBUTES = (
    "NOT NULL", "NULL", "DEFAULT", "AUTO_INCREMENT", "PRIMARY KEY", "UNIQUE", "COMMENT", "COLLATE", "CHARACTER SET",
    "ON UPDATE", "GENERATED ALWAYS AS", "VIRTUAL", "STORED", "VISIBLE", "INVISIBLE", "UNSIGNED", "ZEROFILL", "SRID",
)  # fmt: skip
#: FLOAT(p) is a DOUBLE from 25 bits of mantissa on.
_FLOAT_BITS, _DOUBLE_BITS = 24, 53


def column_definition(cursor: Cursor) -> ColumnDraft:
    """``name type attribute...``.  Raises SqlError."""
    offset = cursor.token.start
    name = cursor.name("column")
    serial = cursor.token.is_word("SERIAL")
    column = ColumnDraft(name, column_type(cursor), offset)
    if serial:
        column = replace(column, nullable=False, auto_increment=True, key="unique")
    while not (cursor.at("end") or cursor.token.is_mark(",") or cursor.token.is_mark(")")):
        if cursor.token.is_word("FIRST", "AFTER"):
            break
        column = _attribute(cursor, column)
    return column


def column_type(cursor: Cursor) -> TypeDraft:
    """A type with what belongs to it: arguments, signedness, character set.  Raises SqlError."""
    offset = cursor.token.start
    if cursor.token.kind != "word":
        cursor.wrong("a column type")
    word = cursor.token.text.upper()
    if word not in TYPES:
        cursor.wrong("a column type", TYPES)
    cursor.advance()
    if word in _GEOMETRIES or word in ("JSON", "DATE", "SERIAL", "BOOL", "BOOLEAN"):
        draft = TypeDraft(_plain(word), offset=offset)
    elif word in _INTEGERS or word in _DECIMALS or word in _FLOATS:
        draft = TypeDraft(_numeric(cursor, word), offset=offset)
    elif word in (*_TEMPORALS, "YEAR", "BIT", "VECTOR", "BINARY", "VARBINARY"):
        draft = TypeDraft(_sized(cursor, word), offset=offset)
    elif word in ("ENUM", "SET"):
        draft = TypeDraft(SqlType(word, members=_members(cursor)), offset=offset)
    else:
        draft = _character(cursor, word, offset)
    return _charset_clause(cursor, draft)


def _plain(word: str) -> SqlType:
    if word == "SERIAL":
        return SqlType("BIGINT", unsigned=True)
    return SqlType("TINYINT" if word in ("BOOL", "BOOLEAN") else _GEOMETRIES.get(word, word))


def _arguments(cursor: Cursor, most: int) -> list[int]:
    numbers: list[int] = []
    if cursor.accept_mark("("):
        numbers.append(cursor.integer("a length"))
        while len(numbers) < most and cursor.accept_mark(","):
            numbers.append(cursor.integer("a scale"))
        cursor.expect_mark(")")
    return numbers


def _numeric(cursor: Cursor, word: str) -> SqlType:
    offset = cursor.token.start
    if word == "DOUBLE":
        cursor.accept("PRECISION")
    if word in _INTEGERS:
        _arguments(cursor, 1)  # a display width changes nothing
        found = SqlType(_INTEGERS[word])
    elif word in _DECIMALS:
        numbers = _arguments(cursor, 2)
        found = SqlType("DECIMAL", precision=numbers[0] if numbers else 10, scale=numbers[1] if len(numbers) > 1 else 0)
    else:
        numbers = _arguments(cursor, 2)
        name = _FLOATS[word]
        if len(numbers) == 2:
            found = SqlType(name, precision=numbers[0], scale=numbers[1])
        elif numbers and word != "FLOAT":
            raise SqlError(f"{word} takes no or two arguments", offset, expected=f"{word} or {word}(10,2)")
        elif numbers and numbers[0] > _DOUBLE_BITS:
            raise SqlError(f"FLOAT cannot have the precision {numbers[0]}", offset, expected=f"0 to {_DOUBLE_BITS}")
        else:
            found = SqlType("DOUBLE" if numbers and numbers[0] > _FLOAT_BITS else name)
    while attribute := cursor.accept_any("UNSIGNED", "SIGNED", "ZEROFILL"):
        if attribute == "ZEROFILL":
            found = replace(found, zerofill=True, unsigned=True)
        elif attribute == "UNSIGNED":
            found = replace(found, unsigned=True)
    return found


def _sized(cursor: Cursor, word: str) -> SqlType:
    offset = cursor.token.start
    numbers = _arguments(cursor, 1)
    if word == "YEAR":
        if numbers not in ([], [4]):
            raise SqlError(f"YEAR({numbers[0]}) does not exist", offset, expected="YEAR")
        return SqlType("YEAR")
    if word in _TEMPORALS:
        return SqlType(word, fsp=numbers[0] if numbers else 0)
    length = numbers[0] if numbers else None
    return SqlType(word, length=1 if length is None and word in ("BIT", "BINARY") else length)


def _members(cursor: Cursor) -> tuple[str, ...]:
    cursor.expect_mark("(")
    members = [_member(cursor)]
    while cursor.accept_mark(","):
        members.append(_member(cursor))
    cursor.expect_mark(")")
    return tuple(members)


def _member(cursor: Cursor) -> str:
    if cursor.at("hex"):
        with at_offset(cursor.token.start):
            try:
                return bytes.fromhex(cursor.token.text).decode()
            except ValueError:
                raise ScenarioError("this member is not UTF-8 text", expected="text in quotes") from None
            finally:
                cursor.advance()
    return cursor.string("a member")


def _character(cursor: Cursor, word: str, offset: int) -> TypeDraft:
    """CHAR, VARCHAR, TEXT, BLOB and their many spellings."""
    national = word in ("NATIONAL", "NCHAR", "NVARCHAR")
    if word == "NATIONAL":
        word = cursor.accept_any("CHAR", "CHARACTER", "VARCHAR", "VARCHARACTER") or cursor.wrong("CHAR or VARCHAR")
    if word == "LONG":
        if cursor.accept("VARBINARY"):
            return TypeDraft(SqlType("MEDIUMBLOB"), offset=offset)
        if cursor.accept_any("CHAR", "CHARACTER"):
            cursor.expect("VARYING")
        else:
            cursor.accept_any("VARCHAR", "VARCHARACTER")
        return TypeDraft(SqlType("MEDIUMTEXT"), offset=offset)
    if word in ("CHAR", "CHARACTER", "NCHAR"):
        varying = cursor.accept("VARYING") or (word == "NCHAR" and bool(cursor.accept_any("VARCHAR", "VARCHARACTER")))
        name = "VARCHAR" if varying else "CHAR"
    else:
        name = {"VARCHARACTER": "VARCHAR", "NVARCHAR": "VARCHAR"}.get(word, word)
    numbers = _arguments(cursor, 1) if name not in _LOBS else []
    length = numbers[0] if numbers else 1 if name == "CHAR" else None
    clause = CharsetClause(charset="utf8mb3", offset=offset) if national else CharsetClause(offset=offset)
    return TypeDraft(SqlType(name, length=length), clause, offset)


def _charset_clause(cursor: Cursor, draft: TypeDraft) -> TypeDraft:
    """The character set written directly after a type: CHARACTER SET, BINARY, ASCII, UNICODE, BYTE."""
    clause = draft.charset
    while True:
        offset = cursor.token.start
        if cursor.accept("CHARACTER", "SET") or cursor.accept("CHAR", "SET") or cursor.accept("CHARSET"):
            clause = replace(clause, charset=charset_name(cursor), offset=offset)
        elif cursor.accept("ASCII"):
            clause = replace(clause, charset="latin1", offset=offset)
        elif cursor.accept("UNICODE"):
            clause = replace(clause, charset="ucs2", offset=offset)
        elif cursor.accept("BYTE"):
            clause = replace(clause, charset="binary", offset=offset)
        elif draft.type.name not in ("BINARY", "VARBINARY") and cursor.accept("BINARY"):
            clause = replace(clause, binary=True, offset=offset)
        else:
            return replace(draft, charset=clause)


def charset_name(cursor: Cursor) -> str:
    """The name after CHARACTER SET, which may be quoted, or the word BINARY."""
    if cursor.accept("BINARY"):
        return "binary"
    return cursor.advance().text if cursor.at("string") else cursor.name("character set")


def collation_name(cursor: Cursor) -> str:
    """The name after COLLATE, which may be quoted, or the word BINARY."""
    if cursor.accept("BINARY"):
        return "binary"
    return cursor.advance().text if cursor.at("string") else cursor.name("collation")


def _attribute(cursor: Cursor, column: ColumnDraft) -> ColumnDraft:
    offset = cursor.token.start
    if cursor.accept("NOT", "NULL"):
        return replace(column, nullable=False)
    if cursor.accept("NULL"):
        return replace(column, nullable=True)
    if cursor.accept("DEFAULT"):
        return replace(column, default=default_clause(cursor))
    if cursor.accept("SERIAL", "DEFAULT", "VALUE"):
        return replace(column, nullable=False, auto_increment=True, key="unique")
    if cursor.accept("ON", "UPDATE"):
        return replace(column, on_update=_now(cursor))
    if cursor.accept("AUTO_INCREMENT"):
        return replace(column, auto_increment=True)
    if cursor.accept("PRIMARY", "KEY") or cursor.accept("KEY"):
        return replace(column, key="primary")
    if cursor.accept("UNIQUE"):
        cursor.accept("KEY")
        return replace(column, key=column.key or "unique")
    if cursor.accept("COLLATE"):
        clause = replace(column.type.charset, collation=collation_name(cursor), offset=offset)
        return replace(column, type=replace(column.type, charset=clause))
    if cursor.accept("GENERATED", "ALWAYS", "AS") or cursor.accept("AS"):
        kind: Literal["virtual", "stored"] = "virtual"
        expression = cursor.balanced()
        if not cursor.accept("VIRTUAL") and cursor.accept("STORED"):
            kind = "stored"
        return replace(column, generated=kind, expression=expression)
    if word := cursor.accept_any("VISIBLE", "INVISIBLE"):
        return replace(column, visible=word == "VISIBLE")
    if cursor.accept("SRID"):
        return replace(column, type=replace(column.type, type=replace(column.type.type, srid=cursor.integer("a SRID"))))
    return _idle_attribute(cursor, column, offset)


def _idle_attribute(cursor: Cursor, column: ColumnDraft, offset: int) -> ColumnDraft:
    """Attributes that leave no trace in a binlog, and those that are not built yet."""
    if cursor.accept("COMMENT"):
        cursor.string("a comment")
    elif cursor.accept("COLUMN_FORMAT") or cursor.accept("STORAGE"):
        cursor.advance()
    elif cursor.accept_any("ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE"):
        cursor.accept_mark("=")
        cursor.string("an attribute")
    elif cursor.token.is_word("REFERENCES"):
        raise SqlUnsupported("foreign keys (REFERENCES) are not supported yet", offset)
    elif cursor.token.is_word("CHECK", "CONSTRAINT"):
        raise SqlUnsupported("CHECK constraints are not supported yet", offset)
    else:
        cursor.wrong("an attribute of the column, a comma or ')'", _ATTRIBUTES)
    return column


def default_clause(cursor: Cursor) -> Default:
    """What follows DEFAULT.  Raises SqlError."""
    offset = cursor.token.start
    if cursor.token.is_mark("("):
        return ExpressionDefault(cursor.balanced(), offset)
    if cursor.token.is_word(*NOW):
        return NowDefault(_now(cursor), offset)
    return LiteralDefault(literal(cursor), offset)


def _now(cursor: Cursor) -> int:
    """CURRENT_TIMESTAMP or a synonym, with its fractional digits.  Raises SqlError."""
    if not cursor.accept_any(*NOW):
        cursor.wrong("CURRENT_TIMESTAMP", NOW)
    fsp = 0
    if cursor.accept_mark("(") and not cursor.accept_mark(")"):
        fsp = cursor.integer("fractional digits")
        cursor.expect_mark(")")
    return fsp


def literal(cursor: Cursor) -> Any:
    """A literal: str, int, Decimal, bytes (hex and bit literals), bool or None.  Raises SqlError."""
    token = cursor.token
    if cursor.accept("NULL"):
        return None
    if word := cursor.accept_any("TRUE", "FALSE"):
        return word == "TRUE"
    if token.kind == "word" and token.text.startswith("_") and cursor.following().kind in ("string", "hex"):
        cursor.advance()
        with at_offset(token.start):
            return _introduced(cursor, token.text[1:])
    if token.kind == "string":
        return cursor.string("a literal")
    if token.kind == "hex":
        return _hex(cursor)
    if token.kind == "bit":
        bits = cursor.advance().text
        return int(bits or "0", 2).to_bytes((len(bits) + 7) // 8, "big")
    if cursor.accept("DATE") or cursor.accept("TIME") or cursor.accept("TIMESTAMP"):
        return cursor.string("a literal")
    if token.kind == "number" or token.text in ("-", "+", "."):
        return cursor.number()
    return cursor.wrong("a literal, or an expression in parentheses")


def _hex(cursor: Cursor) -> bytes:
    """The bytes of a hex literal; 0xABC is 0ABC."""
    digits = cursor.advance().text
    return bytes.fromhex(digits.rjust(len(digits) + len(digits) % 2, "0"))


def _introduced(cursor: Cursor, name: str) -> str | bytes:
    """A literal behind a character set: ``_latin1'x'``, ``_utf8mb4 x'c3a9'``."""
    if cursor.at("string"):
        return cursor.string("a literal")
    data = _hex(cursor)
    if name.lower() == "binary":
        return data
    try:
        return charset(name).decode(data)
    except FormatError as error:
        raise ScenarioError(error.rule) from None
