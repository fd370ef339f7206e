"""Records of findings: ``corpora/findings/NAME.toml``, one a defect of one decoder.

People write the upper part; the table ``[made]`` at the end is written by tests/findings, in a checkout::

    decoder = "go-mysql"            # a folder of corpora/testees
    title = "Negative TIME of before 5.6 is not sign-extended"
    status = "open"                 # or mended, disclose-first, unshown
    releases = ["1.16.0"]           # those that were tried and have it
    covers = ["negative TIME ..."]  # reasons of the decoder's list of expected failures
    why = "..."                     # what the decoder does, and what the format says
    sources = ["..."]               # what the right value rests on
    searched = "..."                # what was looked for in public issues
    known = []                      # issues that tell of it
    like = "type 19: -"             # optional: what "OUTCOME, KIND: RIGHT -> WRONG" has to look like (a regular
                                    # expression) while the file is made smaller, so that it stays this defect
    needs = ["column VECTOR"]  # what the file has to have to show this defect: forge/conform/findings/traits.py
    event_type = "TABLE_MAP"        # optional: the last event of this type is the one that it is about
    inventions = true               # optional: it is about bytes that are no value, which are shown as one
    level = "events"                # optional: what is compared, if it is not the most that the testee can do; no list
    cases = ["statements-..."]      # of expected failures is of that level, so the cases that show it stand here
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from forge.check.compare.differences import ImageName
from forge.conform.kit.protocol import Level
from forge.corpus.outcomes import Outcome
from forge.errors import ScenarioError, Verdict
from forge.resources import corpora_dir

#: ``disclose-first``: the vendor has it before anybody else (SECURITY.md); reports and pages only count it.
#: ``unshown``: no file of at most 1 KiB shows it and nothing else, so it has none, and no page.
Status = Literal["open", "mended", "disclose-first", "unshown"]
#: Bytes that the file of a finding may have.
LARGEST = 1024
#: The vendor's reader of each family of servers.
VENDORS: Mapping[str, str] = {"mysql": "mysqlbinlog", "mariadb": "mariadb-binlog"}


class CellPlace(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cell: its event (from 0), the row in the event, and the column (both from 1)."""

    event: int
    row: int
    image: ImageName
    column: int


class Made(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the program found: the file, and what the decoder does with it.

    ``case`` is that of the kit whose file was made smaller; ``kind`` is what has to stay the same
    (:class:`forge.conform.shrink.outcomes.TesteeFinding`).  ``right`` is the exact text of the cell, or of the
    event's ``field``, or a sentence; ``event`` the number of the event that it is about.  ``verdict`` says what a
    correct reader does with the file, ``readers`` what those of the vendors do, ``servers`` what the vendors' servers
    do when they apply it.
    """

    case: str
    outcome: Outcome
    right: str
    wrong: str
    log: str
    verdict: Verdict
    readers: dict[str, str]
    servers: dict[str, str] = {}
    kind: str | None = None
    event: int | None = None
    field: str | None = None
    cell: CellPlace | None = None

    @property
    def data(self) -> bytes:
        """The binary log."""
        return bytes.fromhex(self.log)


class Finding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A defect of one decoder."""

    decoder: str
    title: str
    releases: list[str]
    covers: list[str]
    why: str
    sources: list[str]
    searched: str
    needs: list[str] = []
    status: Status = "open"
    like: str | None = None
    event_type: str | None = None
    inventions: bool = False
    level: Level | None = None
    cases: list[str] = []
    known: list[str] = []
    made: Made | None = None
    name: str = ""


def findings_dir() -> Path:
    """Where the records are."""
    return corpora_dir() / "findings"


def read_findings(folder: Path | None = None) -> list[Finding]:
    """All records, by name.  Raises ScenarioError for one that is wrong; OSError."""
    return [read_finding(path) for path in sorted((folder or findings_dir()).glob("*.toml"))]


def read_finding(path: Path) -> Finding:
    """One record.  Raises ScenarioError, OSError."""
    try:
        finding = msgspec.toml.decode(path.read_bytes(), type=Finding)
    except (msgspec.MsgspecError, ValueError) as error:
        raise ScenarioError(f"not the record of a finding: {error}", file=str(path)) from None
    return msgspec.structs.replace(finding, name=path.stem)


def public(findings: list[Finding]) -> list[Finding]:
    """Those that may be shown."""
    return [finding for finding in findings if finding.status not in ("disclose-first", "unshown")]


def count_withheld(findings: list[Finding]) -> int:
    """How many wait for their vendor."""
    return sum(finding.status == "disclose-first" for finding in findings)
