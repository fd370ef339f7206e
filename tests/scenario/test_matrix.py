"""Templates and matrices (forge.scenario.template, matrix, load)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.errors import ScenarioError
from forge.scenario import expand, load_cases, load_scenario, parse_settings, plan
from forge.scenario.template import render

FAMILY = """\
scenario: family
session: {row_image: full}
tables:
  - CREATE TABLE d.t (a INT)
matrix:
  server: [mysql-8.0, mysql-9.7]
  session.row_image: [full, minimal]
  exclude:
    - {server: mysql-8.0, session.row_image: minimal}
"""

TEMPLATE = """\
scenario: {{ kind }}-table
tables:
{% for n in range(count) %}
  - CREATE TABLE d.t{{ n }} (a {{ kind }})
{% endfor %}
transactions:
  - - insert: {into: d.t0, rows: [{a: {{ value }}}]}
matrix:
  kind: [INT, BIGINT]
  value: [1, {{ biggest | default(1000) }}]
  count: [2]
"""


def planned(text: str, file: str, settings: dict[str, Any]) -> None:
    for case in expand(text, file=file, settings=settings):
        plan(case.scenario)


def names(text: str, **settings: Any) -> list[str]:
    return [case.name for case in expand(text, settings=settings)]


def test_a_matrix_makes_a_case_of_every_combination_that_is_not_excluded() -> None:
    cases = list(expand(FAMILY, file="f.yaml"))
    assert [case.name for case in cases] == [
        "family[server=mysql-8.0,row_image=full]",
        "family[server=mysql-9.7,row_image=full]",
        "family[server=mysql-9.7,row_image=minimal]",
    ]
    assert [(case.scenario.server, case.scenario.session.row_image) for case in cases] == [
        ("mysql-8.0", "full"), ("mysql-9.7", "full"), ("mysql-9.7", "minimal"),
    ]  # fmt: skip
    assert cases[2].choices == {"server": "mysql-9.7", "session.row_image": "minimal"}
    assert [case.scenario.scenario for case in cases] == [case.name for case in cases]
    assert all(case.scenario.matrix == {} for case in cases)


def test_a_setting_fixes_a_key_of_the_matrix() -> None:
    assert names(FAMILY, server="mysql-8.4") == [
        "family[server=mysql-8.4,row_image=full]", "family[server=mysql-8.4,row_image=minimal]",
    ]  # fmt: skip


def test_a_case_is_made_again_from_its_choices() -> None:
    for case in expand(TEMPLATE):
        (again,) = expand(TEMPLATE, settings=case.choices)
        assert (again.name, again.scenario) == (case.name, case.scenario)


def test_keys_that_are_no_fields_are_parameters_of_the_template() -> None:
    cases = list(expand(TEMPLATE))
    assert [case.name for case in cases] == [
        "INT-table[kind=INT,value=1,count=2]", "INT-table[kind=INT,value=1000,count=2]",
        "BIGINT-table[kind=BIGINT,value=1,count=2]", "BIGINT-table[kind=BIGINT,value=1000,count=2]",
    ]  # fmt: skip
    assert [plan(case.scenario).contents["d.t0"] for case in cases] == [((1,),), ((1000,),), ((1,),), ((1000,),)]
    assert names(TEMPLATE, biggest=7, kind="INT")[-1] == "INT-table[kind=INT,value=7,count=2]"


def test_values_have_short_names() -> None:
    text = "scenario: x\nmatrix: {session.gtid: [true], seed: [0], session.facts.thread_id: [null], tags: [[a, b]]}"
    assert names(text) == ['x[gtid=true,seed=0,thread_id=null,tags=["a","b"]]']


def test_a_mapping_is_named_by_its_name() -> None:
    text = 'scenario: x\ntables: ["CREATE TABLE d.t (a {{ t.sql }})"]\nmatrix: {t: [{name: int, sql: INT}]}'
    assert names(text) == ["x[t=int]"]


def test_labels_that_would_be_the_same_are_written_out() -> None:
    text = "scenario: x\nmatrix: {session.server_id: [1], session.facts.server_id: [1]}"
    with pytest.raises(ScenarioError, match=r"unknown word 'server_id' in session\.facts"):
        names(text)
    text = "scenario: '{{ a.b }}{{ c }}'\nmatrix: {c: [1], x.c: [2], a: [{b: 1}]}"
    assert names(text)[0].startswith("11[c=1,x.c=2,")


def test_without_its_matrix_a_file_is_what_it_declares(tmp_path: Path) -> None:
    path = tmp_path / "family.yaml"
    path.write_text(FAMILY)
    scenario = load_scenario(path)
    assert (scenario.scenario, scenario.server, scenario.session.row_image) == ("family", "mysql-9.7", "full")
    assert load_scenario(path, {"session.gtid": True}).session.gtid
    assert len(load_cases(path)) == 3


def test_a_template_needs_a_first_value_and_takes_it_from_the_matrix(tmp_path: Path) -> None:
    path = tmp_path / "family.yaml.j2"
    path.write_text(TEMPLATE)
    assert load_scenario(path).scenario == "INT-table"
    assert load_scenario(path, {"kind": "TINYINT"}).scenario == "TINYINT-table"


def test_settings_are_yaml_scalars() -> None:
    assert parse_settings(["a=1", "b=yes", "session.gtid=true", "c=", "d='5'", "e=x=y"]) == {
        "a": 1, "b": "yes", "session.gtid": True, "c": None, "d": "5", "e": "x=y",
    }  # fmt: skip
    with pytest.raises(ScenarioError, match="sets nothing"):
        parse_settings(["a"])
    with pytest.raises(ScenarioError, match=r"--set a=\[1: bad YAML"):
        parse_settings(["a=[1"])


def test_rendered_lines_know_their_template() -> None:
    rendered = render("a: 1\n{% for n in [1, 2] %}\nb{{ n }}:\n  {{ n }}\n{% endfor %}\nlast: x\n", {})
    lines = dict(zip(rendered.text.split("\n"), rendered.lines, strict=True))
    assert lines["a: 1"] == 1
    assert (lines["b1:"], lines["b2:"], lines["  2"]) == (3, 3, 4)
    assert lines["last: x"] == 6
    assert "\0" not in rendered.text


def test_errors_in_rendered_text_have_the_templates_line() -> None:
    with pytest.raises(ScenarioError, match=r"^f\.j2:7: d\.t0\.a: INT cannot hold this number: 10000000000"):
        planned(TEMPLATE, "f.j2", {"value": 10**10})


@pytest.mark.parametrize(
    ("text", "settings", "sentence"),
    [
        ("scenario: x\nseed: {{ n }}\n", {},
         "f:2: the template needs the parameter 'n'; expected --set n=VALUE (given: none)"),
        ("scenario: {{ name }}\n", {"nme": 1},
         "f: the template has no parameter 'nme'; expected one of name; did you mean 'name'?"),
        ("scenario: x\n", {"n": 1}, "f: the scenario has no field 'n', and it is not a template with parameters; "
             "expected a field such as "
         "description, existing, phase, scenario, seed, server, session, tables, tags, transactions, verdict"),
        ("scenario: x\n\n{% for %}\n", {}, "f:3: bad template: Expected an expression, got 'end of statement block'"),
        ("scenario: x\nseed: {{ 1 / 0 }}\n", {}, "f:2: the template failed: division by zero"),
        ("scenario: {{ n.m }}\n", {"n": 1}, "f:1: the template failed: 'int object' has no attribute 'm'"),
        ("scenario: x\nmatrix:\n  a: 1\n", {}, "f:3: matrix.a has no values; expected a list"),
        ("scenario: x\nmatrix: [a]\n", {}, "f:2: the matrix is no mapping; expected keys with lists of values"),
        ("scenario: x\nmatrix:\n  seed: [1]\n  exclude: [{sed: 1}]\n", {},
         "f:4: the matrix has no key 'sed'; expected one of seed; did you mean 'seed'?"),
        ("scenario: x\nmatrix:\n  seed: [1]\n  exclude: [{seed: 2}]\n", {},
         "f:4: matrix.seed has no value 2; expected one of 1"),
        ("scenario: x\nmatrix:\n  server: [mysql-9.7, mysql-1.0]\n", {},
         "f:3: unknown server line 'mysql-1.0'; expected one that `forge servers` lists; did you mean 'mysql-3.23'?"),
        ("scenario: x\nseed: 1\n", {"seed.x": 1}, "f:2: seed.x is inside seed, which is no mapping"),
        ("scenario: {{ [1, 2] | tojson | fromjson }}\n", {}, "f:1: bad template: No filter named 'fromjson'."),
        ("scenario: {{ ''.__class__.__mro__ }}\n", {}, "f:1: the template failed: access to attribute '__class__'"),
    ],
)  # fmt: skip
def test_wrong_templates_and_matrices_get_one_sentence(text: str, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        planned(text, "f", settings)
    assert str(caught.value).startswith(sentence)


def test_files_that_cannot_be_read_are_errors(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot read the file: No such file"):
        load_scenario(tmp_path / "none.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"scenario: x\ndescription: \xff\n")
    with pytest.raises(ScenarioError, match=r"bytes\.yaml:2: the file is not UTF-8 text"):
        load_scenario(tmp_path / "bytes.yaml")
