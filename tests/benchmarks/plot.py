"""The plot of ``docs/performance.md``: rows a second of every program, on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Mark:
    """How the points of a program look: a colour that is told apart by eyes of all kinds, and a shape."""

    label: str
    colour: str
    shape: Callable[[float, float], str]


def _circle(x: float, y: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7"'


def _polygon(*corners: tuple[float, float]) -> Callable[[float, float], str]:
    def drawn(x: float, y: float) -> str:
        points = " ".join(f"{x + across:.1f},{y + down:.1f}" for across, down in corners)
        return f'<polygon points="{points}"'

    return drawn


_SQUARE = _polygon((-5, -5), (5, -5), (5, 5), (-5, 5))
_DIAMOND = _polygon((0, -7), (7, 0), (0, 7), (-7, 0))
_UP = _polygon((0, -7), (7, 5), (-7, 5))
_DOWN = _polygon((0, 7), (7, -5), (-7, -5))
_BAR = _polygon((-2, -8), (2, -8), (2, 8), (-2, 8))

MARKS = {
    "forge": Mark("binlog-forge", "#0072b2", _circle),
    "java-connector": Mark("Java connector (no checksums)", "#009e73", _SQUARE),
    "go-mysql": Mark("go-mysql", "#e69f00", _DIAMOND),
    "mysqlbinlog": Mark("mysqlbinlog -v", "#cc79a7", _UP),
    "python-mysql-replication": Mark("python-mysql-replication", "#666666", _DOWN),
    "mysqld-load": Mark("mysqld, LOAD DATA", "#d55e00", _BAR),
    "mysqld-insert": Mark("mysqld, INSERT", "#8c2d04", _DIAMOND),
}

_WIDTH, _LEFT, _RIGHT, _STEP, _TOP = 900, 210, 40, 46, 118


@dataclass(frozen=True, slots=True)
class Group:
    """One row of the plot: rows a second by program."""

    title: str
    speeds: Mapping[str, float]


def plot(groups: Sequence[Group]) -> str:
    """An SVG document."""
    speeds = [speed for group in groups for speed in group.speeds.values()]
    lowest, highest = math.floor(math.log10(min(speeds))), math.ceil(math.log10(max(speeds)))
    height = _TOP + _STEP * len(groups) + 34

    def across(speed: float) -> float:
        share = (math.log10(speed) - lowest) / (highest - lowest)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif"'
        ' font-size="14" role="img" aria-label="Rows a second by program and workload">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        *_legend({name for group in groups for name in group.speeds}),
    ]
    bottom = _TOP + _STEP * len(groups) - _STEP / 2 + 8
    for power in range(lowest, highest + 1):
        x = across(10**power)
        parts.append(f'<line x1="{x:.1f}" y1="{_TOP - 26}" x2="{x:.1f}" y2="{bottom:.1f}" stroke="#dddddd"/>')
        parts.append(_text(x, bottom + 20, _count(10**power), anchor="middle", colour="#555555"))
    parts.append(_text(_WIDTH - _RIGHT, bottom + 38, "rows a second", anchor="end", colour="#555555"))
    for number, group in enumerate(groups):
        y = _TOP + _STEP * number
        points = sorted(group.speeds.items(), key=lambda item: item[0] == "forge")
        ends = across(min(group.speeds.values())), across(max(group.speeds.values()))
        parts.append(_text(_LEFT - 16, y + 5, group.title, anchor="end", colour="#222222"))
        parts.append(f'<line x1="{ends[0]:.1f}" y1="{y}" x2="{ends[1]:.1f}" y2="{y}" stroke="#bbbbbb"/>')
        for name, speed in points:
            mark = MARKS[name]
            parts.append(f'{mark.shape(across(speed), y)} fill="{mark.colour}" stroke="#ffffff"/>')
        if "forge" in group.speeds:
            speed = group.speeds["forge"]
            parts.append(_text(across(speed), y - 12, _count(speed), anchor="middle", colour=MARKS["forge"].colour))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _legend(shown: set[str]) -> Iterator[str]:
    x, y = 24.0, 26.0
    for name, mark in MARKS.items():
        if name not in shown:
            continue
        width = 30 + 7.6 * len(mark.label)
        if x + width > _WIDTH - 10:
            x, y = 24.0, y + 26
        yield f'{mark.shape(x, y)} fill="{mark.colour}"/>'
        yield _text(x + 14, y + 5, mark.label, anchor="start", colour="#222222")
        x += width + 12


def _text(x: float, y: float, text: str, *, anchor: str, colour: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'


def _count(value: float) -> str:
    for size, suffix in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{suffix}"
    return f"{value:.3g}"
