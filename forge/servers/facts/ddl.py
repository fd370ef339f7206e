"""Facts about data definition: what is logged of a statement, how it is written, what the server takes."""

from __future__ import annotations

from typing import Literal

import msgspec


class Definitions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Facts about data definition: what is logged of a statement, how it is written, what the server takes."""

    #: Collation of a database that names none.
    default_collation: int
    #: Collation of names, in which a server writes by itself what a session's end drops.
    system_collation: int
    #: What DEFAULT means in CONVERT TO CHARACTER SET: the database's collation, or the compiled-in default of its set.
    convert_default: Literal["database", "compiled"]
    #: CREATE TABLE IF NOT EXISTS of a table that exists is logged.
    logs_create_of_existing: bool
    #: DROP TABLE is logged in the server's own words.
    rewrites_drop: bool
    #: Tables of engines without transactions are dropped in groups of their own, ahead of the statement.
    splits_drops: bool
    #: Of one DROP TABLE, the groups of temporary tables stand ahead of that of the others.
    drops_temporary_first: bool
    #: DROP TABLE names the tables in the statement's order; else those that existed come first.
    names_drop_in_order: bool
    #: DROP TABLE keeps a comment directly before the names.
    keeps_drop_comment: bool
    #: Which DROP TABLE has the flag THREAD_SPECIFIC: all, those of engines with transactions, or of temporary tables.
    flagged_drops: Literal["all", "transactional", "temporary"]
    #: DROP TEMPORARY TABLE IF EXISTS names every database, and has the flag SUPPRESS_USE.
    qualifies_temporary_drops: bool
    #: A session's end drops temporary tables with and without transactions in two groups.
    splits_session_drops: bool
    #: The statement that empties a MEMORY table after a start of the server; {} is the table.
    memory_emptied: str
    #: That statement is of a connection of the server's own.
    empties_memory_apart: bool
    #: It has the flag SUPPRESS_USE.
    memory_suppresses_use: bool
    #: What is logged of temporary tables is known (nothing in row format).
    temporary_tables: bool
    #: The engine of a temporary table that names none is a setting of its own (default_tmp_storage_engine).
    temporary_engine_apart: bool
    #: What drops a temporary table is logged though nothing that made it was.
    drops_all_temporary: bool
    #: RENAME TABLE sees temporary tables.
    renames_temporary: bool
    #: RENAME TO and TRUNCATE make a temporary table the last made, as other ALTERs do.
    renamed_temporary_is_last: bool
    #: CREATE TABLE ... SELECT is one group of table and rows, as recorded.
    create_select: bool
    #: CREATE TABLE ... SELECT into an engine without transactions is two groups.
    splits_create_select: bool
    #: CREATE TABLE ... SELECT that found no rows ends with XID, as one with rows does; else with COMMIT.
    ends_empty_select_with_xid: bool
    #: CREATE TABLE ... SELECT has the number of the statement (DDL_XID) in statement format.
    numbers_create_select: bool
    #: Which columns that CREATE TABLE ... SELECT makes of literals have defaults: all, or those of no primary key.
    literals_have_defaults: Literal["all", "unkeyed", "none"]
    #: CREATE TABLE ... SELECT loses the default of a BIT column.
    select_loses_bit_default: bool
    #: SHOW CREATE TABLE prints the display widths of all integers and of YEAR.
    prints_integer_widths: bool
    #: When SHOW CREATE TABLE prints a column's character set: where it is not the table's, with its collation ("whole")
    #: or with one that is not its default ("unlike"), or where the statement names one, too ("named").
    printed_charsets: Literal["named", "unlike", "whole"]
    #: SHOW CREATE TABLE prints the defaults of numbers without quotes.
    prints_bare_numbers: bool
    #: SHOW CREATE TABLE prints DEFAULT NULL of TEXT and BLOB.
    prints_null_of_lobs: bool
    #: The storage engines of the server.
    engines: tuple[str, ...]
    #: TRUNCATE PARTITION lets AUTO_INCREMENT go on from what is left.
    renumbers_truncated_partitions: bool
    #: NO_WRITE_TO_BINLOG keeps every change of partitions out of the log, else those that answer with a table.
    local_keeps_out: bool
    #: sql_generate_invisible_primary_key adds a key to tables without a primary key; else to those without any key
    #: that stands for a row.
    generates_key_beside_unique: bool
    #: REFERENCES on a column declares a foreign key (MySQL 9.0, MariaDB 10.5 on); others read and forget it.
    column_references: bool
    #: A foreign key refers to a unique key (restrict_fk_on_non_standard_key); without, an index does.
    foreign_keys_to_unique: bool
    #: The name behind FOREIGN KEY is the constraint's too.
    index_names_constraint: bool
    #: A UNIQUE key of whole BLOBs, or USING HASH, is kept as a hash in a hidden column.
    unique_hashes: bool
    #: NULL for a generated column is taken and forgotten; without strict mode, any value is.
    forgets_generated_values: bool
    #: CREATE TRIGGER has the fraction of its time.
    dates_triggers: bool
    #: The seeds of RAND are logged before a view that calls it.
    views_log_seeds: bool
    #: ALTER ... DROP DEFAULT of a column that takes NULL leaves it without a default; else it is NULL.
    drops_null_default: bool
    #: DESC of a key's column is obeyed.
    descending_keys: bool
