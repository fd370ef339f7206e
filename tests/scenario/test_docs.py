"""The examples of docs/scenario do what its pages say, and the pages name every word of the language."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from forge.engine.requests.rows import Delete, Insert, LoadData, Replace, Update
from forge.engine.requests.statements import Further, Logged, PlacedEvent, Statement
from forge.engine.rows.where import OPERATORS
from forge.errors import Phase
from forge.plan.facts import Facts
from forge.plan.session import PayloadForms, RelayLog, Session, Torn
from forge.scenario import Scenario, Transaction, Xa, expand, plan
from forge.scenario.generators import _GENERATORS
from forge.scenario.matrix import base_scenario
from forge.scenario.script.script_statements import HINTS, SILENT
from forge.scenario.table_model import ColumnDeclaration, KeyDeclaration, TableDeclaration

FOLDER = Path(__file__).parents[2] / "docs" / "scenario"
PAGES = {path.name: path.read_text() for path in sorted(FOLDER.glob("*.md"))}
BLOCKS = [
    pytest.param(match[1], match[2], id=f"{name}-{number}")
    for name, text in {**PAGES, "metadata.md": (FOLDER.parent / "metadata.md").read_text()}.items()
    for number, match in enumerate(re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL), start=1)
]
STRUCTURES = (
    Scenario, Session, Torn, RelayLog, PayloadForms, Transaction, Xa, Statement, Insert, Replace, Update, Delete,
    Further, LoadData, Logged, PlacedEvent, TableDeclaration, ColumnDeclaration, KeyDeclaration, Facts,
)  # fmt: skip


@pytest.mark.parametrize(("language", "text"), BLOCKS)
def test_every_example_does_what_it_shows(
    language: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if language in ("yaml", "jinja"):
        cases = list(expand(text, file="page.md"))
        assert cases
        assert all(plan(case.scenario).tables for case in cases)
    elif language == "python":
        exec(text, {})
    elif language == "sql":
        assert plan(base_scenario(text, file="page.sql")).tables
    else:
        # tests/frame/test_readme.py runs what is typed.
        assert language == "console"


def test_the_python_of_the_page_gives_the_rows_that_it_declares() -> None:
    names: dict[str, Any] = {}
    exec(re.findall(r"^```python\n(.*?)^```$", PAGES["python.md"], re.MULTILINE | re.DOTALL)[0], names)
    assert len(names["rows"]) == 51


def test_the_pages_name_every_word_of_the_language() -> None:
    whole = "\n".join(PAGES.values())
    words = {name for struct in STRUCTURES for name in struct.__struct_encode_fields__}
    words |= {*_GENERATORS, *OPERATORS, *get_args(Phase)}
    assert sorted(word for word in words if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", whole)) == []


@pytest.mark.parametrize("name", PAGES)
def test_links_of_a_page_lead_to_pages_and_headings(name: str) -> None:
    for target, heading in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", PAGES[name]):
        page = FOLDER / (target or name)
        assert page.is_file(), target
        headings = [_anchor(line) for line in page.read_text().splitlines() if line.startswith("#")]
        assert not heading or heading in headings, f"{target}#{heading}"


def test_the_index_names_every_chapter() -> None:
    assert [name for name in PAGES if name != "index.md" and f"({name})" not in PAGES["index.md"]] == []


def test_the_page_of_scripts_names_what_logs_nothing_and_what_comments_say() -> None:
    page = PAGES["sql.md"]
    silent = page[page.index("<!-- silent -->") : page.index("<!-- /silent -->")]
    assert re.findall(r"\b[A-Z]{2,}\b", silent) == sorted(SILENT)
    assert [word for word in HINTS if f"`-- forge: {word}: " not in page] == []


def _anchor(heading: str) -> str:
    """The anchor that a heading has in the site."""
    text = re.sub(r"[^\w\s-]", "", heading.lstrip("#").replace("`", "")).strip().lower()
    return re.sub(r"[\s]+", "-", text)
