"""JSON columns in bulk: what the plan makes of cells, and of Arrow strings."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="the extra [rows] is not installed")
pytest.importorskip("numba", reason="the extra [rows] is not installed")

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from forge.bulk.plan import ABSENT, NULL
from forge.bulk.reading.odd import OnOdd
from forge.bulk.reading.rows import read_rows
from forge.bulk.reading.tables import Images, JsonForm
from forge.bulk.writing.write import write_rows
from forge.errors import FormatError, ScenarioError
from forge.resources import corpora_dir
from forge.values.base import Column
from forge.values.declaration.sqltype import SqlType
from forge.values.json.codec import JSON
from forge.values.json.typed_array import TYPED_ARRAY
from forge.values.registry import codec_for, column_for
from forge.values.wire_types import WireType
from tests.bulk.cells import ODD, Cell, array_of, cells_written, plan_of, values_decoded, values_read
from tests.strategies.documents import json_documents

pytestmark = pytest.mark.slow

COLUMN = Column(WireType.JSON, b"\4")


@given(st.lists(st.one_of(json_documents(), st.sampled_from((NULL, ABSENT, b"", b"\x0d", b"\4\3"))), max_size=20))
def test_documents_are_read_as_the_codec_reads_them(documents: list[bytes | int]) -> None:
    cells: list[Cell] = [item if isinstance(item, int) else JSON.encode(COLUMN, item) for item in documents]
    assert values_read(COLUMN, cells) == values_decoded(COLUMN, cells)


@given(st.lists(st.one_of(json_documents().map(lambda item: JSON.text(COLUMN, item)), st.none()), max_size=20))
def test_texts_are_written_as_the_codec_writes_them(texts: list[str | None]) -> None:
    written = cells_written(plan_of(COLUMN), pa.array(texts, pa.string()))
    for text, cell in zip(texts, written, strict=True):
        expected = None if text is None else JSON.encode(COLUMN, JSON.accept(COLUMN, text))
        assert cell in (expected, ODD)
        assert cell != ODD or text is not None


def test_texts_of_no_document_are_left_to_the_codec() -> None:
    texts = pa.array(["[1]", "[1", "", None, "{}"], pa.string())
    written = cells_written(plan_of(COLUMN), texts)
    assert [cell if isinstance(cell, str) else cell and cell[4:].hex() for cell in written] == [
        "0201000700050100",
        ODD,
        ODD,
        None,
        "0000000400",
    ]


def test_the_hidden_column_of_a_multi_valued_index_is_read_as_its_codec_reads_it() -> None:
    column = Column(WireType.TYPED_ARRAY, b"\x08")
    cells: list[Cell] = [TYPED_ARRAY.encode(column, JSON.accept(COLUMN, "[1, 2]")), NULL]
    assert values_read(column, cells) == values_decoded(column, cells) == ["[1, 2]", None]


@given(st.lists(st.one_of(st.text(max_size=6), st.none(), json_documents().map(lambda item: JSON.text(COLUMN, item)))))
def test_mariadbs_texts_are_written_where_they_are_documents(texts: list[str | None]) -> None:
    column = column_for(SqlType("JSON"), server="mariadb")
    codec = codec_for(column)
    expected: list[bytes | str | None] = []
    for text in [*texts, "[" * 31 + "]" * 31, "[" * 32 + "]" * 32]:
        try:
            expected.append(None if text is None else codec.encode(column, codec.accept(column, text)))
        except ScenarioError:
            expected.append(ODD)
    array = pa.array([*texts, "[" * 31 + "]" * 31, "[" * 32 + "]" * 32], pa.string())
    assert cells_written(plan_of(column), array) == expected
    cells: list[Cell] = [cell for cell in expected if isinstance(cell, bytes)]
    assert values_read(column, cells) == values_decoded(column, cells)


PARTIAL = Path(corpora_dir()) / "recordings"
FULL = PARTIAL / "images-partial-json-mysql-9.7-full" / "binlog.000001"
MINIMAL = PARTIAL / "images-partial-json-mysql-9.7-minimal" / "binlog.000001"


def changed(log: Path, images: Images, on_odd: OnOdd, json: JsonForm = "text") -> list[dict[str, str | bytes | None]]:
    """The after images of all updates."""
    batches = read_rows(log, images=images, on_odd=on_odd, json=json)
    rows = [row for _, batch in batches for row in batch.to_pylist()]
    updates = [row["after"] if images == "both" else row for row in rows if row["_operation"] == "update"]
    return [{name: value for name, value in row.items() if not name.startswith("_")} for row in updates]


def test_a_partial_update_is_read_as_the_new_document_whatever_images_are_asked_for() -> None:
    updates = changed(FULL, "after", "error")
    assert updates
    assert updates == changed(FULL, "both", "error")
    assert not any("JSON_" in str(value) for row in updates for value in row.values())


def test_a_partial_update_of_a_document_that_is_not_logged_is_odd() -> None:
    with pytest.raises(FormatError, match="the document that a partial update changes is not logged"):
        changed(MINIMAL, "after", "error")
    shown = [str(row) for row in changed(MINIMAL, "after", "text")]
    assert any("JSON_REPLACE(@, " in row for row in shown)
    assert len(shown) == len(changed(MINIMAL, "both", "null"))


@given(st.lists(st.one_of(json_documents(), st.sampled_from((NULL, ABSENT, b"", b"\x0d", b"\4\3"))), max_size=20))
def test_documents_are_read_as_they_are_stored_and_written_back_unless_they_are_none(
    documents: list[bytes | int],
) -> None:
    plan = plan_of(COLUMN).of_type(pa.binary())
    cells: list[Cell] = [item if isinstance(item, int) else JSON.encode(COLUMN, item) for item in documents]
    array, odd = array_of(plan, cells)
    assert (array.type, odd) == (pa.binary(), set())
    assert array.to_pylist() == [None if isinstance(item, int) else item for item in documents]
    for cell, shown, written in zip(cells, values_decoded(COLUMN, cells), cells_written(plan, array), strict=True):
        assert written == (None if isinstance(cell, int) else ODD if shown == ODD else cell)
    texts = plan.as_text(array).to_pylist()
    for shown, text in zip(values_decoded(COLUMN, cells), texts, strict=True):
        assert shown in (ODD, text)


def test_a_partial_update_is_the_new_document_in_binary_too_or_odd() -> None:
    def as_text(value: str | bytes | None) -> str | None:
        return JSON.text(COLUMN, value) if isinstance(value, bytes) and value else None

    texts = changed(FULL, "both", "error")
    binary = changed(FULL, "both", "error", "binary")
    found = [
        (as_text(new), old[name])
        for old, row in zip(texts, binary, strict=True)
        for name, new in row.items()
        if isinstance(new, bytes) and isinstance(old[name], str)
    ]
    assert found
    assert all(new == old for new, old in found)
    with pytest.raises(FormatError, match="the document that a partial update changes is not logged"):
        changed(MINIMAL, "after", "error", "binary")
    assert any("JSON_REPLACE(@, " in str(row) for row in changed(MINIMAL, "after", "text", "binary"))


def test_a_table_with_json_is_written_from_binary_documents(tmp_path: Path) -> None:
    documents = [JSON.accept(COLUMN, text) for text in ('{"a": [1, 2.5]}', "null", '"word"')]
    rows = pa.table({"id": [1, 2, 3, 4], "j": pa.array([*documents, None], pa.binary())})
    definition = "CREATE TABLE shop.t (id INT PRIMARY KEY, j JSON)"
    write_rows(rows, definition, tmp_path / "log")
    read = read_rows(tmp_path / "log", "shop.t", json="binary", names=["id", "j"]).read_all()
    assert read["j"].to_pylist() == [*documents, None]
    with pytest.raises(ScenarioError, match="row 1, column 'j': the bytes are not a JSON document"):
        write_rows(pa.table({"id": [1], "j": pa.array([b"\0\1"])}), definition, tmp_path / "other")
