"""JSON, geometry and VECTOR: value -> cell -> value, and value -> text -> value."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forge.values.base import Codec, Column
from forge.values.declaration.sqltype import SqlType
from forge.values.json.codec import JSON
from forge.values.registry import column_for
from forge.values.spatial.geometry import GEOMETRY
from forge.values.vector import VECTOR
from tests.strategies.documents import geometries, json_documents, vectors


def holds(codec: Codec, column: Column, value: bytes) -> bytes:
    raw = codec.encode(column, value)
    assert codec.width(column, raw + b"more", 0) == len(raw)
    assert codec.decode(column, raw) == value
    return raw


@given(json_documents())
def test_a_document_is_its_cells_value_and_its_text_is_a_document(document: bytes) -> None:
    column = column_for(SqlType("JSON"))
    holds(JSON, column, document)
    text = JSON.text(column, document)
    assert text is not None
    # The text of an SQL DECIMAL or moment says no type; what it declares is a document that keeps its text.
    declared = JSON.accept(column, text)
    assert JSON.accept(column, JSON.text(column, declared)) == declared


@given(geometries())
def test_a_geometry_is_its_cells_value_and_its_text_gives_it_back(geometry: bytes) -> None:
    column = column_for(SqlType("GEOMETRY"))
    holds(GEOMETRY, column, geometry)
    text = GEOMETRY.text(column, geometry)
    assert GEOMETRY.accept(column, text) == geometry


@given(vectors(), st.integers(8, 16383))
def test_a_vector_is_its_cells_value_and_its_text_gives_it_back(vector: bytes, dimensions: int) -> None:
    column = column_for(SqlType("VECTOR", length=dimensions))
    holds(VECTOR, column, vector)
    text = VECTOR.text(column, vector)
    assert VECTOR.accept(column, text) == vector
