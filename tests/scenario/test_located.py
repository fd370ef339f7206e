"""YAML with lines (forge.located)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from forge.errors import ScenarioError
from forge.located import load, load_documents


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-17", -17),
        ("+5", 5),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.50", Decimal("1.50")),
        ("-0.0", Decimal("-0.0")),
        ("1e3", Decimal("1e3")),
        (".5", Decimal(".5")),
        ("null", None),
        ("~", None),
        ("true", True),
        ("FALSE", False),
        ("yes", "yes"),
        ("on", "on"),
        ("007", "007"),
        ("1_000", "1_000"),
        ("10:30:00", "10:30:00"),
        ("2024-02-29", "2024-02-29"),
        ("2024-02-29 10:00:00.5", "2024-02-29 10:00:00.5"),
        (".nan", ".nan"),
        ("'1'", "1"),
        ("!!str 1", "1"),
        ("!!binary AAEC", b"\0\1\2"),
        ("1: a", {"1": "a"}),
        ("", None),
    ],
)
def test_a_scalar_means_what_was_written(text: str, value: object) -> None:
    read = load(text).value
    assert read == value
    assert type(read) is type(value)
    assert str(read) == str(value)


DOCUMENT = """\
name: x
tables:
  - |
    CREATE TABLE t (
      a INT,
      b WRONG)
  - >-
    CREATE TABLE u (
      a INT,
      b WRONG)
  - CREATE TABLE v (
      a INT,
      b WRONG)
where:
  id: 1
  list: [1,
    2]
"""


def test_every_entry_knows_its_line() -> None:
    located = load(DOCUMENT, file="s.yaml")
    assert located.line(()) == 1
    assert located.line(("tables",)) == 2
    assert located.line(("tables", 0)) == 3
    assert located.line(("where",)) == 14
    assert located.line(("where", "id")) == 15
    assert located.line(("where", "list", 1)) == 17
    assert located.line(("where", "none")) == 14
    assert located.line(("tables", 9, "x")) == 2


@pytest.mark.parametrize(("index", "line"), [(0, 6), (1, 10), (2, 13)])
def test_a_place_inside_a_long_text_knows_its_line(index: int, line: int) -> None:
    located = load(DOCUMENT)
    path = ("tables", index)
    assert located.place_at(path, located.value["tables"][index].index("WRONG")).line == line


def test_documents_are_numbered_in_their_file() -> None:
    documents = list(load_documents("a: 1\n---\nb: 2\n---\n- c\n"))
    assert [document.value for document in documents] == [{"a": 1}, {"b": 2}, ["c"]]
    assert [document.line(()) for document in documents] == [1, 3, 5]


def test_lines_of_rendered_text_are_those_of_its_template() -> None:
    located = load("a: 1\nb: 2\nb2: 3", lines=[1, 7, 7])
    assert located.line(("b2",)) == 7


def _bomb() -> str:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    return "\n".join(levels)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: 1\nb: [1, 2", "f.yaml:2: bad YAML: did not find expected ',' or ']', while parsing a flow sequence"),
        ("a: b\n c: d: e", "f.yaml:2: bad YAML: mapping values are not allowed in this context"),
        ("a: 1\nb: 2\na: 3", "f.yaml:3: 'a' stands twice in this mapping"),
        ("a: 1\n---\nb: 2", "f.yaml:3: a second YAML document begins here; expected one document"),
        ("a: *nope", "f.yaml:1: the alias *nope repeats nothing that stands before it"),
        ("a: 1\nb: !python/object:os.system x", "f.yaml:2: unknown tag !python/object:os.system"),
        ("a: 1\nb: !!python/name:os.system x", "f.yaml:2: unknown tag !!python/name:os.system"),
        ("a: 1\nb: \x01", "f.yaml:2: bad YAML: the character U+0001 is not allowed"),
        ("a: 1\n\nb: \udfff", "f.yaml:3: bad YAML: half of a surrogate pair"),
        ("a: 1\n? [x]\n: 2", "f.yaml:2: a list, mapping or alias is used as a key; expected text"),
        ("a: &x [1, *x]", "f.yaml:1: the alias *x stands inside what it repeats"),
        ("a: " + "[" * 600 + "]" * 600, "f.yaml:1: nested more than 200 levels deep"),
        ("a: 1e9999999999", "f.yaml:1: a number of a size that no column holds"),
        ("a: 1e99999999999999999999999", "f.yaml:1: a number of a size that no column holds"),
        ("a: !!int x", "f.yaml:1: 'x' is no int"),
        ("a: !!binary x", "f.yaml:1: !!binary is not followed by base64"),
        (_bomb(), "f.yaml:6: aliases expand to too much data"),
    ],
)
def test_bad_yaml_is_one_sentence_with_its_line(text: str, sentence: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(text, file="f.yaml")
    assert str(caught.value) == sentence


@pytest.mark.parametrize("text", ["scenario: [1,", "scenario: [1,\n", "{a: 1,", "a: [", "a: {b: ["])
def test_a_broken_line_that_is_the_only_one_is_never_said_to_begin_on_line_2(text: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(text, file="f")
    assert str(caught.value).startswith("f:1: bad YAML: ")
    assert "line 2" not in str(caught.value)
