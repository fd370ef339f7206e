"""Known bugs of other people's decoders, each with the cases that catch it (``corpora/known-bugs.toml``)."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

import msgspec

from forge.errors import ScenarioError
from forge.resources import corpora_dir

#: A thread in a foreign tracker, such as ``go-mysql-org/go-mysql#1118``.
_ISSUE: Final = re.compile(r"[\w.-]+/[\w.-]+#\d+")
#: A release: decoder and version, such as ``go-mysql 1.12.0``.
_RELEASE: Final = re.compile(r"[\w-]+ \d[\w.-]*")


class KnownBug(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One bug.  ``bad`` is a release that has it, ``good`` one that does not, None if no release mends it.  ``cases``
    are cases by their long names.

    Without releases, ``not_run`` says why it cannot be run; without cases, ``why_none`` why there can be none.
    """

    number: int
    issues: list[str]
    what: str
    bad: str | None = None
    good: str | None = None
    cases: list[str] = []
    not_run: str | None = None
    why_none: str | None = None

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases that it is run with."""
        return tuple(release for release in (self.bad, self.good) if release is not None)


def read_known_bugs(path: Path | None = None) -> list[KnownBug]:
    """The bugs of the file, by number; of the shipped one, none where the corpus is not installed.

    Raises ScenarioError for an entry that is not right; OSError.
    """
    shipped = corpora_dir() / "known-bugs.toml"
    if path is None and not shipped.is_file():
        return []
    path = path or shipped
    try:
        bugs = msgspec.convert(tomllib.loads(path.read_text("utf-8")).get("bug", []), list[KnownBug])
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ScenarioError(f"this is no list of known bugs: {error}", file=str(path)) from None
    numbers = set[int]()
    for bug in bugs:
        problem = _problem(bug) or ("its number is taken" if bug.number in numbers else None)
        if problem is not None:
            raise ScenarioError(f"bug {bug.number}: {problem}", file=str(path))
        numbers.add(bug.number)
    return sorted(bugs, key=lambda bug: bug.number)


def guards(bugs: list[KnownBug]) -> dict[str, list[str]]:
    """The foreign issues that each case guards against, by its long name."""
    found: dict[str, list[str]] = {}
    for bug in bugs:
        for case in bug.cases:
            found.setdefault(case, []).extend(issue for issue in bug.issues if issue not in found.get(case, []))
    return found


def _problem(bug: KnownBug) -> str | None:
    wrong = next((issue for issue in bug.issues if not _ISSUE.fullmatch(issue)), None)
    if not bug.issues or wrong is not None:
        return f"{wrong!r} is no issue, such as go-mysql-org/go-mysql#1118"
    if bug.good is not None and bug.bad is None:
        return "it has a good release and no bad one"
    wrong = next((release for release in bug.releases if not _RELEASE.fullmatch(release)), None)
    if wrong is not None:
        return f"{wrong!r} is no release, such as 'go-mysql 1.12.0'"
    if (bug.why_none is None) != bool(bug.cases):
        return "it needs cases, or a sentence why there can be none"
    if bug.cases and bool(bug.releases) == (bug.not_run is not None):
        return "it needs a bad release, or a sentence why it is not run"
    return None
