"""docs/add-an-event.md is carried out: one module and one line add an event type, everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pages import Tree, blocks_of

pytestmark = pytest.mark.slow

PAGE = "add-an-event.md"
#: What the page says of the schema and the strategies, as a program.
PROGRAM = """\
import json
import sys

from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator

from forge.binlog.listing.schema import listing_schema
from forge.decode.schema import decode_schema
from forge.events.format import FormatContext
from forge.events.note import Note
from forge.testing.events import bodies_of

Draft202012Validator.check_schema(decode_schema())
events = [json.loads(line) for line in open("note.json")]
for event in events:
    Draft202012Validator(decode_schema()).validate(event)
wrong = {**events[1], "fields": {"level": 256, "remark": "r"}}
assert not Draft202012Validator(decode_schema()).is_valid(wrong)
assert Draft202012Validator(listing_schema()).is_valid({"event": "NOTE", "timestamp": 0, "server_id": 0, "remark": "r"})
levels, remarks = set(), set()

# The first draw takes as long as Hypothesis takes to look through the modules of the tree.
@settings(database=None, max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(bodies_of(Note))
def reads_back(body):
    levels.add(body.level)
    remarks.add(body.remark)
    assert Note.parse(body.build(FormatContext()), FormatContext()) == body

reads_back()
assert len(levels) > 1 and len(remarks) > 1
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The project with the page's module and line."""
    tree = Tree(tmp_path_factory.mktemp("tree"))
    module, line, program, _ = blocks_of(PAGE)
    assert module.file is not None
    assert program.file is not None
    tree.write(module.file, module.text)
    assert line.file == "forge/events/registry.py"
    tree.add_line(line.file, line.text, before="from forge.events.previous_gtids")
    tree.write(program.file, program.text)
    return tree


def test_the_page_is_what_happens(tree: Tree) -> None:
    tree.carry_out(blocks_of(PAGE)[3].text)
    assert (tree.folder / "again.binlog").read_bytes() == (tree.folder / "note.binlog").read_bytes()
    assert "{event: NOTE, " in (tree.folder / "note.listing").read_text()


def test_its_decode_fits_the_schema_and_its_strategy_draws_it(tree: Tree) -> None:
    pytest.importorskip("jsonschema")
    tree.run("python try_note.py")
    printed = tree.run("forge dump --json note.binlog")
    assert json.loads(printed.splitlines()[1])["fields"] == {"level": 2, "remark": "the disk was changed"}
    Path(tree.folder / "note.json").write_text(printed)
    Path(tree.folder / "prove.py").write_text(PROGRAM)
    tree.run("python prove.py")
