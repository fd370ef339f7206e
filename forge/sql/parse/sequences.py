"""CREATE, ALTER and DROP SEQUENCE of MariaDB: from SQL text to what it says."""

from __future__ import annotations

from typing import Literal

from forge.sql.ast.objects import SequenceStatement
from forge.sql.cursor import Cursor
from forge.sql.parse.names import table_ref, table_refs


def sequence_statement(cursor: Cursor, verb: str, *, replaces: bool) -> SequenceStatement | None:
    """What follows CREATE [OR REPLACE], ALTER or DROP, if it is about sequences; None otherwise."""
    if not (cursor.grammar.sequences and cursor.accept("SEQUENCE")):
        return None
    exists = cursor.accept("IF", "NOT", "EXISTS") if verb == "CREATE" else cursor.accept("IF", "EXISTS")
    names = table_refs(cursor) if verb == "DROP" else [table_ref(cursor)]
    # Its options leave no trace but the text.
    cursor.rest()
    verbs: dict[str, Literal["create", "alter", "drop"]] = {"CREATE": "create", "ALTER": "alter"}
    return SequenceStatement(verbs.get(verb, "drop"), tuple(names), exists, replaces)
