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
from forge.sql.ast.definitions import ColumnDraft, ExpressionDefault, KeyDraft, NowDefault, PartDraft
from forge.sql.ast.statements import CreateTable
from forge.sql.expressions import Expression
from forge.sql.expressions.printing import expression_sql
from forge.sql.write import identifier, printed_digits, printed_text, qualified, type_sql

#: Options in the order in which they are printed, those before the comment.
_OPTIONS = (
    "MIN_ROWS", "MAX_ROWS", "AVG_ROW_LENGTH", "PACK_KEYS", "STATS_PERSISTENT", "STATS_AUTO_RECALC",
    "STATS_SAMPLE_PAGES", "CHECKSUM", "DELAY_KEY_WRITE", "ROW_FORMAT", "KEY_BLOCK_SIZE",
)  # fmt: skip


def create_table_text(statement: CreateTable, definition: Definition, current_database: str) -> str:
    """CREATE TABLE as the server prints it for its log: one line a column and a key.

    Raises UnsupportedError for expressions and options whose printed form is not known here.
    """
    return _Printer(statement, definition).text(current_database)


class _Printer:
    """How a server prints a table that a statement makes."""

    def __init__(self, statement: CreateTable, definition: Definition) -> None:
        self.statement, self.definition, self.line = statement, definition, server_line(definition.server)
        self.form = self.line.ddl
        self.opens_literals = self.line.grammar.opens_literal_defaults

    def text(self, current_database: str) -> str:
        statement, definition = self.statement, self.definition
        if definition.foreign_keys or definition.checks or definition.partitions is not None:
            raise UnsupportedError(
                "the server writes this statement anew: constraints and partitions are not supported"
            )
        drafts = {draft.name.lower(): draft for draft in statement.columns}
        lines = [" ".join(self._column(drafts[column.name.lower()], column)) for column in definition.columns]
        lines += self._keys()
        options = "".join(f" {option}" for option in self._options())
        in_one = statement.select is not None and definition.engine == INNODB
        if in_one and self.line.knows("atomic_create_select"):
            # What a replica reads as the beginning of the transaction that has the rows too.
            options = f" START TRANSACTION{options}"
        condition = "IF NOT EXISTS " if statement.if_not_exists else ""
        name, body = qualified(definition.database, definition.name, current_database), ",\n  ".join(lines)
        return f"CREATE TABLE {condition}{name} (\n  {body}\n){options}"

    def _column(self, draft: ColumnDraft, column: ColumnDefinition) -> Iterator[str]:
        facts = column.column
        yield identifier(column.name)
        yield self._type(draft, column)
        yield from self._charset(draft, column)
        if column.generated is not None:
            yield f"GENERATED ALWAYS AS ({self._expression(column.generated, column)})"
            yield "STORED" if facts.generated == "stored" else "VIRTUAL"
        if not facts.nullable:
            yield "NOT NULL"
        elif facts.type.name == "TIMESTAMP" and column.generated is None:
            yield "NULL"
        if facts.type.srid is not None:
            yield f"/*!80003 SRID {facts.type.srid} */"
        yield from self._default(draft, column) if column.generated is None else ()
        if facts.on_update_now:
            yield f"ON UPDATE {self._now(facts.type.fsp)}"
        if facts.auto_increment:
            yield "AUTO_INCREMENT"
        if not facts.visible:
            yield "/*!80023 INVISIBLE */"
        if draft.comment:
            yield f"COMMENT {printed_text(draft.comment)}"

    def _type(self, draft: ColumnDraft, column: ColumnDefinition) -> str:
        """The type as the server prints it; MariaDB has the widths of all integers and of YEAR."""
        sql_type, width, facts = column.type, draft.type.width, column.type_facts
        if self.form.prints_integer_widths and facts.kind == "year":
            return "year(4)"
        if not self.form.prints_integer_widths or facts.display_widths is None or sql_type.zerofill:
            return type_sql(sql_type, width)
        width = facts.display_widths[sql_type.unsigned] if width is None else width
        return f"{sql_type.name.lower()}({width})" + " unsigned" * bool(sql_type.unsigned)

    def _charset(self, draft: ColumnDraft, column: ColumnDefinition) -> Iterator[str]:
        """Both words where the column names one of them; else the collation where the table's is not its set's
        default.
        """
        if column.type.collation is None:
            return
        own, form = collation(column.type.collation, self.definition.server), self.form.printed_charsets
        is_other, clause = own.id != self.definition.collation, draft.type.charset
        named = form == "named" and (clause.charset is not None or clause.collation is not None or clause.binary)
        if named or is_other:
            yield f"CHARACTER SET {own.charset}"
        if form == "named":
            # The default of utf8mb4 has changed, so it is named where the set is.
            collated = named or not own.is_default or (is_other and own.charset == "utf8mb4")
        else:
            usual = default_collation(own.charset, self.definition.server).id
            collated = is_other and (form == "whole" or own.id != usual)
        if collated:
            yield f"COLLATE {own.name}"

    def _default(self, draft: ColumnDraft, column: ColumnDefinition) -> Iterator[str]:
        facts = column.column
        if isinstance(draft.default, NowDefault):
            yield f"DEFAULT {self._now(facts.type.fsp)}"
        elif isinstance(draft.default, ExpressionDefault):
            if column.default is None:
                raise UnsupportedError(f"printing the default ({draft.default.sql}) of column {column.name!r}")
            yield f"DEFAULT ({self._expression(column.default, column)})"
        elif facts.has_default and facts.default is not None:
            text = _default_text(column, facts.default, draft.type.width)
            bare = column.type_facts.is_number and self.form.prints_bare_numbers
            yield f"DEFAULT {text.strip(chr(39)) if bare else text}"
        elif facts.nullable and not facts.lacks_default:
            yield from ("DEFAULT NULL",) if self.form.prints_null_of_lobs or not column.type_facts.is_lob else ()

    def _expression(self, expression: Expression, column: ColumnDefinition) -> str:
        """An expression, whose literals have the connection's character set."""
        if self.opens_literals:
            raise UnsupportedError(f"printing the expression of column {column.name!r} is not supported on MariaDB yet")
        connection = self.line.query.client_charset[1]
        return expression_sql(expression, collation(connection, self.definition.server).charset)

    def _now(self, fsp: int) -> str:
        if self.opens_literals:
            return f"current_timestamp({fsp or ''})"
        return f"CURRENT_TIMESTAMP({fsp})" if fsp else "CURRENT_TIMESTAMP"

    def _keys(self) -> Iterator[str]:
        """The primary key, unique keys without NULLs, the other unique ones, keys, FULLTEXT (sort_keys in
        sql_table.cc).
        """
        table = plan_table(self.definition, 0)
        order = [key.name for key in unique_keys(table)]
        pairs = zip(self.definition.keys, (key.name for key in table.keys), strict=True)

        def rank(pair: tuple[KeyDraft, str]) -> tuple[int, bool]:
            key, name = pair
            return order.index(name) if name in order else len(order), key.special == "FULLTEXT"

        for key, name in sorted(pairs, key=rank):
            parts = ",".join(map(_key_part, key.parts))
            word = {"primary": "PRIMARY ", "unique": "UNIQUE "}.get(key.kind, f"{key.special} " * bool(key.special))
            text = f"{word}KEY ({parts})" if key.kind == "primary" else f"{word}KEY {identifier(name)} ({parts})"
            text += f" USING {key.using}" if key.using else ""
            text += "" if key.visible else " /*!80000 INVISIBLE */"
            yield text + (f" COMMENT {printed_text(key.comment)}" if key.comment else "")

    def _options(self) -> Iterator[str]:
        options, definition = self.statement.options, self.definition
        if options.engine is not None:
            yield f"ENGINE={definition.engine}"
        if options.auto_increment is not None and options.auto_increment > 1:
            yield f"AUTO_INCREMENT={options.auto_increment}"
        if options.charset.charset is not None or options.charset.collation is not None:
            own = collation(definition.collation, definition.server)
            yield f"DEFAULT CHARSET={own.charset}"
            # The default of utf8mb4 has changed, so it is always named.
            if own.charset == "utf8mb4" or self.form.printed_charsets == "whole" or not own.is_default:
                yield f"COLLATE={own.name}"
        idle = dict(options.idle)
        comment = idle.pop("COMMENT", "")
        yield from (f"{name}={idle[name].upper()}" for name in sorted(idle, key=_option_rank))
        if comment:
            yield f"COMMENT={printed_text(comment)}"


def _option_rank(name: str) -> int:
    return _OPTIONS.index(name) if name in _OPTIONS else len(_OPTIONS)


def _default_text(column: ColumnDefinition, value: Any, width: int | None) -> str:
    facts = column.type_facts
    if column.type.zerofill and not facts.is_approximate:
        text = column.codec.text(column.wire, value) or value
        return f"'{text:0>{printed_digits(column.type, width)}}'"
    if facts.kind == "bit":
        return f"b'{value:b}'"
    text = value.decode("latin-1") if isinstance(value, bytes) else column.codec.text(column.wire, value)
    return printed_text(text if isinstance(text, str) else str(value))


def _key_part(part: PartDraft) -> str:
    if part.expression is not None:
        raise UnsupportedError(
            "keys on expressions in a table that gets an invisible primary key are not supported yet"
        )
    return identifier(part.column) + (f"({part.prefix})" if part.prefix else "") + (" DESC" if part.descending else "")
