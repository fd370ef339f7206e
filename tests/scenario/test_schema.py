"""The published JSON Schema, and the scenarios and templates in the repository (forge.scenario.schema)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from forge.located import load
from forge.scenario import json_schema, load_cases, plan
from forge.scenario.schema import SCHEMA_ID, published_schema, schema_text

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted((ROOT / "corpora" / "scenarios").glob("*.yaml*"))
TEMPLATES = sorted((ROOT / "templates" / "scenarios").glob("*.j2"))


def test_the_published_schema_is_current() -> None:
    assert published_schema() == json_schema()
    assert (ROOT / "forge" / "scenario" / "scenario.schema.json").read_text() == schema_text()


def test_the_schema_describes_itself_and_every_field_a_person_writes() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == SCHEMA_ID
    for name in ("Insert", "Update", "Delete"):
        fields = schema["$defs"][name]["properties"]
        assert all("description" in field for field in fields.values()), name
    session = schema["$defs"]["Session"]["properties"]
    assert session["row_image"]["enum"] == ["full", "minimal", "noblob"]
    assert session["timestamp"]["description"].startswith("``SET timestamp``")


def validation_errors(document: Any) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(json_schema()).iter_errors(document)]


@pytest.mark.slow
@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.name)
def test_every_scenario_of_the_corpus_fits_the_schema_and_plans(path: Path) -> None:
    text = path.read_text()
    if "{{" not in text and "{%" not in text:
        assert validation_errors(_as_json(load(text).value)) == []
    cases = load_cases(path)
    assert plan(cases[0]).name == cases[0].scenario
    assert plan(cases[-1]).name == cases[-1].scenario


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_every_scenario_template_plans(path: Path) -> None:
    cases = load_cases(path)
    assert len(cases) > 1
    assert plan(cases[0]).groups
    assert plan(cases[-1]).groups


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"scenario": "x", "sever": "mysql-9.7"},
        {"scenario": "x", "session": {"row_image": "ful"}},
        {"scenario": "x", "transactions": [[{"insert": {"rows": []}}]]},
        {"scenario": "x", "tables": [{"table": "d.t"}]},
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(document: Any) -> None:
    assert validation_errors(document)


def _as_json(value: Any) -> Any:
    """Decimals as JSON numbers, for the validator."""
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    return value if value is None or isinstance(value, (str, int, bool)) else str(value)
