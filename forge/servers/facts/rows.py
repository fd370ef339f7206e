"""Facts about row events: their form, which columns an image has, which rows are logged."""

from __future__ import annotations

from typing import Literal

import msgspec


class Rows(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Facts about row events: their form, which columns an image has, which rows are logged."""

    #: Version of the row events: 1 (no extra row info) or 2.
    version: Literal[1, 2]
    #: Each row is logged as a statement of its own: a TABLE_MAP, and an event with STMT_END.
    single_rows: bool
    #: Flags that every row event has.
    flags: int
    #: Unused bits of the null bitmap in row images are 1.
    null_padding: bool
    #: Unused bits of a columns-present bitmap with all columns are 1.
    present_padding: bool
    #: Statements that mark all columns as read, so that NOBLOB before images of tables with a key have those bits set:
    #: UPDATE of a table with partitions, or of the columns that these depend on, or of a table with system versions;
    #: REPLACE and ON DUPLICATE KEY UPDATE.
    noblob_reads_all: tuple[Literal["partitions", "partition_columns", "versions", "duplicates"], ...]
    #: The event that has the text of the statement beside its rows, by its feature.
    query_event: Literal["rows_query", "annotate_rows"]
    #: Of a statement whose triggers write tables of another kind: its text stands before the rows that are written
    #: first (those that no rollback reaches), or before those of its own kind.
    text_before: Literal["first", "own"]
    #: ROWS_QUERY is written as a string of C: it ends before a NUL of the text, and its first byte is the low byte of
    #: what is left of its length (else the whole text, behind a 0).
    query_ends_at_nul: bool
    #: Without a key, after images are complete in every image mode, as before images are everywhere; so are those of
    #: INSERT () VALUES ().
    keyless_images_whole: bool
    #: Before images of UPDATE that are not complete: "key" has the key, and the columns that are no blobs in NOBLOB;
    #: "read" has besides what the statement reads, and all that it writes where a column has ON UPDATE
    #: CURRENT_TIMESTAMP; those of INSERT (ON DUPLICATE KEY UPDATE, REPLACE) are complete.
    before_images: Literal["key", "read"]
    #: In NOBLOB images after images have the blobs of the key that stands for the row, as before images do everywhere.
    noblob_keeps_key: bool
    #: In NOBLOB images after images have the blobs that only BEFORE triggers name as NEW.
    noblob_sees_triggers: bool
    #: Where REPLACE or ON DUPLICATE KEY UPDATE found a row, after images are complete in every mode.
    duplicate_images_whole: bool
    #: ON DUPLICATE KEY UPDATE counts columns with ON UPDATE CURRENT_TIMESTAMP as written.
    duplicates_mark_clocks: bool
    #: When MIXED looks for ON DUPLICATE KEY UPDATE over several keys; "late": columns are marked already, only keys
    #: whose columns are all written count, and after images have the marked columns alone in every image mode.
    duplicate_check: Literal["early", "late", "never"]
    #: Generated columns in images that are not complete: "followed": INSERT has all, UPDATE those which use a written
    #: column and virtual ones with a key; "kept": the stored ones, and virtual ones with a key; "used": the same, in
    #: images of UPDATE those of them alone that use a written column; "inserted": the same as "kept" in
    #: images of INSERT, and no generated column in those of UPDATE and DELETE, complete ones too, and in what the same
    #: statement inserts after one (REPLACE, ON DUPLICATE KEY UPDATE).
    generated_images: Literal["followed", "kept", "used", "inserted"]
    #: Virtual columns without a key are NULL in images.
    empty_virtual: bool
    #: How foreign keys change child rows: "logged": as changes of their own; "silent": inside the storage engine.
    cascades: Literal["logged", "silent"]
    #: Children that a foreign key changes silently have TABLE_MAPs all the same.
    maps_silent_children: bool
    #: INSERT without a column list computes the defaults of invisible columns.
    computes_invisible_defaults: bool
    #: GROUP BY sorts: groups come in the order of their columns, else as their first rows do.
    sorts_groups: bool
    #: Of two tables that a unique key of one joins, the other is read first, however few rows there are.
    joins_by_unique_keys: bool
    #: UPDATE of several tables: the one that is read first changes behind the others where a column is read and set.
    joined_reads_wait: bool
    #: REPLACE updates the row of a system-versioned table that the last unique key finds; else it ends that row.
    replaces_versions_in_place: bool
    #: A row of a system-versioned table that is deleted, as the past has one that ended in this moment, ends in it too.
    ends_deleted_versions: bool
    #: ON UPDATE CURRENT_TIMESTAMP looks for changes before the triggers run
    #: (fill_record_n_invoke_before_triggers), else behind them.
    stamps_before_triggers: bool
    #: A SELECT of columns of the primary key alone reads it as an index, all partitions together.
    merges_covering_keys: bool
