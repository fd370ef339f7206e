"""Writes the figures into ``docs/power.md``, and their plot, from the JSON that a run left."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import click

_DOCS = Path(__file__).resolve().parents[2] / "docs"
_RESULTS = re.compile(r"(<!-- results -->\n).*(<!-- end of results -->)", re.DOTALL)
_FOREIGN = re.compile(r"(<!-- foreign -->\n).*(<!-- end of foreign -->)", re.DOTALL)
_PLOT = "power.svg"
_ROW, _LEFT, _WIDTH = 26, 330, 860
#: Colour-blind eyes tell these apart.
_COLOURS = {"corpus": "#0072b2", "real": "#e69f00", "mutants": "#009e73"}
#: Functions and lines that are listed before the page says how many more there are.
_LISTED = 40


def bars(figures: dict[str, Any]) -> Iterator[tuple[str, str, float]]:
    """Label, kind and share of each bar of the plot."""
    for name, found in figures.items():
        for kind, words in (("corpus", "the corpus"), ("real", "real files")):
            if kind in found:
                part = found[kind]
                yield f"{name}: statements, {words}", kind, part["hit"] / part["lines"]
                yield f"{name}: branches, {words}", kind, part["taken"] / part["branches"]
        if found.get("tried"):
            yield f"{name}: mutants told", "mutants", found["killed"] / found["tried"]


def foreign_bars(figures: dict[str, Any]) -> Iterator[tuple[str, str, float]]:
    """The bars of the decoders that are not written in Python."""
    for name, found in figures.items():
        yield f"{name}: {found['unit']}, the corpus", "corpus", found["hit"] / found["counted"]


def foreign(figures: dict[str, Any]) -> str:
    """Markdown: what is reached of decoders that are not written in Python, and what is not."""
    lines = ["| decoder | language | logs | reached | left out |", "|---|---|---|---|---|"]
    for name, found in figures.items():
        out = found["every"] - found["counted"]
        lines.append(
            f"| {name} | {found['language']} | {found['logs']:,} "
            f"| {found['hit'] / found['counted']:.1%} of {found['counted']:,} {found['unit']} | {out:,} |"
        )
    for name, found in figures.items():
        lines += ["", f"### {name}", "", "| left out, by reason | " + found["unit"] + " |", "|---|---|"]
        lines += [f"| {reason} | {count:,} |" for reason, count in found["left out"].items()]
        missed = [(place, one) for place, some in found["missed"].items() for one in some]
        lines += ["", "Reached by no log:" if missed else "All others are reached."]
        if missed:
            lines += ["", "| function | first line | " + found["unit"] + " |", "|---|---|---|"]
        for place, (_, text, count) in missed:
            lines.append(f"| `{place}` | `{text.replace('|', chr(92) + '|')}` | {count} |")
    return "\n".join(lines) + "\n"


def plot(rows: list[tuple[str, str, float]]) -> str:
    """An SVG document."""
    parts = []
    for number, (label, kind, share) in enumerate(rows):
        top = 10 + number * _ROW
        width = share * (_WIDTH - _LEFT - 70)
        parts.append(
            f'<text x="{_LEFT - 8}" y="{top + 14}" text-anchor="end">{escape(label)}</text>'
            f'<rect x="{_LEFT}" y="{top}" width="{width:.1f}" height="18" fill="{_COLOURS[kind]}"/>'
            f'<text x="{_LEFT + width + 6:.1f}" y="{top + 14}">{share:.1%}</text>'
        )
    height = 20 + len(rows) * _ROW
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" '
        f'font-size="13"><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def results(figures: dict[str, Any]) -> str:
    """Markdown: the plot, a table, and what is not reached."""
    lines = [f"![Shares of lines, branches and mutants]({_PLOT})", ""]
    lines += ["| decoder | logs | statements | branches | mutants tried | told | share |", "|" + "---|" * 7]
    for name, found in figures.items():
        for kind, words in (("corpus", "the corpus"), ("real", "real files")):
            if kind not in found:
                continue
            part = found[kind]
            count = found["logs"] if kind == "corpus" else part["logs"]
            tried = found.get("tried") if kind == "corpus" else None
            told = (
                f"{tried:,} of {found['mutants']:,} | {found['killed']:,} | {found['killed'] / tried:.1%}"
                if tried
                else " | | "
            )
            lines.append(
                f"| {name} | {words}: {count:,} | {part['hit'] / part['lines']:.1%} of {part['lines']:,} "
                f"| {part['taken'] / part['branches']:.1%} of {part['branches']:,} | {told} |"
            )
    for name, found in figures.items():
        lines += ["", f"### {name}", "", *_missed(found)]
    return "\n".join(lines) + "\n"


def _missed(found: dict[str, Any]) -> Iterator[str]:
    never = found["corpus"]["never"]
    reasons = Counter(never.values())
    yield "Functions that no log of the corpus reaches, by reason:"
    yield ""
    yield "| reason | functions | such as |"
    yield "|---|---|---|"
    for reason, count in reasons.most_common():
        example = next(place for place, why in never.items() if why == reason)
        yield f"| {reason} | {count} | `{example}` |"
    yield ""
    yield from _left_out(found)
    missed = [(name, line) for name, numbers in found["corpus"]["missed"].items() for line in numbers]
    yield ""
    yield f"Statements of other functions that none reaches: {len(missed)}."
    by_file = Counter(name for name, _ in missed)
    yield ""
    yield ", ".join(f"`{name}` {count}" for name, count in by_file.most_common(_LISTED)) + "."
    survivors = found.get("survivors", [])
    if survivors:
        yield ""
        yield f"Mutants that no log tells: {len(survivors)}, of those that were tried."
        yield ""
        yield "| function | change | logs that run it |"
        yield "|---|---|---|"
        for one in survivors:
            yield f"| `{one['file']}: {one['function']}` | {one['what']} | {one['logs']:,} |"


def _left_out(found: dict[str, Any]) -> Iterator[str]:
    """What the counts do not have, by reason."""
    statements, mutants = found["corpus"]["left out"], found.get("left out", {})
    if not statements and not mutants:
        return
    yield "Left out, by reason:"
    yield ""
    yield "| reason | statements | mutants |"
    yield "|---|---|---|"
    for reason in dict.fromkeys((*statements, *mutants)):
        yield f"| {reason} | {statements.get(reason, '')} | {mutants.get(reason, '')} |"
    yield ""


_FIGURES = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.argument("path", type=_FIGURES)
@click.argument("foreign_path", type=_FIGURES, metavar="FOREIGN")
def main(path: Path, foreign_path: Path) -> None:
    """Write the page of the figures in PATH, and of those of decoders in other languages in FOREIGN."""
    figures, others = json.loads(path.read_text()), json.loads(foreign_path.read_text())
    page = _DOCS / "power.md"
    text = _RESULTS.sub(lambda match: match[1] + results(figures) + match[2], page.read_text())
    page.write_text(_FOREIGN.sub(lambda match: match[1] + foreign(others) + match[2], text))
    (_DOCS / _PLOT).write_text(plot([*bars(figures), *foreign_bars(others)]))


if __name__ == "__main__":
    main()
