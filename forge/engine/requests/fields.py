"""What the fields of requests have in common."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

#: Conditions on columns: {column: literal | [literals] | null | {lt|le|gt|ge|ne|between: ...}}.
Where = dict[str, Any]

TableName = Annotated[
    str, Meta(description="Name of a table, `database.table`; without a database, that of the session is meant.")
]


def exactly_one(struct: Struct, names: tuple[str, ...], subject: str) -> None:
    """Raises ValueError unless exactly one of the fields has a value; ``subject`` is what the message calls it."""
    present = [name for name in names if getattr(struct, name) is not None]
    if len(present) != 1:
        raise ValueError(
            f"{subject} has exactly one of {', '.join(names)}; this one has {' and '.join(present) or 'none'}"
        )
