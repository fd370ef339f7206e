"""Grammar of PARTITION BY, and of what ALTER TABLE does to partitions."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from forge.scenario.syntax import AlterPartitions, PartitionClause, PartitionDraft
from forge.scenario.tokens import Cursor, SqlUnsupported

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
    word = cursor.accept_any(*kinds)
    if word is None:
        cursor.wrong("HASH, KEY, RANGE or LIST", tuple(kinds))
    kind = kinds[word]
    if cursor.accept("ALGORITHM"):
        cursor.accept_mark("=")
        if cursor.integer("1 or 2") == 1:
            raise SqlUnsupported("KEY ALGORITHM=1, the hash of servers before 5.5, is not supported yet", offset)
    columns = kind in ("range", "list") and cursor.accept("COLUMNS")
    if kind != "key" and not columns:
        return PartitionClause(kind, offset, linear, expression=cursor.balanced())
    names = []
    cursor.expect_mark("(")
    while not cursor.accept_mark(")"):
        names.append(cursor.name("column"))
        cursor.accept_mark(",")
    return PartitionClause(kind, offset, linear, columns=tuple(names))


def partition_definitions(cursor: Cursor) -> tuple[PartitionDraft, ...]:
    """``(PARTITION name [VALUES ...], ...)``."""
    cursor.expect_mark("(")
    parts = [_definition(cursor)]
    while cursor.accept_mark(","):
        parts.append(_definition(cursor))
    if not cursor.accept_mark(")"):
        cursor.wrong("a comma or ')'")
    return tuple(parts)


def _definition(cursor: Cursor) -> PartitionDraft:
    offset = cursor.token.start
    cursor.expect("PARTITION")
    part = PartitionDraft(cursor.name("partition"), offset)
    if cursor.accept("VALUES", "LESS", "THAN"):
        if cursor.accept("MAXVALUE"):
            part = replace(part, values=(("MAXVALUE",),))
        else:
            part = replace(part, values=(_values(cursor),))
    elif cursor.accept("VALUES", "IN"):
        cursor.expect_mark("(")
        values = [_list_entry(cursor)]
        while cursor.accept_mark(","):
            values.append(_list_entry(cursor))
        cursor.expect_mark(")")
        part = replace(part, values=tuple(values))
    while not (cursor.token.is_mark(",") or cursor.token.is_mark(")") or cursor.at("end")):
        if cursor.token.is_mark("(") or cursor.token.is_word("SUBPARTITION"):
            raise SqlUnsupported("definitions of single subpartitions are not supported yet", cursor.token.start)
        cursor.accept("STORAGE")
        if not cursor.accept_any(*_IDLE):
            cursor.wrong("an option of the partition, a comma or ')'", _IDLE)
        cursor.accept_mark("=")
        cursor.advance()
    return part


def _values(cursor: Cursor) -> tuple[str, ...]:
    """The texts of values in parentheses."""
    cursor.expect_mark("(")
    values = [_value(cursor)]
    while cursor.accept_mark(","):
        values.append(_value(cursor))
    cursor.expect_mark(")")
    return tuple(values)


def _list_entry(cursor: Cursor) -> tuple[str, ...]:
    """A value of VALUES IN, or as many as there are columns, in parentheses."""
    return _values(cursor) if cursor.token.is_mark("(") else (_value(cursor),)


def _value(cursor: Cursor) -> str:
    start = cursor.token.start
    end = start
    while not (cursor.token.is_mark(",") or cursor.token.is_mark(")") or cursor.at("end")):
        end = cursor.balanced_end() if cursor.token.is_mark("(") else cursor.advance().end
    return cursor.sql[start:end]


def alter_partitions(cursor: Cursor) -> AlterPartitions | None:
    """An action of ALTER TABLE on partitions; None if the next is another."""
    offset = cursor.token.start
    if cursor.token.is_word("PARTITION"):
        return AlterPartitions("by", offset, clause=partition_clause(cursor))
    if cursor.accept("REMOVE", "PARTITIONING"):
        return AlterPartitions("remove", offset)
    if cursor.accept("ADD", "PARTITION"):
        if cursor.accept("PARTITIONS"):
            return AlterPartitions("add", offset, count=cursor.integer("a number of partitions"))
        return AlterPartitions("add", offset, parts=partition_definitions(cursor))
    if cursor.accept("COALESCE", "PARTITION"):
        return AlterPartitions("coalesce", offset, count=cursor.integer("a number of partitions"))
    if cursor.accept("DROP", "PARTITION"):
        return AlterPartitions("drop", offset, names=_names(cursor))
    if cursor.accept("REORGANIZE", "PARTITION"):
        names = _names(cursor)
        cursor.expect("INTO")
        return AlterPartitions("reorganize", offset, names=names, parts=partition_definitions(cursor))
    return None


def _names(cursor: Cursor) -> tuple[str, ...]:
    names = [cursor.name("partition")]
    while cursor.accept_mark(","):
        names.append(cursor.name("partition"))
    return tuple(names)
