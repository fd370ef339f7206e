"""Hypothesis strategies for JSON documents, geometries and vectors, as forge.values holds them."""

from __future__ import annotations

from hypothesis import strategies as st

from forge.testing.drawn import drawn
from forge.testing.draws import documents


def json_documents() -> st.SearchStrategy[bytes]:
    """Documents in MySQL's binary form."""
    return drawn(documents.json_document)


def well_known_binaries() -> st.SearchStrategy[bytes]:
    """WKB of every kind, little-endian as servers store it."""
    return drawn(documents.well_known_binary)


def geometries() -> st.SearchStrategy[bytes]:
    """Cells' values of geometry columns: SRID and WKB."""
    return drawn(documents.geometry)


def vectors(max_dimensions: int = 8) -> st.SearchStrategy[bytes]:
    """Cells' values of VECTOR columns: floats of four bytes."""
    return drawn(documents.vector, max_dimensions)
