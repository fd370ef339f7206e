"""Cases of a kit read again: what a runner needs, with no part of the corpus' own machinery."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from forge.conform.kit.case_files import CASES, EVENTS, ROWS, TWINS, KitCase, KitFile
from forge.conform.kit.registry import safe_word
from forge.conform.kit.sparse import laid_out
from forge.conform.kit.tag_expressions import selected
from forge.decode.cells import Kind
from forge.errors import ManifestError, ScenarioError, nearest


@dataclass(frozen=True, slots=True)
class ExpectedLog:
    """What a correct reader gets of a file: its events and rows as the kit has them, and where it has to stop."""

    events: Sequence[Mapping[str, Any]]
    rows: Sequence[Mapping[str, Any]]
    stops_at: int | None = None


@dataclass(frozen=True, slots=True)
class OpenKit:
    """A kit in a folder, with its cases by id, which lie in ``part`` of it."""

    folder: Path
    cases: Sequence[KitCase]
    part: str = CASES

    def chosen(self, *, profile: str | None = None, tags: str | None = None, ids: Sequence[str] = ()) -> list[KitCase]:
        """The cases of a profile (``smoke``, ``full``, a server line, a tag) that the expression ``tags`` chooses, or
        those with the ids.

        Raises ScenarioError for a word or id that there is not.
        """
        cases = self._named(ids) if ids else self._of_profile(profile)
        return cases if tags is None else selected(cases, tags)

    def _named(self, ids: Sequence[str]) -> list[KitCase]:
        by_id = {case.id: case for case in self.cases}
        for name in ids:
            if name not in by_id:
                raise ScenarioError(f"the kit has no case {name!r}", suggestion=nearest(name, by_id))
        return [by_id[name] for name in ids]

    def _of_profile(self, profile: str | None) -> list[KitCase]:
        if profile in (None, "full"):
            return list(self.cases)
        if profile == "smoke":
            return [case for case in self.cases if case.smoke]
        found = [case for case in self.cases if profile in (case.server, case.flavor) or profile in case.tags]
        if not found:
            words = {
                "smoke",
                "full",
                *(case.server for case in self.cases),
                *(tag for c in self.cases for tag in c.tags),
            }
            raise ScenarioError(
                f"no case of the kit is of the profile {profile!r}",
                expected="smoke, full, a server line, or a tag",
                suggestion=nearest(str(profile), words),
            )
        return found

    def path(self, case: KitCase, file: KitFile) -> Path:
        """Where a binary log is, if it has no holes."""
        return self.folder / self.part / case.id / file.name

    def laid_out(self, case: KitCase, file: KitFile) -> AbstractContextManager[Path]:
        """Where a binary log is for the time of the block: one with holes is laid out.  Raises OSError."""
        return laid_out(self.path(case, file), file.holes, file.size)

    def twin(self, case: KitCase) -> OpenKit | None:
        """The twin of a case, as a kit of one case; None if it has none.  Raises ManifestError if it is damaged."""
        if case.twin is None:
            return None
        path = self.folder / TWINS / case.twin / "case.json"
        try:
            if safe_word(case.twin) != case.twin:
                raise ManifestError(f"the twin of {case.id} is called {case.twin!r}", folder=str(self.folder))
            twin = msgspec.json.decode(path.read_bytes(), type=KitCase)
        except (OSError, msgspec.MsgspecError) as error:
            raise ManifestError(f"the twin {case.twin} cannot be read: {error}", folder=str(self.folder)) from None
        if twin.id != case.twin:
            raise ManifestError(f"the twin {case.twin} says that it is {twin.id!r}", folder=str(self.folder))
        return OpenKit(self.folder, [twin], TWINS)

    def expected(self, case: KitCase, file: KitFile) -> ExpectedLog:
        """What a correct reader gets of a file.  Raises ManifestError if the kit is damaged; OSError."""
        path = self.path(case, file)
        return ExpectedLog(
            list(_objects(self.folder, path.with_name(path.name + EVENTS), _Event)),
            list(_objects(self.folder, path.with_name(path.name + ROWS), _Row)),
            file.stops_at,
        )

    def expected_size(self, case: KitCase, file: KitFile) -> int:
        """Bytes of what :meth:`expected` reads.  Raises OSError."""
        path = self.path(case, file)
        return sum(path.with_name(path.name + part).stat().st_size for part in (EVENTS, ROWS))


def open_kit(folder: Path) -> OpenKit:
    """The kit in a folder.  Raises ScenarioError if there is none; ManifestError if it is damaged."""
    index = folder / "index.jsonl"
    if not index.is_file():
        raise ScenarioError(f"there is no kit in {folder}", expected="a folder that `forge corpus export` made")
    cases: list[KitCase] = []
    for number, line in enumerate(index.read_bytes().splitlines(), start=1):
        try:
            cases.append(msgspec.json.decode(line, type=KitCase))
        except msgspec.MsgspecError as error:
            raise ManifestError(f"line {number} of index.jsonl: {error}", folder=str(folder)) from None
    return OpenKit(folder, cases)


class _Event(msgspec.Struct, kw_only=True):
    """What an expected event has at least."""

    index: int
    offset: int
    inner: int = 0
    type: str
    fields: dict[str, Any]
    checksum: dict[str, Any]


class _Cell(msgspec.Struct, kw_only=True):
    column: int
    raw: str | None


class _Row(msgspec.Struct, kw_only=True):
    """What an expected row has at least."""

    event: int
    offset: int
    inner: int = 0
    row: int
    kind: Kind
    database: str | dict[str, str]
    table: str | dict[str, str]
    before: list[_Cell] | None
    after: list[_Cell] | None


def _objects(folder: Path, path: Path, least: type[msgspec.Struct]) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().splitlines():
        try:
            shown: dict[str, Any] = msgspec.json.decode(line)
            msgspec.convert(shown, least)
            yield shown
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ManifestError(f"{path.relative_to(folder)}: {error}", folder=str(folder)) from None
