"""Hypothesis strategies for declared tables, what they hold, and the forms that their optional metadata may take.

>>> @given(tables("mysql-9.7").flatmap(lambda table: tuples(just(table), rows_of(table, "mysql-9.7"))))
... def test_my_decoder(pair): ...
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from forge.charsets import charset, collation
from forge.events.optional_metadata import METADATA_CODES
from forge.plan.metadata_forms import AddedRecord, MetadataForms, PackedSize, PackedSizes, RecordName
from forge.plan.tables import Key, KeyPart, Row, Table, TableColumn
from forge.servers import server_line
from forge.testing import values
from forge.values.base import Column
from forge.values.declaration.sqltype import SqlType
from forge.values.dialect import dialect_of
from forge.values.registry import column_for, column_types, facts_of

#: utf8mb4, latin1 and ascii, gbk, ucs2, binary: all can hold the members of ENUM and SET that are drawn.
_MEMBER_COLLATIONS = (255, 46, 8, 11, 28, 35, 63)
_SIZES: tuple[PackedSize, ...] = (3, 4, 9)


def sql_types(server: str) -> st.SearchStrategy[SqlType]:
    """A type that the server line knows."""
    columns = (
        values.integer_columns(),
        values.float_columns(),
        values.decimal_columns(),
        values.bit_columns(),
        values.temporal_columns(),
        values.string_columns(),
        values.blob_columns(),
    )
    members = st.tuples(values.member_columns(), st.sampled_from(_MEMBER_COLLATIONS)).map(
        lambda drawn: replace(_declared(drawn[0]), collation=drawn[1])
    )
    special = [
        members,
        st.sampled_from(_examples(server)),
    ]
    if server_line(server).knows("mariadb_compressed_columns"):
        special.append(values.compressed_columns().map(_declared))
    drawn = st.one_of(*(column.map(_declared) for column in columns), *special)
    return drawn.map(lambda sql_type: _within_row(sql_type, server))


def _examples(server: str) -> list[SqlType]:
    """What the types that the line has name as examples of themselves."""
    line = server_line(server)
    return [
        example
        for sql_type in column_types().values()
        if sql_type.facts.feature is None or line.knows(sql_type.facts.feature)
        for example in sql_type.examples
    ]


def _within_row(sql_type: SqlType, server: str) -> SqlType:
    """VARCHAR no longer than the line takes it: MariaDB counts what a row of nothing else leaves."""
    if sql_type.name != "VARCHAR" or sql_type.length is None or sql_type.collation is None:
        return sql_type
    longest = dialect_of(server).max_varchar // charset(collation(sql_type.collation).charset).max_length
    return replace(sql_type, length=min(sql_type.length, longest))


def tables(server: str, max_columns: int = 24) -> st.SearchStrategy[Table]:
    """A table of columns of all types, with a primary key (whole, or with prefixes) or a unique one or none."""

    @st.composite
    def draw_table(draw: st.DrawFn) -> Table:
        types = draw(st.lists(sql_types(server), min_size=1, max_size=max_columns))
        visible = draw(st.lists(st.booleans(), min_size=len(types), max_size=len(types)))
        nullable = draw(st.lists(st.booleans(), min_size=len(types), max_size=len(types)))
        can = [place for place, one in enumerate(types) if _in_keys(one)]
        parts = draw(st.lists(st.sampled_from(can), unique=True, max_size=4)) if can else []
        columns = tuple(
            TableColumn(f"c{place}", one, nullable=null and place not in parts, visible=shown)
            for place, (one, null, shown) in enumerate(zip(types, nullable, visible, strict=True))
        )
        kind = draw(st.sampled_from(("primary", "primary", "unique")))
        key = Key("PRIMARY", kind, tuple(draw(_key_part(types[place], place)) for place in parts))  # type: ignore[arg-type]
        return Table("db", "t", columns, (key,) if parts else ())

    return draw_table()


def rows_of(table: Table, server: str, max_rows: int = 3) -> st.SearchStrategy[list[Row]]:
    """Rows that the table can hold, NULL among their values."""
    cells = []
    for column in table.columns:
        value = values.values_for(column_for(column.type, server=server))
        cells.append(st.none() | value if column.nullable else value)
    return st.lists(st.tuples(*cells), min_size=1, max_size=max_rows)


def equivalent_forms() -> st.SearchStrategy[MetadataForms]:
    """Forms of full metadata that tell the same of a table, whatever table it is."""
    names: tuple[RecordName, ...] = tuple(METADATA_CODES)  # type: ignore[arg-type]
    sizes = st.sampled_from((None, *_SIZES))
    unknown = st.builds(
        AddedRecord,
        type=st.integers(14, 255),
        hex=st.binary(max_size=20).map(bytes.hex),
        at=st.none() | st.integers(0, 12),
    )
    return st.builds(
        MetadataForms,
        charset=st.sampled_from(("server", "default", "column", "both")),
        pairs=st.sampled_from(("server", "descending", "redundant")),
        primary_key=st.sampled_from(("server", "prefix", "both")),
        lengths=st.builds(PackedSizes, record=st.sampled_from((None, 4, 9)), count=sizes, text=sizes, value=sizes),
        repeat=st.lists(st.sampled_from(names), unique=True, max_size=3),
        order=st.sampled_from(("server", "reversed")) | st.permutations(names),
        add=st.lists(unknown, max_size=3),
    )


def _declared(column: Column) -> SqlType:
    assert column.declared is not None
    return column.declared


def _in_keys(sql_type: SqlType) -> bool:
    return facts_of(sql_type).in_key != "none" and not sql_type.compressed and sql_type.length != 0


def _key_part(sql_type: SqlType, place: int) -> st.SearchStrategy[KeyPart]:
    facts = facts_of(sql_type)
    if facts.is_lob:
        return st.builds(KeyPart, st.just(place), st.sampled_from((1, 10, 250, 251)))
    if facts.takes_prefix and sql_type.length is not None:
        lengths = st.sampled_from(sorted({1, sql_type.length, max(1, sql_type.length - 1)}))
        return st.builds(KeyPart, st.just(place), st.none() | lengths)
    return st.just(KeyPart(place))
