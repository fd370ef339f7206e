"""Templates that would make more than a machine has: an error at once, with its line, and little memory."""

from __future__ import annotations

import resource
import sys
from decimal import Decimal

import pytest

from forge.errors import ScenarioError
from forge.located import Tagged
from forge.scenario.template import render

BOMBS = {
    "a text times a number": "{{ 'a' * 3000000000 }}",
    "a power": "{{ 9 ** (9 ** 9) }}",
    "a double text": "{% set n=namespace(x='ab') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
    "long pieces in a loop": "{% for i in range(100000) %}{{ 'x' * 30000000 }}{% endfor %}",
    "a range": "{{ range(1000000000) | list }}",
    "a width": "{{ '%999999999d' % 1 }}",
    "words of a long text": "{{ ('a' * 1000000) | wordwrap(1) | length }}",
    "a macro that calls itself": "{% macro m(n) %}{{ m(n + 1) }}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
    "lists of the same lists, compared": (
        "{% set n = namespace(a=[1], b=[1]) %}{% for i in range(40) %}{% set n.a = [n.a, n.a] %}"
        "{% set n.b = [n.b, n.b] %}{% endfor %}{{ n.a == n.b }}"
    ),
    "lists of the same lists as YAML": (
        "{% set n = namespace(a=[1]) %}{% for i in range(40) %}{% set n.a = [n.a, n.a] %}{% endfor %}{{ n.a | yaml }}"
    ),
    "parentheses": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "conditions in conditions": "{% if 1 %}" * 200 + "{% endif %}" * 200,
    "an import of the system": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
}
#: Shown differently each time, if at all.
BY_CHANCE = ("{{ range(1000) | random }}", "{{ lipsum(n=1) }}", "{{ 'a'.upper }}", "{{ [1] | batch(2) }}")


@pytest.mark.slow
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_template_cannot_make_more_than_the_limits(bomb: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF)
    with pytest.raises(ScenarioError) as error:
        render("scenario: x\n" + BOMBS[bomb], {}, file="bomb.yaml")
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert str(error.value).startswith("bomb.yaml")
    if sys.platform == "linux":
        assert after.ru_maxrss - before.ru_maxrss < 256 << 10  # KiB


def test_the_limit_is_told_with_the_line() -> None:
    with pytest.raises(
        ScenarioError, match=r"^bomb\.yaml:2: the template failed: it takes more than 192 MiB of memory$"
    ):
        render("scenario: x\na: {{ 'a' * 3000000000 }}\n", {}, file="bomb.yaml")


@pytest.mark.parametrize("text", BY_CHANCE)
def test_nothing_in_a_template_is_by_chance(text: str) -> None:
    with pytest.raises(ScenarioError):
        render(text, {})


def test_the_next_template_is_rendered_after_one_that_was_stopped() -> None:
    with pytest.raises(ScenarioError, match=r"the template failed: it takes more than half a second$"):
        render("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}", {})
    assert render("{{ a }}", {"a": 1}).text == "1"


def test_values_of_yaml_are_given_to_a_template_as_they_are() -> None:
    values = {"a": Decimal("1.50"), "b": b"\xff", "c": Tagged("decimal", "1.50"), "d": [None, True, {"e": "é"}]}
    text = render("{{ [a, b, c, d] | yaml }} {{ a }}", values).text
    assert text == '[1.50, !!binary /w==, !decimal "1.50", [null, true, {"e": "é"}]] 1.50'


def test_what_scenarios_need_is_far_below_the_limits() -> None:
    assert len(render("{{ 'a' * 5000000 }}", {}).text) == 5_000_000
    assert len(render("{{ 'é' * 65536 }}", {}).text) == 65_536
    assert (
        render("{{ 2 ** 64 - 1 }} {{ '%05d' % 42 }} {{ [1, 2] + [3] }}", {}).text
        == "18446744073709551615 00042 [1, 2, 3]"
    )
    rows = render("{% for i in range(20000) %}{{ i }},{% endfor %}", {}).text
    assert rows.startswith("0,1,2,")
    assert render("{% for a in [1, 2] %}{{ loop.index ~ '/' ~ loop.length }} {% endfor %}", {}).text == "1/2 2/2 "


def test_faker_is_not_asked_for_any_length() -> None:
    from forge.scenario.faker_cells import faker_cells

    with pytest.raises(ScenarioError, match="faker pystr: max_chars is 1000000000; expected at most 1000000"):
        faker_cells("pystr", "en_US", {"max_chars": 10**9})
    assert faker_cells("random_int", "en_US", {"min": 2 * 10**9, "max": 3 * 10**9})(1) >= 2 * 10**9
