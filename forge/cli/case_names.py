"""The cases of a family by their names, and names of folders for them."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from forge.cli.inputs import shown
from forge.errors import ScenarioError, nearest

if TYPE_CHECKING:
    from forge.scenario import Case

#: Names of cases that an error message lists.
LISTED = 5
#: Bytes of a name; file systems take 255.
_LONGEST = 200


def named_case(cases: Sequence[Case], name: str, file: str) -> Case:
    """The case of that name of the scenario ``file``.  Raises ScenarioError if there is none."""
    for case in cases:
        if case.name == name:
            return case
    raise ScenarioError(
        f"there is no case {name!r}",
        file=shown(file),
        expected=f"one of {_listed(cases)}",
        suggestion=nearest(name, [case.name for case in cases]),
    )


def only_case(cases: Sequence[Case], file: str) -> Case:
    """The only case of the scenario ``file``.  Raises ScenarioError if its matrix makes others."""
    if len(cases) == 1:
        return cases[0]
    raise ScenarioError(
        f"the matrix makes {len(cases)} cases", file=shown(file), expected=f"one, by --case: {_listed(cases)}"
    )


def _listed(cases: Sequence[Case]) -> str:
    more = f" and {len(cases) - LISTED} more" if len(cases) > LISTED else ""
    return ", ".join(case.name for case in cases[:LISTED]) + more


def folder_names(cases: Sequence[str]) -> list[str]:
    """A folder's name for each case: ``family[server=mysql-8.0,gtid=true]`` is ``family,server=mysql-8.0,gtid=true``.

    Characters that shells or file systems take for something else become ``_``.  A name that was shortened, or that
    two cases would share (upper and lower case are one on some file systems), ends with a hash of the case's name.
    """
    plain = [_plain(case) for case in cases]
    counts = Counter(name.casefold() for name in plain)
    return [
        name if counts[name.casefold()] == 1 and len(name.encode()) <= _LONGEST else _hashed(name, case)
        for name, case in zip(plain, cases, strict=True)
    ]


def _plain(case: str) -> str:
    name = re.sub(r"[^\w.=,+-]", "_", case.removesuffix("]").replace("[", ",", 1))
    return "_" + name[1:] if name[:1] in (".", "-") else name


def _hashed(name: str, case: str) -> str:
    cut = name.encode()[: _LONGEST - 9].decode(errors="ignore")
    return f"{cut}~{hashlib.sha256(case.encode()).hexdigest()[:8]}"
