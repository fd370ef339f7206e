"""Known bugs of other people's decoders, each with the cases that catch it (``corpora/known-bugs.toml``)."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

from forge.errors import ScenarioError
from forge.resources import corpora_dir


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
    return sorted(bugs, key=lambda bug: bug.number)


def guards(bugs: list[KnownBug]) -> dict[str, list[str]]:
    """The foreign issues that each case guards against, by its long name."""
    found: dict[str, list[str]] = {}
    for bug in bugs:
        for case in bug.cases:
            found.setdefault(case, []).extend(issue for issue in bug.issues if issue not in found.get(case, []))
    return found
