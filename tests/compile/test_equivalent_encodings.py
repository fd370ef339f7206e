"""Equivalent encodings of a table's optional metadata decode to the same rows, and full ones to the same schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from forge.binlog import write_binlog
from forge.binlog.listing import assemble, listing_text
from forge.compile.rows.rows import row_events
from forge.compile.rows.table_map import table_map
from forge.decode.decode import canonical_events, canonical_rows
from forge.errors import ScenarioError
from forge.events.event import Event
from forge.events.format_description import FormatDescription
from forge.plan.changes import RowChange
from forge.plan.metadata_forms import MetadataForms
from forge.plan.session import Session
from forge.plan.statements import RowsStatement
from forge.plan.tables import Row, Table
from forge.render.schema_of import schemas_of
from forge.servers import server_line
from tests.strategies.tables import equivalent_forms, rows_of, tables

pytestmark = pytest.mark.slow

LINES = ("mysql-9.7", "mariadb-11.8")
#: Records that full metadata has and minimal metadata has not.
FULL_ONLY = ["column_name", "set_members", "enum_members", "simple_primary_key", "prefix_primary_key",
             "enum_set_default_charset", "enum_set_column_charset", "visibility"]  # fmt: skip


def tables_with_rows(server: str) -> st.SearchStrategy[tuple[Table, list[Row]]]:
    return tables(server).flatmap(lambda table: st.tuples(st.just(table), rows_of(table, server)))


def made(server: str, table: Table, rows: list[Row], **settings: Any) -> bytes:
    """A file of the table's map, and an INSERT of the rows and their DELETE."""
    line, session = server_line(server), Session(binlog_row_event_max_size=1 << 20, **settings)
    description = FormatDescription(
        server_version=line.server_version,
        created=0,
        post_header_lengths=line.post_header_bytes,
        checksum_algorithm=1,
    )
    inserted = RowsStatement("insert", table, tuple(RowChange(None, row) for row in rows))
    deleted = RowsStatement("delete", table, tuple(RowChange(row, None) for row in rows))
    bodies = [description, table_map(table, 1, session, line)]
    bodies += [body for one in (inserted, deleted) for body in row_events(one, {one.table.full_name: 1}, session, line)]
    return write_binlog([Event(body=body) for body in bodies])


def cells(data: bytes) -> list[Any]:
    """The bytes of every row."""
    return [
        (change.kind, [[(cell.number, cell.raw) for cell in image or ()] for image in (change.before, change.after)])
        for change in canonical_rows(data)
    ]


def texts(data: bytes) -> list[Any]:
    """The rows as the canonical decode shows them."""
    return [event["rows"] for event in canonical_events(data) if "rows" in event]


def schema(data: bytes) -> tuple[str, Any]:
    (one,) = schemas_of(data)
    return one.create_table(), one.columns


@pytest.mark.parametrize("server", LINES)
def test_all_forms_of_full_metadata_tell_the_same_rows_and_the_same_schema(server: str) -> None:
    @given(tables_with_rows(server), equivalent_forms())
    def tell_the_same(table: tuple[Table, list[Row]], forms: MetadataForms) -> None:
        plain = made(server, *table, row_metadata="full")
        try:
            other = made(server, *table, row_metadata="full", metadata=forms)
        except ScenarioError:
            assume(False)
        assert texts(other) == texts(plain)
        assert schema(other) == schema(plain)
        assert assemble("".join(listing_text(other))) == other

    tell_the_same()


@pytest.mark.parametrize("server", LINES)
def test_less_metadata_tells_the_same_rows(server: str) -> None:
    modes: list[dict[str, Any]] = [
        {"row_metadata": "minimal"},
        {"row_metadata": "full", "metadata": MetadataForms(omit=["column_name"])},
        {"row_metadata": "full", "metadata": MetadataForms(primary_key="simple")},
        {"row_metadata": "full", "row_image": "noblob", "metadata": MetadataForms(order="reversed")},
    ]
    if server_line(server).family == "mariadb":
        modes.append({"row_metadata": "none"})

    @given(tables_with_rows(server))
    def tell_the_same(table: tuple[Table, list[Row]]) -> None:
        for mode in modes:
            image = {"row_image": mode.get("row_image", "full")}
            whole = made(server, *table, row_metadata="full", **image)
            assert cells(made(server, *table, **mode)) == cells(whole)

    tell_the_same()


@pytest.mark.parametrize("server", LINES[:1])
def test_full_metadata_without_what_is_only_in_it_is_minimal_metadata(server: str) -> None:
    @given(tables_with_rows(server))
    def is_minimal(table: tuple[Table, list[Row]]) -> None:
        stripped = MetadataForms(omit=FULL_ONLY)  # type: ignore[arg-type]
        assert made(server, *table, row_metadata="full", metadata=stripped) == made(server, *table)

    is_minimal()
