"""Errors as data (forge.errors)."""

from __future__ import annotations

import pytest

from forge.errors import ScenarioError, about
from forge.sql.errors import SqlError, SqlUnsupported

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    "error",
    [
        ScenarioError("it is too long", file="f.yaml", line=3, expected="less"),
        SqlError("it is too long", 7, suggestion="short").at("f.yaml", 3),
        SqlUnsupported("it is too long", 7),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_an_error_is_about_is_said_by_a_new_error(error: ScenarioError) -> None:
    with pytest.raises(ScenarioError) as raised, about("column v"):
        raise error
    said = raised.value
    assert type(said) is type(error)
    assert said.problem == "column v: it is too long"
    assert vars(said) | {"problem": "it is too long"} == vars(error)
    assert error.problem == "it is too long"


def test_a_word_of_thousands_of_characters_is_shown_by_its_beginning() -> None:
    error = ScenarioError(f"unknown word {'x' * 6000!r}", file="f" * 300, expected="a" * 257, suggestion="b" * 256)
    beginning = f"'{'x' * 63}… (6002 characters)"
    assert str(error) == (
        f"{'f' * 300}: unknown word {beginning}; expected {'a' * 64}… (257 characters); "
        f"did you mean '{'b' * 63}… (258 characters)?"
    )
