"""What the text of a statement on rows says."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta, Struct

from forge.sql.reads.calls import Call


class UserVariable(Struct, frozen=True):
    """A user variable that a statement reads.  ``value`` is None, an int, a Decimal, a float, text or bytes;
    ``unsigned`` is of integers, ``collation`` of text (None: that of the connection).
    """

    name: str
    value: int | Decimal | float | str | bytes | None
    unsigned: bool = False
    collation: int | None = None


_Separator = Annotated[str, Meta(description="Text between fields, around them, or at the ends of lines.")]


class LoadFormat(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """How LOAD DATA takes its file apart; the defaults are those of servers."""

    character_set: Annotated[str | None, Meta(description="Of the file; without, that of the current database.")] = None
    fields_terminated_by: _Separator = "\t"
    enclosed_by: Annotated[str, Meta(max_length=1, description="Character around fields.")] = ""
    optionally_enclosed: Annotated[bool, Meta(description="OPTIONALLY ENCLOSED BY: only text is enclosed.")] = False
    escaped_by: Annotated[str, Meta(max_length=1, description="Escape character; empty for none.")] = "\\"
    lines_starting_by: _Separator = ""
    lines_terminated_by: _Separator = "\n"
    ignore_lines: Annotated[int, Meta(ge=0, description="Lines at the file's start that are not read.")] = 0


class LoadFile(Struct, frozen=True):
    """What LOAD DATA reads, and where it puts it; ``@name`` among the columns is a variable."""

    name: str
    content: bytes
    columns: tuple[str, ...]
    format: LoadFormat
    #: The assignments of SET, ```column`=expression``.
    sets: tuple[str, ...] = ()
    #: Bytes that were looked at for the first row, and for the first row that got a number.
    looked_at: tuple[int, int] = (0, 0)
    #: What the variables among the columns hold afterwards.
    variables: tuple[UserVariable, ...] = ()
    local: bool = False
    duplicates: Literal["error", "ignore", "replace"] = "error"

    @property
    def path(self) -> str:
        """The name in the text: without a folder, a server would look for the file in that of the database."""
        return self.name if self.local or self.name.startswith("/") else f"./{self.name}"


class Clauses(Struct, frozen=True):
    """Clauses and forms of a statement that decide how it is logged."""

    #: It has a LIMIT: which rows it changes may differ elsewhere.
    limits: bool = False
    #: INSERT IGNORE, UPDATE IGNORE, REPLACE.
    ignores: bool = False
    #: Rows are INSERTed from a SELECT, and that reads a table.
    selects: bool = False
    reads_tables: bool = False
    #: UPDATE or DELETE in the form for several tables, or made into it by the server.
    several_tables: bool = False
    #: A DELETE without WHERE.
    deletes_all: bool = False
    #: It names a character set: ``_latin1'a'``, CONVERT ... USING, CAST.
    names_charset: bool = False


class LongSql(Struct, frozen=True):
    """The SQL of an INSERT of many rows, written when somebody asks for it: most sessions do not log it."""

    write: Callable[[], str]
    #: The same of fewer rows; the others have no word, and no form of a literal, that these do not have.
    sample: str


class StatementText(Struct, frozen=True):
    """The text of a statement on rows as a client would send it, and what stands in it."""

    source: str | LongSql = ""
    #: The indexes of the columns that it names (INSERT's list, UPDATE's SET clause); None: INSERT without a list.
    assigned: frozenset[int] | None = None
    #: Those of them that the text does not name, and that BEFORE triggers do as NEW.
    only_by_triggers: frozenset[int] = frozenset()
    #: The indexes of those that ON DUPLICATE KEY UPDATE names; None: it is not there.
    updates: frozenset[int] | None = None
    #: The columns that have to be read for it.
    reads: frozenset[int] = frozenset()
    calls: frozenset[Call] = frozenset()
    system_variables: frozenset[str] = frozenset()
    clauses: Clauses = Clauses()
    #: LOAD DATA.
    load: LoadFile | None = None
    #: What a client sends, where that is not what is logged.
    sent: str | None = None
    #: Its line in the scenario.
    line: int | None = None

    @property
    def sql(self) -> str:
        return self.source if isinstance(self.source, str) else self.source.write()

    @property
    def words(self) -> str:
        """SQL in which the same words stand."""
        return self.source if isinstance(self.source, str) else self.source.sample
