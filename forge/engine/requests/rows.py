"""The declared form of statements that change rows: INSERT, REPLACE, UPDATE, DELETE and LOAD DATA."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from forge.plan.statement_text import LoadFormat

#: Conditions on columns: {column: literal | [literals] | null | {lt|le|gt|ge|ne|between: ...}}.
Where = dict[str, Any]

TableName = Annotated[
    str, Meta(description="Name of a table, `database.table`; without a database, that of the session is meant.")
]

SetByTrigger = Annotated[
    dict[str, Any] | None, Meta(description="Values that a BEFORE trigger sets (SET NEW.column): column to cell.")
]

ForPortionOf = Annotated[
    Annotated[dict[str, Annotated[list[Any], Meta(min_length=2, max_length=2)]], Meta(min_length=1, max_length=1)]
    | None,
    Meta(description="MariaDB's FOR PORTION OF: the name of a period to the begin and the end of the portion."),
]


class _NewRows(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    into: TableName
    rows: Annotated[
        Annotated[list[dict[str, Any] | list[Any]], Meta(min_length=1)] | None,
        Meta(description="Mappings of column to cell, or lists of cells in the order of `columns`."),
    ] = None
    columns: Annotated[list[str] | None, Meta(description="The columns of rows that are written as lists.")] = None
    count: Annotated[
        Annotated[int, Meta(ge=1, le=10_000_000)] | None, Meta(description="How many rows to generate from `row`.")
    ] = None
    row: Annotated[dict[str, Any] | None, Meta(description="The row to insert `count` times, with generators.")] = None
    column_list: Annotated[
        bool, Meta(description="false: VALUES without a list of columns, with DEFAULT for missing cells.")
    ] = True
    select: Annotated[
        str | None,
        Meta(
            description="A SELECT that returns the rows, instead of VALUES; without `rows` they are computed of the"
            " scenario's tables."
        ),
    ] = None
    set_by_trigger: SetByTrigger = None

    def __post_init__(self) -> None:
        made_by = sum(form is not None for form in (self.rows, self.row))
        if made_by > 1 or (not made_by and self.select is None):
            subject = "a replace" if isinstance(self, Replace) else "an insert"
            raise ValueError(f"{subject} has either `rows` or `count` and `row`")
        if (self.count is None) != (self.row is None):
            raise ValueError("`count` and `row` need each other")
        if self.columns is not None and self.rows is None and self.select is None:
            raise ValueError("`columns` needs `rows` that are lists")


class Insert(_NewRows, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """INSERT: rows as mappings of column to cell, as lists under `columns`, or `count` times the same `row`."""

    ignore: Annotated[
        bool, Meta(description="INSERT IGNORE: rows whose keys exist are skipped, impossible values are clipped.")
    ] = False
    on_duplicate_key_update: Annotated[
        Annotated[dict[str, Any], Meta(min_length=1)] | None,
        Meta(
            description="New values for the existing row with the same key: column to cell, or to `{values: column}`"
            " for the value of the new row.",
        ),
    ] = None
    row_alias: Annotated[
        str | None,
        Meta(
            description="What `on_duplicate_key_update` calls the new row, and its columns: `new`, `new(a, b)`"
            " (VALUES ... AS new)."
        ),
    ] = None
    set_by_update_trigger: Annotated[
        dict[str, Any] | None,
        Meta(
            description="Values that a BEFORE UPDATE trigger sets in rows that `on_duplicate_key_update` changes; by"
            " default those of `set_by_trigger` that the text of such a trigger sets."
        ),
    ] = None


class Replace(_NewRows, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """REPLACE: as `insert`; new rows replace those that have the same primary or unique key."""


Alias = Annotated[str | None, Meta(description="What conditions and expressions call the table.")]
OrderBy = Annotated[str | None, Meta(description="ORDER BY: in which order the rows change: `n DESC, id`.")]
Partitions = Annotated[
    Annotated[list[str], Meta(min_length=1)] | None, Meta(description="PARTITION (...): the rows of these alone.")
]
Join = Annotated[
    str | None,
    Meta(description="Instead of one table a join of several, as SQL: `a JOIN b ON b.a = a.id`; `where` is SQL, too."),
]
Ignores = Annotated[bool, Meta(description="IGNORE: rows that cannot change stay, impossible values are clipped.")]

Chosen = Annotated[
    Where | str | None, Meta(description="Conditions by column, of which a row must meet all; or a condition in SQL.")
]


Affected = Annotated[
    list[Any] | None,
    Meta(
        description="The primary keys of the rows that it changes, in that order, whatever the `query` says: literals,"
        " or lists of them."
    ),
]


Limit = Annotated[
    Annotated[int, Meta(ge=1)] | None,
    Meta(description="LIMIT: the first so many of these rows alone, in the order in which they change."),
]


class Update(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """UPDATE of all rows that meet every condition; without `where`, of all rows."""

    table: TableName = ""
    tables: Join = None
    set: Annotated[
        Annotated[dict[str, Any], Meta(min_length=1)] | None, Meta(description="New values: column to cell.")
    ] = None
    alias: Alias = None
    partition: Partitions = None
    ignore: Ignores = False
    where: Chosen = None
    affects: Affected = None
    rows: Annotated[
        list[dict[str, Any] | list[Any]] | None,
        Meta(
            description="What the rows of `affects` become, in place of `set`: lists of all cells, or mappings of those"
            " columns that change."
        ),
    ] = None
    order_by: OrderBy = None
    limit: Limit = None
    set_by_trigger: SetByTrigger = None
    for_portion_of: ForPortionOf = None

    def __post_init__(self) -> None:
        if (self.set is None) == (self.rows is None):
            raise ValueError("an update has either `set` or `rows`")
        if self.rows is not None and (self.affects is None or len(self.affects) != len(self.rows)):
            raise ValueError("`rows` of an update needs `affects` with as many keys")
        if self.affects is not None and (self.where is not None or self.limit is not None):
            raise ValueError("`affects` excludes `where` and `limit`")
        if bool(self.table) == (self.tables is not None):
            raise ValueError("an update has either `table` or `tables`")


class Delete(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """DELETE of all rows that meet every condition; without `where`, of all rows."""

    table: TableName = field(name="from", default="")
    tables: Join = None
    rows_of: Annotated[
        Annotated[list[str], Meta(min_length=1)] | None,
        Meta(description="The tables of `tables` whose rows are deleted, by their names there."),
    ] = None
    alias: Alias = None
    partition: Partitions = None
    ignore: Ignores = False
    where: Chosen = None
    affects: Affected = None
    order_by: OrderBy = None
    limit: Limit = None
    for_portion_of: ForPortionOf = None

    def __post_init__(self) -> None:
        if self.affects is not None and (self.where is not None or self.limit is not None):
            raise ValueError("`affects` excludes `where` and `limit`")
        if bool(self.table) == (self.tables is not None) or (self.tables is None) != (self.rows_of is None):
            raise ValueError("a delete has either `from`, or `tables` and `rows_of`")


class LoadData(LoadFormat, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """LOAD DATA: a file of rows, and how it is split into fields."""

    into: Annotated[str, Meta(description="Name of the table, `database.table`.")]
    columns: Annotated[
        Annotated[list[str], Meta(min_length=1)] | None,
        Meta(
            description="Columns that the fields of a line belong to, or user variables (`@x`); without, all columns."
        ),
    ] = None
    set: Annotated[
        Annotated[dict[str, Any], Meta(min_length=1)] | None,
        Meta(
            description="Columns that are computed (SET): a literal, or `{sql: expression}` of columns and variables;"
            " with `values`, a list of what it gives for each line, also what is not computed here."
        ),
    ] = None
    rows: Annotated[
        list[list[Any]] | None,
        Meta(description="Lists of cells in the order of `columns`, of which the file is made; null is written `\\N`."),
    ] = None
    text: Annotated[str | None, Meta(description="The file as it is, in its character set.")] = None
    hex: Annotated[str | None, Meta(description="The file's bytes.")] = None
    file: Annotated[
        Annotated[str, Meta(min_length=1, max_length=511)] | None,
        Meta(
            description="Name of the file: absolute (`/tmp/in.csv`), or from the server's data directory on, or that"
            " of the client (`in/more.csv`). By default the table's name, `.txt`.",
        ),
    ] = None
    local: Annotated[bool, Meta(description="LOAD DATA LOCAL: the client sends the file.")] = False
    duplicates: Annotated[
        Literal["error", "ignore", "replace"],
        Meta(description="What becomes of rows whose keys exist; a LOCAL file is never an error, but ignored."),
    ] = "error"

    def __post_init__(self) -> None:
        if sum(content is not None for content in (self.rows, self.text, self.hex)) != 1:
            raise ValueError("load_data has exactly one of rows, text and hex")
        if self.file is not None and (not self.file.isprintable() or set(self.file) & set("'\\")):
            raise ValueError(f"{self.file!r} is no usual file name: it has quotes, backslashes or control characters")
        if self.file is not None and not {"", ".", ".."}.isdisjoint(self.file.removeprefix("/").split("/")):
            raise ValueError(f"{self.file!r} is no name of a file: a part of it is empty, `.` or `..`")
        if not self.fields_terminated_by or not self.lines_terminated_by:
            raise ValueError("files of fixed width, without terminators, are not supported")
