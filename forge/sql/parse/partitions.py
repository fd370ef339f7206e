"""Grammar of PARTITION BY, and of what ALTER TABLE does to partitions."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from forge.sql.ast.alter_actions import AlterPartitions, Conditional
from forge.sql.ast.definitions import PartitionClause, PartitionDraft
from forge.sql.cursor import Cursor
from forge.sql.errors import SqlUnsupported
from forge.sql.parse.names import table_ref

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


def _history(cursor: Cursor) -> None:
    """How PARTITION BY SYSTEM_TIME parts the rows of the past, which no row event shows."""
    if cursor.accept("LIMIT"):
        cursor.integer("a number of rows")
    elif cursor.accept("INTERVAL"):
        cursor.advance()
        cursor.advance()
        if cursor.accept("STARTS"):
            while not (cursor.at_end() or cursor.token.is_mark("(") or cursor.token.is_word("AUTO", "PARTITIONS")):
                cursor.advance()
    cursor.accept("AUTO")


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
    while not (cursor.token.is_mark(",") or cursor.token.is_mark(")") or cursor.at_end()):
        end = cursor.balanced_end() if cursor.token.is_mark("(") else cursor.advance().end
    return cursor.sql[start:end]


def alter_partitions(cursor: Cursor) -> AlterPartitions | Conditional | None:
    """An action of ALTER TABLE on partitions; None if the next is another."""
    offset = cursor.token.start
    if cursor.token.is_word("PARTITION"):
        return AlterPartitions("by", offset, clause=partition_clause(cursor))
    if cursor.accept("REMOVE", "PARTITIONING"):
        return AlterPartitions("remove", offset)
    if cursor.accept("ADD", "PARTITION"):
        missing = cursor.accept("IF", "NOT", "EXISTS")
        local = _local(cursor)
        if cursor.accept("PARTITIONS"):
            return AlterPartitions("add", offset, count=cursor.integer("a number of partitions"), local=local)
        added = AlterPartitions("add", offset, parts=partition_definitions(cursor), local=local)
        return Conditional(added, exists=False) if missing else added
    if cursor.accept("COALESCE", "PARTITION"):
        local = _local(cursor)
        return AlterPartitions("coalesce", offset, count=cursor.integer("a number of partitions"), local=local)
    if cursor.accept("DROP", "PARTITION"):
        exists = cursor.accept("IF", "EXISTS")
        dropped = AlterPartitions("drop", offset, names=_names(cursor))
        return Conditional(dropped, exists=True) if exists else dropped
    if cursor.accept("REORGANIZE", "PARTITION"):
        local = _local(cursor)
        if cursor.at_end():
            return AlterPartitions("reorganize", offset, local=local)
        names = _names(cursor)
        cursor.expect("INTO")
        return AlterPartitions("reorganize", offset, names=names, parts=partition_definitions(cursor), local=local)
    if cursor.accept("EXCHANGE", "PARTITION"):
        return _exchange(cursor, offset)
    return _upkeep(cursor, offset)


_UPKEEP: dict[str, Literal["truncate", "rebuild", "optimize", "analyze", "check", "repair"]] = {
    "TRUNCATE": "truncate", "REBUILD": "rebuild", "OPTIMIZE": "optimize", "ANALYZE": "analyze", "CHECK": "check",
    "REPAIR": "repair",
}  # fmt: skip


def _upkeep(cursor: Cursor, offset: int) -> AlterPartitions | None:
    """TRUNCATE PARTITION and the like."""
    if not cursor.token.is_word(*_UPKEEP) or not cursor.following().is_word("PARTITION"):
        return None
    kind = _UPKEEP[cursor.advance().text.upper()]
    cursor.advance()
    local = _local(cursor) if kind not in ("truncate", "check") else False
    names = () if cursor.accept("ALL") else _names(cursor)
    while kind == "check" and cursor.accept_any("QUICK", "FAST", "MEDIUM", "EXTENDED", "CHANGED"):
        pass
    while kind == "repair" and cursor.accept_any("QUICK", "EXTENDED"):
        pass
    return AlterPartitions(kind, offset, names=names, local=local)


def _exchange(cursor: Cursor, offset: int) -> AlterPartitions:
    name = cursor.name("partition")
    cursor.expect("WITH", "TABLE")
    table = table_ref(cursor)
    if cursor.accept_any("WITH", "WITHOUT"):
        cursor.expect("VALIDATION")
    return AlterPartitions("exchange", offset, names=(name,), table=table)


def _local(cursor: Cursor) -> bool:
    return cursor.accept_any("NO_WRITE_TO_BINLOG", "LOCAL") is not None


def _names(cursor: Cursor) -> tuple[str, ...]:
    return tuple(cursor.names("partition"))
