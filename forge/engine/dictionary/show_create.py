"""A table definition as SHOW CREATE TABLE prints it, which is what MySQL logs where it changed the statement.

Recorded on 9.7, with generated invisible primary keys.  A table option is printed only if the statement has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forge.charsets import collation, default_collation
from forge.engine.dictionary.columns import ColumnDefinition
from forge.engine.dictionary.definition import Definition
from forge.engine.dictionary.engines import INNODB
from forge.engine.dictionary.tables import plan_table
from forge.errors import UnsupportedError
from forge.plan.keys import unique_keys
from forge.servers import server_line
from forge.servers.facts.ddl import Definitions
from forge.sql.ast.definitions import ColumnDraft, ExpressionDefault, KeyDraft, NowDefault, PartDraft
from forge.sql.ast.statements import CreateTable
from forge.sql.expressions import Expression
from forge.sql.expressions.printing import expression_sql
from forge.sql.write import identifier, printed_digits, printed_text, qualified, type_sql
from forge.values.registry import facts_of

#: Options in the order in which they are printed, those before the comment.
_OPTIONS = (
    "MIN_ROWS", "MAX_ROWS", "AVG_ROW_LENGTH", "PACK_KEYS", "STATS_PERSISTENT", "STATS_AUTO_RECALC",
    "STATS_SAMPLE_PAGES", "CHECKSUM", "DELAY_KEY_WRITE", "ROW_FORMAT", "KEY_BLOCK_SIZE",
)  # fmt: skip
QUOTE = "'"


def create_table_text(statement: CreateTable, definition: Definition, current_database: str) -> str:
    """CREATE TABLE as the server prints it for its log: one line a column and a key.

    Raises UnsupportedError for expressions and options whose printed form is not known here.
    """
    drafts = {draft.name.lower(): draft for draft in statement.columns}
    lines = [_column(drafts[column.name.lower()], column, statement, definition) for column in definition.columns]
    lines += _keys(definition)
    if definition.foreign_keys or definition.checks or statement.partitions is not None:
        raise UnsupportedError("the server writes this statement anew: constraints and partitions are not supported")
    name = qualified(definition.database, definition.name, current_database)
    head = "CREATE TABLE IF NOT EXISTS " if statement.if_not_exists else "CREATE TABLE "
    body = ",\n  ".join(lines)
    options = "".join(f" {option}" for option in _options(statement, definition))
    in_one = statement.select is not None and definition.engine == INNODB
    if in_one and server_line(definition.server).knows("atomic_create_select"):
        # What a replica reads as the beginning of the transaction that has the rows too.
        options = f" START TRANSACTION{options}"
    return f"{head}{name} (\n  {body}\n){options}"


def _column(draft: ColumnDraft, column: ColumnDefinition, statement: CreateTable, definition: Definition) -> str:
    words = [identifier(column.name), _type_text(column, draft, definition), *_charset(draft, column, definition)]
    facts = column.column
    if column.generated is not None:
        _check_printed(column, definition)
        kind = "STORED" if facts.generated == "stored" else "VIRTUAL"
        words.append(f"GENERATED ALWAYS AS ({_expression(column.generated, definition)}) {kind}")
    if not facts.nullable:
        words.append("NOT NULL")
    elif facts.type.name == "TIMESTAMP" and column.generated is None:
        words.append("NULL")
    if facts.type.srid is not None:
        words.append(f"/*!80003 SRID {facts.type.srid} */")
    words += _default(draft, column, definition)
    if facts.on_update_now:
        words.append(f"ON UPDATE {_now(facts.type.fsp, definition)}")
    if facts.auto_increment:
        words.append("AUTO_INCREMENT")
    if not facts.visible:
        words.append("/*!80023 INVISIBLE */")
    if draft.comment:
        words.append(f"COMMENT {printed_text(draft.comment)}")
    return " ".join(words)


def _form(definition: Definition) -> Definitions:
    """How the server prints a table."""
    return server_line(definition.server).ddl


def _type_text(column: ColumnDefinition, draft: ColumnDraft, definition: Definition) -> str:
    """The type as the server prints it; MariaDB has the widths of all integers and of YEAR."""
    sql_type, width = column.type, draft.type.width
    if not _form(definition).prints_integer_widths:
        return type_sql(sql_type, width)
    facts = facts_of(sql_type)
    if facts.kind == "year":
        return "year(4)"
    if facts.display_widths is None or sql_type.zerofill:
        return type_sql(sql_type, width)
    width = facts.display_widths[sql_type.unsigned] if width is None else width
    return f"{sql_type.name.lower()}({width})" + " unsigned" * bool(sql_type.unsigned)


def _charset(draft: ColumnDraft, column: ColumnDefinition, definition: Definition) -> Iterator[str]:
    """Both words where the column names one of them; else the collation where the table's is not its set's default."""
    if column.type.collation is None:
        return
    own = collation(column.type.collation, definition.server)
    clause = draft.type.charset
    form = _form(definition).printed_charsets
    if form != "named":
        if own.id != definition.collation:
            yield f"CHARACTER SET {own.charset}"
            usual = default_collation(own.charset, definition.server).id
            yield from (f"COLLATE {own.name}",) if form == "whole" or own.id != usual else ()
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
        yield f"DEFAULT {_now(facts.type.fsp, definition)}"
    elif isinstance(draft.default, ExpressionDefault):
        _check_printed(column, definition)
        if column.default is None:
            raise UnsupportedError(f"printing the default ({draft.default.sql}) of column {column.name!r}")
        yield f"DEFAULT ({_expression(column.default, definition)})"
    elif facts.has_default and facts.default is not None:
        text = _default_text(column, facts.default, draft.type.width)
        bare = facts_of(facts.type).is_number and _form(definition).prints_bare_numbers
        yield f"DEFAULT {text.strip(QUOTE) if bare else text}"
    elif facts.lacks_default or not facts.nullable:
        return
    elif not facts_of(facts.type).is_lob or _form(definition).prints_null_of_lobs:
        yield "DEFAULT NULL"


def _default_text(column: ColumnDefinition, value: Any, width: int | None) -> str:
    facts = column.type_facts
    if column.type.zerofill and not facts.is_approximate:
        text = column.codec.text(column.wire, value) or value
        return f"'{text:0>{printed_digits(column.type, width)}}'"
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
        return printed_text(value)
    text = column.codec.text(column.wire, value)
    return printed_text(text if isinstance(text, str) else str(value))


def _check_printed(column: ColumnDefinition, definition: Definition) -> None:
    """Raises UnsupportedError where it is not known how the server prints an expression."""
    if server_line(definition.server).grammar.opens_literal_defaults:
        raise UnsupportedError(f"printing the expression of column {column.name!r} is not supported on MariaDB yet")


def _now(fsp: int, definition: Definition) -> str:
    if server_line(definition.server).grammar.opens_literal_defaults:
        return f"current_timestamp({fsp or ''})"
    return f"CURRENT_TIMESTAMP({fsp})" if fsp else "CURRENT_TIMESTAMP"


def _keys(definition: Definition) -> Iterator[str]:
    """The primary key, unique keys without NULLs, the other unique ones, keys, FULLTEXT (sort_keys in sql_table.cc)."""
    table = plan_table(definition, 0)
    order = [key.name for key in unique_keys(table)]
    names = [key.name for key in table.keys]
    pairs = zip(definition.keys, names, strict=True)

    def rank(pair: tuple[KeyDraft, str]) -> tuple[int, bool]:
        key, name = pair
        return order.index(name) if name in order else len(order), key.special == "FULLTEXT"

    for key, name in sorted(pairs, key=rank):
        parts = ",".join(_key_part(part) for part in key.parts)
        if key.kind == "primary":
            text = f"PRIMARY KEY ({parts})"
        else:
            word = "UNIQUE " if key.kind == "unique" else f"{key.special} " if key.special else ""
            text = f"{word}KEY {identifier(name)} ({parts})"
        text += f" USING {key.using}" if key.using else ""
        text += "" if key.visible else " /*!80000 INVISIBLE */"
        yield text + (f" COMMENT {printed_text(key.comment)}" if key.comment else "")


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
        named = table_collation.charset == "utf8mb4" or _form(definition).printed_charsets == "whole"
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
        yield f"COMMENT={printed_text(comment)}"


def _expression(expression: Expression, definition: Definition) -> str:
    """An expression, whose literals have the connection's character set."""
    connection = server_line(definition.server).query.client_charset[1]
    return expression_sql(expression, collation(connection, definition.server).charset)
