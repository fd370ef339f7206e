"""Writes the results into ``docs/performance.md``, and its plot, from the JSON that a run left."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import click

from tests.benchmarks.plot import Group, plot
from tests.benchmarks.results import number

_DOCS = Path(__file__).resolve().parents[2] / "docs"
_RESULTS = re.compile(r"(<!-- results -->\n).*(<!-- end of results -->)", re.DOTALL)
_PLOT = "performance.svg"

#: The tables of the page, by the letters of the lines' names.
_PARTS = {
    "E": "Encoding",
    "D": "Decoding",
    "P": "To Parquet",
    "T": "Text and lists",
    "J": "JSON",
    "S": "Growth and a second process",
    "M": "Memory",
    "C": "Start",
    "R": "The reference path",
    "SP": "Spark",
}

#: The rows of the plot: a title, the kind of work that is ours, and what it is done on.
_GROUPS = (
    ("decode W1", "decode", "w1_load"),
    ("decode W2", "decode", "w2_load"),
    ("decode W3, JSON as text", "decode", "w3_load"),
    ("decode W3, JSON as bytes", "decode-binary", "w3_load"),
    ("decode W4", "decode", "w4_insert"),
    ("encode W1", "encode", "w1"),
    ("encode W2", "encode", "w2"),
    ("encode W4", "encode-1", "w4"),
)
#: python-mysql-replication is timed on the beginning of a log.
_BEGINNINGS = {"w1_load": "w1_some", "w2_load": "w2_few", "w4_insert": "w4_few"}


def results(document: dict[str, Any]) -> str:
    """Markdown: the machine, the plot, a table for each part, and what was missing."""
    machine = document["machine"]
    loads = ", ".join(f"{load:.1f}" for load in document["load"])
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    parts = [
        f"{machine['processors']} processors ({machine['processor']}), {machine['memory']} of memory,"
        f" {machine['system']}, Python {machine['python']}; {versions}.",
        f"{document['rounds']} rounds; load average {loads}.",
        f"![Rows a second of every program, on a logarithmic axis]({_PLOT})",
    ]
    for letters, title in _PARTS.items():
        lines = [line for line in document["lines"] if line["name"].rstrip("0123456789") == letters]
        if lines:
            parts.append(f"### {title}")
            parts.append("\n".join(_table(lines)))
    missing = sorted(set(document["missing"].values()))
    if missing:
        parts.append("Missing from this run: " + "; ".join(missing) + ".")
    return "\n\n".join(parts) + "\n"


def _table(lines: list[dict[str, Any]]) -> Iterator[str]:
    yield "| | | CPU | least..greatest | wall | goal |"
    yield "|---|---|---|---|---|---|"
    for line in lines:
        first, wall = line["cpu"] or line["wall"], line["wall"] if line["cpu"] else None
        unit = f" {line['unit']}" if line["unit"] else ""
        goal = "" if line["goal"] is None else f"{line['sense']} {line['goal']:g}"
        missed = " **missed**" if line["met"] is False else ""
        cells = (
            f"{line['name']} {line['workload']}",
            line["what"],
            f"{number(first['median'])}{unit}" if first else "missing",
            f"{number(first['least'])}..{number(first['greatest'])}" if first else "",
            number(wall["median"]) if wall else "",
            goal + missed,
        )
        yield f"| {' | '.join(cells)} |"


def groups(document: dict[str, Any]) -> list[Group]:
    """Rows a second of every program, where both ours and another one were timed."""
    speeds = {
        (subject["kind"], subject["on"]): median(cost["rows"] / cost["wall"] for cost in subject["costs"])
        for subject in document["subjects"]
    }
    found = []
    for title, ours, name in _GROUPS:
        decoders = ["java-connector", "go-mysql", "mysqlbinlog"]
        if name == "w3_load":  # Documents stay bytes in Java, and become text in the others.
            decoders = decoders[:1] if ours == "decode-binary" else decoders[1:]
        keys = {
            "forge": (ours, name),
            **{peer: (peer, name) for peer in decoders},
            "python-mysql-replication": ("python-mysql-replication", _BEGINNINGS.get(name, "")),
            **{peer: (peer, name) for peer in ("mysqld-load", "mysqld-insert")},
        }
        here = {program: speeds[key] for program, key in keys.items() if key in speeds}
        if len(here) > 1:
            found.append(Group(title, here))
    return found


@click.command(help=__doc__)
@click.argument("source", type=click.Path(exists=True, path_type=Path), metavar="RESULTS")
def main(source: Path) -> None:
    document = json.loads(source.read_text())
    page = _DOCS / "performance.md"
    text = results(document)
    page.write_text(_RESULTS.sub(lambda found: found[1] + text + found[2], page.read_text()))
    (_DOCS / _PLOT).write_text(plot(groups(document)))


if __name__ == "__main__":
    main()
