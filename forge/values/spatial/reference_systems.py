"""Geographic spatial reference systems of MySQL, which reads their well-known binary with the axes in their own order.

Projected systems are read x before y, whatever their axes are (recorded on 9.7 for 2393, 3857 and 31467); MariaDB does
so with all.  The SRIDs are in ``reference_systems.toml``.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

Axes = Literal["projected", "latitude first", "longitude first", "unmeasured"]


def axes_of(srid: int) -> Axes:
    """The axes of a system on MySQL; an SRID that is not known counts as projected."""
    named: tuple[Axes, ...] = ("latitude first", "longitude first", "unmeasured")
    return next((axes for axes in named if srid in _systems(axes.replace(" ", "_"))), "projected")


def is_known(srid: int) -> bool:
    """Whether MySQL has a reference system of that SRID."""
    return srid in _systems("known")


@cache
def _systems(name: str) -> frozenset[int]:
    """The SRIDs of a list, in which ``4001-4008`` stands for all from the first to the last."""
    ranges = tomllib.loads(files("forge.values.spatial").joinpath("reference_systems.toml").read_text("utf-8"))[name]
    numbers: set[int] = set()
    for item in ranges.split():
        first, _, last = item.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return frozenset(numbers)
