"""Hypothesis strategies for declared tables, what they hold, and the forms that their optional metadata may take.

>>> @given(tables("mysql-9.7").flatmap(lambda table: tuples(just(table), rows_of(table, "mysql-9.7"))))
... def test_my_decoder(pair): ...
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from forge.events.optional_metadata import METADATA_CODES
from forge.plan.metadata_forms import AddedRecord, MetadataForms, PackedSize, PackedSizes, RecordName
from forge.plan.tables import Row, Table
from forge.testing.drawn import drawn
from forge.testing.draws import tables as draws

_SIZES: tuple[PackedSize, ...] = (3, 4, 9)


def tables(
    server: str, max_columns: int = 24, *, types: Sequence[str] = (), charsets: Sequence[str] = ()
) -> st.SearchStrategy[Table]:
    """A table of columns of all types or of these, with a primary key (whole, or prefixes) or a unique one or none."""
    return drawn(draws.table_of, server, max_columns, types, charsets)


def rows_of(table: Table, server: str, max_rows: int = 3) -> st.SearchStrategy[list[Row]]:
    """Rows that the table can hold, NULL among their values."""
    return drawn(draws.rows_of, table, server, max_rows)


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
