"""The parts of data definition statements as their text says them, before anything is known about the tables.

``offset`` is always the place in the statement's text, for errors.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal as Choice

from msgspec import Struct
from msgspec.structs import replace

from forge.charsets import Collation, collation, default_collation
from forge.charsets.collations import canonical_charset
from forge.errors import ScenarioError
from forge.servers import server_line
from forge.sql.ast.expressions import Literal
from forge.sql.errors import at_offset
from forge.values.declaration.sqltype import SqlType
from forge.values.registry import facts_of

BINARY_COLLATION = 63
#: The period of a system-versioned table.
SYSTEM_TIME = "SYSTEM_TIME"
#: What a server keeps in a column by itself: the begin and end of a row's time, the hash of a long UNIQUE key.
SystemRole = Choice["", "row_start", "row_end", "hash"]
ReferentialAction = Choice["restrict", "cascade", "set_null"]


class CharsetClause(Struct, frozen=True):
    """CHARACTER SET and COLLATE as written on a column, a table or a database; ``binary``: the _bin collation."""

    charset: str | None = None
    collation: str | None = None
    binary: bool = False
    offset: int = 0

    def resolve(self, inherited: int, server: str) -> Collation:
        """The collation that is meant; ``inherited`` is the id of the surrounding default.  Raises SqlError."""
        with at_offset(self.offset):
            if self.charset is None and self.collation is None:
                chosen = collation(inherited, server)
            elif self.collation is None:
                chosen = default_collation(self.charset or "", server)
            else:
                chosen = collation(self._whole_name(self.collation, inherited, server), server)
            if self.charset is not None and self.collation is not None:
                wanted = default_collation(self.charset, server).charset
                if chosen.charset != wanted:
                    raise ScenarioError(
                        f"collation {chosen.name} is not of character set {wanted}",
                        expected=f"a collation that begins with {wanted}_",
                    )
            if self.binary and chosen.charset != "binary":
                chosen = collation(f"{chosen.charset}_bin", server)
            return chosen

    def _whole_name(self, name: str, inherited: int, server: str) -> str:
        """MariaDB's collations of UCA 14 go by their names without the character set, too."""
        if not name.lower().startswith("uca1400_") or not server_line(server).grammar.short_collations:
            return name
        charset = self.charset if self.charset is not None else collation(inherited, server).charset
        return f"{canonical_charset(charset)}_{name}"


class TypeDraft(Struct, frozen=True):
    """A column type as written; ``type`` has no collation yet."""

    type: SqlType
    charset: CharsetClause = CharsetClause()
    offset: int = 0
    #: The display width of an integer, as written; that of BOOL is 1.
    width: int | None = None

    def resolve(self, table_collation: int, server: str) -> SqlType:
        """The type with the collation that the column gets.  Raises SqlError."""
        facts = facts_of(self.type)
        if not facts.has_charset:
            if self.charset.collation is not None:
                self.charset.resolve(table_collation, server)  # Servers know it, and forget it.
            return self.type
        chosen = self.charset.resolve(table_collation, server)
        if chosen.charset == "binary" and facts.binary_name is not None:
            return replace(self.type, name=facts.binary_name)
        return replace(self.type, collation=chosen.id)


class LiteralDefault(Struct, frozen=True):
    """DEFAULT with a literal."""

    literal: Literal
    offset: int = 0
    #: Of ALTER ... SET DEFAULT.
    is_set: bool = False

    @property
    def value(self) -> str | int | Decimal | bytes | bool | None:
        return self.literal.value


class NowDefault(Struct, frozen=True):
    """DEFAULT CURRENT_TIMESTAMP(fsp)."""

    fsp: int
    offset: int = 0
    #: LOCALTIME and LOCALTIMESTAMP, which MariaDB 11.8 reads as the session's zone shows them.
    is_local: bool = False
    #: Of ALTER ... SET DEFAULT.
    is_set: bool = False


class ExpressionDefault(Struct, frozen=True):
    """DEFAULT (expression)."""

    sql: str
    offset: int = 0


Default = LiteralDefault | NowDefault | ExpressionDefault


class PartDraft(Struct, frozen=True):
    """A column in a key, perhaps with a prefix length; or an expression, and ``column`` is empty."""

    column: str
    prefix: int | None
    offset: int
    expression: str | None = None
    descending: bool = False
    #: WITHOUT OVERLAPS: ``column`` is the name of a period.
    without_overlaps: bool = False


class KeyDraft(Struct, frozen=True):
    """A key as written."""

    kind: Choice["primary", "unique", "index"]
    name: str | None
    parts: tuple[PartDraft, ...]
    offset: int
    special: Choice["", "FULLTEXT", "SPATIAL", "VECTOR"] = ""
    #: What SHOW CREATE TABLE prints after the columns.
    using: str = ""
    comment: str = ""
    visible: bool = True


class PeriodDraft(Struct, frozen=True):
    """PERIOD FOR: its name, and the columns with its begin and its end."""

    name: str
    start: str
    end: str
    offset: int

    @property
    def is_system(self) -> bool:
        return self.name.upper() == SYSTEM_TIME


class CheckDraft(Struct, frozen=True):
    """A CHECK constraint as written; one that is not enforced refuses nothing."""

    name: str | None
    expression: str
    offset: int
    enforced: bool = True
    #: False: rows are believed to meet what is not computed here.
    computed: bool = True


class ForeignKeyDraft(Struct, frozen=True):
    """FOREIGN KEY as written, or REFERENCES on a column; ``name`` is None without CONSTRAINT, ``index`` the key's."""

    name: str | None
    columns: tuple[PartDraft, ...]
    parent: TableRef
    parent_columns: tuple[str, ...]
    on_delete: ReferentialAction
    on_update: ReferentialAction
    offset: int
    index: str | None = None


TablePart = KeyDraft | CheckDraft | ForeignKeyDraft | PeriodDraft


class ColumnDraft(Struct, frozen=True):
    """A column definition as written."""

    name: str
    type: TypeDraft
    offset: int
    nullable: bool | None = None
    default: Default | None = None
    #: Fractional digits of ON UPDATE CURRENT_TIMESTAMP.
    on_update: int | None = None
    auto_increment: bool = False
    #: Keys on this column alone: a SERIAL PRIMARY KEY has two.
    keys: tuple[Choice["primary", "unique"], ...] = ()
    visible: bool = True
    generated: Choice["virtual", "stored"] | None = None
    expression: str = ""
    comment: str = ""
    checks: tuple[CheckDraft, ...] = ()
    #: REFERENCES on the column.
    references: tuple[ForeignKeyDraft, ...] = ()
    #: GENERATED ALWAYS AS ROW START, ROW END.
    system: SystemRole = ""
    #: WITH and WITHOUT SYSTEM VERSIONING; None: as the table.
    versioned: bool | None = None

    def own_keys(self) -> tuple[KeyDraft, ...]:
        """The keys that PRIMARY KEY and UNIQUE on the column make."""
        parts = (PartDraft(self.name, None, self.offset),)
        return tuple(KeyDraft(kind, None, parts, self.offset) for kind in self.keys)


class TableRef(Struct, frozen=True):
    """A table as named in a statement; ``database`` is None if it is left out."""

    database: str | None
    name: str
    offset: int


class TableOptions(Struct, frozen=True):
    """Options after the closing parenthesis, as far as they matter to a binlog."""

    charset: CharsetClause = CharsetClause()
    auto_increment: int | None = None
    #: The storage engine as written.
    engine: str | None = None
    engine_offset: int = 0
    #: WITH SYSTEM VERSIONING.
    versioned: bool = False
    #: Options that leave no trace but in SHOW CREATE TABLE: (name, value).
    idle: tuple[tuple[str, str], ...] = ()


class Place(Struct, frozen=True):
    """FIRST (``after`` is None) or AFTER a column."""

    after: str | None
    offset: int


class PartitionDraft(Struct, frozen=True):
    """A partition as written; ``values`` are the texts of VALUES LESS THAN (one entry) or VALUES IN."""

    name: str
    offset: int
    values: tuple[tuple[str, ...], ...] = ()


class PartitionClause(Struct, frozen=True):
    """PARTITION BY, or SUBPARTITION BY (``inner``): a function's text, or columns."""

    kind: Choice["hash", "key", "range", "list", "system_time"]
    offset: int
    linear: bool = False
    expression: str = ""
    columns: tuple[str, ...] = ()
    count: int | None = None
    parts: tuple[PartitionDraft, ...] = ()
    inner: PartitionClause | None = None


class SelectedColumn(Struct, frozen=True):
    """A column of a SELECT, or a literal, and its name in the result."""

    column: str
    name: str
    offset: int
    literal: int | str | None = None


class SelectDraft(Struct, frozen=True):
    """SELECT of one table; no ``columns`` stand for ``*``, ``where`` is the text of an expression, or empty.

    ``order``: columns of ORDER BY, and whether each is DESC; ``limit``: how many rows, behind how many others.
    """

    columns: tuple[SelectedColumn, ...]
    table: TableRef
    where: str
    offset: int
    order: tuple[tuple[str, bool], ...] = ()
    limit: tuple[int, int] | None = None
