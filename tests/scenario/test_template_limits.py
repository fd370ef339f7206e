"""Templates that would make more than a machine has: an error at once, with its line, and little memory."""

from __future__ import annotations

import resource
import sys

import pytest

from forge.errors import ScenarioError
from forge.scenario.template import render

BOMBS = {
    "a text times a number": "{{ 'a' * 3000000000 }}",
    "a number times a text": "{{ 3000000000 * 'a' }}",
    "a list times a number": "{{ ['a'] * 300000000 }}",
    "a power": "{{ 9 ** (9 ** 9) }}",
    "squares of squares": "{% set n = namespace(x=3) %}{% for i in range(60) %}{% set n.x = n.x * n.x %}{% endfor %}",
    "a double text": "{% set n=namespace(x='ab') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
    "a sum": "{% set n=namespace(x='ab') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "loops in loops": "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}",
    "long pieces in a loop": "{% for i in range(100000) %}{{ 'x' * 30000000 }}{% endfor %}",
    "text by chance": "{{ lipsum(n=100000) }}",
    "a range": "{{ range(1000000000) | list }}",
    "a width": "{{ '%999999999d' % 1 }}",
    "a width beside": "{{ '%*d' % (999999999, 1) }}",
    "a width of the filter": "{{ '%999999999d' | format(1) }}",
    "a width in braces": "{{ '{:>999999999}'.format(1) }}",
    "a width in braces beside": "{{ '{:{w}}'.format(1, w=999999999) }}",
    "padding": "{{ 'a'.ljust(999999999) }}",
    "centred": "{{ 'a' | center(999999999) }}",
    "indented": "{{ 'a\nb' | indent(999999999) }}",
    "filled batches": "{{ [1] | batch(999999999, 'x') | list }}",
    "slices": "{{ [1] | slice(999999999) | list }}",
    "joined": "{{ (['x' * 1000000] * 1000000) | join }}",
    "joined by a method": "{{ ''.join(['x' * 1000000] * 1000000) }}",
    "replaced": "{{ ('a' * 1000000) | replace('a', 'b' * 1000000) }}",
    "replaced by a method": "{{ ('a' * 1000000).replace('a', 'b' * 1000000) }}",
    "translated": "{{ ('a' * 1000000).translate({97: 'b' * 1000000}) }}",
    "bytes of a number": "{{ (5).to_bytes(999999999) }}",
    "words of a long text": "{{ ('ab ' * 8000000) | wordwrap(1) }}",
    "a macro that calls itself": "{% macro m(n) %}{{ m(n + 1) }}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
    "a macro that calls itself often": (
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}"
    ),
    "a loop in itself": "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "many lines indented": r"{{ ('a\n' * 100000) | indent(100000) }}",
    "many lines indented by a text": r"{{ ('a\n' * 100000) | indent('b' * 100000) }}",
    "wrapped with a text": "{{ ('a ' * 100000) | wordwrap(1, wrapstring='b' * 100000) }}",
    "links": "{{ ('http://a.de ' * 50000) | urlize(target='b' * 100000) }}",
    "each centred": "{{ (['a'] * 1000) | map('center', 30000000) | list }}",
    "centred in a loop": "{% for i in range(1000) %}{{ 'a'.center(30000000) }}{% endfor %}",
    "a width in a loop": "{% for i in range(1000) %}{{ '%9999999d' % i }}{% endfor %}",
    "a list of one text": "{% set x = 'a' * 30000000 %}{{ [x] * 1000 }}",
    "a list of one text in a text": "{% set x = 'a' * 30000000 %}{{ '%s' % (([x] * 1000),) }}",
    "a list of one text in braces": "{% set x = 'a' * 30000000 %}{{ '{}'.format([x] * 1000) }}",
    "a list beside a text": "{% set x = 'a' * 30000000 %}{{ ([x] * 1000) ~ 'b' }}",
    "a list as JSON": "{% set x = 'a' * 1000000 %}{{ ([x] * 1000) | tojson }}",
    "JSON that is indented": "{{ ([1] * 100000) | tojson(indent=1000000) }}",
    "lists of lists": "{% set a = [1] * 99 %}{% set b = [a] * 9999 %}{{ [b] * 9999 }}",
    "parentheses": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
}


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
        ScenarioError, match=r"^bomb\.yaml:2: the template failed: it makes a text or list of 3000000000"
    ):
        render("scenario: x\na: {{ 'a' * 3000000000 }}\n", {}, file="bomb.yaml")


def test_what_scenarios_need_is_far_below_the_limits() -> None:
    assert len(render("{{ 'a' * 20000000 }}", {}).text) == 20_000_000
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
