"""Wrong scenario files, and settings in them: one sentence each, with the line and the nearest word."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forge.errors import ScenarioError
from forge.scenario import Scenario, insert, plan

WRONG = [
    pytest.param(
        "scenario: x\ntables: [a, b\n",
        "f.yaml:2: bad YAML: did not find expected ',' or ']', while parsing a flow sequence",
        id="bad yaml",
    ),
    pytest.param(
        "scenario: x\nverdict: rejects\n",
        "f.yaml:2: verdict is 'rejects'; expected one of accept, reject, may; did you mean 'reject'?",
        id="unknown verdict",
    ),
    pytest.param(
        "scenario: x\nverdict: reject\n",
        (
            "f.yaml:1: `verdict: reject` needs `phase`: one of framing, checksum, post_header, body, metadata, row, "
            "value, listing"
        ),
        id="reject without phase",
    ),
    pytest.param(
        "scenario: x\nphase: row\n",
        "f.yaml:1: `phase` says where a reader stops: it needs `verdict: reject` or `verdict: may`",
        id="phase without reject",
    ),
    pytest.param(
        "scenario: x\n\ttables: []\n",
        (
            "f.yaml:2: bad YAML: found a tab character that violates indentation, while scanning a plain "
            "scalar that begins on line 1"
        ),
        id="tab",
    ),
    pytest.param(
        "scenario: x\nserver: mysql-5.77\n",
        (
            "f.yaml:2: unknown server line 'mysql-5.77'; "
            "expected one that `forge servers` lists; did you mean 'mysql-5.7'?"
        ),
        id="unknown server",
    ),
    pytest.param(
        "scenario: x\nsession:\n  row_image: ful\n",
        "f.yaml:3: session.row_image is 'ful'; expected one of full, minimal, noblob; did you mean 'full'?",
        id="bad enum",
    ),
    pytest.param(
        "scenario: x\nsession: {server_id: one}\n",
        "f.yaml:2: session.server_id is text; expected a whole number",
        id="wrong kind",
    ),
    pytest.param(
        "tables: []\n",
        "f.yaml:1: 'scenario' is missing",
        id="no name",
    ),
    pytest.param(
        "",
        "f.yaml:1: the file is empty; expected a scenario",
        id="empty",
    ),
    pytest.param(
        "- a\n",
        "f.yaml:1: the scenario is a list; expected a mapping",
        id="list",
    ),
    pytest.param(
        "scenario: x\nserver: mysql-9.7\nserver: mysql-8.0\n",
        "f.yaml:3: 'server' stands twice in this mapping",
        id="duplicate yaml key",
    ),
    pytest.param(
        "scenario: x\nsession: {timestamp: yesterday}\n",
        "f.yaml:2: timestamp 'yesterday' is not a time; expected YYYY-MM-DD hh:mm:ss[.ffffff]",
        id="timestamp",
    ),
    pytest.param(
        "scenario: x\nmatrix:\n  server: mysql-9.7\n",
        "f.yaml:3: matrix.server has no values; expected a list",
        id="matrix",
    ),
    pytest.param(
        "scenario: x\nmatrix:\n  server: [mysql-9.7]\n  exclude:\n    - {sever: mysql-9.7}\n",
        "f.yaml:5: the matrix has no key 'sever'; expected one of server; did you mean 'server'?",
        id="exclude",
    ),
    pytest.param(
        "scenario: {{ name }}\n",
        "f.yaml:1: the template needs the parameter 'name'; expected --set name=VALUE (given: none)",
        id="template",
    ),
]


@pytest.mark.parametrize(("text", "sentence"), WRONG)
def test_a_wrong_file_gets_one_sentence(text: str, sentence: str, refused: Callable[[str], ScenarioError]) -> None:
    error = refused(text)
    assert str(error) == sentence
    assert error.exit_code == 2


def test_scenarios_made_in_python_have_errors_without_a_place() -> None:
    scenario = Scenario("x", tables=["CREATE TABLE d.t (a TINYINT)"]).transaction(insert("d.t", {"a": 1000}))
    with pytest.raises(ScenarioError) as caught:
        plan(scenario)
    assert str(caught.value) == "d.t.a: TINYINT cannot hold this number: 1000; expected -128 to 127"


def test_the_form_of_scenarios_made_in_python_is_checked_as_well() -> None:
    with pytest.raises(ScenarioError, match=r"unknown word 'gtids' in session; .*did you mean 'gtid'"):
        plan(Scenario("x", session={"gtids": True}))  # type: ignore[arg-type]
