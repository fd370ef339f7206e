"""The declared form of a table that is given as a mapping."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from forge.engine.requests.rows import TableName
from forge.engine.requests.statements import exactly_one


class ColumnDeclaration(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A column of a table that is given as a mapping."""

    name: Annotated[str, Meta(description="Name of the column, without quotes.")]
    type: Annotated[str, Meta(description="SQL type with its attributes, e.g. `VARCHAR(60) CHARACTER SET latin1`.")]
    nullable: Annotated[bool | None, Meta(description="false: NOT NULL. By default a column may be NULL.")] = None
    default: Annotated[
        Any, Meta(description="Literal default; `CURRENT_TIMESTAMP(n)` and `(expression)` are taken as SQL.")
    ] = msgspec.UNSET
    on_update: Annotated[str | None, Meta(description="`CURRENT_TIMESTAMP(n)`.")] = None
    auto_increment: bool = False
    visible: Annotated[bool, Meta(description="false: INVISIBLE.")] = True


class KeyDeclaration(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A key of a table: exactly one of primary, unique and index, with its columns (`name(10)` for a prefix)."""

    primary: list[str] | None = None
    unique: list[str] | None = None
    index: list[str] | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        exactly_one(self, ("primary", "unique", "index"), "a key")


class TableDeclaration(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A table given as a mapping; it is rendered to CREATE TABLE text, which the log contains."""

    table: TableName
    columns: Annotated[list[ColumnDeclaration], Meta(min_length=1)]
    keys: list[KeyDeclaration] = []
    charset: Annotated[str | None, Meta(description="Default character set of the table.")] = None
    collation: Annotated[str | None, Meta(description="Default collation of the table.")] = None
