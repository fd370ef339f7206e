"""Grammar of statements on what belongs to a MySQL server as a whole: tablespaces, reference systems, servers ...

Recorded on 9.7: of these only general tablespaces and reference systems are logged.
"""

from __future__ import annotations

from forge.engine.ddl.objects import ObjectStatement
from forge.sql.ast.definitions import TableRef
from forge.sql.tokens import Cursor


def server_statement(cursor: Cursor, verb: str) -> ObjectStatement | None:
    """What follows CREATE, ALTER or DROP, if it is about such a thing; None otherwise."""
    if cursor.family != "mysql":
        return None
    start = cursor.token.start
    if (
        cursor.accept("UNDO", "TABLESPACE")
        or cursor.accept("SERVER")
        or cursor.accept("RESOURCE", "GROUP")
        or (verb == "ALTER" and cursor.accept("INSTANCE"))
    ):
        cursor.rest()
        return ObjectStatement("server", "other", offset=start, local=True)
    if cursor.accept("TABLESPACE"):
        name = TableRef(None, cursor.name("tablespace"), start)
        renamed = None
        if cursor.accept("RENAME", "TO"):
            renamed = TableRef(None, cursor.name("tablespace"), start)
        cursor.rest()
        kinds = {"CREATE": "create", "DROP": "drop"}
        return ObjectStatement("tablespace", kinds.get(verb, "alter"), (name,), offset=start, renamed=renamed)  # type: ignore[arg-type]
    if cursor.accept("SPATIAL", "REFERENCE", "SYSTEM"):
        exists = cursor.accept("IF", "NOT", "EXISTS") or cursor.accept("IF", "EXISTS")
        name = TableRef(None, str(cursor.integer("a SRID")), start)
        cursor.rest()
        verb = "drop" if verb == "DROP" else "create"
        return ObjectStatement("reference system", verb, (name,), offset=start, exists=exists)  # type: ignore[arg-type]
    return None
