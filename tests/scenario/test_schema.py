"""The published JSON Schema, and the scenarios and templates in the repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from forge.engine.dictionary.json_cells import TAGS
from forge.engine.requests.cells import ColumnPlace
from forge.errors import ScenarioError
from forge.located import load
from forge.scenario import expand, json_schema, load_cases, plan
from forge.scenario.generators import _GENERATORS as GENERATORS
from forge.scenario.generators import Generators
from forge.scenario.script import is_script
from tests.schema.__main__ import SCHEMA_ID, schema_text

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted((ROOT / "corpora" / "scenarios").glob("*.yaml*"))
TEMPLATES = sorted((ROOT / "templates" / "scenarios").glob("*.j2"))


def test_the_published_schema_is_current() -> None:
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


SCHEMA = json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
CELLS = jsonschema.Draft202012Validator({"$ref": "#/$defs/Cell", "$defs": SCHEMA["$defs"]})


def validation_errors(document: Any) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(document)]


@pytest.mark.slow
def test_every_shipped_scenario_fits_the_schema() -> None:
    files = [
        *(ROOT / "corpora" / "scenarios").rglob("*.yaml"),
        *(ROOT / "corpora" / "recordings").rglob("scenario.yaml"),
    ]
    texts = {path: text for path in files if not is_script(text := path.read_text(), str(path))}
    plain = {path: text for path, text in texts.items() if "{{" not in text and "{%" not in text}
    assert len(plain) > 300
    errors = {path: validation_errors(_as_json(load(text, tags=TAGS).value)) for path, text in plain.items()}
    assert {path: said for path, said in errors.items() if said} == {}


@pytest.mark.slow
@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.name)
def test_every_scenario_of_the_corpus_plans(path: Path) -> None:
    cases = load_cases(path)
    assert plan(cases[0]).name == cases[0].scenario
    assert plan(cases[-1]).name == cases[-1].scenario


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_every_scenario_template_plans(path: Path) -> None:
    cases = load_cases(path)
    assert len(cases) > 1
    assert plan(cases[0]).groups
    assert plan(cases[-1]).groups


TABLE = "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(40), b BLOB, n INT, m DATETIME, j JSON)"
ROW = {"insert": {"into": "d.t", "rows": [{"v": "a"}]}}


def scenario(*statements: Any, **fields: Any) -> dict[str, Any]:
    """A scenario of one transaction."""
    transactions = [list(statements)] if statements else []
    return {"scenario": "x", "tables": [TABLE], "transactions": transactions, **fields}


def cells(**cell: Any) -> dict[str, Any]:
    return scenario({"insert": {"into": "d.t", "rows": [cell]}})


def where(condition: Any) -> dict[str, Any]:
    return scenario(ROW, {"delete": {"from": "d.t", "where": {"n": condition}}})


def in_long_form(**fields: Any) -> dict[str, Any]:
    return scenario(transactions=[fields])


def load_data(**fields: Any) -> dict[str, Any]:
    return scenario({"load_data": {"into": "d.t", "columns": ["v"], **fields}})


#: Documents that the schema and the loader take.
RIGHT: list[Any] = [
    scenario(),
    scenario(ROW),
    scenario(ROW, server="mariadb-11.8"),
    scenario({**ROW, "update": None}),
    scenario({**ROW, "query": "INSERT INTO d.t (v) VALUES ('a')", "rows_query": True}),
    scenario(ROW, verdict="reject", phase="row"),
    scenario(ROW, verdict="may"),
    scenario(ROW, verdict="accept", phase=None),
    scenario(ROW, session={"ends_with": "nothing", "torn": {"events": -1}}, verdict="reject", phase="framing"),
    scenario(ROW, session={"metadata": {"charset": "both"}}, verdict="may"),
    scenario(ROW, session={"metadata": {"append": "00ff"}}, verdict="accept"),
    scenario(ROW, matrix={"seed": [1, 2], "session.gtid": [True], "exclude": [{"seed": 1}]}),
    scenario(ROW, matrix=None),
    scenario(ROW, session={"server_id": 7, "log_name": "master-bin", "timestamp": "2024-02-29 10:00:00.5"}),
    scenario(ROW, session={"relay_log": {"name": "relay-2", "max_size": 4096}, "lc_time_names": "de_DE"}),
    scenario(ROW, {"savepoint": "s"}, ROW),
    scenario({"insert": {"into": "d.t", "columns": ["v"], "rows": [["a"], [{"text": 3}]]}}),
    scenario({"insert": {"into": "d.t", "count": 2, "row": {"v": {"faker": "name"}}}}),
    scenario(ROW, {"update": {"table": "d.t", "set": {"v": {"cycle": ["a", "b"]}}}}),
    scenario(ROW, {"update": {"table": "d.t", "set": {"j": {"json_set": {"$.a": 1}}}}}),
    scenario({"insert": {"into": "d.t", "rows": [{"id": 1}], "on_duplicate_key_update": {"v": {"values": "v"}}}}),
    cells(v={"faker": "name"}, n={"random_int": {"min": 1, "max": 3}}),
    cells(m={"datetime": {"from": "2020-01-01", "to": "2021-01-01"}}),
    cells(v={"faker": "state", "locale": "de_DE"}, n={"sequence": 3}, b={"bytes": {"length": 4, "min": 2}}),
    cells(v={"faker": "pystr", "args": {"max_chars": 3}}, n={"sequence": {"start": 0, "step": 2}}, b={"hex": "00ff"}),
    cells(v={"value": "a"}, n={"choice": [1, None]}, j={"generate": {"choice": [{"a": 1}, [2]]}}),
    cells(j={"faker": "nmae", "text": "a document of two keys"}, v={"text": {"length": 0}}),
    cells(j={"value": {"random_int": {"mn": 1}}}),
    where(1), where([1, None]), where(None), where({"lt": 5, "ge": 1}), where({"ne": 3}), where({"between": [1, 2]}),
    where({"value": 3}),
    in_long_form(statements=[ROW], explicit=True),
    in_long_form(statements=[ROW], end="rollback"),
    in_long_form(statements=[ROW], xa={"gtrid": "g", "one_phase": True}),
    scenario(transactions=[
        {"statements": [ROW], "xa": {"gtrid": "g", "end": "prepared"}}, {"xa_commit": {"gtrid": "g"}, "statements": []},
    ]),
    load_data(rows=[["a"], [None]]),
    load_data(text="a\n", lines_terminated_by="\n"),
    load_data(hex="61 0a"),
    scenario({"event": {"type": 100, "hex": "00ff", "ignorable": True}}),
    scenario({**ROW, "further": [{"insert": {"into": "d.t", "rows": [{"v": "b"}]}}]}),
    scenario(tables=[{"table": "d.u", "columns": [{"name": "a", "type": "INT"}], "keys": [{"primary": ["a"]}]}]),
]  # fmt: skip

#: Documents that neither takes.
WRONG: list[Any] = [
    {},
    scenario(scenario=""),
    scenario(sever="mysql-9.7"),
    scenario(server="mysql-6.0"),
    scenario(server=None),
    scenario(seed="1"),
    scenario(session={"row_image": "ful"}),
    scenario(session={"row_imag": "full"}),
    scenario(tables=[{"table": "d.u"}]),
    scenario(tables=[{"table": "d.u", "columns": []}]),
    scenario(tables=[{"table": "d.u", "columns": [{"name": "a", "type": "INT"}], "keys": [{}]}]),
    scenario(tables=[{"table": "d.u", "columns": [{"name": "a", "type": "INT"}],
                      "keys": [{"primary": ["a"], "unique": ["a"]}]}]),
    scenario(ROW, verdict="reject"),
    scenario(ROW, verdict="reject", phase=None),
    scenario(ROW, phase="row"),
    scenario(ROW, verdict="accept", phase="row"),
    scenario(ROW, verdict="refuse", phase="row"),
    scenario(ROW, session={"ends_with": "nothing", "torn": {"events": -1}}),
    scenario(ROW, session={"metadata": {"append": "00ff"}}),
    scenario(ROW, session={"metadata": {"replace": {"signedness": "00"}}}),
    scenario(ROW, session={"metadata": {"append": "0"}}, verdict="may"),
    scenario(ROW, session={"metadata": {"charset": "both"}}, verdict="accept"),
    scenario(ROW, session={"metadata": {"fault": "dimensions_missing"}}, verdict="may"),
    scenario(ROW, session={"metadata": {"fault": "record_beyond_evnt"}}, verdict="reject", phase="metadata"),
    scenario(ROW, session={"server_id": -1}),
    scenario(ROW, session={"server_id": 1 << 32}),
    scenario(ROW, session={"max_binlog_size": 0}),
    scenario(ROW, session={"auto_increment_increment": 65536}),
    scenario(ROW, session={"log_name": "logs/binlog"}),
    scenario(ROW, session={"log_name": ""}),
    scenario(ROW, session={"timestamp": "soon"}),
    scenario(ROW, session={"lc_time_names": "de_XX"}),
    scenario(ROW, session={"payload": {"frames": 0}}),
    scenario(ROW, session={"relay_log": {"server_id": 0}}),
    scenario(ROW, session={"relay_log": {"name": "a.b"}}),
    scenario(ROW, matrix={"seed": []}),
    scenario(ROW, matrix={"seed": 1}),
    scenario(ROW, matrix={"seed": [1], "exclude": [{}]}),
    scenario({}),
    scenario({**ROW, "delete": {"from": "d.t"}}),
    scenario({**ROW, "savepoint": "s"}),
    scenario({"update": None}),
    scenario({"insrt": {}}),
    scenario({"savepoint": "s", "query": "SAVEPOINT s"}),
    scenario({"ddl": "CREATE TABLE d.u (a INT)", "rows_query": True}),
    scenario({"savepoint": "s", "locks": ["d.t"]}),
    scenario({"savepoint": "s", "further": [ROW]}),
    scenario({**ROW, "further": [{"savepoint": "s"}]}),
    scenario({**ROW, "further": [{"row": 1}]}),
    scenario({**ROW, "rand_seeds": [1]}),
    scenario({"insert": {"rows": [{"v": "a"}]}}),
    scenario({"insert": {"into": "d.t", "rows": []}}),
    scenario({"insert": {"into": "d.t"}}),
    scenario({"insert": {"into": "d.t", "count": 2}}),
    scenario({"insert": {"into": "d.t", "row": {"v": "a"}}}),
    scenario({"insert": {"into": "d.t", "count": 0, "row": {"v": "a"}}}),
    scenario({"insert": {"into": "d.t", "rows": [{"v": "a"}], "count": 2, "row": {"v": "a"}}}),
    scenario({"insert": {"into": "d.t", "columns": ["v"], "count": 2, "row": {"v": "a"}}}),
    scenario({"replace": {"into": "d.t", "rows": [{"v": "a"}], "ignore": True}}),
    scenario({"insert": {"into": "d.t", "rows": [{"v": "a"}], "on_duplicate_key_update": {}}}),
    scenario({"insert": {"into": "d.t", "columns": ["n"], "rows": [[{"sequence": "a"}]]}}),
    scenario(ROW, {"update": {"table": "d.t", "set": {}}}),
    scenario(ROW, {"update": {"table": "d.t", "set": {"v": {"cycle": []}}}}),
    cells(v={"faker": "nmae"}),
    cells(v={"faker": "date_this_year"}),
    cells(v={"faker": "name", "args": []}),
    cells(v={"faker": "name", "locale": 5}),
    cells(v={"faker": 5}),
    cells(n={"random_int": {"mn": 1}}),
    cells(n={"random_int": {"min": 1}}),
    cells(n={"random_int": 6}),
    cells(n={"random_int": {"max": "6"}}),
    cells(n={"sequence": {"begin": 1}}),
    cells(n={"sequence": None}),
    cells(n={"choice": "a"}),
    cells(v={"text": "long"}),
    cells(v={"text": {"min": 3}}),
    cells(v={"text": -1}),
    cells(b={"bytes": {"size": 3}}),
    cells(m={"datetime": {"from": "2020-01-01"}}),
    cells(m={"datetime": {"from": "soon", "to": "later"}}),
    cells(j={"generate": {"chioce": [1]}}),
    cells(j={"generate": [1]}),
    cells(j={"generate": {"choice": [1], "cycle": [1]}}),
    where([]), where({"less": 5}), where({"between": [1]}), where({"between": 1}), where({"lt": None}),
    where({"between": [1, None]}),
    in_long_form(statements=[]),
    in_long_form(end="rollback"),
    in_long_form(statements=[ROW], explicit=False, xa={"gtrid": "g"}),
    in_long_form(statements=[ROW], xa={"gtrid": "g", "one_phase": True, "end": "rollback"}),
    in_long_form(statements=[ROW], xa={"bqual": "g"}),
    in_long_form(statements=[ROW], xa_commit={"gtrid": "g"}),
    in_long_form(xa_commit={"gtrid": "g"}, xa_rollback={"gtrid": "g"}),
    in_long_form(xa_commit={"gtrid": "g"}, end="rollback"),
    load_data(),
    load_data(rows=[["a"]], text="a"),
    load_data(hex="0"),
    load_data(text="a", fields_terminated_by=""),
    load_data(text="a", lines_terminated_by=""),
    load_data(text="a", enclosed_by="ab"),
    load_data(text="a", file=""),
    scenario({"event": {"type": 100, "hex": "0"}}),
    scenario({"event": {"type": 100, "hex": "00", "text": "a"}}),
    scenario({"event": {"type": 100, "place": "there"}}),
]  # fmt: skip


def loader_error(document: Any) -> str | None:
    """What the loader says of a document, made into rows too; None if it takes it."""
    try:
        for case in expand(json.dumps(document), file="x.yaml"):
            plan(case.scenario)
    except ScenarioError as error:
        return str(error)
    return None


@pytest.mark.parametrize("document", RIGHT, ids=repr)
def test_what_the_loader_takes_the_schema_takes(document: Any) -> None:
    assert loader_error(document) is None
    assert validation_errors(document) == []


@pytest.mark.parametrize("document", WRONG, ids=repr)
def test_what_the_loader_refuses_by_form_the_schema_refuses(document: Any) -> None:
    assert loader_error(document) is not None
    assert validation_errors(document) != []


LEAVES = st.none() | st.booleans() | st.integers(-2, 7) | st.sampled_from(["", "name", "nmae", "2020-01-01", "00", "a"])
ARGUMENTS = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["min", "max", "mn", "length", "start", "step", "from", "to", "a"]), inner, max_size=2
        )
    ),
    max_leaves=4,
)


@given(name=st.sampled_from(sorted(GENERATORS)), argument=ARGUMENTS)
def test_schema_and_loader_agree_on_every_generator(name: str, argument: Any) -> None:
    cell = {name: argument}
    place = ColumnPlace(table="d.t", column="v")
    try:
        Generators(0)(cell, place).literal(0)
        takes = True
    except ScenarioError as error:
        # What compares two values a schema cannot say.
        assume("needs two" not in str(error) or not _is_in_order(argument))
        assume("needs a length" not in str(error) or not _is_in_order(argument))
        takes = False
    assert (CELLS.is_valid(cell)) == takes


def _is_in_order(argument: Any) -> bool:
    """Whether a mapping has all that a generator needs, so that only the order of its values can be wrong."""
    return isinstance(argument, dict) and bool({"max", "length", "from"} & set(argument))


def _as_json(value: Any) -> Any:
    """Decimals as JSON numbers, for the validator."""
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    return value if value is None or isinstance(value, (str, int, bool)) else str(value)
