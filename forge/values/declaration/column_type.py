"""What a module of ``forge.values`` says of the column types that it brings: one line of the registry names the module.

A module has a ``FAMILY``: the codecs of its wire types, and its SQL types with their facts and their syntax.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from forge.servers.facts.values import Dialect
from forge.values.base import Codec, Column
from forge.values.declaration.facts import TypeFacts
from forge.values.declaration.sqltype import SqlType

#: Which TIME, DATETIME and TIMESTAMP a server makes: those of 5.6 and later, or those before.
Temporals = Literal["new", "old"]

#: What may stand in parentheses behind a type: "display" is a width without effect, "numbers" are (M, D).
Arguments = Literal["none", "display", "numbers", "length", "fsp", "members"]

#: The column, without its name, that a server logs for a declared type.  Raises ScenarioError for wrong arguments.
Declare = Callable[[SqlType, Dialect, Temporals], Column]


class ColumnType(msgspec.Struct, frozen=True, kw_only=True):
    """One SQL type: its name, what may be declared of it, the column that a server makes of it, and its facts."""

    #: As SHOW CREATE TABLE has it, in upper case.
    name: str
    facts: TypeFacts
    declare: Declare
    arguments: Arguments = "none"
    #: Other phrases that declare it.
    aliases: tuple[str, ...] = ()
    #: Declarations worth testing with.
    examples: tuple[SqlType, ...] = ()
    #: The type that a column of it has in the dictionary, on a line that has no such type of its own.
    stored_as: Callable[[SqlType, Dialect], SqlType] | None = None
    #: For a type that travels as another: its name and length if a column that was read may be one, else None.
    disguised: Callable[[Column], str | None] | None = None


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """The codecs and the SQL types of one module."""

    codecs: tuple[Codec, ...] = ()
    column_types: tuple[ColumnType, ...] = ()
