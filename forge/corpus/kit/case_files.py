"""One case of a kit as files: the binary logs, what a correct reader gets of each, and ``case.json``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from forge.check.canonical.expected import Expected, expected_of
from forge.corpus.kit.sparse import PACKED, Hole, SparseLog, stretched
from forge.corpus.vocabulary import vocabulary
from forge.errors import FormatError, Phase, Verdict
from forge.servers import server_line

#: What is put behind the name of a binary log for the events and rows expected of it.
EVENTS, ROWS = ".events.jsonl", ".rows.jsonl"


class KitFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A binary log of a case: bytes, events and rows in it that a correct reader gets.

    ``stops_at`` is the file offset of the event, or of the place, where our own reader stops with an error; null if it
    does not.  A file with ``holes`` is in the kit without them, with ``.packed`` behind its name.
    """

    name: str
    size: int
    sha256: str
    events: int
    rows: int
    stops_at: int | None
    holes: list[Hole] = []


class KitCase(msgspec.Struct, frozen=True, kw_only=True):
    """``case.json``; a line of ``index.jsonl``.

    ``case`` is the long name; ``since`` the version of the corpus that had it first, null if it is not of the shipped
    corpus.  ``rules`` and ``thresholds`` are those of its tags; ``smoke`` says whether it is one of the few that
    together have every feature; ``guards`` are the foreign issues that it guards against.  ``adds`` counts the
    statements, branches and mutants of the measured decoders that it reaches or tells, and no case before it in
    ``corpora/kit/power.tsv``: 0 for a case that adds nothing to these figures.
    ``strict``, of a case that need not be accepted, is the rule by which a strict reader, as ours is, stops or shows no
    value; null if ours finds nothing wrong.
    """

    id: str
    title: str
    case: str
    since: int | None
    server: str
    flavor: Literal["mysql", "mariadb"]
    verdict: Verdict
    phase: Phase | None
    files: list[KitFile]
    tags: list[str]
    rules: list[str]
    thresholds: list[str]
    smoke: bool
    guards: list[str]
    adds: int = 0
    strict: str | None = None


class Plain(msgspec.Struct, frozen=True, kw_only=True):
    """A case of the corpus on its way into a kit; ``row`` is that of the manifest, with the bytes.

    ``sparse``: its files get their holes (:mod:`forge.corpus.kit.sparse`).
    """

    id: str
    since: int | None
    smoke: bool
    adds: int
    guards: list[str]
    row: dict[str, Any]
    sparse: bool = False


class WrittenCase(msgspec.Struct, frozen=True, kw_only=True):
    """A case that was written, and the sha256 of each of its files by its name."""

    case: KitCase
    sums: dict[str, str]


def write_case(folder: Path, plain: Plain) -> WrittenCase:
    """Write the files of a case into a folder of its own under ``folder``.  Raises OSError."""
    row = plain.row
    into = folder / plain.id
    into.mkdir()
    files: list[KitFile] = []
    written: dict[str, bytes] = {}
    strict: str | None = None
    for file in row["files"]:
        log: SparseLog | None = None
        if plain.sparse:
            log, expected = stretched(file["bytes"])
            written[file["name"] + PACKED] = log.packed
        else:
            expected = expected_of(file["bytes"])
            written[file["name"]] = file["bytes"]
            strict = strict or broken_rule(expected)
        written[file["name"] + EVENTS] = _lines(expected.events)
        written[file["name"] + ROWS] = _lines(expected.rows)
        files.append(
            KitFile(
                name=file["name"],
                size=file["size"] if log is None else log.size,
                sha256=file["sha256"] if log is None else log.sha256,
                events=len(expected.events),
                rows=len(expected.rows),
                stops_at=_stop(expected),
                holes=[] if log is None else log.holes,
            )
        )
    rules = vocabulary().rules
    case = KitCase(
        id=plain.id,
        title=row["title"] or row["case"],
        case=row["case"],
        since=plain.since,
        server=row["server"],
        flavor=server_line(row["server"]).family,
        verdict=row["verdict"],
        phase=row["phase"],
        files=files,
        tags=row["tags"],
        rules=[tag for tag in row["tags"] if tag in rules],
        thresholds=[tag.partition(":")[2] for tag in row["tags"] if tag.startswith("threshold:")],
        smoke=plain.smoke,
        adds=plain.adds,
        guards=plain.guards,
        strict=None if row["verdict"] == "accept" else strict,
    )
    written["case.json"] = msgspec.json.format(msgspec.json.encode(case), indent=2) + b"\n"
    for name, data in written.items():
        (into / name).write_bytes(data)
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in written.items()}
    return WrittenCase(case=case, sums=sums)


def broken_rule(expected: Expected) -> str | None:
    """The first rule that the bytes break, in our reader's words: of a cell without value, or where it stops."""
    for row in expected.rows:
        for cell in (*(row["before"] or ()), *(row["after"] or ())):
            if "broken" in cell.get("value", ()):
                return str(cell["value"]["broken"])
    problem = expected.problem
    return problem.rule if isinstance(problem, FormatError) else None if problem is None else problem.problem


def _stop(expected: Expected) -> int | None:
    return None if expected.problem is None else expected.problem_place[0]


def _lines(objects: Iterable[dict[str, Any]]) -> bytes:
    encode = msgspec.json.encode
    return b"".join(encode(one) + b"\n" for one in objects)
