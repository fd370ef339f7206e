"""Statement format: the events of a statement that is logged as its text.

Recorded on MySQL 9.7, MariaDB 10.11 and 11.8 (docs/servers/statement-format.md).  Before every event of
the statement stand INTVAR, RAND and USER_VAR events with what the text has read so far; LOAD DATA sends its file
ahead in blocks.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from forge.compile.query.clock_status import clock_variables
from forge.compile.query.status import (
    MAX_DATABASES,
    OVER_MAX_DATABASES,
    THREAD_SPECIFIC,
    in_order,
    session_variables,
)
from forge.events.execute_load_query import ExecuteLoadQuery
from forge.events.intvar import INSERT_ID, LAST_INSERT_ID, Intvar
from forge.events.layout import Body
from forge.events.load_files import AppendBlock, BeginLoadQuery
from forge.events.plain import to_bytes
from forge.events.query import Query
from forge.events.rand import Rand
from forge.events.user_var import DECIMAL, INTEGER, REAL, STRING, UserVar
from forge.plan.collations import connection_charset
from forge.plan.session import Session
from forge.plan.statement_text import LoadFile, UserVariable
from forge.plan.statements import RowsStatement
from forge.plan.tables import Table
from forge.servers import ServerLine
from forge.sql.write import identifier
from forge.values.numeric.decimals import pack

#: Bytes of a block: read_buffer_size, by which a file of the server's is read (recorded).
BLOCK_SIZE = 131072
BINARY = 63
_DUPLICATES = {"error": 0, "ignore": 1, "replace": 2}


def statement_variables(statement: RowsStatement, session: Session, line: ServerLine) -> dict[str, Any]:
    """Status variables that the statement's QUERY and its BEGIN share."""
    variables = session_variables(session, line)
    microsecond = 0 if statement.context.time is None else statement.context.time[1]
    variables |= clock_variables(statement, statement.changes, microsecond, session, line)
    text = statement.text
    if line.query.says_collations and text.load is None and text.clauses.names_charset:
        variables["character_set_collations"] = line.query.character_set_collations
    # MariaDB writes it of several tables only.
    marks_tables = line.query.table_map_for_update == "all" or text.clauses.several_tables
    if statement.kind == "update" and marks_tables:
        variables["table_map_for_update"] = statement.opened.update_bits
    if line.knows("updated_databases"):
        names = statement.opened.databases or (statement.table.database,)
        over = statement.foreign_keys.is_related or len(names) > MAX_DATABASES
        variables["updated_databases"] = OVER_MAX_DATABASES if over else names
    return variables


def statement_flags(statement: RowsStatement, line: ServerLine) -> int:
    """Flags that a statement's QUERY adds to those of its BEGIN and COMMIT.

    DELETE of several tables gathers rows in temporary tables, which makes it the connection's own (recorded), as the
    client's own temporary tables do.
    """
    gathers = (
        line.texts.flags_joined_deletes
        and statement.as_text
        and statement.kind == "delete"
        and statement.text.clauses.several_tables
    )
    return THREAD_SPECIFIC if gathers or statement.touches_temporary else 0


def statement_bodies(
    statement: RowsStatement, current_database: str, file_id: int, session: Session, line: ServerLine
) -> Iterator[Body]:
    """The bodies of all events of a statement; the QUERY's comes without thread and exec_time."""
    variables = statement_variables(statement, session, line)
    before = tuple(_read_state(statement, session, line))
    load = statement.text.load
    if load is None:
        if line.query.enable_cascade_triggers is not None and not statement.text.clauses.selects:
            variables["enable_cascade_triggers"] = line.query.enable_cascade_triggers
        yield from before
        yield Query(database=current_database, status_variables=in_order(variables, line), query=statement.text.sql)
        return
    content = load.content
    # What the client sends at once is a block.
    size = line.texts.local_block_size if load.local else BLOCK_SIZE
    for start in range(0, len(content), size):
        kind = AppendBlock if start else BeginLoadQuery
        yield from _known_before(load, min(start + size, len(content)), before, line)
        yield kind(file_id=file_id, block=content[start : start + size])
    yield from before
    head, middle, tail = load_text(statement.table, load, current_database, line)
    start = len(to_bytes(head))
    yield ExecuteLoadQuery(
        file_id=file_id,
        file_name_start=start,
        file_name_end=start + len(to_bytes(middle)),
        duplicates=_DUPLICATES[load.duplicates],
        status_variables=in_order(variables, line),
        database=current_database,
        query=head + middle + tail,
    )


def _known_before(load: LoadFile, end: int, before: tuple[Body, ...], line: ServerLine) -> Iterator[Body]:
    """What stands before a block that ends there: it is logged when the server looks for more, perhaps for the first
    row, which has evaluated nothing then (recorded).
    """
    row, number = load.looked_at
    for body in before:
        if isinstance(body, Intvar):
            needed = number if body.variable == INSERT_ID else row
        else:
            needed = row if isinstance(body, UserVar) and not line.texts.logs_unread_variables else 0
        if needed <= end:
            yield body


def _read_state(statement: RowsStatement, session: Session, line: ServerLine) -> Iterator[Body]:
    context, numbers = statement.context, statement.evaluation.numbers
    if context.last_insert_id is not None:
        yield Intvar(variable=LAST_INSERT_ID, value=context.last_insert_id)
    if numbers.generated is not None:
        yield Intvar(variable=INSERT_ID, value=numbers.generated)
    if context.rand_seeds is not None:
        yield Rand(seed1=context.rand_seeds[0], seed2=context.rand_seeds[1])
    for variable in context.user_variables:
        yield user_var(variable, session, line)


def user_var(variable: UserVariable, session: Session, line: ServerLine) -> UserVar:
    """The event of a user variable.  Numbers have a collation too, which means nothing."""
    value = variable.value
    connection = connection_charset(session, line)[1]
    number = connection if line.texts.number_collation is None else line.texts.number_collation
    match value:
        case None:
            return UserVar(name=variable.name)
        case int():
            raw = struct.pack("<Q", value & (1 << 64) - 1)
            flags = int(variable.unsigned) if line.texts.user_variable_flags else None
            return UserVar(name=variable.name, value=(INTEGER, number, raw), value_flags=flags)
        case float():
            return UserVar(name=variable.name, value=(REAL, number, struct.pack("<d", value)))
        case Decimal():
            return UserVar(name=variable.name, value=(DECIMAL, number, _decimal(value)))
        case bytes():
            collation = BINARY if variable.collation is None else variable.collation
            return UserVar(name=variable.name, value=(STRING, collation, value))
    return UserVar(name=variable.name, value=(STRING, connection, to_bytes(value)))


def _decimal(value: Decimal) -> bytes:
    """Precision, scale and packed digits; a zero before the point counts as a digit."""
    _, digits, exponent = value.as_tuple()
    scale = max(-int(exponent), 0)
    precision = max(len(digits) + max(int(exponent), 0), scale + (1 if abs(value) < 1 else 0))
    return bytes((precision, scale)) + pack(value, precision, scale)


def load_text(table: Table, load: LoadFile, current_database: str, line: ServerLine) -> tuple[str, str, str]:
    """The text of LOAD DATA as the server writes it anew: before, in and after the part that an applier replaces."""
    local = " LOCAL" if load.local else ""
    how = {"error": "", "ignore": " IGNORE", "replace": " REPLACE"}[load.duplicates]
    middle = f"{local} INFILE '{load.path}'{how} INTO"
    name = identifier(table.name)
    if table.database != current_database:
        name = f"{identifier(table.database)}.{name}"
    form = load.format
    parts = [f" TABLE {name}"]
    if form.character_set is not None:
        parts.append(f" CHARACTER SET {form.character_set}")
    parts.append(f" FIELDS TERMINATED BY {_quoted(form.fields_terminated_by, line)}")
    optionally = " OPTIONALLY" if line.texts.load_text_tidy else " OPTIONALLY "
    parts.append((optionally if form.optionally_enclosed else "") + f" ENCLOSED BY {_quoted(form.enclosed_by, line)}")
    parts.append(
        f" ESCAPED BY {_quoted(form.escaped_by, line)} LINES TERMINATED BY {_quoted(form.lines_terminated_by, line)}"
    )
    if form.lines_starting_by:
        parts.append(f" STARTING BY {_quoted(form.lines_starting_by, line)}")
    if form.ignore_lines:
        parts.append(f" IGNORE {form.ignore_lines} LINES ")
    names = (f"@{identifier(name[1:])}" if name.startswith("@") else identifier(name) for name in load.columns)
    parts.append(f" ({', '.join(names)})")
    parts.append(f" SET {', '.join(load.sets)}" if load.sets else "")
    return "LOAD DATA", middle, "".join(parts)


_ESCAPES = {"\0": r"\0", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\", "'": r"\'", "\b": r"\b"}


def _quoted(text: str, line: ServerLine) -> str:
    escapes = _ESCAPES | ({"\x1a": r"\Z"} if line.texts.load_text_tidy else {})
    return "'" + "".join(escapes.get(character, character) for character in text) + "'"
