"""A listing read line by line says what PyYAML and ``forge.located`` read in it, or that it is unusual."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forge.binlog.listing import assemble, listing_text
from forge.binlog.listing.lines import read_lines
from forge.binlog.listing.text import dump_document
from forge.errors import ScenarioError
from forge.located import load
from forge.resources import corpora_dir
from forge.values.quick import UnusualError
from tests.binlog.test_listing_text import DOCUMENTS

#: Pieces of lines, of which most texts are odd or wrong YAML.
PIECES = st.sampled_from(
    (
        *("\n", "\n", "\n  ", "\n- ", "\n  - ", "- ", "  ", " ", ": ", ": ", ":", ", ", ",", "a", "b c", "rows:\n"),
        *("'@1': ", "'", "''", "'x y'", "'\xe9'", '"q"', "null", "Null", "~", "yes", "True", "12", "-5", "007", "1.5"),
        *("0x1f", "-", "[", "]", "[1, a]", "[]", "{", "}", "{a: 1}", "{a: 1, a: 2}", "{}", "?", "? ", "|\n", "# c"),
        *(" # c", "&x ", "*x", "!!str ", "---", "\n---\n", "...", "%", "\t", "\r", "\x85", "\u2028", "\ufeff"),
        *("\U0001f600", ".", "`", "@", "!"),
    )
)
TEXTS = st.lists(PIECES, min_size=1, max_size=12).map("".join)


def read_by_yaml(text: str) -> Any:
    try:
        return load(text).value
    except ScenarioError as error:
        return error


def holds(text: str) -> bool:
    """Whether the text is usual; then its meaning is that of ``forge.located``."""
    try:
        found = read_lines(text)
    except UnusualError:
        return False
    expected = read_by_yaml(text)
    assert not isinstance(expected, ScenarioError), (text, expected)
    assert repr(found) == repr(expected), text
    return True


@given(TEXTS)
@example("a: 1\n b: 2")
@example("a:\n- b\n  - c")
@example("a: b\n  c: d")
@example("- - a\n  - b\n- c: d\n  e:\n  - f")
@example("a:\n- b: 1\n   c: 2")
@example("a: 'b\n  c'")
@example("a: -0")
@example("'a': 1\na: 2")
@example("'" + "k" * 1100 + "': 1")
def test_lines_that_are_read_mean_what_yaml_says(text: str) -> None:
    holds(text)


@given(DOCUMENTS.filter(bool))
def test_documents_as_they_are_written_are_read_or_left_to_yaml(document: dict[str, Any]) -> None:
    holds(dump_document(document))


@pytest.mark.parametrize(
    "text",
    [
        "event: XID\n",
        "{event: XID, xid: 5}\n",
        "a: [1, 'x, y', null, true]\nb: []\nc: {}\nd: ''\n",
        "rows:\n- '@1': 1\n  '@2': 'it''s: a'\n- {id: -1, who: Ann Lee}\n",
        "rows:\n- before:\n    id: 1\n  after:\n    id: 2\n    b: {hex: '00'}\n- before: {id: 1}\n  after: {id: 3}\n",
        "gtid_set:\n- false\n- - - 'a-b'\n    - ''\n    - - [1, 6]\n",
        "events:\n- event: QUERY\n  flags: [SUPPRESS_USE]\n  v:\n    a: 1\n- {event: XID, xid: 1}\n",
    ],
)
def test_the_forms_that_listings_have_are_usual(text: str) -> None:
    assert holds(text)


@pytest.mark.parametrize("name", ["first-day", "characters-utf8mb4", "compressed"])
def test_most_documents_of_a_recording_are_usual(name: str) -> None:
    path = next(corpora_dir().glob(f"recordings/**/{name}/binlog.0*"))
    documents = [text.split("\n", 2)[2] for text in listing_text(path.read_bytes()) if text.startswith("---")]
    assert sum(map(holds, documents)) > len(documents) / 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("---\nevent: STOP\n---\n# c\nevent: XID\nxid: 1\nxod: 2\n", "x.yaml:5: XID has no field 'xod'"),
        ("event: STOP\n---\nevent: XID\nxid: [1\n---\nevent: STOP\n", "x.yaml:5: bad YAML: did not find expected"),
        ("event: STOPP\n---\nevent: XID\nxid: 'a\n", "x.yaml:4: bad YAML: found unexpected end of stream"),
        ("event: STOP\n---\nfile: '00'\n", "x.yaml:3: a document needs an event type"),
        ("event: STOP\n---\n- 1\n", "x.yaml:3: this document is not an event"),
        ("event: STOP\n---\nevent: XID\ntimestamp: 5000000000\nxid: 1\n", "x.yaml: XID header"),
        ("event: STOP\n---\n{event: XID, timestamp: 0, server_id: 10000000000, xid: 1}\n", "x.yaml: XID header"),
        ("event: STOP\n---\n{event: XID, timestamp: 0, server_id: 1}\n", "x.yaml:3: XID needs the field 'xid'"),
    ],
)
def test_an_error_has_the_line_of_the_whole_listing(text: str, sentence: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        assemble(text, file="x.yaml")
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    "text",
    [
        "event: STOP\n---\nevent: XID\nxid: 1\n",
        "event: STOP\n---\n# a comment alone\n---\nxid: 1\nevent: XID\n",
        "--- {event: STOP}\n--- # c\nevent: XID\nxid: 0x1\n",
        "%YAML 1.2\n---\nevent: STOP\n...\n%YAML 1.2\n---\nevent: XID\nxid: 1\n",
        "\ufeffevent: STOP\r\n---\r\nevent: XID\r\nxid: 1\r\n",
        "event: STOP\n...\n---\nevent: XID\nxid: &a 1\n",
        "---\nevent: STOP\n---\nevent: XID\ntimestamp: 0\nserver_id: 0\nflags: []\nxid: 1",
        "# c\n{event: STOP, timestamp: 0, server_id: 0}\n---\n{event: XID, timestamp: 0, server_id: 0, xid: 1}",
        "# c\n{event: STOP}\n---\n# d\n{event: XID, timestamp: 0, server_id: 0, flags: [], xid: 1}",
        "# c\n{event: STOP}\n---\n{event: XID, timestamp: 0, server_id: 0 , xid: 1}",
    ],
)
def test_yaml_of_any_form_describes_the_same_file(text: str) -> None:
    assert assemble(text) == assemble("event: STOP\n---\nevent: XID\nxid: 1\n")
