"""LOAD DATA as a scenario declares it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

#: As what SQL calls them; the defaults are those of servers.
_Separator = Annotated[str, Meta(description="Text between fields, around them, or at the ends of lines.")]


class LoadData(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
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
    character_set: Annotated[str | None, Meta(description="Of the file; without, that of the current database.")] = None
    fields_terminated_by: _Separator = "\t"
    enclosed_by: Annotated[str, Meta(max_length=1, description="Character around fields.")] = ""
    optionally_enclosed: Annotated[bool, Meta(description="OPTIONALLY ENCLOSED BY: only text is enclosed.")] = False
    escaped_by: Annotated[str, Meta(max_length=1, description="Escape character; empty for none.")] = "\\"
    lines_starting_by: _Separator = ""
    lines_terminated_by: _Separator = "\n"
    ignore_lines: Annotated[int, Meta(ge=0, description="Lines at the file's start that are not read.")] = 0

    def __post_init__(self) -> None:
        if sum(content is not None for content in (self.rows, self.text, self.hex)) != 1:
            raise ValueError("load_data has exactly one of rows, text and hex")
        if self.file is not None and (not self.file.isprintable() or set(self.file) & set("'\\")):
            raise ValueError(f"{self.file!r} is no usual file name: it has quotes, backslashes or control characters")
        if self.file is not None and not {"", ".", ".."}.isdisjoint(self.file.removeprefix("/").split("/")):
            raise ValueError(f"{self.file!r} is no name of a file: a part of it is empty, `.` or `..`")
        if not self.fields_terminated_by or not self.lines_terminated_by:
            raise ValueError("files of fixed width, without terminators, are not supported")
