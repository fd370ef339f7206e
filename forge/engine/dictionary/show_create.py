"""A table definition as SHOW CREATE TABLE prints it, which is what MySQL logs where it changed the statement.

Recorded on 9.7, with generated invisible primary keys.  A table option is printed only if the statement has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from forge.charsets import collation
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.engines import INNODB
from forge.engine.dictionary.tables import plan_table
from forge.errors import UnsupportedError
from forge.servers import server_line
from forge.servers.facts.ddl import Definitions
from forge.sql.ast.definitions import ColumnDraft, ExpressionDefault, KeyDraft, NowDefault, PartDraft
from forge.sql.ast.statements import CreateTable
from forge.sql.expressions import Expression
from forge.sql.expressions.evaluation import kind_of
from forge.sql.write.identifiers import identifier
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import column_for, column_type, facts_of

_WIDTH = re.compile(r"\(\s*(\d+)\s*\)")
_BOOL = re.compile(r"BOOL(EAN)?\b|TINYINT\s*\(\s*1\s*\)\s*$", re.IGNORECASE)
#: Options in the order in which they are printed, those before the comment.
_OPTIONS = (
    "MIN_ROWS", "MAX_ROWS", "AVG_ROW_LENGTH", "PACK_KEYS", "STATS_PERSISTENT", "STATS_AUTO_RECALC",
    "STATS_SAMPLE_PAGES", "CHECKSUM", "DELAY_KEY_WRITE", "ROW_FORMAT", "KEY_BLOCK_SIZE",
)  # fmt: skip
_ESCAPES = str.maketrans({"\0": r"\0", "\n": r"\n", "\r": r"\r", "\\": r"\\", "'": "''"})
QUOTE = "'"
_OPERATORS = {
    "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "IntDiv": "DIV", "Mod": "%", "EQ": "=", "NEQ": "<>", "LT": "<",
    "LTE": "<=", "GT": ">", "GTE": ">=", "And": "and", "Or": "or",
}  # fmt: skip
_FUNCTIONS = {"Concat": "concat", "Lower": "lower", "Upper": "upper", "JSON_ARRAY": "json_array", "Abs": "abs"}


def create_table_text(statement: CreateTable, definition: Definition, current_database: str) -> str:
    """CREATE TABLE as the server prints it for its log: one line a column and a key.

    Raises UnsupportedError for expressions and options whose printed form is not known here.
    """
    drafts = {draft.name.lower(): draft for draft in statement.columns}
    lines = [_column(drafts[column.name.lower()], column, statement, definition) for column in definition.columns]
    lines += _keys(definition)
    if statement.foreign_keys or definition.checks:
        raise UnsupportedError("constraints of a table that gets an invisible primary key are not supported yet")
    name = identifier(definition.name)
    if definition.database != current_database:
        name = f"{identifier(definition.database)}.{name}"
    head = "CREATE TABLE IF NOT EXISTS " if statement.if_not_exists else "CREATE TABLE "
    body = ",\n  ".join(lines)
    options = "".join(f" {option}" for option in _options(statement, definition))
    in_one = statement.select is not None and definition.engine == INNODB
    if in_one and server_line(definition.server).knows("atomic_create_select"):
        # What a replica reads as the beginning of the transaction that has the rows too.
        options = f" START TRANSACTION{options}"
    return f"{head}{name} (\n  {body}\n){options}"


def quoted_text(text: str) -> str:
    """A literal with the few escapes that the server prints."""
    return f"'{text.translate(_ESCAPES)}'"


def _column(draft: ColumnDraft, column: ColumnDefinition, statement: CreateTable, definition: Definition) -> str:
    words = [identifier(column.name), _type_text(column, draft, definition), *_charset(draft, column, definition)]
    facts = column.column
    if column.generated is not None:
        kind = "STORED" if facts.generated == "stored" else "VIRTUAL"
        words.append(f"GENERATED ALWAYS AS ({expression_text(column.generated, definition)}) {kind}")
    if not facts.nullable:
        words.append("NOT NULL")
    elif facts.type.name == "TIMESTAMP" and column.generated is None:
        words.append("NULL")
    if facts.type.srid is not None:
        words.append(f"/*!80003 SRID {facts.type.srid} */")
    words += _default(draft, column, definition)
    if facts.on_update_now:
        words.append(f"ON UPDATE {_now(facts.type.fsp)}")
    if facts.auto_increment:
        words.append("AUTO_INCREMENT")
    if not facts.visible:
        words.append("/*!80023 INVISIBLE */")
    if draft.comment:
        words.append(f"COMMENT {quoted_text(draft.comment)}")
    return " ".join(words)


def _form(definition: Definition) -> Definitions:
    """How the server prints a table."""
    return server_line(definition.server).ddl


def _type_text(column: ColumnDefinition, draft: ColumnDraft, definition: Definition) -> str:
    """As :func:`type_text`; MariaDB prints the widths of all integers and of YEAR."""
    sql_type, written = column.type, draft.type.text
    if not _form(definition).prints_integer_widths:
        return type_text(sql_type, written)
    facts = facts_of(sql_type)
    if facts.kind == "year":
        return "year(4)"
    if facts.display_widths is None or sql_type.zerofill:
        return type_text(sql_type, written)
    match = _WIDTH.search(written)
    width = int(match[1]) if match else 1 if _BOOL.match(written) else facts.display_widths[sql_type.unsigned]
    return f"{sql_type.name.lower()}({width})" + " unsigned" * bool(sql_type.unsigned)


#: TEXT(n) and BLOB(n) are printed as the type that they became, by its bytes of length.
_LOB_WORDS = ("tiny", "", "medium", "long")


def type_text(sql_type: SqlType, written: str) -> str:
    """The type's name with its arguments; display widths are printed for ZEROFILL and TINYINT(1) only."""
    facts, lower = facts_of(sql_type), sql_type.name.lower()
    if facts.display_widths is not None:
        width = _WIDTH.search(written)
        if sql_type.zerofill:
            lower += f"({width[1] if width else facts.display_widths[1]})"
        elif _BOOL.match(written) and not sql_type.unsigned:
            lower += "(1)"
    elif facts.kind == "decimal":
        lower += f"({sql_type.precision or 10},{sql_type.scale or 0})"
    elif facts.is_approximate and sql_type.precision is not None:
        lower += f"({sql_type.precision},{sql_type.scale})"
    elif facts.has_members:
        lower += f"({','.join(map(quoted_text, sql_type.members))})"
    elif facts.is_lob:
        if sql_type.length is not None:
            lower = _LOB_WORDS[column_for(sql_type).metadata[0] - 1] + ("text" if facts.is_text else "blob")
    elif column_type(sql_type.name).arguments == "length":
        lower += f"({facts.default_length if sql_type.length is None else sql_type.length})"
    elif sql_type.name == "GEOMETRYCOLLECTION":
        lower = "geomcollection"
    elif sql_type.fsp:
        lower += f"({sql_type.fsp})"
    return lower + " unsigned" * sql_type.unsigned + " zerofill" * sql_type.zerofill


def _charset(draft: ColumnDraft, column: ColumnDefinition, definition: Definition) -> Iterator[str]:
    """Both words where the column names one of them; else the collation where the table's is not its set's default."""
    if column.type.collation is None:
        return
    own = collation(column.type.collation, definition.server)
    clause = draft.type.charset
    if _form(definition).prints_whole_collation:
        if own.id != definition.collation:
            yield f"CHARACTER SET {own.charset} COLLATE {own.name}"
        return
    named = clause.charset is not None or clause.collation is not None or clause.binary
    if named or own.id != definition.collation:
        yield f"CHARACTER SET {own.charset}"
    # The default of utf8mb4 has changed, so it is named where the set is.
    if named or not own.is_default or (own.id != definition.collation and own.charset == "utf8mb4"):
        yield f"COLLATE {own.name}"


def _default(draft: ColumnDraft, column: ColumnDefinition, definition: Definition) -> Iterator[str]:
    facts = column.column
    if column.generated is not None:
        return
    if isinstance(draft.default, NowDefault):
        yield f"DEFAULT {_now(facts.type.fsp)}"
    elif isinstance(draft.default, ExpressionDefault):
        assert column.default is not None
        yield f"DEFAULT ({expression_text(column.default, definition)})"
    elif facts.has_default and facts.default is not None:
        text = _default_text(column, facts.default, draft.type.text)
        bare = facts_of(facts.type).is_number and _form(definition).prints_bare_numbers
        yield f"DEFAULT {text.strip(QUOTE) if bare else text}"
    elif facts.nullable and (not facts_of(facts.type).is_lob or _form(definition).prints_null_of_lobs):
        yield "DEFAULT NULL"


def _default_text(column: ColumnDefinition, value: Any, written: str) -> str:
    facts = column.type_facts
    if column.type.zerofill:
        # As wide as the column, a decimal point included.
        sizes = re.findall(r"\d+", type_text(column.type, written))
        width = int(sizes[0]) + (facts.kind == "decimal" and sizes[1] != "0")
        return f"'{column.codec.text(column.wire, value) or value:0>{width}}'"
    if facts.kind == "bit":
        return f"b'{value:b}'"
    if facts.is_approximate:
        raise UnsupportedError(
            f"the {column.type.name} default of a table that gets an invisible primary key is not supported yet"
        )
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            raise UnsupportedError(
                "binary defaults in a table that gets an invisible primary key are not supported yet"
            ) from None
        return quoted_text(value)
    text = column.codec.text(column.wire, value)
    return quoted_text(text if isinstance(text, str) else str(value))


def _now(fsp: int) -> str:
    return f"CURRENT_TIMESTAMP({fsp})" if fsp else "CURRENT_TIMESTAMP"


def _keys(definition: Definition) -> Iterator[str]:
    """The primary key, unique keys without NULLs, the other unique ones, keys, FULLTEXT (sort_keys in sql_table.cc)."""
    names = [key.name for key in plan_table(definition, 0).keys]
    pairs = sorted(zip(definition.keys, names, strict=True), key=lambda pair: _rank(pair[0], definition))
    for key, name in pairs:
        parts = ",".join(_key_part(part) for part in key.parts)
        if key.kind == "primary":
            text = f"PRIMARY KEY ({parts})"
        else:
            word = "UNIQUE " if key.kind == "unique" else f"{key.special} " if key.special else ""
            text = f"{word}KEY {identifier(name)} ({parts})"
        text += f" USING {key.using}" if key.using else ""
        text += "" if key.visible else " /*!80000 INVISIBLE */"
        yield text + (f" COMMENT {quoted_text(key.comment)}" if key.comment else "")


def _rank(key: KeyDraft, definition: Definition) -> tuple[bool, ...]:
    columns = [definition.columns[definition.index_of(part.column, part.offset)] for part in key.parts if part.column]
    nullable = len(columns) < len(key.parts) or any(column.column.nullable for column in columns)
    prefixed = any(part.prefix is not None for part in key.parts)
    unique = key.kind == "unique"
    return (
        key.kind != "primary",
        not unique and key.kind != "primary",
        unique and nullable,
        unique and prefixed,
        key.special == "FULLTEXT",
    )


def _key_part(part: PartDraft) -> str:
    if part.expression is not None:
        raise UnsupportedError(
            "keys on expressions in a table that gets an invisible primary key are not supported yet"
        )
    return identifier(part.column) + (f"({part.prefix})" if part.prefix else "") + (" DESC" if part.descending else "")


def _options(statement: CreateTable, definition: Definition) -> Iterator[str]:
    options = statement.options
    if options.engine is not None:
        yield f"ENGINE={definition.engine}"
    if options.auto_increment is not None and options.auto_increment > 1:
        yield f"AUTO_INCREMENT={options.auto_increment}"
    if options.charset.charset is not None or options.charset.collation is not None:
        table_collation = collation(definition.collation, definition.server)
        yield f"DEFAULT CHARSET={table_collation.charset}"
        # The default of utf8mb4 has changed, so it is always named.
        named = table_collation.charset == "utf8mb4" or _form(definition).prints_whole_collation
        if named or not table_collation.is_default:
            yield f"COLLATE={table_collation.name}"
    idle = dict(options.idle)
    comment = idle.pop("COMMENT", "")
    for name in _OPTIONS:
        if name in idle:
            yield f"{name}={idle.pop(name).upper()}"
    if idle:
        raise UnsupportedError(f"{', '.join(idle)} of a table that gets an invisible primary key is not supported yet")
    if comment:
        yield f"COMMENT={quoted_text(comment)}"


def expression_text(expression: Expression, definition: Definition) -> str:
    """An expression as the server keeps it: in parentheses throughout, literals with their character set."""
    charset = collation(server_line(definition.server).query.client_charset[1], definition.server).charset

    def text(node: Any) -> str:
        kind = kind_of(node)
        if kind == "Paren":
            return text(node.this)
        if kind == "Column":
            return identifier(node.name)
        if kind == "Literal":
            return f"_{charset}{quoted_text(node.this)}" if node.is_string else str(node.this)
        if kind in _OPERATORS:
            return f"({text(node.this)} {_OPERATORS[kind]} {text(node.expression)})"
        if kind == "Neg":
            return f"-({text(node.this)})"
        if kind in _FUNCTIONS:
            arguments = node.expressions or [node.this]
            return f"{_FUNCTIONS[kind]}({','.join(map(text, arguments))})"
        raise UnsupportedError(f"{kind.upper()} in a table that gets an invisible primary key is not supported yet")

    return text(expression.tree)
