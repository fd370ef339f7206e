"""The page of the suites: counts by line, and reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment

_PAGE = """\
# The vendors' suites

The scripts of the suites `binlog` and `rpl` are cut into the statements that their first server is sent, and each goes
through the live server of its line and through `forge build`. A statement counts as *logged* where the server takes it
and a binary log shows such statements; it is *taken* where we take it too. Then the server runs what both take, and its
log is held against ours, which has that log's facts. `make suites` writes this page{{ of_each }}.

| line | scripts | logged statements | taken | scripts whose logs are identical | statements in these |
|---|--:|--:|--:|--:|--:|
{% for line, one in lines.items() -%}
| {{ line }} | {{ one.scripts }} | {{ one.logged }} | {{ one.taken }} ({{ one.share }} %) | {{ one.identical }} of \
{{ one.compared }} | {{ one.within }} |
{% endfor %}
Left out are scripts with a statement that waits for another connection, or after which the server is gone
({% for line, one in lines.items() %}{{ line }}: {{ one.left }}{{ ", " if not loop.last }}{% endfor %}), and
statements that steer servers, replicas and log files.
{% for line, one in lines.items() %}
## {{ line }}

| statements not taken | reason |
|--:|---|
{% for reason, count in one.reasons -%}
| {{ count }} | {{ reason }} |
{% endfor %}
{% if one.differences -%}
| scripts | first difference of their logs |
|--:|---|
{% for reason, count in one.differences -%}
| {{ count }} | {{ reason }} |
{% endfor %}
{%- endif %}
{%- endfor %}"""
#: Reasons of each kind that the page shows.
_SHOWN = 40


def page_of(results: Mapping[str, Sequence[Mapping[str, Any]]], each: int = 1) -> str:
    """The page in Markdown, of the outcomes of each line; of every so many scripts."""
    of_each = "" if each == 1 else f"; here of every {each}th script (`SUITES_ARGS='--each {each}'`)"
    environment = Environment(trim_blocks=False, keep_trailing_newline=True, autoescape=False)
    return environment.from_string(_PAGE).render(
        lines={line: _counted(outcomes) for line, outcomes in results.items()}, of_each=of_each
    )


def _counted(outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    whole = [one for one in outcomes if not one["left"]]
    logged, taken = (sum(one[key] for one in whole) for key in ("logged", "taken"))
    compared = [one for one in whole if one["taken"]]
    identical = [one for one in compared if one["identical"]]
    reasons = Counter(reason for one in whole for reason, _ in one["reasons"])
    differences = Counter(_kind(one["difference"]) for one in compared if not one["identical"])
    return {
        "scripts": len(whole), "logged": logged, "taken": taken, "share": f"{100 * taken / max(logged, 1):.1f}",
        "compared": len(compared), "identical": len(identical), "within": sum(one["taken"] for one in identical),
        "left": len(outcomes) - len(whole), "reasons": _cells(reasons), "differences": _cells(differences),
    }  # fmt: skip


def _kind(difference: str) -> str:
    """The event type and the field of a difference."""
    return difference.split("\n")[0].partition(": ")[2].partition(":")[0] or difference[:80]


def _cells(counts: Counter[str]) -> list[tuple[str, int]]:
    return [(reason.replace("|", "\\|").replace("\n", " "), count) for reason, count in counts.most_common(_SHOWN)]
