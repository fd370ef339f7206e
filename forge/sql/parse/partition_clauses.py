"""Grammar of PARTITION BY, and of what ALTER TABLE does to partitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

from msgspec.structs import replace

from forge.sql.ast.actions import AlterPartitions, Conditional, PartitionsKind
from forge.sql.ast.definitions import PartitionClause, PartitionDraft
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlUnsupported
from forge.sql.parse.names import table_ref

Entry = TypeVar("Entry")
_IDLE = ("COMMENT", "ENGINE", "MAX_ROWS", "MIN_ROWS", "TABLESPACE")


def partition_clause(cursor: Cursor) -> PartitionClause:
    """``PARTITION BY ...`` to the end of its definitions.  Raises SqlError and SqlUnsupported."""
    offset = cursor.token.start
    cursor.expect("PARTITION", "BY")
    clause = _function(cursor, offset)
    if cursor.accept("PARTITIONS"):
        clause = replace(clause, count=cursor.integer("a number of partitions"))
    if cursor.accept("SUBPARTITION", "BY"):
        inner = _function(cursor, cursor.token.start)
        if cursor.accept("SUBPARTITIONS"):
            inner = replace(inner, count=cursor.integer("a number of subpartitions"))
        clause = replace(clause, inner=inner)
    if cursor.token.is_mark("("):
        clause = replace(clause, parts=partition_definitions(cursor))
    return clause


def _function(cursor: Cursor, offset: int) -> PartitionClause:
    linear = cursor.accept("LINEAR")
    kinds: dict[str, Literal["hash", "key", "range", "list"]] = {
        "HASH": "hash", "KEY": "key", "RANGE": "range", "LIST": "list",
    }  # fmt: skip
    if cursor.accept("SYSTEM_TIME"):
        _history(cursor)
        return PartitionClause("system_time", offset)
    kind = kinds[cursor.expect_any(*kinds)]
    if cursor.accept("ALGORITHM"):
        cursor.accept_mark("=")
        if cursor.integer("1 or 2") == 1:
            raise SqlUnsupported("KEY ALGORITHM=1, the hash of servers before 5.5, is not supported yet", offset)
    columns = kind in ("range", "list") and cursor.accept("COLUMNS")
    if kind != "key" and not columns:
        return PartitionClause(kind, offset, linear, expression=cursor.balanced())
    cursor.expect_mark("(")
    names = () if cursor.token.is_mark(")") else tuple(cursor.names("column"))
    cursor.expect_mark(")")
    return PartitionClause(kind, offset, linear, columns=names)


def _history(cursor: Cursor) -> None:
    """How PARTITION BY SYSTEM_TIME parts the rows of the past, which no row event shows."""
    while not (cursor.at_end() or cursor.token.is_mark("(") or cursor.token.is_word("PARTITIONS")):
        cursor.advance()


def partition_definitions(cursor: Cursor) -> tuple[PartitionDraft, ...]:
    """``(PARTITION name [VALUES ...], ...)``."""
    return tuple(_listed(cursor, _definition))


def _definition(cursor: Cursor) -> PartitionDraft:
    offset = cursor.token.start
    cursor.expect("PARTITION")
    part = PartitionDraft(cursor.name("partition"), offset)
    if cursor.accept("VALUES", "LESS", "THAN"):
        part = replace(part, values=(_entry(cursor),))
    elif cursor.accept("VALUES", "IN"):
        part = replace(part, values=tuple(_listed(cursor, _entry)))
    elif word := cursor.accept_any("HISTORY", "CURRENT"):
        part = replace(part, values=((word,),))
    while not (cursor.token.is_mark(",") or cursor.token.is_mark(")") or cursor.at_end()):
        if cursor.token.is_mark("(") or cursor.token.is_word("SUBPARTITION"):
            raise SqlUnsupported("definitions of single subpartitions are not supported yet", cursor.token.start)
        cursor.accept("STORAGE")
        if not cursor.accept_any(*_IDLE):
            cursor.wrong("an option of the partition, a comma or ')'", _IDLE)
        cursor.accept_mark("=")
        cursor.advance()
    return part


def _listed(cursor: Cursor, read: Callable[[Cursor], Entry]) -> list[Entry]:
    """What is read in parentheses, with commas between."""
    cursor.expect_mark("(")
    entries = [read(cursor)]
    while cursor.accept_mark(","):
        entries.append(read(cursor))
    cursor.expect_mark(")")
    return entries


def _entry(cursor: Cursor) -> tuple[str, ...]:
    """The texts of a value, or of as many as there are columns, in parentheses."""
    return tuple(_listed(cursor, _value)) if cursor.token.is_mark("(") else (_value(cursor),)


def _value(cursor: Cursor) -> str:
    start = cursor.token.start
    end = start
    while not (cursor.token.is_mark(",") or cursor.token.is_mark(")") or cursor.at_end()):
        end = cursor.balanced_end() if cursor.token.is_mark("(") else cursor.advance().end
    return cursor.sql[start:end]


_KINDS: dict[str, PartitionsKind] = {
    "ADD": "add", "ANALYZE": "analyze", "CHECK": "check", "COALESCE": "coalesce", "DROP": "drop",
    "EXCHANGE": "exchange", "OPTIMIZE": "optimize", "REBUILD": "rebuild", "REORGANIZE": "reorganize",
    "REPAIR": "repair", "TRUNCATE": "truncate",
}  # fmt: skip


def alter_partitions(cursor: Cursor) -> AlterPartitions | Conditional | None:
    """An action of ALTER TABLE on partitions; None if the next is another."""
    offset = cursor.token.start
    if cursor.token.is_word("PARTITION"):
        return AlterPartitions("by", offset, clause=partition_clause(cursor))
    if cursor.accept("REMOVE", "PARTITIONING"):
        return AlterPartitions("remove", offset)
    if not (cursor.token.is_word(*_KINDS) and cursor.following().is_word("PARTITION")):
        return None
    kind = _KINDS[cursor.advance().text.upper()]
    cursor.advance()
    missing = cursor.accept("IF", "NOT", "EXISTS")
    conditional = cursor.accept("IF", "EXISTS") or missing
    local = cursor.accept_any("NO_WRITE_TO_BINLOG", "LOCAL") is not None
    action = _operands(cursor, AlterPartitions(kind, offset, local=local))
    while cursor.accept_any("QUICK", "FAST", "MEDIUM", "EXTENDED", "CHANGED"):
        pass
    return Conditional(action, exists=not missing) if conditional else action


def _operands(cursor: Cursor, action: AlterPartitions) -> AlterPartitions:
    """The action with what it names: partitions and what becomes of them, a number, a table."""
    if action.kind == "coalesce" or cursor.accept("PARTITIONS"):
        return replace(action, count=cursor.integer("a number of partitions"))
    if action.kind == "add":
        return replace(action, parts=partition_definitions(cursor))
    if cursor.at_end() or cursor.accept("ALL"):
        return action
    action = replace(action, names=tuple(cursor.names("partition")))
    if action.kind == "reorganize":
        cursor.expect("INTO")
        return replace(action, parts=partition_definitions(cursor))
    if action.kind == "exchange":
        cursor.expect("WITH", "TABLE")
        action = replace(action, table=table_ref(cursor))
        if cursor.accept_any("WITH", "WITHOUT"):
            cursor.expect("VALIDATION")
    return action
