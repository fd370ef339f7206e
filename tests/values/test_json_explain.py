"""Annotated JSON cells: every byte has a meaning, and stale bytes are told apart."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import FormatError
from forge.values.base import Column
from forge.values.json.codec import JSON

COLUMN = Column(245, b"\x04")
RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "json_recorded.json").read_text())


def _meanings(document: str) -> list[str]:
    cell = JSON.encode(COLUMN, bytes.fromhex(document))
    pieces = JSON.explain(COLUMN, cell)
    at = 0
    for piece in pieces:
        assert piece.offset == at
        at += len(piece.data)
    assert b"".join(piece.data for piece in pieces) == cell
    return [piece.meaning for piece in pieces]


@pytest.mark.parametrize(
    ("document", "printed"), [*RECORDED["patched"], *(case[1:] for case in RECORDED["sql"] + RECORDED["text"])]
)
def test_the_pieces_of_recorded_documents_leave_no_gap(document: str, printed: str) -> None:
    assert _meanings(document)


def test_entries_keys_and_values_are_named_by_their_path() -> None:
    document = JSON.accept(COLUMN, {"k y": [70000]}).hex()
    assert _meanings(document) == [
        "26 bytes follow",
        "document: small object",
        "$: 1 members",
        "$: 25 bytes",
        '$: offset of key "k y"',
        "its length 3",
        '$."k y": small array',
        '$."k y": offset',
        '$: key "k y"',
        '$."k y": 1 elements',
        '$."k y": 11 bytes',
        '$."k y"[0]: int32',
        '$."k y"[0]: offset',
        '$."k y"[0] = 70000',
    ]


def test_stale_bytes_of_an_update_in_place_are_named() -> None:
    # [100000] after JSON_REPLACE(j, '$[0]', 1)
    assert _meanings("0201000b00" + "050100" + "a0860100")[-1] == "nothing refers to these bytes"


def test_an_empty_cell_is_json_null() -> None:
    assert _meanings("") == ["no bytes follow: JSON null"]


def test_malformed_documents_are_refused() -> None:
    with pytest.raises(FormatError):
        JSON.explain(COLUMN, JSON.encode(COLUMN, b"\x00\x01"))


@given(
    st.recursive(
        st.one_of(st.none(), st.integers(-(2**63), 2**64 - 1), st.text(max_size=200), st.floats(allow_nan=False)),
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=4)),
        max_leaves=10,
    ).filter(lambda value: "inf" not in repr(value))
)
def test_the_pieces_of_any_document_leave_no_gap(value: Any) -> None:
    assert _meanings(JSON.accept(COLUMN, [value]).hex())[1] == "document: small array"
