"""Facts about the words that the server parses where its family has words of its own."""

from __future__ import annotations

import msgspec


class Grammar(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Facts about the words that the server parses where its family has words of its own."""

    #: IF [NOT] EXISTS of columns, keys, constraints and partitions, and of the table in ALTER and RENAME.
    conditional_parts: bool
    #: CREATE OR REPLACE of tables, databases, indexes and sequences.
    or_replace: bool
    #: CREATE, ALTER and DROP SEQUENCE.
    sequences: bool
    #: WAIT n and NOWAIT behind the name of a table.
    waits: bool
    #: ALTER ONLINE and ALTER IGNORE.
    alters_online: bool
    #: RESTRICT and CASCADE behind DROP COLUMN.
    drops_restrict: bool
    #: WITH and WITHOUT VALIDATION in ALTER TABLE.
    validates: bool
    #: ALGORITHM and LOCK behind DROP INDEX.
    locks_drop_index: bool
    #: [NOT] ENFORCED of a CHECK, and ALTER CHECK.
    enforces_checks: bool
    #: VISIBLE and INVISIBLE keys.
    invisible_keys: bool
    #: IGNORED keys, and ALTER KEY.
    ignored_keys: bool
    #: READ ONLY of a database.
    read_only_databases: bool
    #: ENCRYPTION of a database; else a database has a COMMENT.
    encrypted_databases: bool
    #: The SELECT of a view is logged from its first word to its last; else as it stands.
    trims_views: bool
    #: CHECK VIEW and REPAIR VIEW.
    repairs_views: bool
    #: ANALYZE TABLE ... UPDATE and DROP HISTOGRAM.
    histograms: bool
    #: FLUSH QUERY CACHE and FLUSH GLOBAL STATUS.
    flushes_caches: bool
    #: What FLUSH ... LOGS names.
    flushed_logs: tuple[str, ...]
    #: What FLUSH names beside logs and tables.
    flushed: tuple[str, ...]
    #: Expressions have ->, ->>, MEMBER OF and arrays.
    json_expressions: bool
    #: COLUMN_FORMAT, STORAGE and VISIBLE of a column, and ALTER COLUMN ... SET VISIBLE and INVISIBLE.
    storage_attributes: bool
    #: GEOMCOLLECTION is a type.
    geomcollection: bool
    #: A type may have several of SIGNED, UNSIGNED and ZEROFILL, whatever they say.
    repeats_signs: bool
    #: REF_SYSTEM_ID = n of a geometry column.
    reference_system_ids: bool
    #: DEFAULT and ON UPDATE CURRENT_TIMESTAMP may have other fraction digits than the column, which decide; the time
    #: may be the DEFAULT of a DATE or TIME without parentheses.
    loose_clock_defaults: bool
    #: DEFAULT LOCALTIME has the fraction digits that it says; else it is CURRENT_TIMESTAMP.
    local_time_default: bool
    #: DEFAULT (1), a literal in parentheses, is the default 1; else it is an expression.
    opens_literal_defaults: bool
    #: Collations of UCA 14 have names without the character set: uca1400_ai_ci.
    short_collations: bool
    #: Special keys that may have ASC and DESC: of FULLTEXT, SPATIAL and HASH.
    ordered_keys: tuple[str, ...]
    #: Attributes may stand behind CHECK, and all of them behind AS; else UNIQUE, COMMENT, INVISIBLE and CHECK alone.
    free_attributes: bool
    #: Columns and keys may have ``name = value``, for storage engines to know.
    named_options: bool
    #: COLLATE makes text of bytes and JSON, and says nothing of geometries; else they have the collation binary alone.
    bytes_take_collations: bool
