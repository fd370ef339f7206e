"""Events that are listed and assembled quickly, held against the listing of them step by step."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.binlog import write_binlog
from forge.binlog.listing import assemble, disassemble, listing_text, tables
from forge.binlog.listing.rows import rows_from_fields, rows_to_fields, usual_rows_to_fields
from forge.binlog.listing.tables import ListedTable
from forge.binlog.writer import Item
from forge.errors import ForgeError
from forge.events.row_image import ChangedRow, Image, bitmap_of, build_rows, full_padding
from forge.events.rows import UpdateRows, WriteRows
from forge.testing import values as strategies
from forge.testing.events import files
from forge.values.base import Column
from forge.values.quick import UnusualError, no_writer
from forge.values.registry import codec_for
from tests.check.test_quick_rows import damaged
from tests.recorded import ALL_LOGS, LOGS

pytestmark = pytest.mark.slow

documents = sys.modules["forge.binlog.listing.documents"]
assembling = sys.modules["forge.binlog.listing.assemble"]
Result = bytes | str
SMALL = [path for path in LOGS if path.stat().st_size < 4000]


def listed(data: bytes) -> str:
    return "".join(listing_text(data))


def assembled(text: str) -> Result:
    try:
        return assemble(text)
    except ForgeError as error:
        return str(error)


@pytest.fixture(scope="module")
def step_by_step() -> Callable[[Callable[[Any], Any], Any], Any]:
    """Calls a function while nothing is listed or assembled quickly."""

    def unusual(*_: Any) -> Any:
        raise UnusualError

    def call(function: Callable[[Any], Any], value: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(documents, "_kept_form", lambda *_: None)
            patch.setattr(documents, "_usual_rows", lambda *_: iter(()))
            patch.setattr(assembling, "_items", unusual)
            patch.setattr(tables, "_cell_writer", lambda _: no_writer)
            return function(value)

    return call


@given(data=st.data())
def test_a_damaged_recording_has_the_same_listing_and_comes_back(step_by_step: Callable[..., Any], data: Any) -> None:
    broken = damaged(data.draw(st.sampled_from(SMALL)).read_bytes(), data)
    text = listed(broken)
    assert text == step_by_step(listed, broken)
    assert assemble(text) == broken


@given(files())
def test_any_events_have_the_same_listing(step_by_step: Callable[..., Any], items: list[Item]) -> None:
    data = write_binlog(items)
    assert listed(data) == step_by_step(listed, data)


@given(data=st.data())
def test_an_edited_listing_makes_the_same_file_or_the_same_error(step_by_step: Callable[..., Any], data: Any) -> None:
    lines = listed(data.draw(st.sampled_from(SMALL)).read_bytes()).split("\n")
    for _ in range(data.draw(st.integers(1, 3))):
        place, other = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        odd = data.draw(st.sampled_from(("", "---", "...", "# a", "  x: 1", "- a", "flags: [IGNORABLE]", "log_pos: 0")))
        lines[place] = data.draw(
            st.sampled_from((lines[other], lines[place][:-1], lines[place] + "'", f"{lines[place]}\n{odd}", odd))
        )
    text = "\n".join(lines)
    assert assembled(text) == step_by_step(assembled, text)


@pytest.mark.slow
def test_all_recordings_have_the_same_listing(step_by_step: Callable[..., Any]) -> None:
    for path in LOGS:
        data = path.read_bytes()
        text = listed(data)
        assert text == step_by_step(listed, data), path
        assert assemble(text) == data, path


def cells_of(column: Column) -> st.SearchStrategy[bytes | None]:
    codec = codec_for(column)
    values = strategies.values_for(column).map(lambda value: codec.encode(column, value))
    return st.none() | values


@given(columns=st.lists(strategies.columns(), min_size=1, max_size=4), padded=st.booleans(), data=st.data())
def test_rows_are_listed_and_written_as_they_are_cell_by_cell(
    columns: list[Column], padded: bool, data: st.DataObject
) -> None:
    table, width = ListedTable(columns), len(columns)
    images = st.tuples(*map(cells_of, columns)).map(lambda cells: Image(cells, full_padding(width) if padded else 0))
    rows = data.draw(st.lists(st.builds(ChangedRow, images, images), min_size=1, max_size=3))
    everything = bitmap_of(range(width), width, padding=True)
    body = UpdateRows(table_id=1, width=width, present=everything, present_after=everything, rows=build_rows(rows))
    slow = rows_to_fields(body, table)
    assert rows_from_fields(UpdateRows, dict(slow), table)["rows"] == body.rows
    try:
        quick = usual_rows_to_fields(body, table)
        same = rows_from_fields(UpdateRows, dict(quick), table)["rows"] == body.rows
    except (UnusualError, ForgeError):
        return
    assert not same or repr(quick) == repr(slow)


def test_rows_of_everyday_types_are_listed_quickly() -> None:
    from forge import values

    everyday = {"BIGINT": 7, "DECIMAL(12,2)": "-10.25", "DATETIME(6)": "2024-02-29 12:34:56.000001", "DOUBLE": 1.5}
    columns = [values.column(text) for text in (*everyday, "VARCHAR(20)", "TEXT")]
    declared = [*everyday.values(), "Zo\xeb", "it's"]
    cells = [
        codec_for(column).encode(column, codec_for(column).accept(column, value))
        for column, value in zip(columns, declared, strict=True)
    ]
    table = ListedTable(columns)
    body = WriteRows(table_id=1, width=6, present=b"\xff", rows=build_rows([ChangedRow(None, Image((*cells,)))] * 2))
    assert usual_rows_to_fields(body, table) == rows_to_fields(body, table)
    shown = {"@1": 7, "@2": "-10.25", "@3": everyday["DATETIME(6)"], "@4": "1.5", "@5": "Zo\xeb", "@6": "it's"}
    assert usual_rows_to_fields(body, table)["rows"] == [shown, shown]
    for (column, write), value in zip(table.writer((0, 1, 2, 3, 4, 5), False).columns, shown.values(), strict=True):
        assert write(value) == cells[columns.index(column)]


def test_documents_can_be_changed_without_changing_others() -> None:
    path = next(path for path in ALL_LOGS if path.parent.name == "first-day")
    before = [repr(document) for document in disassemble(path.read_bytes())]
    for document in disassemble(path.read_bytes()):
        for value in document.values():
            if isinstance(value, (list, dict)):
                value.clear()
    assert [repr(document) for document in disassemble(path.read_bytes())] == before
